/* RMAppManager: submissions and the memory of finished applications. */
#ifndef SELVEDGE_RM_LITE_RM_APP_MANAGER_H
#define SELVEDGE_RM_LITE_RM_APP_MANAGER_H

#include "proto/yarn.pb-c.h"
#include "rm-lite/rm.h"

/* Checks a submission and sets the application going. 0 also for one that is known already. On
 * failure *ret_class is the Java exception's class and err->text its message. */
int rm_app_submit(struct rm *rm, const Hadoop__Yarn__ApplicationSubmissionContextProto *ctx,
                  const char *user, const char **ret_class, struct sv_error *err) _must_use_;
/* The submission, unpacked once and kept while the application lives; not to be changed. NULL
 * without memory. */
const Hadoop__Yarn__ApplicationSubmissionContextProto *rm_app_context(struct rm_app *app);
void rm_app_context_drop(struct rm_app *app);
/* Hadoop's words for an ask outside of the limits. */
void rm_invalid_resource(struct rm_res asked, struct rm_res max, struct sv_error *err);
/* Drops the oldest finished applications beyond yarn.resourcemanager.max-completed-applications. */
void rm_app_evict(struct rm *rm);

#endif
