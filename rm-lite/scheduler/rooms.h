/* The largest rooms that nodes have: what is free of them, and what they are. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_ROOMS_H
#define SELVEDGE_RM_LITE_SCHEDULER_ROOMS_H

#include "rm-lite/scheduler/resource.h"

struct rm_sched;
struct rm_sched_node;

#define RM_ROOMS 16

struct rm_room {
    struct rm_res size;
    const struct rm_sched_node *node;
};

struct rm_rooms { /* those that have of some type more than each other one */
    struct rm_room rooms[RM_ROOMS];
    int32_t n, nodes; /* nodes counted */
    bool known;       /* nothing has changed since */
    bool cut;         /* there were more than RM_ROOMS */
};

/* Free rooms of nodes that are not reserved, until the next event; sizes of the nodes that take
 * containers, until the next change of a node. */
const struct rm_rooms *rm_rooms_free(struct rm_sched *s);
const struct rm_rooms *rm_rooms_total(struct rm_sched *s);
/* The one that has most of what is asked for, by the type of which it lacks most; NULL: no node. */
const struct rm_room *rm_rooms_nearest(const struct rm_rooms *r, struct rm_res asked);

#endif
