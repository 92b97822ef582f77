/* RMContext: the tables and services that all parts of the ResourceManager share, and the look-ups.
 *
 * One thread, one sd-event loop. RPC methods, timers and the scheduler's decisions post events to
 * four state machines (rm-app.h, rm-app-attempt.h, rm-container.h, rm-node.h). An entry point (RPC
 * method, timer, callback of a client) opens a batch, so its events run when it returns; where its
 * answer needs their effect it calls sv_dispatcher_run(). When the queue is empty, dead objects are
 * freed and a requested allocation pass runs (rm.c). A failed allocation: common/oom.h. */
#ifndef SELVEDGE_RM_LITE_CORE_CONTEXT_H
#define SELVEDGE_RM_LITE_CORE_CONTEXT_H

#include <systemd/sd-event.h>

#include "common/clock.h"
#include "common/dispatcher.h"
#include "common/exit-meaning.h"
#include "common/histogram.h"
#include "common/log.h"
#include "rm-lite/conf/rm-conf.h"
#include "rm-lite/core/name-set.h"
#include "rm-lite/core/sched-health.h"
#include "rm-lite/scheduler/id-table.h"
#include "wire/ids.h"

struct ipc_server;
struct sgss_daemon;
struct sv_groups;
struct rm_app;
struct rm_attempt;
struct rm_call_lists;
struct rm_container;
struct rm_delegation;
struct rm_done;
struct rm_history;
struct rm_launcher;
struct fed_store;
struct rm_member;
struct rm_node;
struct rm_node_auth;
struct rm_node_lookups;
struct rm_token_renewer;
struct rm_topology;
struct rm_proxy;
struct rm_relay;
struct rm_queue_counters;
struct rm_record;
struct rm_sched;
struct rm_secrets;
struct rm_secure;
struct rm_store;
struct rm_waiting;
struct rm_web_list;
struct rm_web_server;
struct sv_http;
struct sv_http_events;
struct sv_policy;

#define RM_NODE_STATES_MAX 16
#define RM_APP_STATES_MAX 16

enum rm_machine { RM_M_APP, RM_M_ATTEMPT, RM_M_CONTAINER, RM_M_NODE };

struct rm_counters {
    int64_t allocated, released;
    int64_t allocated_per_s, allocated_before, rated_ms; /* rate of the last second; periodic.c */
    int64_t changes;                                     /* transitions of all objects */
    int64_t ended[SV_ENDS];                              /* containers, by reason */
    struct sv_histogram waits;      /* of containers: from the ask to the allocation */
    struct sv_histogram starts;     /* of containers: from the allocation until its node runs it */
    struct sv_histogram app_starts; /* from the submission until its master has registered */
};

struct rm {
    sd_event *event;
    struct sv_conf *xml; /* the configuration files; not owned */
    struct rm_conf conf; /* parsed at the start; constant */
    int64_t started_ms;  /* wall: the cluster timestamp and rm_identifier */
    int64_t epoch;
    int32_t last_app; /* counter of application ids */
    struct sv_dispatcher *dispatcher;
    struct rm_sched *sched;
    struct rm_record *record; /* record of the scheduler's events, or NULL */
    struct rm_secrets *secrets;
    struct rm_store *store;
    struct rm_delegation *delegation;
    struct rm_token_renewer *renewer; /* NULL without Kerberos */
    struct rm_launcher *launcher;
    struct rm_app *apps, *app_list; /* by id; in order of submission */
    size_t n_completed;
    int32_t app_counts[RM_APP_STATES_MAX]; /* of rm->apps, by state */
    int64_t submission_bytes;              /* kept by all applications; submission.h */
    struct rm_name_set *submitters;        /* users with applications; number: such bytes of each */
    int32_t node_counts[RM_NODE_STATES_MAX];    /* of rm->nodes and rm->inactive_nodes, by state */
    int n_lists;                                /* web-list.c: lists being written */
    struct rm_web_list *selecting;              /* web-list.c: lists that select their entries */
    struct rm_call_lists *call_lists;           /* call-list.c, or NULL */
    struct rm_container *containers, *expiring; /* by id; in order of expires_ms */
    int64_t update_calls; /* answered calls that update containers; am-updates.c */
    struct rm_done *done; /* by container id */
    size_t done_texts;    /* bytes of their diagnostics */
    struct rm_node *nodes, *inactive_nodes; /* by "host:port" */
    struct rm_node *updated_nodes;          /* node-updates.h */
    int64_t node_updates;                   /* number of the last one */
    struct rm_id_table node_ids;            /* index of `nodes`: rm_node_find */
    struct rm_pool node_pool;
    struct rm_name_set *include, *exclude;
    struct rm_name_set *draining; /* decommissioning nodes, in the store; number: deadline */
    struct rm_node_auth *node_auth;
    struct rm_node_lookups *node_lookups;
    struct rm_topology *topology;
    struct rm_container *ended; /* oldest first; ended-containers.h */
    size_t n_ended;
    struct rm_container *dead_containers; /* freed when the event queue is empty */
    struct rm_node *dead_nodes;
    struct ipc_server *client_server, *am_server, *tracker_server, *admin_server;
    struct rm_web_server *web_server;
    struct sv_http *http;        /* that server's */
    struct sv_http_events *live; /* event streams of pages */
    struct rm_history *history;
    struct rm_proxy *proxy;   /* for ApplicationMasters' pages */
    struct rm_relay *relay;   /* for the services API; NULL: not served */
    struct sv_groups *groups; /* groups of users; viewer.c */
    struct ipc_proxy_users *proxy_users;
    struct rm_secure *kerberos;      /* our login and how tickets are taken; NULL: none */
    const struct sgss_daemon *login; /* of `kerberos`, for its state */
    struct sv_policy *policy;        /* hadoop-policy.xml; NULL: none; service-access.c */
    int64_t refusal_told_ms;         /* when a refusal by it was last logged; 0 = never */
    struct rm_member *member;        /* of a federation; NULL: none */
    struct fed_store *fed_store;     /* the member's, while it is open; NULL: none */
    char *login_user;                /* the account of this process */
    char *admin_acl;                 /* list of refreshAdminAcls, or NULL; access.c */
    struct rm_waiting *waiting;      /* calls that wait for groups */
    uint16_t client_port, am_port, tracker_port, admin_port, web_port;
    sd_event_source *tick;
    int64_t hold_until_ms; /* no new allocations before: recovered nodes may still come back */
    int32_t stored_nodes;  /* the store's number of active nodes */
    bool pass_requested;   /* an allocation pass runs when the event queue is empty */
    int64_t preempt_at_ms; /* the next round of preemption */
    sd_event_source *pass_source; /* continues a pass in the next turn of the loop; or NULL */
    struct rm_counters counters;
    struct rm_sched_health health;
    struct rm_queue_counters *queue_counters; /* by path and user */
    int n_queue_users;                        /* entries of users */
};

/* NULL: not found. */
struct rm_app *rm_app_find(const struct rm *rm, struct yarn_app_id id);
struct rm_attempt *rm_attempt_find(const struct rm *rm, struct yarn_attempt_id id);
struct rm_container *rm_container_find(const struct rm *rm, struct yarn_container_id id);
struct rm_node *rm_node_find(const struct rm *rm, const struct yarn_node_id *id);
/* Adds the node to rm->nodes, or removes it. */
void rm_node_enter(struct rm *rm, struct rm_node *n);
void rm_node_leave(struct rm *rm, struct rm_node *n);
struct rm_node *rm_node_find_key(const struct rm *rm, const char *key); /* "host:port" */
struct rm_node *rm_node_find_inactive(const struct rm *rm, const char *key);
/* A completed container whose status its ApplicationMaster has not acknowledged. */
struct rm_done *rm_done_find(const struct rm *rm, struct yarn_container_id id);

#endif
