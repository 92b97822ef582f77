/* Records of visits, on request: what the scheduler looked at on a node, and what it decided there
 * for each queue, application and ask, as Hadoop's ActivitiesManager keeps it for REST. A request
 * changes no decision and is no event. Pure. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_ACTIVITIES_H
#define SELVEDGE_RM_LITE_SCHEDULER_ACTIVITIES_H

#include "rm-lite/scheduler/resource.h"
#include "rm-lite/scheduler/waiting.h"

struct rm_activities;
struct rm_sched;

#define RM_VISITS_MAX 500           /* visits of nodes that are kept, and of one bulk request */
#define RM_VISIT_ROWS 2000          /* of one visit; applications above it are left out */
#define RM_ACTIVITY_ROWS 100000     /* of all visits, about 15 MB: the oldest make room */
#define RM_RECORDED_NODES 1000      /* nodes whose next visit is to be recorded */
#define RM_RECORDED_APPS 100        /* applications whose visits are recorded or kept */
#define RM_APP_VISITS 100           /* of one application: max-queue-length */
#define RM_ACTIVITIES_TTL_MS 600000 /* app-activities.ttl-ms, scheduler-activities.ttl-ms */

enum rm_activity_level {
    RM_ACTIVITY_QUEUE,
    RM_ACTIVITY_APP,
    RM_ACTIVITY_REQUEST,
    RM_ACTIVITY_NODE,
};

enum rm_activity_state {
    RM_ACTIVITY_DEFAULT,
    RM_ACTIVITY_ACCEPTED,
    RM_ACTIVITY_SKIPPED,
    RM_ACTIVITY_REJECTED,
    RM_ACTIVITY_ALLOCATED,
    RM_ACTIVITY_ALLOCATED_FROM_RESERVED,
    RM_ACTIVITY_RESERVED,
    RM_ACTIVITY_RE_RESERVED,
};

enum {                                 /* more reasons than rm_refusal has, of queues and nodes */
       RM_ACTIVITY_IDLE = RM_REFUSALS, /* the queue has no asks */
       RM_ACTIVITY_NODE_FULL,          /* less than the smallest container is free */
};

/* One line of a visit. Those below it come before it and have a greater depth. */
struct rm_activity {
    enum rm_activity_level level;
    enum rm_activity_state state;
    int why; /* rm_refusal, or above; 0: none */
    int32_t depth;
    char *queue;                        /* QUEUE: its full path */
    struct yarn_app_id app;             /* APP; also of a queue with RM_REFUSED_HEADROOM */
    int32_t priority;                   /* APP: of the application; REQUEST, NODE: of the ask */
    int64_t allocation_id;              /* REQUEST, NODE */
    struct yarn_container_id container; /* NODE; id 0: none */
    struct rm_res required, available;  /* NODE with RM_REFUSED_TOTAL or RM_REFUSED_SPACE */
    bool memory_alone;                  /* the calculator does not count the vcores of these */
};

struct rm_visit { /* of a node; or of an application on a node, whose last row has its state */
    struct yarn_node_id node;
    int64_t at_ms;  /* clock of the event */
    int64_t number; /* of the visits that were recorded */
    enum rm_activity_state end;
    struct yarn_container_id container; /* allocated; id 0: none */
    struct rm_activity *rows;
    size_t n, cap;
    bool cut; /* there were more than RM_VISIT_ROWS */
    struct rm_visit *prev, *next;
};

/* The next visit of this node, or with NULL of whichever node. */
void rm_record_next_visit(struct rm_sched *s, const struct yarn_node_id *node);
/* The next `n` visits, of whichever nodes; at most RM_VISITS_MAX. Returns the number of the last
 * one. */
int64_t rm_record_visits(struct rm_sched *s, int32_t n);
/* Number of the last visit that was recorded. */
int64_t rm_recorded(const struct rm_sched *s);
/* All visits of the application until then. */
void rm_record_app(struct rm_sched *s, struct yarn_app_id app, int64_t until_ms);

/* The last visit of the node, NULL: of any; NULL: none is kept, or it is too old. Valid until the
 * next event. */
const struct rm_visit *rm_visit_of(const struct rm_sched *s, const struct yarn_node_id *node,
                                   int64_t now_ms);
/* The oldest visit that is kept; the others follow by `next`. */
const struct rm_visit *rm_visits(const struct rm_sched *s);
/* The application's, the oldest first; NULL: none. */
const struct rm_visit *rm_app_visits(const struct rm_sched *s, struct yarn_app_id app,
                                     int64_t now_ms);

#endif
