/* The list of applications, newest first, in pages: each page starts at the position in the link of
 * the one before, so that no request sorts or counts all of them. */
#ifndef SELVEDGE_RM_LITE_WEB_PAGES_PAGE_APPS_H
#define SELVEDGE_RM_LITE_WEB_PAGES_PAGE_APPS_H

#include "rm-lite/web/pages/page-frame.h"

/* `state` of the path; "": ?state= applies. */
int rm_page_apps(const struct rm_viewer *who, const struct sv_http_request *req, const char *state,
                 struct sv_http_response *ret) _must_use_;
/* The newest `n`, as a part of another page. */
void rm_page_newest_apps(struct sv_html *h, const struct rm_viewer *who, size_t n);

#endif
