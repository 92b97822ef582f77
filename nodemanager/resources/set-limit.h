/* Limits of one running container that an operator sets over those of its Resource: on record
 * before the cgroup changes, kept over a restart of the daemon and when the ApplicationMaster
 * updates the container. Called by dbus/, recovery.c and rm/. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_SET_LIMIT_H
#define SELVEDGE_NODEMANAGER_RESOURCES_SET_LIMIT_H

#include "common/base.h"
#include "common/error.h"

struct nm_container;
struct nm_context;

/* `name`: memory (bytes), cpu-weight (1…10000), cpu-quota (thousandths of a processor), pids.
 * `value`: 0 takes the limit back; else at most what the node has for all containers, or for pids
 * for any. -EINVAL: the name or the value; -ESRCH: the container does not run; -EOPNOTSUPP: nothing
 * limits this on this node. */
int nm_limit_set(struct nm_container *c, const char *name, uint64_t value, struct sv_error *err)
    _must_use_;
/* After the containers were recovered: what is on record for them. */
int nm_limit_recover(struct nm_context *ctx) _must_use_;
/* With the container's record. */
void nm_limit_forget(struct nm_container *c);

#endif
