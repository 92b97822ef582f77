/* Live figures of the pages, as server-sent events once a second: memory, CPU and waits (PSI) of
 * the node's containers together, or of one container; for the node also the space of its disks,
 * which local-dirs.h measures on threads, and its health. common/web/live.js draws them.
 * Hostile: clients, whose number common/web/http-events.h bounds. */
#ifndef SELVEDGE_NODEMANAGER_WEB_LIVE_H
#define SELVEDGE_NODEMANAGER_WEB_LIVE_H

#include "nodemanager/web/nm-web.h"

#define NM_LIVE_NODE "/node/events"
#define NM_LIVE_CONTAINER "/events" /* suffix of a container's page */
#define NM_LIVE_PERIOD_MS 1000
#define NM_LIVE_STREAMS 32
#define NM_LIVE_STREAMS_OF_ADDRESS 8

/* Ids of the facts of NM_LIVE_NODE's events; page-node.c has them without script, too. */
#define NM_LIVE_STATE "state"
#define NM_LIVE_HEALTH "health"
#define NM_LIVE_HEARTBEAT "heartbeat"
#define NM_LIVE_CONTAINERS "containers"
#define NM_LIVE_DIRECTORY "dir%d" /* by the index of nm_dirs_space, below NM_LIVE_DIRECTORIES */
#define NM_LIVE_DIRECTORIES 32

struct nm_dir_space;
/* "good", or the state of a directory and its reason; for the page and the events. `ret_class`:
 * good or bad. */
#define NM_LIVE_STATE_MAX 192
const char *nm_live_directory(const struct nm_dir_space *s, char ret[static NM_LIVE_STATE_MAX],
                              const char **ret_class);

int nm_live_new(sd_event *event, const struct nm_web *w, struct sv_http_events **ret) _must_use_;
/* `container` "": the node. The caller must be allowed to view it. The result is the handler's. */
int nm_live_open(const struct nm_web *w, const char *container, const struct sv_http_request *req,
                 struct sv_http_response *ret) _must_use_;

#endif
