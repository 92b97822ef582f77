/* Diagnostics of a container's end in the wording of Hadoop's ContainerLaunch and
 * LinuxContainerExecutor, which users, ApplicationMasters and tools parse. */
#ifndef SELVEDGE_NODEMANAGER_CORE_CONTAINER_DIAGNOSTICS_H
#define SELVEDGE_NODEMANAGER_CORE_CONTAINER_DIAGNOSTICS_H

#include "common/base.h"

struct nm_container;

/* "Exception from container-launch. …"; `error` (may be "") is the helper's message. malloc'd or
 * NULL. */
char *nm_diagnostics_exception(const struct nm_container *c, int exit_code, const char *error);
/* Takes ownership of `text`, which may be NULL. */
typedef void (*nm_diagnostics_fn)(struct nm_container *c, char *text);
/* "Container exited with a non-zero exit code 1. Error file: prelaunch.err. …" with the tails of
 * the container's own error files, which are hostile and read without following links, on the
 * thread of their disk. `done` is called when they are read or the disk does not answer, which the
 * text then says; at once for an exit code that has no such text. */
void nm_diagnostics_exit(struct nm_container *c, int exit_code, nm_diagnostics_fn done);
/* Diagnostics of a kill at the memory limit, in the wording that Spark and others search for. */
enum nm_memory_by {
    NM_MEMORY_BY_KERNEL, /* at its own memory.max */
    NM_MEMORY_BY_NODE,   /* at that of all containers, or the machine's */
    NM_MEMORY_BY_MONITOR,
};
char *nm_diagnostics_memory(const struct nm_container *c, pid_t pid, uint64_t peak_bytes,
                            enum nm_memory_by by);
/* Likewise at the limit of virtual memory. */
struct nm_vmem_usage {
    uint64_t bytes, limit;
    unsigned processes;
    pid_t largest; /* 0: none */
    uint64_t largest_bytes;
    const char *largest_name;
};
char *nm_diagnostics_vmem(const struct nm_container *c, const struct nm_vmem_usage *u);

#endif
