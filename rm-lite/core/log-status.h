/* Log aggregation status of an application, from the reports of its nodes (Apache's
 * RMAppLogAggregation). Not stored: after a restart of the ResourceManager only nodes that still
 * report are known, as with Apache's. Statuses are LogAggregationStatusProto. */
#ifndef SELVEDGE_RM_LITE_CORE_LOG_STATUS_H
#define SELVEDGE_RM_LITE_CORE_LOG_STATUS_H

#include "proto/yarn_server.pb-c.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-node.h"

/* The application has a container on the node ("host:port"): NOT_START. */
void rm_log_ran_on(struct rm_app *app, const char *node);
/* Applies the reports of a heartbeat or a registration. Malformed reports and those of unknown
 * applications are ignored. */
void rm_log_reports(struct rm *rm, const struct rm_node *n,
                    Hadoop__Yarn__LogAggregationReportProto *const *list, size_t n_list);
/* Status of the whole application: DISABLED without yarn.log-aggregation-enable. SUCCEEDED, FAILED
 * and TIME_OUT of an ended application are final. */
int rm_log_status(struct rm_app *app);
const char *rm_log_status_name(int status); /* "NOT_START" */

#endif
