/* Applications and containers of this node, in pages; one application. */
#ifndef SELVEDGE_NODEMANAGER_WEB_PAGE_APPS_H
#define SELVEDGE_NODEMANAGER_WEB_PAGE_APPS_H

#include "nodemanager/web/page-frame.h"

int nm_page_apps(const struct nm_web *w, const struct nm_web_caller *who,
                 const struct sv_http_request *req, struct sv_http_response *ret) _must_use_;
/* `id` as in the path. */
int nm_page_app(const struct nm_web *w, const struct nm_web_caller *who, const char *id,
                const struct sv_http_request *req, struct sv_http_response *ret) _must_use_;
int nm_page_containers(const struct nm_web *w, const struct nm_web_caller *who,
                       const struct sv_http_request *req, struct sv_http_response *ret) _must_use_;

#endif
