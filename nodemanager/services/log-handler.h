/* Logs on disk (NonAggregatingLogHandler): an application's logs are deleted
 * yarn.nodemanager.log.retain-seconds after its end; the deadlines survive a restart. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_LOG_HANDLER_H
#define SELVEDGE_NODEMANAGER_SERVICES_LOG_HANDLER_H

#include "common/base.h"
#include "common/error.h"
#include "wire/ids.h"

struct nm_context;
struct nm_app;
struct nm_deletion;
struct nm_log_handler;

int nm_log_handler_new(struct nm_context *ctx, struct nm_deletion *deletion,
                       struct nm_log_handler **ret, struct sv_error *err) _must_use_;
struct nm_log_handler *nm_log_handler_free(struct nm_log_handler *h);
int nm_log_handler_recover(struct nm_log_handler *h) _must_use_;
/* Sets the deadline; LOG_HANDLING_FINISHED is posted when the logs are deleted. Until then the
 * table has the application as FINISHED. */
void nm_log_handler_app_finished(struct nm_log_handler *h, struct nm_app *a);
/* A log directory without a record, found at start, owned by `user`: the deadline counts from now.
 * No-op if there is a deadline. */
void nm_log_handler_left(struct nm_log_handler *h, struct yarn_app_id app, const char *user);
/* The logs are uploaded: sets the deadline to now. */
void nm_log_handler_expire(struct nm_log_handler *h, const char *app);
/* True if the application's deadline has not passed. */
bool nm_log_handler_keeps(const struct nm_log_handler *h, const char *app);
/* The deadline, by the wall clock; 0: none. */
int64_t nm_log_handler_until(const struct nm_log_handler *h, const char *app);
/* Called after deletion of an application's logs; NULL: no more. */
void nm_log_handler_on_deleted(struct nm_log_handler *h,
                               void (*fn)(const char *app, void *userdata), void *userdata);

#endif
