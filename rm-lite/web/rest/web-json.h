/* JSON objects of the REST answers. New references; NULL: no memory. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_JSON_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_JSON_H

#include <jansson.h>

#include "common/web/http.h"
#include "rm-lite/core/context.h"

json_t *rm_json_info(struct rm *rm);
json_t *rm_json_metrics(struct rm *rm);
json_t *rm_json_node(const struct rm_node *n);
json_t *rm_json_app(struct rm_app *app);
json_t *rm_json_attempt(const struct rm_attempt *att); /* in the list of attempts */
#define RM_JSON_FINALS 5
const char *rm_json_final(int final_status); /* "SUCCEEDED" */

#endif
