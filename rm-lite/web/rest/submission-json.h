/* Converts the JSON form of a submission (ApplicationSubmissionContextInfo of Hadoop's REST) into
 * the message that clients send over RPC. Pure. Hostile: everything; its size is bounded by the
 * request's body. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_SUBMISSION_JSON_H
#define SELVEDGE_RM_LITE_WEB_REST_SUBMISSION_JSON_H

#include <jansson.h>

#include "common/arena.h"
#include "common/error.h"
#include "proto/yarn.pb-c.h"

/* In the arena; its texts belong to `body`. -EINVAL names the member. */
int rm_submission_from_json(const json_t *body, struct sv_arena *a,
                            Hadoop__Yarn__ApplicationSubmissionContextProto **ret,
                            struct sv_error *err) _must_use_;

#endif
