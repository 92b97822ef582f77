/* Timers of the engine: a binary heap by time, and by the order of arming where times are equal.
 * Pure. */
#ifndef SELVEDGE_SERVICE_ENGINE_TIMERS_H
#define SELVEDGE_SERVICE_ENGINE_TIMERS_H

#include "common/base.h"

struct svc_timer { /* embedded in its object; zero = idle */
    int64_t at;
    uint64_t serial;
    size_t place; /* in the heap, from 1; 0 = idle */
    int kind;     /* the owner's */
};
struct svc_timers {
    struct svc_timer **heap; /* [1..n] */
    size_t n, size;
    uint64_t serial;
};

/* (Re)arms it. */
void svc_timer_arm(struct svc_timers *ts, struct svc_timer *t, int kind, int64_t at);
void svc_timer_disarm(struct svc_timers *ts, struct svc_timer *t);
/* Takes the first timer that is due; NULL = none. */
struct svc_timer *svc_timer_take(struct svc_timers *ts, int64_t now);
int64_t svc_timers_due(const struct svc_timers *ts); /* INT64_MAX = none */
void svc_timers_free(struct svc_timers *ts);

#endif
