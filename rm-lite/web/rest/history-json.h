/* Rows of ended applications, and sums of them, as JSON. New references; NULL: no memory. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_HISTORY_JSON_H
#define SELVEDGE_RM_LITE_WEB_REST_HISTORY_JSON_H

#include <jansson.h>

#include "common/base.h"

struct rm_past_app;
struct rm_sum;

/* `sees`: else neither times, usage nor diagnostics. Members are named as those of
 * /ws/v1/cluster/apps. */
json_t *rm_json_past(const struct rm_past_app *past, bool sees);
/* `by`: "user" or "queue", the member that has the sum's name, null for the rest. */
json_t *rm_json_sum(const struct rm_sum *sum, const char *by);

#endif
