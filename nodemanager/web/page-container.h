/* One container: its limits compared with its current and peak usage, and its end explained. */
#ifndef SELVEDGE_NODEMANAGER_WEB_PAGE_CONTAINER_H
#define SELVEDGE_NODEMANAGER_WEB_PAGE_CONTAINER_H

#include "nodemanager/web/page-frame.h"

/* `id`: as in the path; the caller may view it. */
int nm_page_container(const struct nm_web *w, const char *id, const struct sv_http_request *req,
                      struct sv_http_response *ret) _must_use_;

#endif
