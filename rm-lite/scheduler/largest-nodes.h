/* The nodes with the largest resources: of the free ones, and of all that they have. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_LARGEST_NODES_H
#define SELVEDGE_RM_LITE_SCHEDULER_LARGEST_NODES_H

#include "rm-lite/scheduler/resource.h"

struct rm_sched;
struct rm_sched_node;

#define RM_LARGEST_NODES 16

struct rm_large_node {
    struct rm_res size;
    const struct rm_sched_node *node;
};

struct rm_largest { /* those that have of some type more than each other one */
    struct rm_large_node list[RM_LARGEST_NODES];
    int32_t n, nodes; /* nodes counted */
    bool known;       /* nothing has changed since */
    bool cut;         /* there were more than RM_LARGEST_NODES */
};

/* Free resources of nodes that are not reserved, until the next event; resources of the nodes that
 * take containers, until the next change of a node. */
const struct rm_largest *rm_largest_free(struct rm_sched *s);
const struct rm_largest *rm_largest_total(struct rm_sched *s);
/* The one that has most of what is asked for, by the type of which it lacks most; NULL: no node. */
const struct rm_large_node *rm_largest_nearest(const struct rm_largest *r, struct rm_res asked);

#endif
