/* The NodeManager's pages (8042), at Hadoop's addresses: /node, /node/allApplications,
 * /node/application/ID, /node/allContainers, /node/container/ID and
 * /node/containerlogs/CONTAINER/USER[/FILE]. Server-made HTML, complete without its script.
 * web-access.h controls access; live figures have their page's. */
#ifndef SELVEDGE_NODEMANAGER_WEB_PAGE_ROUTE_H
#define SELVEDGE_NODEMANAGER_WEB_PAGE_ROUTE_H

#include "nodemanager/web/nm-web.h"

/* True if the path, without trailing slashes, is one of these. A log with ?format= is not: it is
 * the bare file. */
bool nm_page_takes(const char *path, const struct sv_http_request *req);
int nm_page(const struct nm_web *w, const char *path, const struct sv_http_request *req,
            struct sv_http_response *ret) _must_use_;

#endif
