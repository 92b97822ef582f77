/* The ResourceManager: what it owns and how its parts reach each other.
 *
 * One thread, one sd-event loop. RPC handlers, timers and the scheduler's decisions post events to
 * state machines with rm_post(); rm_drain() runs them one after the other, so no machine ever runs
 * inside another's action. Objects are freed only when the queue is empty. */
#ifndef SELVEDGE_RM_LITE_RM_H
#define SELVEDGE_RM_LITE_RM_H

#include <systemd/sd-event.h>
#include <uthash.h>
#include <utlist.h>

#include "common/arena.h"
#include "common/clock.h"
#include "common/conf.h"
#include "common/error.h"
#include "common/fsm.h"
#include "common/http.h"
#include "common/log.h"
#include "rm-lite/rm-conf.h"
#include "rm-lite/scheduler.h"
#include "wire/ids.h"
#include "wire/ipc-server.h"

struct rm;
struct rm_app;
struct rm_attempt;
struct rm_container;
struct rm_node;
struct rm_secrets;
struct rm_store;
struct rm_launcher;

/* ------------------------------------------------------------------- events */

enum rm_machine { RM_M_APP, RM_M_ATTEMPT, RM_M_CONTAINER, RM_M_NODE };

struct rm_event { /* payload of an event; what is not said is zero */
    enum rm_machine machine;
    void *object;
    int event;
    char *text; /* owned by the event */
    int32_t exit_status;
    void *subject; /* container, node, … that the event is about; not owned */
    int64_t number;
    bool flag_master; /* CONTAINER_FINISHED: it was the master's container */
    struct rm_event *next;
};

/* Queues an event; `text` is copied. Failure to allocate ends the program: a lost event would
 * leave an application in limbo for ever. */
void rm_post(struct rm *rm, enum rm_machine m, void *object, int event);
void rm_post_full(struct rm *rm, struct rm_event ev, const char *text);
void rm_drain(struct rm *rm); /* every entry point ends with it */

/* ------------------------------------------------------------------ objects */

struct rm_seconds { /* aggregated use: MB·s and vcore·s, counted in milliseconds */
    int64_t memory_ms, vcore_ms;
};

struct rm_app {
    struct {
        int64_t ts, id;
    } key;
    struct rm *rm;
    struct yarn_app_id id;
    char id_str[YARN_ID_TEXT_MAX];
    int state, before; /* RMApp state; the one shown while FINAL_SAVING or KILLING */
    int target;        /* where FINAL_SAVING leads */
    bool attempt_done; /* its attempt finished during FINAL_SAVING */
    bool recovered;
    char *user, *name, *queue, *type;
    uint8_t *submission; /* ApplicationSubmissionContextProto as received */
    size_t submission_len;
    struct sv_arena *context_arena; /* of rm_app_context(); NULL until asked for, and at the end */
    void *context;
    int32_t priority, max_attempts;
    bool unmanaged, keep_containers;
    int64_t validity_ms; /* attempt_failures_validity_interval */
    struct rm_res am_resource;
    char **tags;
    int64_t submit_ms, start_ms, launch_ms, finish_ms; /* wall clock */
    char *diagnostics;
    char *kill_text;
    int final_status;          /* FinalApplicationStatusProto */
    char *tracking_url;        /* of the last attempt, kept when finished */
    struct rm_seconds seconds; /* of finished containers */
    int32_t total_containers;
    struct rm_attempt *attempts; /* in order */
    struct rm_attempt *current;
    struct rm_name_set *ran_on; /* nodes that must hear of its end */
    UT_hash_handle hh;
    struct rm_app *prev, *next; /* rm->app_list, in order of submission */
};

struct rm_name_set {
    char *name;
    int64_t number; /* NMToken: the key id that its token was made with */
    UT_hash_handle hh;
};
bool rm_set_has(struct rm_name_set *set, const char *name);
struct rm_name_set *rm_set_get(struct rm_name_set *set, const char *name);
struct rm_name_set *rm_set_add(struct rm_name_set **set, const char *name);
void rm_set_clear(struct rm_name_set **set);

struct rm_attempt {
    struct rm *rm;
    struct rm_app *app;
    struct yarn_attempt_id id;
    char id_str[YARN_ID_TEXT_MAX];
    int state, before, target;
    struct rm_container *master; /* NULL until allocated, and after it is gone */
    struct yarn_container_id master_id;
    struct yarn_node_id master_node;
    char *master_http;         /* "host:port" of that node's web */
    bool master_done;          /* its container ended */
    bool has_master;           /* master_id is valid */
    int32_t exit_status;       /* of the master container; -1000 */
    char *host, *tracking_url; /* from register/finish; NULL before */
    int32_t rpc_port;
    float progress;
    int final_status;
    char *diagnostics;
    int64_t start_ms, finish_ms; /* wall */
    int64_t seen_ms;             /* monotonic: last allocate, for liveliness */
    bool registered, token_live;
    int32_t amrm_key; /* key id of the token that its master has */
    int32_t response_id;
    uint8_t *last_response; /* packed, for a repeated request */
    size_t last_response_len;
    struct rm_name_set *nm_tokens; /* nodes whose NMToken it has */
    struct rm_container *fresh;    /* allocated, not pulled yet */
    struct rm_done *done;          /* completed containers for the next allocate */
    struct rm_done *sent;          /* sent with last_response, not acknowledged */
    struct rm_name_set *node_updates;
    struct ipc_call *finish_call; /* finishApplicationMaster waiting for the store */
    bool failure_counts;
    struct rm_attempt *prev, *next;
};

struct rm_done { /* a completed container on its way to the ApplicationMaster */
    struct yarn_container_id id;
    int32_t exit_status;
    char *diagnostics;
    struct rm_res resource;
    char *node; /* "host:port" that must hear when the status was pulled */
    char id_str[YARN_ID_TEXT_MAX];
    struct rm *rm;
    struct rm_done *prev, *next;
    UT_hash_handle hh; /* rm->done: not acknowledged by the ApplicationMaster yet */
};
void rm_done_free(struct rm_done *d);

struct rm_container {
    struct {
        int64_t ts, app_attempt, id;
    } key;
    struct rm *rm;
    struct rm_app *app;
    struct rm_attempt *attempt;
    struct rm_node *node; /* NULL once the node is gone */
    struct yarn_container_id id;
    char id_str[YARN_ID_TEXT_MAX];
    int state;
    bool is_master, in_fresh;
    struct rm_res resource;
    int32_t priority;
    int64_t allocation_id;
    int64_t created_ms, finish_ms; /* wall */
    int64_t expires_ms;            /* monotonic; 0 = no expiry running */
    int32_t exit_status;
    char *diagnostics;
    struct yarn_node_id node_id;
    char *node_http;
    UT_hash_handle hh;                    /* rm->containers */
    struct rm_container *f_prev, *f_next; /* attempt->fresh */
    struct rm_container *n_prev, *n_next; /* node->containers */
    struct rm_container *x_prev, *x_next; /* rm->expiring, in order of expires_ms */
};

struct rm_cid { /* a container id in a list */
    struct yarn_container_id id;
    struct rm_cid *prev, *next;
};
struct rm_aid {
    struct yarn_app_id id;
    struct rm_aid *prev, *next;
};

struct rm_node {
    struct rm *rm;
    struct yarn_node_id id;
    char key[300];               /* "host:port" */
    char *rack, *version, *http; /* http: "host:port" */
    int32_t http_port;
    int state;
    struct rm_res total;
    bool in_sched;
    int64_t decommission_deadline_ms; /* monotonic; 0 = none */
    int32_t response_id;
    int64_t seen_ms;   /* monotonic, last heartbeat */
    int64_t health_ms; /* wall, last health report */
    char *health;
    int32_t used_pmem, used_vmem, node_pmem, node_vmem; /* utilisation */
    float used_cpu, node_cpu;
    int32_t container_key, nm_key; /* ids it knows */
    struct rm_container *containers;
    struct rm_name_set *apps; /* applications that it says it runs */
    struct rm_cid *to_cleanup, *to_remove;
    struct rm_aid *apps_to_cleanup;
    uint8_t *last_response; /* packed, for a repeated heartbeat */
    size_t last_response_len;
    UT_hash_handle hh; /* rm->nodes or rm->inactive_nodes */
};

struct rm_counters {
    int64_t apps_submitted, apps_completed, apps_failed, apps_killed;
    int64_t allocated, released;
};

struct rm {
    sd_event *event;
    struct sv_conf *xml; /* not owned */
    struct rm_conf conf;
    int64_t started_ms; /* wall: the cluster timestamp and rm_identifier */
    int64_t epoch;
    int32_t last_app; /* counter of application ids */
    struct rm_sched *sched;
    struct rm_secrets *secrets;
    struct rm_store *store;
    struct rm_launcher *launcher;
    struct rm_app *apps, *app_list;
    size_t n_completed;
    struct rm_container *containers, *expiring;
    struct rm_done *done; /* by container id */
    struct rm_node *nodes, *inactive_nodes;
    struct rm_name_set *include, *exclude;
    struct ipc_server *client_server, *am_server, *tracker_server, *admin_server;
    struct sv_http *http;
    uint16_t client_port, am_port, tracker_port, admin_port, web_port;
    struct rm_event *queue, *queue_tail;
    bool draining;
    struct rm_container *dead_containers;
    struct rm_node *dead_nodes;
    sd_event_source *tick;
    int64_t hold_until_ms; /* no new allocations before: recovered nodes may still come back */
    bool want_round;       /* an ask round is due at the end of the drain */
    struct rm_counters counters;
};

int rm_new(sd_event *event, struct sv_conf *conf, struct rm **ret, struct sv_error *err) _must_use_;
struct rm *rm_free(struct rm *rm);

/* Applies a scheduler event and turns its decisions into events of the machines. */
int rm_schedule(struct rm *rm, const struct rm_sched_event *ev, struct sv_error *err);
/* Asks for a round over the recently seen nodes when the queue is drained. */
void rm_want_round(struct rm *rm);

struct rm_app *rm_app_find(struct rm *rm, struct yarn_app_id id);
struct rm_attempt *rm_attempt_find(struct rm *rm, struct yarn_attempt_id id);
struct rm_container *rm_container_find(struct rm *rm, struct yarn_container_id id);
struct rm_node *rm_node_find(struct rm *rm, const struct yarn_node_id *id);

char *rm_strdup(const char *s);                 /* aborts without memory, NULL stays NULL */
void rm_set_text(char **dst, const char *s);    /* replaces */
void rm_append_text(char **dst, const char *s); /* bounded: 64 KiB, the end is kept */
/* For building an answer: the arena of a call is bounded by the size of its request, and a short
 * question may have a long answer. 256 MiB at most; ends the program without memory. */
struct sv_arena *rm_answer_arena(void);
void rm_out_of_memory(void) __attribute__((noreturn));

#endif
