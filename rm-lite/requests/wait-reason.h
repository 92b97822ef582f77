/* Why an application waits, in one sentence, and Hadoop's `diagnostics` of one that waits. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_WAIT_REASON_H
#define SELVEDGE_RM_LITE_REQUESTS_WAIT_REASON_H

#include "rm-lite/core/context.h"

#define RM_WAIT_TEXT_MAX 3072

/* A sentence for people, without a date: of its master while that waits, else of the containers
 * that it asked for. "" if it waits for nothing of the scheduler's, or has ended. */
const char *rm_wait_reason(const struct rm_app *app, char dst[static RM_WAIT_TEXT_MAX]);
/* Hadoop's words while the attempt's master waits, with the sentence in them; of a master that runs
 * the sentence alone. The diagnostics of an attempt that has some. */
const char *rm_attempt_diagnostics(const struct rm_attempt *att, char dst[static RM_WAIT_TEXT_MAX]);
/* Its own, or else its attempt's while it has not ended. */
const char *rm_app_diagnostics(const struct rm_app *app, char dst[static RM_WAIT_TEXT_MAX]);

#endif
