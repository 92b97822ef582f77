/* Resources in JSON: one amount (Hadoop's ResourceInfo) and the usage of an application. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_USAGE_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_USAGE_H

#include <jansson.h>

#include "rm-lite/core/context.h"
#include "rm-lite/scheduler/resource.h"

json_t *rm_json_resource(struct rm_res r);
/* Percentage of `total`, rounded down; 0 without a total. */
int64_t rm_json_percent(double part, double total);
void rm_json_app_usage(json_t *o, struct rm_app *app);

#endif
