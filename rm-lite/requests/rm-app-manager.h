/* RMAppManager: submissions, kill texts and the eviction of finished applications. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_RM_APP_MANAGER_H
#define SELVEDGE_RM_LITE_REQUESTS_RM_APP_MANAGER_H

#include "common/arena.h"
#include "common/error.h"
#include "proto/yarn.pb-c.h"
#include "rm-lite/core/context.h"
#include "rm-lite/scheduler/resource.h"

/* Checks a submission and starts the application. 0 also for a known one. On failure *ret_class is
 * the Java exception's class and err->text its message. */
int rm_app_submit(struct rm *rm, const Hadoop__Yarn__ApplicationSubmissionContextProto *ctx,
                  const char *user, const char **ret_class, struct sv_error *err) _must_use_;
/* "Application … was killed by user … at …" in the arena; NULL without memory. */
char *rm_kill_text(struct sv_arena *a, const struct rm_app *app, const char *user,
                   const char *address, const char *message);
/* Hadoop's text for a resource request outside of the limits. */
void rm_invalid_resource(struct rm_res asked, struct rm_res max, struct sv_error *err);
/* Evicts the oldest finished applications beyond
 * yarn.resourcemanager.max-completed-applications. */
void rm_app_evict(struct rm *rm);

#endif
