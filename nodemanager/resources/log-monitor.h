/* yarn.nodemanager.container-log-monitor.*: a container whose logs on this node are larger than
 * their limits is killed. Each log directory is measured on its own thread (health/log-disks.h),
 * a turn at a time, so that readers of logs get theirs between: a disk that hangs, or a job with
 * many files, delays the measurements of that disk alone. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_LOG_MONITOR_H
#define SELVEDGE_NODEMANAGER_RESOURCES_LOG_MONITOR_H

#include "common/base.h"
#include "common/error.h"

struct nm_context;
struct nm_log_monitor;

/* NULL where it is not enabled. */
int nm_log_monitor_new(struct nm_context *ctx, struct nm_log_monitor **ret, struct sv_error *err)
    _must_use_;
/* A turn that has not ended frees the rest: at the latest when the log disks are freed. */
struct nm_log_monitor *nm_log_monitor_free(struct nm_log_monitor *m);

#endif
