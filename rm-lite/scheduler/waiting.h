/* Why an application waits: the last refusal of the scheduler's, which it records where it decides
 * (rm_refused of scheduler-impl.h), with the amounts behind it. A query walks over the nodes at
 * most once after each event, and only where its answer has a node's size. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_WAITING_H
#define SELVEDGE_RM_LITE_SCHEDULER_WAITING_H

#include "rm-lite/scheduler/resource.h"

struct rm_sched;

enum rm_refusal {
    RM_REFUSED_NOT = 0, /* nothing was refused since it last got a container */
    /* not active: no node is looked at for it */
    RM_REFUSED_EMPTY,         /* no node is there */
    RM_REFUSED_PARALLEL,      /* max-parallel-apps, of `queue` or, without one, of the user */
    RM_REFUSED_QUEUE_MASTERS, /* maximum-am-resource-percent of `queue`: `used` of `limit` */
    RM_REFUSED_USER_MASTERS,  /* the user's part of it */
    /* on whichever node */
    RM_REFUSED_TURN,        /* `ahead` and others of its queue are served first */
    RM_REFUSED_FIFO,        /* `ahead`, before it in its queue, waits for the queue's maximum */
    RM_REFUSED_USER,        /* the user's limit: `used` of `limit` */
    RM_REFUSED_QUEUE,       /* `queue` uses its maximum: `used` of `limit` */
    RM_REFUSED_HEADROOM,    /* `queue` has less than `asked` left */
    RM_REFUSED_RESERVATION, /* it has enough reservations (reservations-continue-look-all-nodes off)
                             */
    /* on `node` */
    RM_REFUSED_BLACKLIST,
    RM_REFUSED_TOTAL,      /* larger than the whole node */
    RM_REFUSED_SPACE,      /* larger than what is free; without a node: all nodes are full */
    RM_REFUSED_UNRESERVE,  /* it would have to give back a reservation first, and has none */
    RM_REFUSED_DELAY,      /* locality: nodes that it names may still take it */
    RM_REFUSED_STRICT,     /* locality: it names others, and relax_locality is false */
    RM_REFUSED_CONSTRAINT, /* placement constraint */
    RM_REFUSED_RESERVED,   /* it has a reservation here, and not enough has become free yet */
    RM_REFUSALS
};

struct rm_wait {
    enum rm_refusal why;
    uint32_t also;      /* bits of other refusals by nodes in the last turn over the nodes */
    bool active;        /* past the limits of ApplicationMasters */
    int64_t at_ms;      /* time of the event that refused; 0: not yet */
    int64_t containers; /* that it waits for */
    bool has_ask;       /* the next three */
    struct rm_res asked;
    int32_t priority;
    int64_t allocation_id;
    bool has_node; /* the next three */
    struct yarn_node_id node;
    struct rm_res total, available; /* of the node, now */
    const char *queue;              /* full path, valid until the next event */
    struct rm_res limit, used;
    int32_t limit_apps; /* RM_REFUSED_PARALLEL */
    struct yarn_app_id ahead;
    /* Nodes that take containers, and those of them with room for the smallest one. */
    int32_t nodes, open_nodes, free_nodes;
    /* With RM_REFUSED_TOTAL and RM_REFUSED_SPACE: the node that comes nearest to `asked`, by what
     * is free and not reserved, and by its size; host "" without one. */
    struct yarn_node_id free_node, large_node;
    struct rm_res largest_free, largest;
    bool fits_nowhere; /* no node is large enough */
};

/* -ENOENT: no such application. `why` is RM_REFUSED_NOT and `containers` 0 if it waits for
 * nothing. */
int rm_sched_wait(struct rm_sched *s, struct yarn_app_id app, struct rm_wait *ret) _must_use_;

struct rm_masters { /* Hadoop's details of an application whose master waits */
    struct rm_res request, queue_limit, user_limit, queue_used;
};
int rm_sched_masters(const struct rm_sched *s, struct yarn_app_id app, struct rm_masters *ret)
    _must_use_;

#endif
