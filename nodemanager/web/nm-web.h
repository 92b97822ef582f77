/* REST of the NodeManager under /ws/v1/node and container logs, with the paths and fields of
 * Hadoop's NMWebServices. Rendering only; web-access.c controls access. Hostile: paths and queries
 * of every client that can connect; file names and contents of logs. */
#ifndef SELVEDGE_NODEMANAGER_WEB_NM_WEB_H
#define SELVEDGE_NODEMANAGER_WEB_NM_WEB_H

#include "common/web/http.h"

struct ipc_server;
struct nm_amrm;
struct nm_assignments;
struct nm_aux;
struct nm_context;
struct nm_describer;
struct nm_finished;
struct nm_localization;
struct nm_log_aggregation;
struct nm_monitor;
struct nm_scheduler;
struct nm_sessions;
struct nm_updater;
struct sv_groups;
struct sv_http;
struct sv_http_events;

struct nm_web {
    const struct nm_context *ctx;
    const struct nm_finished *finished;
    const struct nm_updater *updater;
    struct sv_groups *groups;
    const struct nm_aux *aux; /* NULL: no auxiliary services */
    const struct nm_localization *localization;
    const struct nm_log_aggregation *aggregation;
    struct nm_describer *const *labels; /* by enum nm_described; each may be NULL */
    const struct nm_monitor *monitor;
    const struct nm_scheduler *scheduler;
    const struct nm_assignments *assignments;
    const struct ipc_server *rpc;
    struct nm_amrm *amrm;              /* NULL: no AMRMProxy */
    const struct ipc_server *amrm_rpc; /* its port; NULL likewise */
    struct sv_http_events *live;       /* live.h */
    struct nm_sessions *sessions;      /* in containers */
    unsigned *lists;                   /* long ones being written (web-list.h) */
    unsigned *sends;                   /* logs being sent (log-send.h) */
    struct sv_http *http;              /* the server */
};

/* An sv_http_handler; userdata is the struct nm_web. */
int nm_web_handle(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata);

#endif
