/* RMNode: one NodeManager as the ResourceManager knows it, its states and its events. */
#ifndef SELVEDGE_RM_LITE_CORE_RM_NODE_H
#define SELVEDGE_RM_LITE_CORE_RM_NODE_H

#include <netinet/in.h>
#include <utlist.h>

#include "common/fsm.h"
#include "rm-lite/core/context.h"
#include "rm-lite/scheduler/hash.h"
#include "rm-lite/scheduler/resource.h"

enum rm_node_state {
    RM_NODE_ST_NEW = 1,
    RM_NODE_ST_RUNNING,
    RM_NODE_ST_UNHEALTHY,
    RM_NODE_ST_DECOMMISSIONING,
    RM_NODE_ST_DECOMMISSIONED,
    RM_NODE_ST_LOST,
    RM_NODE_ST_REBOOTED,
    RM_NODE_ST_SHUTDOWN,
    RM_NODE_STATES
};
enum rm_node_event {
    RM_NODE_EV_STARTED = 1,   /* struct rm_node_health */
    RM_NODE_EV_STATUS_UPDATE, /* struct rm_node_health */
    RM_NODE_EV_DECOMMISSION,
    RM_NODE_EV_GRACEFUL, /* struct rm_node_grace */
    RM_NODE_EV_RECOMMISSION,
    RM_NODE_EV_EXPIRE,
    RM_NODE_EV_REBOOTING,
    RM_NODE_EV_SHUTDOWN,
    RM_NODE_EV_RECONNECTED,
    RM_NODE_EV_RESOURCE_UPDATE,
    RM_NODE_EV_CLEANUP_APP,
    RM_NODE_EV_CLEANUP_CONTAINER,
    RM_NODE_EV_PULLED_BY_AM,
    RM_NODE_EVENTS
};
struct rm_node_health {
    bool healthy;
};
struct rm_node_grace {
    int64_t timeout_ms; /* time for its applications to end; -1: none */
};

struct rm_cid { /* a container id in a list */
    struct yarn_container_id id;
    int command; /* SignalContainerCommandProto; to_signal only */
    struct rm_cid *prev, *next;
};
struct rm_aid { /* an application id in a set that keeps its order */
    struct {
        int64_t ts, id;
    } key;
    struct yarn_app_id id;
    UT_hash_handle hh;
};

struct rm_node {
    struct rm *rm;
    struct yarn_node_id id;
    char key[300];               /* "host:port" */
    char *rack, *version, *http; /* http: "host:port" */
    char *labels;                /* names of its labels, as it reports them; or NULL */
    char *selvedge;              /* its version of Selvedge; "": another NodeManager */
    int64_t joined_ms;           /* wall: its registration */
    int32_t http_port;
    struct in6_addr peer; /* address of registration; IPv4 as mapped */
    int state;
    int counted; /* its state in rm->node_counts; -1: none */
    struct rm_res total;
    struct rm_res physical; /* of the machine, as the node reports; 0: unknown */
    bool in_sched;
    bool resize_waits;                /* the next answer reports its new size */
    int64_t overcommit_ms;            /* monotonic; 0 = none: overcommit.h */
    int64_t untracked_since_ms;       /* monotonic; 0: in a list of hosts, or not yet seen */
    int64_t decommission_deadline_ms; /* monotonic; 0 = none */
    int32_t response_id;
    int64_t seen_ms;   /* monotonic, last heartbeat */
    int64_t health_ms; /* wall, last health report */
    char *health;
    int32_t used_pmem, used_vmem, node_pmem, node_vmem; /* utilisation */
    float used_cpu, node_cpu;
    int32_t container_key, nm_key; /* ids of the keys it has received */
    int64_t token_sequence;        /* of the system credentials that the node has */
    struct rm_container *containers;
    struct rm_name_set *apps; /* applications that the node reports as running */
    struct rm_cid *to_cleanup, *to_remove, *to_signal, *to_update;
    struct rm_aid *apps_to_cleanup;
    uint8_t *last_response; /* packed, for a repeated heartbeat */
    size_t last_response_len;
    int64_t update_number; /* node-updates.h; 0: not in the list */
    struct rm_node *u_prev, *u_next;
    UT_hash_handle hh; /* rm->nodes or rm->inactive_nodes */
};

typedef struct Hadoop__Yarn__NodeHeartbeatResponseProto Hadoop__Yarn__NodeHeartbeatResponseProto;

#define RM_NODE_SIGNALS_MAX 1000 /* per heartbeat answer */

struct rm_node *rm_node_new(struct rm *rm, const struct yarn_node_id *id);
void rm_node_free(struct rm_node *n);
/* Call it after each change of state; `in_table` false: the node is in neither table. */
void rm_node_recount(struct rm_node *n, bool in_table);
int rm_node_wire_state(const struct rm_node *n); /* NodeStateProto */
bool rm_node_is_active(const struct rm_node *n);
/* Queue for the answer to the next heartbeat: a container or application to end, and a container
 * whose status the ApplicationMaster has received. */
void rm_node_cleanup_container(struct rm_node *n, struct yarn_container_id id);
void rm_node_cleanup_app(struct rm_node *n, struct yarn_app_id id);
/* `command`: a SignalContainerCommandProto. -EBUSY: RM_NODE_SIGNALS_MAX signals are queued. */
int rm_node_signal_container(struct rm_node *n, struct yarn_container_id id, int command)
    _must_use_;
/* Moves the applications to end into the answer of a heartbeat; without memory the rest is left for
 * the next. */
void rm_node_take_apps(struct rm_node *n, struct sv_arena *a,
                       Hadoop__Yarn__NodeHeartbeatResponseProto *resp);
/* Moves the queued signals into the answer of a heartbeat. */
void rm_node_take_signals(struct rm_node *n, struct sv_arena *a,
                          Hadoop__Yarn__NodeHeartbeatResponseProto *resp);
void rm_node_pulled(struct rm_node *n, struct yarn_container_id id);
/* Queues the resource that the container has then for the next answer to its node. */
void rm_node_update_container(struct rm_container *c);
void rm_node_clear_lists(struct rm_node *n);

int32_t rm_count_nodes(const struct rm *rm, int state); /* rm_node_state */
int32_t rm_active_nodes(const struct rm *rm);           /* RUNNING or DECOMMISSIONING */
/* That number for ApplicationMasters: while nodes may still come back after a restart, at least as
 * many as before it, since a master that is told 0 may think that it has excluded all of them. */
int32_t rm_told_nodes(const struct rm *rm);

/* Changes the size: in the scheduler now, on the node with its next answer. */
void rm_node_resize(struct rm_node *n, struct rm_res total);

void rm_node_post(struct rm_node *n, enum rm_node_event event);
/* STARTED, STATUS_UPDATE */
void rm_node_post_health(struct rm_node *n, enum rm_node_event event, bool healthy);
void rm_node_post_graceful(struct rm_node *n, int64_t timeout_ms);

/* rm-node-fsm.c */
extern const struct sv_fsm rm_node_fsm;
void rm_node_handle(const struct sv_event *event, void *userdata); /* sv_event_handler */

#endif
