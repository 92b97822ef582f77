/* Live figures of the pages, as server-sent events once a second (common/web/live-event.h), and the
 * last hour of a queue as JSON; common/web/live.js draws both. A page follows the object of its
 * path: a queue (the start page: root), the lists of applications and nodes, or one application,
 * whose figures only those see who may view it. Hostile: clients, whose number is bounded. */
#ifndef SELVEDGE_RM_LITE_WEB_PAGES_LIVE_H
#define SELVEDGE_RM_LITE_WEB_PAGES_LIVE_H

#include "common/web/http-events.h"
#include "rm-lite/web/pages/page-frame.h"

#define RM_LIVE_EVENTS "/cluster/events/"
#define RM_LIVE_QUEUE RM_LIVE_EVENTS "queue/" /* and its path */
#define RM_LIVE_APP RM_LIVE_EVENTS "app/"     /* and its id */
#define RM_LIVE_APPS RM_LIVE_EVENTS "apps"
#define RM_LIVE_NODES RM_LIVE_EVENTS "nodes"
#define RM_LIVE_HISTORY "/cluster/history/" /* and a queue's path */
/* A page is kept open by each of a team, who may share an address. */
#define RM_LIVE_STREAMS 128
#define RM_LIVE_STREAMS_OF_ADDRESS 64

/* Ids of facts; page-cluster.c and page-app.c have them without script, too. */
#define RM_LIVE_NODE_COUNT "nodes"
#define RM_LIVE_MEMORY "memory"
#define RM_LIVE_VCORES "vcores"
#define RM_LIVE_RUNNING "running"
#define RM_LIVE_WAITING "waiting"
#define RM_LIVE_CONTAINERS "containers"
#define RM_LIVE_PENDING "pending"
#define RM_LIVE_PENDING_VCORES "pending-vcores"

int rm_live_new(struct rm *rm, struct sv_http_events **ret) _must_use_;
/* Answers RM_LIVE_EVENTS…; the result is the handler's. */
int rm_live_open(const struct rm_viewer *who, const struct sv_http_request *req,
                 struct sv_http_response *ret) _must_use_;
/* Answers RM_LIVE_HISTORY…. */
int rm_live_history(const struct rm *rm, const struct sv_http_request *req,
                    struct sv_http_response *ret) _must_use_;

/* Applications that run, and those that wait for it. */
void rm_live_apps(const struct rm *rm, int32_t *ret_running, int32_t *ret_waiting);

#endif
