/* REST of the cluster: rows of web-rest.c, whose `rest` is the path from its first name on. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_CLUSTER_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_CLUSTER_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

int rm_web_info(struct rm *rm, const struct sv_http_request *req, const char *rest,
                struct sv_http_response *ret) _must_use_;
int rm_web_cluster_metrics(struct rm *rm, const struct sv_http_request *req, const char *rest,
                           struct sv_http_response *ret) _must_use_;
/* The JSON of /ws/v1/cluster/metrics; free() it. NULL: out of memory. */
char *rm_web_figures(struct rm *rm);
int rm_web_scheduler(struct rm *rm, const struct sv_http_request *req, const char *rest,
                     struct sv_http_response *ret) _must_use_;
int rm_web_overview(struct rm *rm, const struct sv_http_request *req, const char *rest,
                    struct sv_http_response *ret) _must_use_;
int rm_web_nodes(struct rm *rm, const struct sv_http_request *req, const char *rest,
                 struct sv_http_response *ret) _must_use_;
int rm_web_node(struct rm *rm, const struct sv_http_request *req, const char *rest,
                struct sv_http_response *ret) _must_use_;
int rm_web_statistics(struct rm *rm, const struct sv_http_request *req, const char *rest,
                      struct sv_http_response *ret) _must_use_;
int rm_web_userinfo(struct rm *rm, const struct sv_http_request *req, const char *rest,
                    struct sv_http_response *ret) _must_use_;
int rm_web_access(struct rm *rm, const struct sv_http_request *req, const char *rest,
                  struct sv_http_response *ret) _must_use_;

#endif
