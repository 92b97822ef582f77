/* See timers.h. */
#include "service/engine/timers.h"

#include "common/oom.h"

static bool before(const struct svc_timer *a, const struct svc_timer *b)
{
    return a->at != b->at ? a->at < b->at : a->serial < b->serial;
}

static void put(struct svc_timers *ts, size_t place, struct svc_timer *t)
{
    ts->heap[place] = t;
    t->place = place;
}

static void rise(struct svc_timers *ts, struct svc_timer *t)
{
    size_t at = t->place;

    for (; at > 1 && before(t, ts->heap[at / 2]); at /= 2)
        put(ts, at, ts->heap[at / 2]);
    put(ts, at, t);
}

static void sink(struct svc_timers *ts, struct svc_timer *t)
{
    size_t at = t->place;

    for (size_t child; (child = at * 2) <= ts->n; at = child) {
        if (child < ts->n && before(ts->heap[child + 1], ts->heap[child]))
            child++;
        if (!before(ts->heap[child], t))
            break;
        put(ts, at, ts->heap[child]);
    }
    put(ts, at, t);
}

void svc_timer_arm(struct svc_timers *ts, struct svc_timer *t, int kind, int64_t at)
{
    svc_timer_disarm(ts, t);
    if (ts->n + 1 >= ts->size) {
        ts->size = ts->size ? ts->size * 2 : 16;
        ts->heap = realloc(ts->heap, ts->size * sizeof(*ts->heap));
        if (!ts->heap)
            sv_out_of_memory();
    }
    *t = (struct svc_timer){ .at = at, .serial = ++ts->serial, .place = ++ts->n, .kind = kind };
    rise(ts, t);
}

void svc_timer_disarm(struct svc_timers *ts, struct svc_timer *t)
{
    struct svc_timer *last;
    size_t place = t->place;

    if (!place)
        return;
    last = ts->heap[ts->n--];
    t->place = 0;
    if (last == t)
        return;
    put(ts, place, last);
    rise(ts, last);
    sink(ts, last);
}

struct svc_timer *svc_timer_take(struct svc_timers *ts, int64_t now)
{
    struct svc_timer *t = ts->n ? ts->heap[1] : NULL;

    if (!t || t->at > now)
        return NULL;
    svc_timer_disarm(ts, t);
    return t;
}

int64_t svc_timers_due(const struct svc_timers *ts)
{
    return ts->n ? ts->heap[1]->at : INT64_MAX;
}

void svc_timers_free(struct svc_timers *ts)
{
    free(ts->heap);
    *ts = (struct svc_timers){ 0 };
}
