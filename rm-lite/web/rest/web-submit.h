/* POST /ws/v1/cluster/apps/new-application and /ws/v1/cluster/apps: applications over REST. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_SUBMIT_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_SUBMIT_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

/* Rows of web-rest.c. */
int rm_web_new_application(struct rm *rm, const struct sv_http_request *req, const char *rest,
                           struct sv_http_response *ret) _must_use_;
int rm_web_submit(struct rm *rm, const struct sv_http_request *req, const char *rest,
                  struct sv_http_response *ret) _must_use_;

#endif
