/* What happened in each queue since the start: for metrics, which only grow. Queues that the
 * scheduler does not know share one entry. */
#ifndef SELVEDGE_RM_LITE_QUEUE_COUNTERS_H
#define SELVEDGE_RM_LITE_QUEUE_COUNTERS_H

#include "rm-lite/context.h"
#include "rm-lite/hash.h"

struct rm_queue_live { /* applications that have not ended */
    int64_t running, pending;
    int64_t for_minutes[4]; /* running since less than 1, 5, 24 hours, and longer */
};

struct rm_queue_counters {
    char *path; /* owned; "" for unknown queues */
    int64_t submitted, completed, failed, killed, allocated, released;
    struct rm_queue_live live; /* of the last rm_queue_counters_live */
    UT_hash_handle hh;         /* rm->queue_counters */
};

/* Of the application's queue; never NULL. */
struct rm_queue_counters *rm_queue_counters_of(struct rm_app *app);
/* Counts the applications of each queue that have not ended. */
void rm_queue_counters_live(struct rm *rm);
/* With those of the queues below `path`. */
struct rm_queue_counters rm_queue_counters_sum(const struct rm *rm, const char *path);
void rm_queue_counters_free(struct rm *rm);

#endif
