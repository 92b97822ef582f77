/* The start page: the node itself. Nothing of jobs: readable by everybody. */
#ifndef SELVEDGE_NODEMANAGER_WEB_PAGE_NODE_H
#define SELVEDGE_NODEMANAGER_WEB_PAGE_NODE_H

#include "nodemanager/web/page-frame.h"

int nm_page_node(const struct nm_web *w, const struct sv_http_request *req,
                 struct sv_http_response *ret) _must_use_;

#endif
