/* Pages of one application, one attempt and one container. */
#ifndef SELVEDGE_RM_LITE_WEB_PAGES_PAGE_APP_H
#define SELVEDGE_RM_LITE_WEB_PAGES_PAGE_APP_H

#include "rm-lite/web/pages/page-frame.h"

/* `id` as in the path. */
int rm_page_app(const struct rm_viewer *who, const struct sv_http_request *req, const char *id,
                struct sv_http_response *ret) _must_use_;
int rm_page_attempt(const struct rm_viewer *who, const struct sv_http_request *req, const char *id,
                    struct sv_http_response *ret) _must_use_;
int rm_page_container(const struct rm_viewer *who, const struct sv_http_request *req,
                      const char *id, struct sv_http_response *ret) _must_use_;

#endif
