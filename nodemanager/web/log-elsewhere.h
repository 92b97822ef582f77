/* Leads REST clients that ask for logs which the node has no more to the log service of aggregated
 * logs (yarn.log.server.web-service.url), as Hadoop's NodeManager does. Hostile: names and queries
 * of requests. */
#ifndef SELVEDGE_NODEMANAGER_WEB_LOG_ELSEWHERE_H
#define SELVEDGE_NODEMANAGER_WEB_LOG_ELSEWHERE_H

#include "common/web/http.h"

struct nm_context;

/* False: no log service is configured, or logs are not served over HTTP. */
bool nm_log_is_elsewhere(const struct nm_context *ctx);
/* Redirects to the container's logs there; `file` NULL: to their list. An answer that is in `ret`
 * is dropped. -EMSGSIZE: the address is too long; `ret` is unchanged. */
int nm_log_go_elsewhere(const struct nm_context *ctx, const char *container, const char *file,
                        const struct sv_http_request *req, struct sv_http_response *ret) _must_use_;

#endif
