/* The page of an application that the ResourceManager has forgotten, from its row in the history.
 */
#ifndef SELVEDGE_RM_LITE_WEB_PAGES_PAGE_PAST_H
#define SELVEDGE_RM_LITE_WEB_PAGES_PAGE_PAST_H

#include "rm-lite/requests/viewer.h"
#include "rm-lite/web/pages/page-frame.h"

/* 404 without a row. */
int rm_page_past(const struct rm_viewer *who, const struct sv_http_request *req, const char *id,
                 struct sv_http_response *ret) _must_use_;

#endif
