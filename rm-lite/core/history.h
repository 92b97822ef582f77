/* The last hour of each queue, root included, in memory: a sample every RM_HISTORY_STEP_MS of what
 * it uses and waits for. Bounded: RM_HISTORY_QUEUES queues, the first in the configured order; a
 * queue that is gone is forgotten. A restart begins anew. */
#ifndef SELVEDGE_RM_LITE_CORE_HISTORY_H
#define SELVEDGE_RM_LITE_CORE_HISTORY_H

#include "common/buf.h"
#include "rm-lite/core/context.h"

#define RM_HISTORY_STEP_MS 10000
#define RM_HISTORY_SAMPLES 360
#define RM_HISTORY_QUEUES 1000

enum rm_figure {
    RM_FIGURE_MEMORY_MB,
    RM_FIGURE_VCORES,
    RM_FIGURE_CONTAINERS,
    RM_FIGURE_PENDING_MB,
    RM_FIGURE_PENDING_VCORES,
    RM_FIGURE_WAIT_MS, /* from an ask to its containers: the average of those allocated in the step
                        */
    RM_FIGURES
};
#define RM_UNKNOWN (-1.0f) /* no sample, or no container in the step */

struct rm_history;
struct rm_history_now { /* of one queue */
    int64_t at;         /* number of the step: of monotonic time */
    float values[RM_FIGURES];
    float full[RM_FIGURES]; /* what the queue may have at most; RM_UNKNOWN: no limit */
};

struct rm_history *rm_history_new(void); /* NULL: no memory */
struct rm_history *rm_history_free(struct rm_history *h);
/* Takes a sample of all queues when the step has changed. `now_ms`: monotonic. */
void rm_history_tick(struct rm *rm, int64_t now_ms);
/* Notes a container of a leaf queue that was allocated `ms` after its ask. */
void rm_history_waited(struct rm *rm, const char *path, int64_t ms);
/* The figures now. -ENOENT: no such queue. */
int rm_history_now(const struct rm *rm, const char *path, int64_t now_ms,
                   struct rm_history_now *ret) _must_use_;
/* Copies the samples of a figure, oldest first; returns their number, 0 for a queue that has none
 * yet. */
size_t rm_history_samples(const struct rm *rm, const char *path, enum rm_figure figure,
                          float ret[static RM_HISTORY_SAMPLES]);
int64_t rm_history_last(const struct rm *rm); /* number of the last sample; 0: none */

#endif
