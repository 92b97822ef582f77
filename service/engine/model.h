/* The objects of the engine: plain data, and what moves an instance from one list to another.
 *
 * An instance is in exactly one list of its component. Wanted are those of all lists but
 * RELEASING; their number follows the component's target. Its version's list (at[], failed) is a
 * second membership, of instances with a container that was started. */
#ifndef SELVEDGE_SERVICE_ENGINE_MODEL_H
#define SELVEDGE_SERVICE_ENGINE_MODEL_H

#include "service/engine/engine.h"
#include "service/engine/hash.h"
#include "service/engine/numbers.h"
#include "service/engine/ops.h"
#include "service/engine/timers.h"

struct svc_comp;
struct svc_inst;
struct svc_task; /* what a framework knows of an instance: framework-task.h */
struct svc_fw;   /* and of the whole */

enum svc_list_kind {
    SVC_PENDING,    /* no container; one is to be requested */
    SVC_AWAITED,    /* no container; one of the master's previous attempt may be handed back */
    SVC_LIVE,       /* a container, in the order of allocation */
    SVC_RESTARTING, /* its container ends, and it becomes PENDING */
    SVC_RELEASING,  /* its container ends, and it is removed */
    SVC_ENDED,      /* no container, and none to come: SUCCEEDED, FAILED, FAILED_UPGRADE */
    SVC_N_LISTS
};
struct svc_list {
    struct svc_inst *head; /* utlist: head->prev is the tail */
    size_t n;
};

struct svc_node { /* a host */
    char host[256];
    struct svc_node_port {
        int32_t port;
        bool usable;
    } ports[8]; /* NodeManagers of one host, in test clusters; more are not told apart */
    size_t n_ports, n_usable;
    int64_t live; /* containers of instances, of all components */
    bool blacklisted;
    bool occupied;                /* blacklisted as long as it is, whatever failed there */
    struct svc_node *prev, *next; /* of the blacklist */
    UT_hash_handle hh;
};

/* A host as a component knows it. */
struct svc_entry {
    struct svc_node *node;
    int64_t here, releasing, requested; /* containers: all, of these being released; asks for it */
    int64_t failed, failed_recently, start_failed, preempted;
    int64_t last_used;
    uint64_t window;               /* of failed_recently */
    bool recent;                   /* in the list */
    struct svc_entry *prev, *next; /* most recently used first */
    UT_hash_handle hh;
};

struct svc_container {
    int64_t key[3];
    struct svc_node *node;
    int32_t port;
    struct svc_inst *inst;             /* NULL: surplus, released */
    uint32_t told;                     /* resync in which its release was emitted, */
    uint32_t first_told;               /* and in which first */
    bool kept;                         /* surplus: of a master's earlier attempt */
    struct svc_container *prev, *next; /* of the surplus ones */
    UT_hash_handle hh;
};

enum svc_placement { SVC_UNALLOCATED, SVC_OPEN, SVC_PLACED, SVC_ESCALATED };

struct svc_inst {
    struct svc_comp *comp;
    struct svc_inst *prev, *next;     /* of the list */
    struct svc_inst *v_prev, *v_next; /* of the version's list */
    struct svc_list *versions;        /* the latter; NULL = none */
    struct svc_container container;   /* key: while has_container */
    uint8_t state, list, placement;
    uint8_t version; /* index into the component's spec[] */
    bool has_container;
    bool target;          /* recovered, it runs the version of an upgrade */
    bool taken_back;      /* it was to be removed while its container ends: launched again */
    bool killed;          /* its end is no failure */
    bool failure_counted; /* its start failed */
    bool reinit_on_start; /* `version` is not the one that LAUNCH named */
    bool cancel_pending;  /* REINITIALIZE of the version before is not answered yet */
    uint32_t number;
    int32_t last_exit;
    int64_t created_at, started_at, launches;
    char *diagnostics; /* NULL = none */
    char *decided;     /* why its container is ended; NULL = it is not, or for no reason of note */
    struct svc_request *request; /* that is for it alone; NULL = none */
    struct svc_task *task;       /* the policy's, one allocation; NULL = it has none */
    char name[76];
};

struct svc_request {
    int64_t id, count;
    struct svc_comp *comp;
    struct svc_entry *entry; /* asks for this host alone; NULL = none */
    struct svc_inst *inst;   /* asks for this instance alone, by its own priority; NULL = none */
    int32_t priority;
    const char **hosts; /* of an anti-affine one; pointers into nodes */
    size_t n_hosts;
    bool escalated, anti;
    uint32_t told; /* resync in which the ASK was emitted */
    struct svc_timer escalate;
    struct svc_request *prev, *next;     /* of the engine */
    struct svc_request *c_prev, *c_next; /* of the component: those with an entry */
    UT_hash_handle hh;
};

struct svc_spec {
    const struct svc_component *component;
    struct svc_options options;
};

struct svc_comp {
    struct svc_engine *engine;
    size_t index, rank; /* in the definition; in the order of dependencies */
    char *name;
    int state;
    struct svc_spec spec[2]; /* [version] and, while an upgrade goes on, the other one */
    struct svc_spec next;    /* of the upgrade that goes on */
    uint8_t version;         /* of what starts now */
    int64_t target;
    struct svc_inst **slots; /* by number */
    size_t n_slots;
    struct svc_numbers numbers;
    size_t high; /* no wanted instance has this number or one above */
    struct svc_list lists[SVC_N_LISTS];
    struct svc_list at[2], failed_upgrade;
    int64_t running, ready, succeeded, failed, in_flight;
    size_t *dependencies, n_dependencies;
    bool open, ready_for_dependents, ok, complete, complete_some, upgrading, cancelling, driven,
        dirty;
    struct svc_comp *d_prev, *d_next; /* of the dirty ones */
    struct svc_request *request, *placed, *anti;
    int64_t requested, held; /* containers asked for; rejected ones to ask for again */
    uint32_t rejections;     /* in a row */
    struct svc_timer retry, health;
    int64_t below_since;
    struct svc_entry *entries, *recent;
    int64_t started_total, start_failed_total, completed_total, failed_total, requested_total;
    int64_t failed_recently, node_failed, preempted, limits_exceeded, surplus;
    char *reason;
    UT_hash_handle hh;
};

struct svc_engine {
    const struct svc_policy *policy;
    struct svc_limits limits;
    const struct svc_definition *definition, *next; /* next: of the upgrade that goes on */
    struct svc_comp **comps, **order, *by_name;     /* order: dependencies first */
    size_t n_comps;
    int state;
    bool started, ending, unregistered, success, roll_back;
    char *diagnostics;
    struct svc_container *containers, *surplus;
    size_t n_containers; /* of instances */
    struct svc_node *nodes, *blacklist;
    const struct svc_definition **held; /* those that components point into */
    size_t n_held;
    size_t n_usable;
    bool nodes_known;
    struct svc_request *requests, *request_list;
    int64_t last_request;
    struct svc_timers timers;
    struct svc_timer turn, retell, window_end, recovery_end, stop_end, lost_end;
    uint64_t window;
    int64_t armed, now, started_at;
    uint32_t resyncs, lost_resync, budget; /* lost_resync: that of lost_end */
    bool resyncing, tell_ends, open_due, stop_over;
    struct svc_comp *dirty;
    /* components: that wait for dependencies; are settled; ended for good; did so with instances */
    size_t n_waiting, n_ok, n_complete, n_complete_some;
    struct svc_ops ops;
    struct svc_inst *dead; /* freed when the operations were read */
    struct svc_fw *fw;     /* the policy's */
    int64_t unknown_completed;
    uint64_t random;
};

enum svc_timer_kind {
    SVC_TIMER_TURN = 1,
    SVC_TIMER_RETELL,
    SVC_TIMER_WINDOW,
    SVC_TIMER_RECOVERY,
    SVC_TIMER_STOP,
    SVC_TIMER_LOST,
    SVC_TIMER_RETRY,
    SVC_TIMER_HEALTH,
    SVC_TIMER_ESCALATE,
    SVC_TIMER_POLICY, /* this and those behind it: the policy's */
};
#define SVC_TIMER_OWNER(t, type, field) ((type *)(void *)((char *)(t)-offsetof(type, field)))

/* The version that it runs; its component's where that one is gone. */
static inline const struct svc_spec *svc_spec_of(const struct svc_inst *i)
{
    const struct svc_comp *c = i->comp;

    return c->spec[i->version].component ? &c->spec[i->version] : &c->spec[c->version];
}
static inline const struct svc_options *svc_options_of(const struct svc_comp *c)
{
    return &c->spec[c->version].options;
}
static inline int64_t svc_wanted(const struct svc_comp *c)
{
    return (int64_t)(c->lists[SVC_PENDING].n + c->lists[SVC_AWAITED].n + c->lists[SVC_LIVE].n +
                     c->lists[SVC_RESTARTING].n + c->lists[SVC_ENDED].n);
}
static inline bool svc_is_wanted(const struct svc_inst *i)
{
    return i->list != SVC_RELEASING;
}

void svc_dirty(struct svc_comp *c); /* svc_settle() looks at it */
struct svc_comp *svc_comp_named(const struct svc_engine *e, const char *name);
struct svc_inst *svc_inst_named(const struct svc_engine *e, const char *name);
/* Component and number of an instance's name, which need not exist; NULL: no such component. */
struct svc_comp *svc_name_split(const struct svc_engine *e, const char *name, uint32_t *ret_number);

void svc_move(struct svc_inst *i, enum svc_list_kind to); /* to its tail */
/* Puts it into the list of its version (or the failed ones, or none where `to` is NULL). */
void svc_list_version(struct svc_inst *i, struct svc_list *to);
/* A new wanted instance, PENDING; NULL: no number is left. May take back one that is RELEASING. */
struct svc_inst *svc_inst_new(struct svc_comp *c);
/* The instance of this name, made if it is missing; NULL: the number is retired or too large. */
struct svc_inst *svc_inst_at(struct svc_comp *c, uint32_t number);
/* Removes one that has no container. */
void svc_inst_remove(struct svc_inst *i);
void svc_inst_free(struct svc_inst *i);
void svc_bury(struct svc_engine *e); /* frees removed ones; no operation may name them */

void svc_container_add(struct svc_engine *e, struct svc_container *c,
                       const struct yarn_container_id *id, struct svc_node *node, int32_t port);
void svc_container_remove(struct svc_engine *e, struct svc_container *c);
struct svc_container *svc_container_find(const struct svc_engine *e,
                                         const struct yarn_container_id *id);
struct yarn_container_id svc_container_id(const struct svc_container *c);
/* Appends an operation that names the container; RELEASE where it has no instance. */
struct svc_op *svc_container_op(struct svc_engine *e, enum svc_op_type type,
                                const struct svc_container *c);
void svc_set_text(char **text, const char *value); /* a copy, cut */

#endif
