/* Private declarations of the scheduler: its files from the bottom to the top are queues.c,
 * queue-users.c, queue-order.c, queue-mappings.c, scheduler-keys.c, preemption-conf.c,
 * queue-key-table.c, queue-keys.c, queue-conf.c, scheduler-ids.c, ask-index.c, ready-apps.c,
 * queue-limits.c, free-nodes.c, those of placement.h, allocation.c, reservations.c, asks.c,
 * placement-asks.c, container-updates.c, largest-nodes.c, activities.c, assign.c,
 * allocation-pass.c, parallel-apps.c, app-queue.c, preempt-shares.c, preempt-inside.c,
 * preemption.c, reconfigure.c, scheduler-query.c, waiting.c and scheduler.c. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_SCHEDULER_IMPL_H
#define SELVEDGE_RM_LITE_SCHEDULER_SCHEDULER_IMPL_H

#include <string.h>
#include <utlist.h>

#include "rm-lite/scheduler/hash.h"
#include "rm-lite/scheduler/id-table.h"
#include "rm-lite/scheduler/largest-nodes.h"
#include "rm-lite/scheduler/placement.h"
#include "rm-lite/scheduler/pool.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/scheduler/waiting.h"

struct rm_activities;

#define RM_QUEUE_DEPTH_MAX 32
#define RM_QUEUE_COUNT_MAX 10000

#define RM_PREEMPT_DECISIONS 1000  /* decisions of one RM_SCHED_PREEMPT */
#define RM_PREEMPT_CONTAINERS 4096 /* newest containers of an application that one event scans */
#define RM_PREEMPT_GROUPS 64       /* asks of an application that are tested one by one */

struct rm_user_value { /* a configured value of one user */
    char *name;
    double value;
    UT_hash_handle hh;
};

struct rm_mapping { /* one entry of queue-mappings, in the configured order */
    bool by_group;
    char *who, *queue; /* the queue may have variables */
    struct rm_mapping *next;
};

struct rm_person { /* a user with running applications, in any queue */
    char *name;
    int32_t running;
    UT_hash_handle hh;
};

struct rm_user { /* one user of one leaf */
    char *name;
    double weight; /* QUEUE.user-settings.USER.weight */
    struct rm_res used, am_used, killing;
    int32_t apps, active_apps; /* submitted; activated within the AM limit */
    int32_t asking;            /* applications with outstanding asks: an "active user" */
    struct rm_res share_left;  /* preempt-shares.c: rest of the user's limit */
    UT_hash_handle hh;
};

struct rm_share { /* of a queue, in one round of preemption */
    struct rm_res used, pending, ideal;
    struct rm_res preemptable, untouchable; /* parts of the usage above the guarantee */
    struct rm_res excess;                   /* above the ideal: to be reclaimed in this round */
};

struct rm_stopped { /* an application that ended the walk over its leaf: no later one may pass */
    struct yarn_app_id app;
    int64_t visit; /* rm_sched_counts.nodes_visited; 0: never */
    struct rm_res limit;
};

struct rm_queue {
    char *name, *path;
    struct rm_queue *parent;
    struct rm_queue **children; /* in the configured order */
    struct rm_queue **sorted;   /* `children` in the order of queue-order.c */
    size_t n_children;
    size_t index;  /* in parent->children */
    size_t number; /* among all queues */
    /* configured */
    enum rm_queue_mode mode;
    double capacity, max_capacity; /* fractions */
    double weight;
    struct rm_res abs_min, abs_max; /* RM_MODE_ABSOLUTE; abs_max zero = parent's */
    enum rm_queue_state state;
    int32_t priority;
    bool priority_order; /* priority-utilization among the children */
    bool fair;           /* leaf: the application that uses least first */
    bool fair_by_size;   /* ... for its size: ordering-policy.fair.enable-size-based-weight */
    char *acl_submit, *acl_administer;
    double user_limit, user_limit_factor, am_percent;
    int32_t max_apps, max_apps_per_user, default_app_priority;
    int64_t configured_max_apps;                /* -1 = derived from the capacity */
    int32_t max_parallel;                       /* running applications, here and below */
    bool preemption_disabled;                   /* inherited */
    bool inside_disabled;                       /* preemption inside the queue */
    int64_t max_lifetime_s, default_lifetime_s; /* of applications; 0 = none */
    struct rm_user_value *weights;              /* user-settings.USER.weight */
    struct rm_mapping *mappings;                /* root */
    struct rm_user_value *parallel;             /* root: user.USER.max-parallel-apps */
    struct rm_res max_allocation;
    /* derived */
    double abs_capacity, abs_max_capacity;
    struct rm_res eff_min, eff_max;
    /* usage, summed along the path to the root */
    struct rm_res used, reserved, pending, am_used;
    int32_t containers, apps, active_apps;
    int32_t running;       /* applications that max-parallel-apps lets run */
    struct rm_res killing; /* part of `used`: victims decided, not ended */
    double order_key; /* queue-order.c: its usage when it was last inserted into parent->sorted */
    bool moved, unsorted; /* usage changed since; children's shares changed since */
    struct rm_queue *moved_next, *moved_children;
    bool blocked; /* a limit of the queue or of a user refused an ask since the last scan */
    /* leaf */
    struct rm_res user_limits[2]; /* of a user without and with outstanding asks, if ... */
    bool user_limits_known;       /* ... valid: no input of theirs has changed since */
    struct rm_user *users;
    struct rm_sched_app *waiting; /* not active yet, in order */
    struct rm_sched_app *ready;   /* active with outstanding asks, in order */
    struct rm_sched_app *general; /* subset of `ready` without host-only asks (FIFO leaves) */
    int32_t n_ready;
    struct rm_share share;       /* preempt-shares.c */
    struct rm_res am_limit_seen; /* AM limit at the last activation that left some in `waiting` */
    struct rm_stopped stopped;
};

struct rm_place { /* a host or rack that asks name */
    char *name;
    struct rm_ask_row *rows;
    size_t n;
    UT_hash_handle hh;
};

struct rm_ask_row {
    const char *name; /* of the place */
    int32_t count;
    bool relax;
    struct rm_sched_app *app;
    struct rm_place *place;
    struct rm_ask_row *p_prev, *p_next; /* place->rows */
    UT_hash_handle hh;
};

struct rm_ask_group { /* all rows of one (priority, allocation id, capability) */
    struct {
        int64_t priority, allocation_id;
        struct rm_res capability;
        int64_t container; /* the handle of `grows`; -1 with `placement`; or 0 */
    } key;
    struct rm_sched_container *grows; /* asks for `capability` more of it, on its node; or NULL */
    struct rm_placement *placement;   /* the SchedulingRequest that asks; or NULL */
    int32_t priority;
    int64_t allocation_id;
    struct rm_res capability;
    struct rm_ask_row *rows;
    int32_t any; /* count of the "*" row */
    bool any_relax;
    bool general;       /* may be allocated on a host that it does not name: rm_app_general */
    int64_t missed;     /* scheduling opportunities missed since the last local assignment */
    int32_t reserved;   /* nodes reserved for this group */
    int32_t surplus;    /* part of `reserved` beyond the asks: starvation credit in use */
    int64_t rereserved; /* heartbeats of reserved nodes on which the ask did not fit */
    int64_t asked_ms;   /* since when it waits for containers without a break */
    struct rm_sched_node *reservations;
    struct rm_ask_group *prev, *next; /* app->groups, in the order of service */
    UT_hash_handle hh;
};

struct rm_name { /* a set of strings */
    char *name;
    UT_hash_handle hh;
};

/* The last refusal, written where it is decided: a few stores of one cache line. */
struct rm_refused {
    int64_t visit;              /* rm_sched_counts.nodes_visited then */
    int64_t turn;               /* the visit with which `seen` began */
    int64_t at_ms;              /* clock of the event */
    struct rm_ask_group *group; /* NULL: no ask, or it has ended */
    uint32_t seen,
        seen_before; /* bits of refusals in a turn of n_nodes visits, and the one before */
    uint32_t node;   /* handle; 0: none */
    enum rm_refusal why;
};

struct rm_sched_app {
    struct {
        int64_t ts, id;
    } key;
    struct yarn_app_id id;
    int32_t attempt;
    int64_t sequence; /* last container number given */
    int32_t priority;
    bool active, in_waiting, in_ready, in_general, am_counted;
    bool runs, held; /* running within max-parallel-apps; held by it */
    struct rm_res am, used, reserved, pending;
    struct rm_res killing; /* part of `used`: victims decided, not ended */
    double magnitude;      /* key of the fair order */
    int32_t n_containers, n_reserved;
    int64_t n_pending; /* containers asked for */
    size_t n_rows, n_groups;
    int32_t n_general; /* groups */
    struct rm_queue *leaf;
    struct rm_user *user;
    struct rm_ask_group *groups, *group_table;
    bool groups_unsorted; /* rm_asks_sort */
    bool am_wanted;       /* the attempt's next container is its ApplicationMaster */
    struct rm_name *blacklist;
    struct rm_refused refused;
    uint32_t first_block, last_block;     /* its containers: handles in s->block_pool */
    struct rm_sched_app *w_prev, *w_next; /* leaf->waiting */
    struct rm_sched_app *r_prev, *r_next; /* leaf->ready */
    struct rm_sched_app *g_prev, *g_next; /* leaf->general */
    UT_hash_handle hh;
    /* SchedulingRequests; behind what every allocation touches */
    struct rm_word **app_tags; /* tags of its submission */
    size_t n_app_tags;
    struct rm_rule *rules;
    struct rm_placement *placements, *placed_keys; /* all; those that wait, by priority and id */
    int32_t n_placed;                              /* of its groups, SchedulingRequests */
    int64_t placed_cost, n_tag_counts;
    size_t placement_bytes;
};

/* Two cache lines. The container's neighbours are found by handles in its block, not by pointers in
 * it: a list through the containers themselves writes to two others for each addition or removal,
 * on a large cluster in main memory. */
struct rm_sched_container {
    struct rm_sched_app *app; /* read first when the container ends; one cache line */
    struct rm_sched_node *node;
    struct rm_res resource; /* zero: it is not counted, in no sum and no number */
    int64_t number;         /* in its id */
    uint32_t block;         /* the handle of its block */
    bool am, killing;       /* ApplicationMaster; preempted */
    bool placed;            /* has a placement */
    int32_t attempt, priority;
    int64_t allocation_id;
    int64_t preempt_ms; /* time of the announcement; 0 = none */
    enum rm_locality locality;
    struct rm_ask_group *growth;    /* the ask that grows it, or NULL */
    struct rm_placement *placement; /* its allocation tags, or NULL */
};

#define RM_BLOCK 32

/* Containers of one attempt with consecutive numbers. Finding, adding or removing one touches a
 * cache line of its block beside the container itself; the table of the blocks and their first
 * lines are small enough for a cache. A slot has the container's node too, so that both come from
 * main memory at the same time. */
struct rm_sched_block {
    struct rm_sched_app *app;
    int64_t first; /* number of the first slot: a multiple of RM_BLOCK */
    int32_t attempt;
    int32_t n;           /* slots in use; never 0 */
    uint32_t prev, next; /* blocks of the application, in order of creation */
    struct {
        uint32_t container, node; /* handles in s->container_pool, s->node_pool; 0: none */
    } places[RM_BLOCK];
};

/* A name with its hash: each ask is compared with its node's host and rack. */
struct rm_label {
    const char *name;
    unsigned len, hash;
};

static inline struct rm_label rm_label(const char *name)
{
    struct rm_label l = { .name = name, .len = (unsigned)strlen(name) };

    HASH_VALUE(l.name, l.len, l.hash);
    return l;
}

#define RM_NODE_FEW 9

/* Fields that the end of a container and a visit read come first, in three cache lines. */
struct rm_sched_node {
    struct rm_res total, used;
    uint32_t *containers; /* n_containers handles, in order of allocation */
    struct rm_sched_app *reserved_app;
    int64_t heartbeat_ms; /* -1 = never */
    int32_t n_containers;
    bool schedulable;
    bool has_free; /* schedulable, with free capacity for the smallest container */
    bool due;      /* in s->due, pending a visit */
    bool freed;    /* pending because a container ended on it */
    struct rm_sched_node *t_prev, *t_next; /* s->due */
    struct rm_label host_label;
    struct rm_sched_node *m_prev, *m_next; /* s->free_nodes */
    int32_t port, cap_containers;
    uint32_t handle;           /* in s->node_pool */
    uint32_t few[RM_NODE_FEW]; /* where `containers` points until there are more */
    struct rm_label rack_label;
    struct rm_ask_group *reserved_group;
    struct rm_res reserved;
    struct rm_sched_node *v_prev, *v_next; /* reserved_group->reservations */
    struct rm_sched_node *o_prev, *o_next; /* nodes of one host */
    struct rm_sched_node *prev, *next;     /* s->node_list, in the order of registration */
    char *rack;
};

_Static_assert(sizeof(struct rm_sched_container) <= 128 && sizeof(struct rm_sched_node) <= 320 &&
                   sizeof(struct rm_sched_block) <= 320,
               "a cluster has millions of containers: two cache lines each, and a part of a block");

struct rm_sched_host { /* asks name hosts, and a host may have several nodes */
    char *name;
    struct rm_sched_node *nodes;
    UT_hash_handle hh;
};

struct rm_preempt_settings {
    bool enabled;
    int64_t interval_ms, wait_ms;
    double per_round, ignored_over, factor;
    bool inside;                        /* also between applications of a leaf */
    bool priority_first;                /* inside a leaf: priorities before users' limits */
    double inside_from, inside_at_most; /* fractions of the guarantee: least use, most taken */
};

struct rm_sched_settings { /* everything read from the configuration but the queues */
    enum rm_calculator calc;
    struct rm_types types;
    struct rm_res min_alloc, max_alloc;
    int64_t max_apps, queue_max_apps;
    int64_t offswitch_limit, assignment_limit;
    bool multiple_assignments;
    int64_t node_locality_delay, rack_additional_delay;
    bool rack_full_reset;
    bool continue_look; /* reservations-continue-look-all-nodes */
    double am_percent;
    struct rm_preempt_settings preempt;
    bool override_mappings;          /* queue-mappings also for applications that name a queue */
    int64_t parallel, user_parallel; /* defaults of queues and users */
};

struct rm_sched {
    struct rm_sched_settings set;
    struct rm_queue *root;
    int64_t epoch;
    struct rm_res cluster;
    int32_t n_nodes;
    struct rm_sched_node *node_list;
    struct rm_id_table nodes, blocks; /* scheduler-ids.c */
    struct rm_pool node_pool, container_pool, block_pool;
    struct rm_sched_host *hosts;
    struct rm_sched_node
        *free_nodes; /* nodes with free capacity, in the order in which they got it */
    struct rm_sched_node
        *cursor;               /* next node of `free_nodes` that the scan visits; NULL: the head */
    struct rm_sched_node *due; /* nodes pending a visit */
    int32_t n_free_nodes,
        scan_left; /* the scan ends after scan_left more visits without allocation */
    struct rm_sched_counts counts;
    int64_t preempted_ms; /* the last round of preemption */
    int64_t now_ms;       /* of the event */
    struct rm_person *people;
    int32_t n_held; /* applications that wait for max-parallel-apps */
    struct rm_sched_app *apps;
    struct rm_place *places;
    struct rm_word *words;
    struct rm_tag_count *tag_counts;
    struct rm_placement *unplaced; /* held for the decisions of the last event */
    struct rm_sched_app **named;   /* of one walk over a leaf */
    size_t cap_named;
    bool walk_all; /* tests: walk over all applications of the leaf, for comparison */
    struct rm_largest largest_free, largest_total;
    struct rm_activities *activities; /* NULL: none is to be recorded */
    int64_t recorded;                 /* visits */
    struct rm_decision *out;
    size_t n_out, cap_out;
    char text[512]; /* of the one rejection that an event may decide */
};

/* scheduler-ids.c */
struct rm_sched_app *rm_sched_app_find(const struct rm_sched *s, struct yarn_app_id id);
struct rm_sched_node *rm_sched_node_find(const struct rm_sched *s, const struct yarn_node_id *id);
void rm_sched_node_index(struct rm_sched *s, struct rm_sched_node *n);
void rm_sched_node_unindex(struct rm_sched *s, struct rm_sched_node *n);
struct yarn_container_id rm_container_id(const struct rm_sched_container *c);
struct rm_sched_container *rm_sched_container_find(const struct rm_sched *s,
                                                   struct yarn_container_id id);
void rm_sched_container_index(struct rm_sched *s, struct rm_sched_container *c, uint32_t handle);
uint32_t rm_sched_container_unindex(struct rm_sched *s,
                                    struct rm_sched_container *c); /* returns its handle */
/* The application's containers in order of allocation; NULL at the end. */
struct rm_sched_container *rm_app_first(const struct rm_sched *s, const struct rm_sched_app *app);
struct rm_sched_container *rm_app_last(const struct rm_sched *s, const struct rm_sched_app *app);
struct rm_sched_container *rm_app_next(const struct rm_sched *s,
                                       const struct rm_sched_container *c);
struct rm_sched_container *rm_app_previous(const struct rm_sched *s,
                                           const struct rm_sched_container *c);

/* queue-conf.c */
int rm_queues_parse(struct sv_conf *conf, struct rm_sched_settings *ret_set,
                    struct rm_queue **ret_root, struct sv_error *err) _must_use_;

/* queue-users.c */
int rm_queue_users_parse(struct sv_conf *conf, struct rm_queue *root, struct sv_error *err)
    _must_use_;
double rm_user_weight(const struct rm_queue *leaf, const char *user);
int32_t rm_user_max_parallel(const struct rm_sched *s, const char *user);

/* queue-mappings.c */
int rm_mappings_parse(struct sv_conf *conf, struct rm_queue *root, struct sv_error *err) _must_use_;

/* queue-order.c */
void rm_queue_moved(struct rm_queue *q); /* its use has changed */
void rm_queue_sort(const struct rm_sched *s, struct rm_queue *parent);

/* preemption-conf.c */
int rm_preempt_parse(struct sv_conf *c, struct rm_preempt_settings *ret, struct sv_error *err)
    _must_use_;

/* ask-index.c */
struct rm_place *rm_place_find(const struct rm_sched *s, const struct rm_label *name);
void rm_place_add(struct rm_sched *s, const struct rm_label *name, struct rm_ask_row *row);
void rm_place_remove(struct rm_sched *s, struct rm_ask_row *row);

/* ready-apps.c */
int rm_app_order(struct rm_sched_app *a, struct rm_sched_app *b);   /* leaf->waiting */
int rm_ready_order(struct rm_sched_app *a, struct rm_sched_app *b); /* leaf->ready */
double rm_app_magnitude(const struct rm_sched_app *app);
void rm_app_used_changed(struct rm_sched_app *app); /* or its pending resources */
void rm_app_ready(struct rm_sched_app *app);        /* updates its membership in leaf->ready */
void rm_app_general(struct rm_sched_app *app, int32_t more); /* change of the number of groups */
void rm_app_set_priority(struct rm_sched_app *app, int32_t priority); /* of one in leaf->ready */
void rm_ready_renew(struct rm_queue *leaf); /* after a change of a key of the order */

struct rm_walk { /* over the applications of a leaf that one node may serve, in order */
    struct rm_sched *s;
    struct rm_sched_app *general, *all;
    size_t i, n; /* of s->named */
};
/* `every`: also those that wait for other hosts, since a heartbeat counts as their opportunity.
 * Between two calls at most the application that rm_walk_next returned last may leave the lists. */
void rm_walk_begin(struct rm_sched *s, const struct rm_queue *leaf, const struct rm_sched_node *n,
                   bool every, struct rm_walk *w);
struct rm_sched_app *rm_walk_next(struct rm_walk *w); /* NULL: the end */

/* queues.c */
void rm_mappings_free(struct rm_mapping *list);
struct rm_queue *rm_queue_free(struct rm_queue *q); /* with its children and users */
struct rm_queue *rm_queue_find(struct rm_queue *root, const char *name);
bool rm_queue_leaf(const struct rm_queue *q);
void rm_queues_derive(struct rm_sched *s); /* after the cluster or the settings changed */
void rm_queue_use(struct rm_queue *leaf, struct rm_res r,
                  int containers); /* whole path; may be negative */
void rm_queue_pend(struct rm_queue *leaf, struct rm_res r);
void rm_queue_reserve(struct rm_queue *leaf, struct rm_res r);
void rm_queue_kill(struct rm_sched_app *app,
                   struct rm_res r); /* r > 0: a victim is decided; r < 0: it has ended */
struct rm_user *rm_user_get(struct rm_queue *leaf, const char *name);
void rm_user_put(struct rm_queue *leaf, struct rm_user *u); /* frees when unused */
struct rm_res rm_user_limit(const struct rm_sched *s, struct rm_queue *leaf,
                            const struct rm_user *u);
struct rm_res rm_headroom(const struct rm_sched *s, const struct rm_sched_app *app);
struct rm_res rm_queue_am_limit(const struct rm_sched *s, const struct rm_queue *leaf);
struct rm_res rm_user_am_limit(const struct rm_sched *s, const struct rm_queue *leaf, double weight,
                               struct rm_res queue_limit);
void rm_queue_activate(struct rm_sched *s, struct rm_queue *leaf);      /* within the AM limit */
void rm_queue_activate_more(struct rm_sched *s, struct rm_queue *leaf); /* the AM limit has grown */
void rm_queue_info_fill(const struct rm_sched *s, const struct rm_queue *q,
                        struct rm_queue_info *ret);

/* asks.c */
int rm_asks_update(struct rm_sched *s, struct rm_sched_app *app, const struct rm_ask *ask)
    _must_use_;
void rm_asks_sort(struct rm_sched_app *app); /* after one or more rm_asks_update */
void rm_asks_collect(struct rm_sched *s, struct rm_sched_app *app,
                     struct rm_ask_group *g); /* may free g */
void rm_asks_clear(struct rm_sched *s, struct rm_sched_app *app);
void rm_asks_took(struct rm_sched *s, struct rm_sched_app *app, struct rm_ask_group *g,
                  const struct rm_sched_node *n, enum rm_locality l);
void rm_asks_missed(struct rm_sched_app *app, struct rm_ask_group *g); /* an opportunity */
/* `more` for this container: -E2BIG, or c->growth is the ask. */
int rm_asks_grow(struct rm_sched *s, struct rm_sched_container *c, struct rm_res more) _must_use_;
/* Sets the number of containers that the SchedulingRequest waits for; 0 ends it. */
int rm_asks_place(struct rm_sched *s, struct rm_placement *p, int32_t count) _must_use_;
void rm_asks_drop(struct rm_sched *s, struct rm_sched_app *app,
                  struct rm_ask_group *g); /* with its reservations */
int rm_asks_put_back(struct rm_sched *s, struct rm_sched_app *app,
                     const struct rm_sched_container *c) _must_use_;
struct rm_ask_row *rm_asks_row(const struct rm_ask_group *g, const struct rm_label *name);
bool rm_asks_rack_now(const struct rm_sched *s, const struct rm_ask_group *g);
bool rm_asks_any_now(const struct rm_sched *s, const struct rm_ask_group *g);
int rm_blacklist_update(struct rm_sched_app *app, const struct rm_ev_ask *ev) _must_use_;
void rm_blacklist_clear(struct rm_sched_app *app);

/* free-nodes.c: the nodes with free capacity, and those pending a visit by the next allocation pass
 */
void rm_free_nodes_add(struct rm_sched *s, struct rm_sched_node *n, const char *host);
void rm_free_nodes_remove(struct rm_sched *s, struct rm_sched_node *n);
void rm_free_nodes_update(struct rm_sched *s, struct rm_sched_node *n); /* free capacity changed */
void rm_free_nodes_visit(struct rm_sched *s, struct rm_sched_node *n, bool freed);
void rm_free_nodes_visit_host(struct rm_sched *s,
                              const char *host);                  /* no effect for a rack or "*" */
struct rm_sched_node *rm_free_nodes_next_due(struct rm_sched *s); /* NULL = none */
void rm_free_nodes_scan(struct rm_sched *s); /* starts a scan of the nodes with free capacity */
void rm_free_nodes_unblock(struct rm_sched *s, struct rm_queue *leaf); /* its usage has decreased */

/* allocation.c */
struct rm_decision *rm_decide(struct rm_sched *s, enum rm_decision_type type);
struct rm_sched_container *rm_container_add(struct rm_sched *s, struct rm_sched_app *app,
                                            struct rm_sched_node *n, struct yarn_container_id id,
                                            struct rm_res r);
void rm_node_id_to(const struct rm_sched_node *n, struct yarn_node_id *dst); /* zeroed before */
void rm_container_remove(struct rm_sched *s, struct rm_sched_container *c);
void rm_container_resize(struct rm_sched *s, struct rm_sched_container *c, struct rm_res to);

/* reservations.c */
void rm_reserve(struct rm_sched *s, struct rm_sched_node *n, struct rm_sched_app *app,
                struct rm_ask_group *g);
void rm_unreserve(struct rm_sched *s, struct rm_sched_node *n);
bool rm_reserve_may_end(const struct rm_sched *s, const struct rm_sched_node *n,
                        const struct rm_sched_app *app, const struct rm_ask_group *g);
bool rm_reserve_too_many(const struct rm_ask_group *g);
int64_t rm_reserve_wanted(const struct rm_sched *s, const struct rm_sched_app *app,
                          const struct rm_ask_group *g);
struct rm_sched_node *rm_reserve_find(const struct rm_sched *s, const struct rm_ask_group *g,
                                      struct rm_res amount);

/* container-updates.c */
int rm_container_update(struct rm_sched *s, const struct rm_ev_container_update *ev,
                        struct sv_error *err) _must_use_;
void rm_update_grant(struct rm_sched *s, struct rm_ask_group *growth);   /* frees it */
void rm_update_cancel(struct rm_sched *s, struct rm_sched_container *c); /* its growth, if any */

/* assign.c */
struct rm_assign {      /* one visit of a node */
    bool heartbeat;     /* counts as a scheduling opportunity */
    bool may_reserve;   /* and may reserve the node */
    size_t max_out;     /* limit of decisions in s->out after the visit */
    int64_t ret_given;  /* containers allocated */
    bool ret_elsewhere; /* an ask may be served by another node */
};
void rm_assign_node(struct rm_sched *s, struct rm_sched_node *n, struct rm_assign *a);

/* parallel-apps.c */
void rm_parallel_take(struct rm_sched *s, struct rm_sched_app *app); /* or holds it */
void rm_parallel_give(struct rm_sched *s, struct rm_sched_app *app); /* it no longer runs */
void rm_parallel_next(struct rm_sched *s); /* activates the held applications that may run now */

/* app-queue.c */
int rm_queue_admits(const struct rm_queue *leaf, const char *user, struct yarn_app_id app,
                    struct sv_error *err) _must_use_; /* -EACCES with Hadoop's words */
void rm_app_enter(struct rm_sched_app *app, struct rm_queue *leaf, struct rm_user *user);
void rm_app_leave(struct rm_queue *leaf, struct rm_user *user); /* may free user */
void rm_app_wait(struct rm_sched *s, struct rm_sched_app *app); /* until the limits let it run */
void rm_app_deactivate(struct rm_sched *s, struct rm_sched_app *app);
int rm_app_move(struct rm_sched *s, struct rm_sched_app *app, const char *queue,
                struct sv_error *err) _must_use_;

/* preempt-shares.c: computes the share of every queue; then the amount to reclaim from a leaf in
 * this round */
void rm_preempt_shares(const struct rm_sched *s, struct rm_queue *root, struct rm_res allowed);
struct rm_res rm_preempt_from(const struct rm_sched *s, const struct rm_queue *leaf);

/* preempt-inside.c */
struct rm_claim { /* of one application on its leaf, in one round of preemption */
    struct rm_sched_app *app;
    struct rm_res needs, may_give, gives;
};
/* Computes for each of the n applications of the leaf, in the order of rm_app_order, the amount
 * that it yields to the others: at most `limit` together. */
void rm_preempt_inside(const struct rm_sched *s, struct rm_queue *leaf, struct rm_res limit,
                       struct rm_claim *v, size_t n);
bool rm_preempt_keeps(const struct rm_sched *s,
                      const struct rm_sched_container *c); /* its user is at or below the limit */

/* preemption.c */
int rm_preempt(struct rm_sched *s, int64_t now_ms) _must_use_;

/* reconfigure.c */
int rm_reconfigure(struct rm_sched *s, struct sv_conf *conf, struct sv_error *err) _must_use_;

/* allocation-pass.c */
void rm_allocation_pass(struct rm_sched *s, const struct rm_ev_pass *ev, int64_t now_ms);

#endif
