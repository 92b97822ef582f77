/* Checks of a submission that need no queue and no application: lengths, tags, lifetime, labels.
 * The whole context is a client's. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_SUBMISSION_CHECK_H
#define SELVEDGE_RM_LITE_REQUESTS_SUBMISSION_CHECK_H

#include "common/error.h"
#include "proto/yarn.pb-c.h"
#include "rm-lite/core/context.h"

/* On failure *ret_class is the Java exception's class, if it is not YarnException, and err->text
 * its message. */
int rm_submission_check(const struct rm *rm,
                        const Hadoop__Yarn__ApplicationSubmissionContextProto *ctx,
                        struct yarn_app_id id, const char *user, const char **ret_class,
                        struct sv_error *err) _must_use_;

#endif
