/* The web server: REST and a page (8088). `userdata` is the struct rm. */
#ifndef SELVEDGE_RM_LITE_WEB_WEB_H
#define SELVEDGE_RM_LITE_WEB_WEB_H

#include "common/web/http.h"

int rm_web_handle(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata);

#endif
