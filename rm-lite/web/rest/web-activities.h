/* /ws/v1/cluster/scheduler/activities, bulk-activities and app-activities/{appid}: records of the
 * scheduler's visits, on request. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_ACTIVITIES_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_ACTIVITIES_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

/* Asks for a record of the next visit of `nodeId`, or of any node, and answers with the last one.
 */
int rm_web_activities(struct rm *rm, const struct sv_http_request *req, const char *rest,
                      struct sv_http_response *ret) _must_use_;
/* Answers once `activitiesCount` visits were recorded, or after BULK_WAIT_MS. */
int rm_web_bulk_activities(struct rm *rm, const struct sv_http_request *req, const char *rest,
                           struct sv_http_response *ret) _must_use_;
/* `rest`: the application's id. */
int rm_web_app_activities(struct rm *rm, const struct sv_http_request *req, const char *rest,
                          struct sv_http_response *ret) _must_use_;

#endif
