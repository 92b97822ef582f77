/* REST of the cluster beside lists of nodes and applications: statistics, the caller, access to
 * queues, and features that are off. */
#ifndef SELVEDGE_RM_LITE_WEB_CLUSTER_H
#define SELVEDGE_RM_LITE_WEB_CLUSTER_H

#include "common/http.h"
#include "rm-lite/context.h"

/* GET; `path`: below /ws/v1/cluster. False: another path. */
bool rm_web_cluster(struct rm *rm, const struct sv_http_request *req, const char *path,
                    struct sv_http_response *ret, int *ret_result);

#endif
