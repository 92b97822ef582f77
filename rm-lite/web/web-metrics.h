/* /jmx, /metrics and /prom: ClusterMetrics and QueueMetrics under Hadoop's names. Only numbers and
 * names of queues: readable by everybody. */
#ifndef SELVEDGE_RM_LITE_WEB_WEB_METRICS_H
#define SELVEDGE_RM_LITE_WEB_WEB_METRICS_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

/* False: another path. */
bool rm_web_metrics(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret,
                    int *ret_result);

#endif
