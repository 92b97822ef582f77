/* yarn.nodemanager.vmem-check-enabled: a container with more virtual memory than vmem-pmem-ratio
 * times its memory is killed. Its processes are read on a thread, each container by a job of its
 * own. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_VIRTUAL_MEMORY_H
#define SELVEDGE_NODEMANAGER_RESOURCES_VIRTUAL_MEMORY_H

#include "common/base.h"
#include "common/error.h"

struct nm_container;
struct nm_context;
struct nm_vmem;

/* NULL where it is not enabled. Refused where the daemon does not see the processes of others. */
int nm_vmem_new(struct nm_context *ctx, struct nm_vmem **ret, struct sv_error *err) _must_use_;
struct nm_vmem *nm_vmem_free(struct nm_vmem *v);
/* Begins a reading, unless the last one has not ended. `v` may be NULL. */
void nm_vmem_check(struct nm_vmem *v, struct nm_container *c);

#endif
