/* GET /ws/v1/selvedge/history, a path of our own: applications that have ended, newest end first, a
 * page at a time, or their usage summed by user or queue. Read and written in turns of the event
 * loop. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_HISTORY_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_HISTORY_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

#define RM_HISTORY_PATH "/ws/v1/selvedge/history"
#define RM_HISTORY_PAGE 1000 /* rows of an answer, and the default of `limit` */

/* For GET and HEAD. */
int rm_web_history(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
    _must_use_;

#endif
