/* Reads part of an opened log file on its disk's thread (log-search.h). */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_LOG_READ_H
#define SELVEDGE_NODEMANAGER_SERVICES_LOG_READ_H

#include "common/error.h"
#include "nodemanager/services/log-search.h"

/* `bytes` is the callee's: malloc'd; fewer than were asked for where the file ends. NULL: `status`
 * is -errno, which nm_log_disks_why() tells. */
typedef void (*nm_log_read_fn)(int status, char *bytes, size_t n, void *userdata);
/* `done` is always called. On failure, with `why`, it is not: -EIO, -ENOMEM. The caller bounds its
 * own number. */
int nm_log_read(const struct nm_context *ctx, const struct nm_log_file *file, int64_t offset,
                size_t n, nm_log_read_fn done, void *userdata, struct sv_error *why) _must_use_;

#endif
