/* Queries of /ws/v1/cluster/apps and /nodes, each parsed once. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_QUERY_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_QUERY_H

#include "common/web/http.h"
#include "rm-lite/requests/app-filter.h"

/* -EINVAL with the reason for a 400: an unknown state, a time that is no number, too many names;
 * -EDOM for one of which Hadoop says IllegalArgumentException, an unknown final status; -ENOMEM.
 * *ret is to be freed in every case. */
int rm_query_apps(const struct sv_http_request *req, struct rm_app_filter *ret, int64_t *ret_limit,
                  struct sv_error *err) _must_use_;
/* A bit for each NodeStateProto; all without a query. -EDOM: an unknown state. */
int rm_query_nodes(const struct sv_http_request *req, uint32_t *ret_states, struct sv_error *err)
    _must_use_;
#endif
