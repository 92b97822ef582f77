/* The ResourceManager's pages (8088), at Hadoop's addresses: /cluster, /cluster/apps[/STATE],
 * /cluster/app/ID, /cluster/appattempt/ID, /cluster/container/ID, /cluster/nodes[/STATE],
 * /cluster/scheduler; and /cluster/app/ID/kill, /cluster/services, /cluster/find; with the events
 * and the history that make them live (live.h). Server-made HTML, whole without script. Each
 * request does a bounded amount of work, whatever the number of applications, containers and nodes.
 */
#ifndef SELVEDGE_RM_LITE_WEB_PAGES_PAGE_ROUTE_H
#define SELVEDGE_RM_LITE_WEB_PAGES_PAGE_ROUTE_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

/* True if the request is for one of these, with its method. */
bool rm_page_takes(const struct sv_http_request *req);
int rm_page(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
    _must_use_;

#endif
