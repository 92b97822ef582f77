/* /ws/v1/cluster/apps/{application}/{state,queue,priority,timeouts,timeout}: reads and changes of
 * an application over REST. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_CONTROL_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_CONTROL_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

/* `rest`: what follows the application's id, with its slash. False: another path. */
bool rm_web_control(struct rm *rm, struct rm_app *app, const struct sv_http_request *req,
                    const char *rest, struct sv_http_response *ret, int *ret_result);

#endif
