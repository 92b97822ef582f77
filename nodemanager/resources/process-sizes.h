/* Virtual memory of the processes of one cgroup, from /proc. Hostile: their names, which jobs set,
 * and their number: reading them takes some 10 us each, so it is for a thread. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_PROCESS_SIZES_H
#define SELVEDGE_NODEMANAGER_RESOURCES_PROCESS_SIZES_H

#include "common/base.h"

#define NM_PROCESS_NAME_MAX 64 /* the kernel's 15 bytes, escaped */

struct nm_process {
    char name[NM_PROCESS_NAME_MAX];
    uint64_t start; /* ticks since the machine's start */
    uint64_t bytes; /* virtual memory */
};

struct nm_process_sizes {
    unsigned n;
    uint64_t bytes; /* of all */
    uint64_t aged;  /* of those that an earlier reading has seen */
    pid_t largest;  /* 0: none */
    struct nm_process of_largest;
};

/* Content of /proc/PID/stat. */
int nm_process_parse(const char *text, struct nm_process *ret) _must_use_;
/* Adds up the processes of `group`, a cgroup's directory, by `proc`, a path: "/proc". Aged are
 * those that began before the tick `before`. Processes that end meanwhile do not count. */
int nm_process_sizes(const char *proc, int group, uint64_t before, struct nm_process_sizes *ret)
    _must_use_;
/* Hadoop's rule: more than twice the limit, or more than the limit in processes that are not new. A
 * process is as large as its parent between fork and exec. */
bool nm_process_sizes_over(const struct nm_process_sizes *s, uint64_t limit);

#endif
