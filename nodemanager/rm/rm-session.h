/* The connection of the node status updater to the ResourceManager: one request at a time, the
 * timer of the next one, retries, and the end of the daemon if the ResourceManager orders it or
 * does not answer for too long. Private to rm/. */
#ifndef SELVEDGE_NODEMANAGER_RM_RM_SESSION_H
#define SELVEDGE_NODEMANAGER_RM_RM_SESSION_H

#include <systemd/sd-event.h>

#include "nodemanager/rm/node-status-updater.h"
#include "nodemanager/rm/rm-login.h"
#include "wire/ipc/proxy.h"

#define NM_RM_CALL_MS 60000 /* a request unanswered for longer is repeated */
#define NM_RM_LOOK_MS 10000 /* for a ticket; that it comes is told, too */

/* A heartbeat's answer, whose lists are handled in turns. */
struct nm_answer {
    const struct Hadoop__Yarn__NodeHeartbeatResponseProto *m; /* NULL: none */
    struct sv_arena *arena;                                   /* of `m` */
    size_t list, at;                                          /* the next entry */
    size_t refused;                                           /* updates so far */
    sd_event_source *turn;
};

struct nm_updater {
    struct nm_updater_config config;
    struct nm_context *ctx;
    struct ipc_proxy *rm;
    struct nm_rm_login login;
    int32_t call; /* id of the open request; 0 = none */
    struct nm_answer answer;
    sd_event_source *timer;
    void (*send)(struct nm_updater *u); /* the next request: a registration or a heartbeat */
    bool registered;
    bool rm_is_ours;        /* the ResourceManager is Selvedge's: it is told more */
    bool rm_takes_earlier;  /* see earlier.h */
    bool changed;           /* the node's size has, so that it registers again */
    int32_t told_gpus;      /* by the last registration */
    bool again;             /* an event requires an immediate heartbeat */
    bool ended;             /* no further request */
    int64_t drain_until_ms; /* monotonic; deadline to wait for ends of containers before the
                               registration; 0 = none */
    int32_t response_id;
    int64_t rm_identifier;
    int64_t interval_ms;
    int64_t away_since_ms; /* monotonic; start of the outage; 0 = none */
    unsigned refusals;     /* consecutive */
    int64_t token_sequence;
    int64_t heartbeat_wall_ms;
    int64_t sent_us; /* monotonic: of the open heartbeat */
    void (*unregistered)(void *userdata);
    void *unregistered_data;
};

/* Opens the proxy and the timer. */
int nm_rm_session_open(struct nm_updater *u, struct sv_error *err) _must_use_;
void nm_rm_session_close(struct nm_updater *u);

/* Arms the timer of the next request. */
void nm_rm_schedule(struct nm_updater *u, int64_t in_ms);
void nm_rm_drop_answer(struct nm_updater *u);
/* A request was answered. */
void nm_rm_recovered(struct nm_updater *u);
/* A request failed. `r`: its result, NULL = it was not sent or its answer is invalid. Schedules a
 * retry, or ends the daemon after the configured time. */
void nm_rm_unavailable(struct nm_updater *u, const char *what, const struct ipc_result *r,
                       const char *why);
/* The ResourceManager orders the end of the daemon; `from_rm` is its message. */
void nm_rm_shut_down(struct nm_updater *u, enum nm_updater_end end, const char *why,
                     const char *from_rm);

#endif
