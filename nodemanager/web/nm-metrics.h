/* /jmx, /metrics and /prom: NodeManagerMetrics under Hadoop's names. Only sums of the node, nothing
 * of a job: readable by everybody. */
#ifndef SELVEDGE_NODEMANAGER_WEB_NM_METRICS_H
#define SELVEDGE_NODEMANAGER_WEB_NM_METRICS_H

#include "nodemanager/web/nm-web.h"

/* False: another path. */
bool nm_web_metrics(const struct nm_web *w, const struct sv_http_request *req,
                    struct sv_http_response *ret, int *ret_result);

#endif
