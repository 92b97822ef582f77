/* /ws/v1/cluster/apps and all below an application: rows of web-rest.c. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_APPS_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_APPS_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

int rm_web_apps(struct rm *rm, const struct sv_http_request *req, const char *rest,
                struct sv_http_response *ret) _must_use_;
/* `rest`: "{appid}", "{appid}/state", "{appid}/appattempts/…"; a path and a method of a row. */
int rm_web_app(struct rm *rm, const struct sv_http_request *req, const char *rest,
               struct sv_http_response *ret) _must_use_;

#endif
