/* Queries of /ws/v1/cluster/apps and /nodes: validation of the parameters, and selection of
 * objects. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_QUERY_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_QUERY_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

/* -EINVAL with the reason for a 400: an unknown state, a time that is no number. */
int rm_query_check_apps(const struct sv_http_request *req, int64_t *ret_limit, struct sv_error *err)
    _must_use_;
int rm_query_check_nodes(const struct sv_http_request *req, struct sv_error *err) _must_use_;
bool rm_query_takes_app(const struct sv_http_request *req, const struct rm_app *app);
bool rm_query_takes_node(const struct sv_http_request *req, const struct rm_node *node);

#endif
