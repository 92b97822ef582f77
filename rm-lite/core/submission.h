/* The ApplicationSubmissionContext that an application keeps, packed, for its attempts and for a
 * restart, and the sums of them. It is a client's and may be large: environment, commands, tokens.
 * An application that has ended keeps only what reports show, so the sums are in essence of
 * applications that have not ended. */
#ifndef SELVEDGE_RM_LITE_CORE_SUBMISSION_H
#define SELVEDGE_RM_LITE_CORE_SUBMISSION_H

#include "common/error.h"
#include "proto/yarn.pb-c.h"
#include "rm-lite/core/context.h"

struct rm_app;

/* In bytes. Usual contexts have 2 to 50 KiB, so one user has room for more than 2,500 such
 * applications, and all of them for the 10,000 of yarn.scheduler.capacity.maximum-applications.
 * While a master is started its context is in memory twice more. */
#define RM_SUBMISSION_MAX ((size_t)4 << 20)
#define RM_SUBMISSIONS_OF_USER_MAX ((int64_t)128 << 20)
#define RM_SUBMISSIONS_MAX ((int64_t)512 << 20)

/* -EDQUOT: one more of `size` bytes would exceed a limit; the text says which one. */
int rm_submission_fits(const struct rm *rm, const char *application, const char *user, size_t size,
                       struct sv_error *err) _must_use_;
/* Replaces the application's submission and counts it; takes `bytes`. NULL: none. */
void rm_submission_set(struct rm_app *app, uint8_t *bytes, size_t len);
/* Packs `ctx` and sets it; -ENOMEM: unchanged. */
int rm_submission_pack(struct rm_app *app,
                       const Hadoop__Yarn__ApplicationSubmissionContextProto *ctx) _must_use_;
/* The application has ended: drops what only its attempts needed. Without memory it stays. */
void rm_submission_shrink(struct rm_app *app);
/* Unpacked once and cached; read-only. NULL without memory. */
const Hadoop__Yarn__ApplicationSubmissionContextProto *rm_app_context(struct rm_app *app);
void rm_app_context_drop(struct rm_app *app);

#endif
