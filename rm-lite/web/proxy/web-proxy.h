/* /proxy/APPLICATION/…: the pages of ApplicationMasters, as Hadoop's WebAppProxyServlet serves
 * them. Hostile: paths, cookies, and the tracking URL, which a job registered. */
#ifndef SELVEDGE_RM_LITE_WEB_PROXY_WEB_PROXY_H
#define SELVEDGE_RM_LITE_WEB_PROXY_WEB_PROXY_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

/* For paths below /proxy/; may answer SV_HTTP_LATER. */
int rm_web_proxy(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
    _must_use_;
/* /cluster/failure/…: the target of a browser whose request looped. */
int rm_web_failure(const char *path, struct sv_http_response *ret) _must_use_;

#endif
