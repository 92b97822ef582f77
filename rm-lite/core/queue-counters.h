/* Event counts of each queue since the start, and with yarn.scheduler.capacity.user-metrics.enable
 * of each user in each queue: for metrics and queue statistics. Queues unknown to the scheduler
 * share one entry. */
#ifndef SELVEDGE_RM_LITE_CORE_QUEUE_COUNTERS_H
#define SELVEDGE_RM_LITE_CORE_QUEUE_COUNTERS_H

#include "rm-lite/core/context.h"
#include "rm-lite/scheduler/hash.h"
#include "rm-lite/scheduler/resource.h"

#define RM_QUEUE_USERS_MAX 10000 /* entries of users: clients choose their names */

enum rm_queue_count { /* monotonic counters */
                      RM_COUNT_SUBMITTED,
                      RM_COUNT_COMPLETED,
                      RM_COUNT_FAILED,
                      RM_COUNT_KILLED,
                      RM_COUNT_ALLOCATED,
                      RM_COUNT_RELEASED,
                      RM_COUNT_PREEMPTED, /* containers; then their resources times their lifetime
                                           */
                      RM_COUNT_PREEMPTED_MB,
                      RM_COUNT_PREEMPTED_VCORES,
                      RM_COUNT_PREEMPTED_MB_MS,
                      RM_COUNT_PREEMPTED_VCORE_MS,
                      RM_COUNT_PREEMPTED_EXTRA_MS, /* one for each of RM_RES_EXTRA */
                      RM_COUNTS = RM_COUNT_PREEMPTED_EXTRA_MS + RM_RES_EXTRA
};

struct rm_queue_live { /* applications that have not ended */
    int64_t running, pending, active;
    int64_t for_minutes[4]; /* running since less than 1, 5, 24 hours, and longer */
    int64_t containers, reserved_containers, pending_containers;
    struct rm_res used, reserved, wanted; /* without the reserved ones; reserved; requested */
    struct rm_res headroom;               /* of a user in a leaf queue */
};

struct rm_queue_counters {
    char *key;  /* owned: the path; with users the user behind its NUL. "": unknown queues */
    char *user; /* in the key, or NULL */
    int64_t n[RM_COUNTS], sum[RM_COUNTS]; /* of the queue itself; with those below it */
    struct rm_queue_live own, live;       /* of the queue itself; with those below it */
    UT_hash_handle hh;                    /* rm->queue_counters */
};

void rm_queue_count(struct rm_app *app, enum rm_queue_count what);
/* Counts a preempted container with `res` that lived `ms`. */
void rm_queue_count_preempted(struct rm_app *app, struct rm_res res, int64_t ms);

/* Updates `sum` and `live` of all entries; adds entries for parents. */
void rm_queue_counters_gather(struct rm *rm);
/* Counters as of the last rm_queue_counters_gather(), all 0 if there was no event; NULL user:
 * totals. */
const struct rm_queue_counters *rm_queue_counters_find(const struct rm *rm, const char *path,
                                                       const char *user);
void rm_queue_counters_free(struct rm *rm);

#endif
