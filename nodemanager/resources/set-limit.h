/* Limits of one running container set by an operator, which override those of its Resource:
 * recorded before the cgroup changes, kept after a restart of the daemon and when the
 * ApplicationMaster updates the container. Likewise a limit that the container wants itself. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_SET_LIMIT_H
#define SELVEDGE_NODEMANAGER_RESOURCES_SET_LIMIT_H

#include "common/base.h"
#include "common/error.h"

struct nm_container;
struct nm_context;

/* `name`: memory (bytes), cpu-weight (1…10000), cpu-quota (thousandths of a processor), pids.
 * `value`: 0 resets the limit; else at most the node's total for all containers, or for pids any.
 * -EINVAL: the name or the value; -ESRCH: the container does not run; -EOPNOTSUPP: this node does
 * not limit it. */
int nm_limit_set(struct nm_container *c, const char *name, uint64_t value, struct sv_error *err)
    _must_use_;
/* Before each launch: the container wants no more processes and threads than these; 0: it has no
 * wish. An operator's limit comes first. 0, or -errno of the store. */
int nm_limit_want(struct nm_container *c, uint64_t pids) _must_use_;
/* Call it after recovery of the containers: applies their recorded limits. */
int nm_limit_recover(struct nm_context *ctx) _must_use_;
/* Removes the limits with the container's record. */
void nm_limit_forget(struct nm_container *c);

#endif
