/* Kill of an application from its page: a confirmation first, then a POST of its form. The rule is
 * that of the REST call (selvedge.rm.webapp.put.enabled; and access.h with yarn.acl.enable), and
 * the form must be this server's own (protection against CSRF): it has a signature of the user and
 * the application that no other site can have, and the browser must not report another origin. */
#ifndef SELVEDGE_RM_LITE_WEB_PAGES_PAGE_KILL_H
#define SELVEDGE_RM_LITE_WEB_PAGES_PAGE_KILL_H

#include "rm-lite/web/pages/page-frame.h"

/* GET asks, POST kills. `id` as in the path. */
int rm_page_kill(const struct rm_viewer *who, const struct sv_http_request *req, const char *id,
                 struct sv_http_response *ret) _must_use_;

#endif
