/* Last operations of the scheduler, for /ws/v1/cluster/scheduler: Hadoop's SchedulerHealth. */
#ifndef SELVEDGE_RM_LITE_CORE_SCHED_HEALTH_H
#define SELVEDGE_RM_LITE_CORE_SCHED_HEALTH_H

#include "rm-lite/scheduler/resource.h"
#include "wire/ids.h"

enum rm_operation {
    RM_LAST_ALLOCATION,
    RM_LAST_RELEASE,
    RM_LAST_PREEMPTION,
    RM_LAST_RESERVATION,
    RM_OPERATIONS
};

struct rm_last_operation {
    struct yarn_node_id node;           /* host "": not known */
    struct yarn_container_id container; /* id 0: none, as of a reservation */
    char queue[256];                    /* path, cut; "": there was no such operation */
};

struct rm_run_sum {
    int64_t count;
    struct rm_res resources;
};

struct rm_sched_health {
    int64_t run_ms; /* wall: the last heartbeat or allocation pass; 0 = none */
    struct rm_last_operation last[RM_OPERATIONS];
    struct rm_run_sum allocated, reserved; /* of that run */
    struct rm_run_sum released, releasing; /* between the two runs before; since the last one */
};

struct rm;
struct rm_decision;
struct rm_sched_event;

/* Notes an event and its decisions, before their effects. */
void rm_sched_health_note(struct rm *rm, const struct rm_sched_event *ev,
                          const struct rm_decision *d, size_t n);

#endif
