/* The scheduler: a pure library. (state, event, clock) → decisions.
 *
 * It knows queues, nodes, applications, asks and containers; it knows no sockets, no tokens, no
 * files, no timers and no random numbers, so a recorded list of events gives the same decisions
 * again. Semantics are the CapacityScheduler's. Numbers and names come from clients: their size
 * is never trusted. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_SCHEDULER_H
#define SELVEDGE_RM_LITE_SCHEDULER_SCHEDULER_H

#include "common/conf.h"
#include "common/error.h"
#include "proto/yarn.pb-c.h"
#include "rm-lite/scheduler/resource-types.h"
#include "wire/ids.h"

struct rm_sched;

#define RM_ANY "*" /* ResourceRequest.ANY */
#define RM_DEFAULT_RACK "/default-rack"
#define RM_MAX_ASK_ROWS 100000    /* rows in one application's ask table */
#define RM_MAX_ASK_GROUPS 10000   /* different (priority, allocation id, capability) of one */
#define RM_MAX_ASK_COUNT 10000000 /* containers in one row; more is cut to this */
/* SchedulingRequests and placement constraints */
#define RM_TAGS_MAX 16               /* allocation tags of a request */
#define RM_TAG_BYTES 255             /* of a tag, an attribute, a value */
#define RM_APP_TAGS_MAX 10           /* tags of an application that constraints find it by */
#define RM_CONSTRAINT_DEPTH 8        /* levels of a constraint's tree */
#define RM_CONSTRAINT_NODES 64       /* simple and composite constraints of a tree */
#define RM_CONSTRAINT_VALUES 128     /* targets, tags and values of a tree */
#define RM_PLACEMENT_COST 8192       /* of all trees that an application's requests wait for */
#define RM_PLACEMENT_BYTES (4 << 20) /* requests of an application that wait or have containers */
#define RM_RULES_MAX 256             /* tags with a constraint that an application registers */
#define RM_TAG_COUNTS_MAX 100000     /* pairs of a place and a tag of an application's containers */
#define RM_EPOCH_SHIFT 40            /* container number = epoch << 40 | sequence */
#define RM_TURN_DECISIONS 256        /* decisions of one event, but those of a removal */
#define RM_VISIT_DECISIONS 3 /* of them, left for one container: two unreserved, one allocated */
#define RM_TURN_ASKS 10000   /* asks tested by one RM_SCHED_PASS before its last visit */
#define RM_TURN_NODES 64     /* nodes visited by one RM_SCHED_PASS */

enum rm_sched_event_type {
    RM_SCHED_NODE_ADDED = 1,
    RM_SCHED_NODE_REMOVED, /* its containers come back as RM_DECIDE_LOST */
    RM_SCHED_NODE_RESIZED,
    RM_SCHED_NODE_SCHEDULABLE,
    RM_SCHED_NODE_HEARTBEAT, /* allocates on the node */
    RM_SCHED_PASS,           /* allocates where it may be possible now: rm_sched_pass_waiting */
    RM_SCHED_APP_ADDED,
    RM_SCHED_APP_REMOVED,
    RM_SCHED_ATTEMPT_ADDED,
    RM_SCHED_ATTEMPT_REMOVED,
    RM_SCHED_ASK,
    RM_SCHED_CONTAINER_DONE,
    RM_SCHED_CONTAINER_RECOVERED, /* it runs already */
    RM_SCHED_APP_PRIORITY,
    RM_SCHED_APP_MOVED,        /* with all that it has; or an error, all as before */
    RM_SCHED_PREEMPT,          /* a round of preemption, now */
    RM_SCHED_RECONFIGURED,     /* refreshQueues, all or nothing */
    RM_SCHED_CONTAINER_UPDATE, /* less at once; more where there is room, as an ask */
    RM_SCHED_CONSTRAINTS,      /* an application registers them */
};

struct rm_ask { /* one ResourceRequest row; the number is absolute and replaces an earlier row */
    int32_t priority;
    int64_t allocation_id; /* -1 without */
    const char *name;      /* host, rack or "*" */
    struct rm_res capability;
    int32_t count;
    bool relax;
};

/* Payloads, one per event, each named as its event. Pointers are borrowed for the call. */
struct rm_ev_node_added {
    const struct yarn_node_id *node;
    const char *rack; /* NULL: RM_DEFAULT_RACK */
    struct rm_res total;
};
struct rm_ev_node_removed {
    const struct yarn_node_id *node;
};
struct rm_ev_node_resized {
    const struct yarn_node_id *node;
    struct rm_res total;
};
struct rm_ev_node_schedulable {
    const struct yarn_node_id *node;
    bool schedulable; /* false: no new containers, it is decommissioning */
};
struct rm_ev_node_heartbeat {
    const struct yarn_node_id *node;
};
struct rm_ev_pass {
    int64_t window_ms;    /* only nodes whose last heartbeat is not older */
    size_t max_decisions; /* 0: RM_TURN_DECISIONS */
};
struct rm_ev_app_added {
    struct yarn_app_id app;
    const char *user, *queue;
    int32_t priority;
    struct rm_res am_resource;
    bool recovered;          /* from the state store: a former start has admitted it to the queue */
    const char *const *tags; /* of the submission */
    size_t n_tags;
};
struct rm_ev_app_removed {
    struct yarn_app_id app;
};
struct rm_ev_attempt_added {
    struct yarn_app_id app;
    int32_t attempt;
    const struct rm_ask *asks; /* for the ApplicationMaster */
    size_t n_asks;
};
struct rm_ev_attempt_removed {
    struct yarn_app_id app;
    bool keep_containers; /* for the next attempt */
};
struct rm_ev_ask {
    struct yarn_app_id app;
    const struct rm_ask *asks;
    size_t n_asks;
    const char *const *blacklist_add, *const *blacklist_remove;
    size_t n_blacklist_add, n_blacklist_remove;
    /* Their resources are normalized. The number of allocations is absolute for (priority,
     * allocation id), whose request may change in nothing else; or, with `attempts`, these are
     * further ones. */
    Hadoop__Yarn__SchedulingRequestProto *const *requests;
    size_t n_requests;
    /* Above 0: RM_DECIDE_UNPLACED of each request that still waits after so many RM_SCHED_ASK. */
    int32_t attempts;
};
struct rm_ev_constraints {
    struct yarn_app_id app;
    /* Replace earlier ones, if there is one; the application's SchedulingRequests end. Entries
     * with another number of source tags than one have no effect, as in Hadoop. */
    Hadoop__Yarn__PlacementConstraintMapEntryProto *const *entries;
    size_t n_entries;
};
struct rm_ev_container_done {
    struct yarn_container_id container;
    bool put_ask_back; /* it never reached the ApplicationMaster: allocate another */
};
struct rm_ev_container_recovered {
    struct yarn_container_id container;
    const struct yarn_node_id *node;
    struct rm_res resource; /* zero: not counted */
    int32_t priority;
    bool is_master;          /* its attempt's ApplicationMaster */
    const char *const *tags; /* its allocation tags, as its node reports them */
    size_t n_tags;
};
/* Replaces an earlier update of the container that has no decision yet. More of one type is an
 * increase, which takes nothing away of another. Zero: it is not counted, as OPPORTUNISTIC ones. */
struct rm_ev_container_update {
    struct yarn_container_id container;
    struct rm_res resource;
};
struct rm_ev_app_priority {
    struct yarn_app_id app;
    int32_t priority;
};
struct rm_ev_app_moved {
    struct yarn_app_id app;
    const char *queue;
};
struct rm_ev_reconfigured {
    struct sv_conf *conf;
};

struct rm_sched_event {
    enum rm_sched_event_type type;
    union { /* RM_SCHED_PREEMPT has none */
        struct rm_ev_node_added node_added;
        struct rm_ev_node_removed node_removed;
        struct rm_ev_node_resized node_resized;
        struct rm_ev_node_schedulable node_schedulable;
        struct rm_ev_node_heartbeat node_heartbeat;
        struct rm_ev_pass pass;
        struct rm_ev_app_added app_added;
        struct rm_ev_app_removed app_removed;
        struct rm_ev_attempt_added attempt_added;
        struct rm_ev_attempt_removed attempt_removed;
        struct rm_ev_ask ask;
        struct rm_ev_container_done container_done;
        struct rm_ev_container_recovered container_recovered;
        struct rm_ev_container_update container_update;
        struct rm_ev_app_priority app_priority;
        struct rm_ev_app_moved app_moved;
        struct rm_ev_reconfigured reconfigured;
        struct rm_ev_constraints constraints;
    };
};

enum rm_decision_type {
    RM_DECIDE_APP_ACCEPTED = 1,
    RM_DECIDE_APP_REJECTED, /* text */
    RM_DECIDE_ATTEMPT_ADDED,
    RM_DECIDE_ALLOCATED, /* a container on a node for app/attempt */
    RM_DECIDE_RESERVED,
    RM_DECIDE_UNRESERVED,
    RM_DECIDE_LOST,      /* a container of a removed node */
    RM_DECIDE_ORPHANED,  /* a container of an attempt that was removed */
    RM_DECIDE_PREEMPT,   /* a container to be killed unless the shares change: tell its master */
    RM_DECIDE_PREEMPTED, /* a container to be killed; RM_SCHED_CONTAINER_DONE follows */
    RM_DECIDE_UPDATED,   /* a container has `resource` from now on */
    RM_DECIDE_UNPLACED,  /* `count` containers of a SchedulingRequest that was dropped */
};

enum rm_locality { RM_NODE_LOCAL, RM_RACK_LOCAL, RM_OFF_SWITCH };

struct rm_decision {
    enum rm_decision_type type;
    struct yarn_app_id app;
    struct yarn_container_id container; /* with its attempt; id 0 for reservations */
    struct yarn_node_id node;
    struct rm_res resource;
    int32_t priority;
    int64_t allocation_id;
    enum rm_locality locality;
    int64_t waited_ms;       /* ALLOCATED: since its ask; not in a record */
    const char *text;        /* valid as long as the decisions are; "" = none */
    const char *const *tags; /* ALLOCATED: its allocation tags, ending with NULL; or NULL */
    /* UNPLACED: the packed SchedulingRequestProto without its number of allocations, valid as
     * long as the decisions are. */
    const uint8_t *request;
    size_t request_len;
    int32_t count;
    bool fitted; /* UNPLACED: a node satisfied its constraints, but a limit stopped it */
};

/* Reads the queues and limits from `conf` (capacity-scheduler.xml and yarn-site.xml together). No
 * root.queues at all: one leaf root.default with 100 %. `epoch` goes into new container ids. */
int rm_sched_new(struct sv_conf *conf, int64_t epoch, struct rm_sched **ret, struct sv_error *err)
    _must_use_;
struct rm_sched *rm_sched_free(struct rm_sched *s);

/* Applies one event at time `now_ms` (monotonic). Returns the decisions, valid until the next
 * call; -errno for an invalid event (unknown node or application, duplicate), which changes
 * nothing, and -E2BIG for an ask too many (the rest is dropped). Without memory the process ends
 * (common/oom.h), but for a refresh and a round of preemption: -ENOMEM. */
int rm_sched_handle(struct rm_sched *s, const struct rm_sched_event *ev, int64_t now_ms,
                    const struct rm_decision **ret, size_t *ret_n, struct sv_error *err) _must_use_;

/* Raises to the minimum, rounds up to its multiple. -ERANGE when above the maximum of the queue
 * (NULL or unknown: the scheduler's) or below zero. */
int rm_sched_normalize(const struct rm_sched *s, const char *queue, struct rm_res *inout)
    _must_use_;
/* True if an allocation pass has nodes left to visit. One event RM_SCHED_PASS visits at most
 * RM_TURN_NODES, looks at about RM_TURN_ASKS asks and takes at most RM_TURN_DECISIONS decisions, or
 * `max_decisions` if that is set and less; the caller repeats it when it likes. */
bool rm_sched_pass_waiting(const struct rm_sched *s);

struct rm_sched_counts { /* work done since the start: what it costs, without a clock */
    int64_t nodes_visited, apps_tried, groups_tried;
};
struct rm_sched_counts rm_sched_counts(const struct rm_sched *s);

struct rm_submitter {
    const char *user;
    const char *primary; /* group; NULL = none or not known */
    char *const *groups; /* all of them; NULL = not known yet */
};
/* The queue that queue-mappings give to a submission to `queue`, or the same one; valid until the
 * next refresh. -EAGAIN: it depends on the user's groups. */
int rm_sched_place(const struct rm_sched *s, const char *queue, const struct rm_submitter *who,
                   const char **ret) _must_use_;
bool rm_sched_maps_groups(const struct rm_sched *s); /* whether any of them looks at groups */
/* Milliseconds between two RM_SCHED_PREEMPT; 0 = preemption is off. */
int64_t rm_sched_preempt_interval(const struct rm_sched *s);

const struct rm_types *rm_sched_types(const struct rm_sched *s); /* constant since the start */
struct rm_res rm_sched_min_allocation(const struct rm_sched *s);
struct rm_res rm_sched_max_allocation(const struct rm_sched *s, const char *queue);
struct rm_res rm_sched_cluster(const struct rm_sched *s);
enum rm_calculator rm_sched_calculator(const struct rm_sched *s);

/* Whether an update of it waits for room. */
bool rm_sched_container_waits(const struct rm_sched *s, struct yarn_container_id container);

struct rm_app_usage {
    struct rm_res used, reserved, pending, headroom;
    int32_t containers, reserved_containers;
    int64_t pending_containers;
    bool active; /* past the AM limit */
    const char *queue_path;
};
/* Without the headroom, which costs most. */
int rm_sched_app_amounts(const struct rm_sched *s, struct yarn_app_id app,
                         struct rm_app_usage *ret);
int rm_sched_app_usage(const struct rm_sched *s, struct yarn_app_id app, struct rm_app_usage *ret);
struct rm_node_usage {
    struct rm_res total, used;
    int32_t containers;
};
int rm_sched_node_usage(const struct rm_sched *s, const struct yarn_node_id *node,
                        struct rm_node_usage *ret);

enum rm_queue_state { RM_QUEUE_STOPPED = 1, RM_QUEUE_RUNNING = 2, RM_QUEUE_DRAINING = 3 };
enum rm_queue_mode { RM_MODE_PERCENT, RM_MODE_WEIGHT, RM_MODE_ABSOLUTE };
struct rm_queue_info {
    const char *name, *path, *parent; /* parent NULL for root */
    bool leaf;
    enum rm_queue_state state;
    double capacity, max_capacity;           /* fractions of the parent */
    double abs_capacity, abs_max_capacity;   /* fractions of the cluster */
    double used_capacity, abs_used_capacity; /* of the own guarantee; of the cluster */
    enum rm_queue_mode mode;                 /* kind of its configured capacity */
    double weight;                           /* -1 unless in weight mode */
    struct rm_res abs_min, abs_max;          /* configured amounts; zero without */
    struct rm_res used, reserved, pending, am_used, am_limit, effective_min, effective_max;
    struct rm_res user_am_limit; /* of am_limit, of a user of weight 1 */
    struct rm_res max_allocation;
    int32_t containers, active_apps, pending_apps, max_apps, max_apps_per_user, users;
    double user_limit, user_limit_factor, am_percent;
    int32_t priority, default_app_priority;
    int32_t max_parallel_apps;
    bool preemption_disabled, inside_disabled;
    int64_t max_lifetime_s, default_lifetime_s; /* of its applications; 0 = none */
    const char *ordering;                       /* of its applications, or of its queues */
    const char *acl_submit, *acl_administer;    /* as configured, without those above it */
};
/* By full path, or by the short name of a leaf where that is unique. */
int rm_sched_queue(const struct rm_sched *s, const char *name, struct rm_queue_info *ret)
    _must_use_;
/* Whether `admits` a list of the queue or of one above it: acl_submit_applications or
 * acl_administer_queue; the latter alone. An unknown queue: true and false. */
bool rm_sched_may_submit(const struct rm_sched *s, const char *queue,
                         bool (*admits)(const char *acl, void *userdata), void *userdata);
bool rm_sched_administers(const struct rm_sched *s, const char *queue,
                          bool (*admits)(const char *acl, void *userdata), void *userdata);
/* Parents before children, children in the configured order. */
int rm_sched_each_queue(const struct rm_sched *s,
                        int (*fn)(const struct rm_queue_info *q, void *userdata), void *userdata);

struct rm_queue_user { /* a user with applications in a leaf queue */
    const char *name;
    struct rm_res used, am_used;
    struct rm_res limit, am_limit; /* most of the queue; of it for ApplicationMasters */
    int32_t active_apps, pending_apps;
    double weight;
    bool asking; /* an application of theirs has outstanding asks */
};
/* The first `max` users of a leaf queue, in the order in which they came; returns their number. An
 * unknown queue has none. */
size_t rm_sched_queue_users(const struct rm_sched *s, const char *queue, size_t max,
                            void (*fn)(const struct rm_queue_user *u, void *userdata),
                            void *userdata);

#endif
