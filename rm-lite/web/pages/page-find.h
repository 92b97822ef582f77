/* The box that jumps to an id: an application, attempt or container, the last part of an
 * application's id, its beginning or its name; a queue; a node. */
#ifndef SELVEDGE_RM_LITE_WEB_PAGES_PAGE_FIND_H
#define SELVEDGE_RM_LITE_WEB_PAGES_PAGE_FIND_H

#include "rm-lite/web/pages/page-frame.h"

/* Redirects to the page of ?id=, or to a list that is filtered by it. */
int rm_page_find(const struct rm_viewer *who, const struct sv_http_request *req,
                 struct sv_http_response *ret) _must_use_;

#endif
