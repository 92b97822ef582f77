/* /ws/v1/cluster/apps/{application}/appattempts… */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_ATTEMPTS_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_ATTEMPTS_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

/* `rest`: the path after "appattempts", "" or with its slash. */
int rm_web_attempts(struct rm *rm, struct rm_app *app, const struct sv_http_request *req,
                    const char *rest, struct sv_http_response *ret) _must_use_;

#endif
