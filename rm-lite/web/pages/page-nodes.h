/* The list of nodes, in pages. */
#ifndef SELVEDGE_RM_LITE_WEB_PAGES_PAGE_NODES_H
#define SELVEDGE_RM_LITE_WEB_PAGES_PAGE_NODES_H

#include "rm-lite/web/pages/page-frame.h"

/* `state` of the path, or "": then ?state= decides. */
int rm_page_nodes(const struct rm_viewer *who, const struct sv_http_request *req, const char *state,
                  struct sv_http_response *ret) _must_use_;

#endif
