/* Uploads of logs that failed for good: kept until the log handler deletes the application's logs,
 * also after a restart of the daemon, for REST, metrics and `selvedge doctor`. */
#ifndef SELVEDGE_NODEMANAGER_LOGS_LOG_FAILURES_H
#define SELVEDGE_NODEMANAGER_LOGS_LOG_FAILURES_H

#include <uthash.h>

#include "common/base.h"
#include "logs/upload-request.h"
#include "wire/ids.h"

struct nm_store;
struct nm_stored_upload;

struct nm_log_failure {
    UT_hash_handle hh; /* by app */
    char app[YARN_ID_TEXT_MAX];
    char why[LOGS_UPLOAD_TEXT_MAX + 200];
    int64_t until_ms; /* wall clock: when the logs on this node are deleted */
};

struct nm_log_failures {
    struct nm_store *store;
    struct nm_log_failure *all; /* hh.next: in their order */
};

/* Records a failure. */
int nm_log_failures_add(struct nm_log_failures *f, const char *app, const char *account,
                        const char *why, int64_t until_ms) _must_use_;
/* Restores a recorded failure. */
int nm_log_failures_restore(struct nm_log_failures *f, const struct nm_stored_upload *s,
                            int64_t until_ms, const struct nm_log_failure **ret) _must_use_;
/* The application's logs were deleted; no-op without a failure. */
void nm_log_failures_remove(struct nm_log_failures *f, const char *app);
/* Keeps the records. */
void nm_log_failures_clear(struct nm_log_failures *f);

#endif
