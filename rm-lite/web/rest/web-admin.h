/* REST changes of nodes and containers: rows of web-rest.c. With yarn.acl.enable only
 * administrators are admitted (access.h). */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_ADMIN_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_ADMIN_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

/* `rest`: "{nodeId}/resource". */
int rm_web_node_resource(struct rm *rm, const struct sv_http_request *req, const char *rest,
                         struct sv_http_response *ret) _must_use_;
/* `rest`: "{containerid}/signal/{command}". */
int rm_web_signal(struct rm *rm, const struct sv_http_request *req, const char *rest,
                  struct sv_http_response *ret) _must_use_;

#endif
