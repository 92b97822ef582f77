/* See history.h. */
#include "rm-lite/core/history.h"

#include <errno.h>
#include <string.h>

#include "common/oom.h"
#include "common/str.h"
#include "rm-lite/core/text.h"
#include "rm-lite/scheduler/hash.h"
#include "rm-lite/scheduler/scheduler.h"

struct line { /* one queue */
    char *path;
    struct line *parent;
    float values[RM_FIGURES][RM_HISTORY_SAMPLES]; /* by the number of the sample, modulo */
    int64_t first;                                /* number of its first sample */
    int64_t waits, waits_ms;                      /* containers since the last sample */
    int64_t seen;                                 /* number of the last sample that has the queue */
    UT_hash_handle hh;
};

struct rm_history {
    struct line *lines; /* by path, parents before children */
    int64_t last;       /* number of the last sample; 0: none */
};

struct rm_history *rm_history_new(void)
{
    return calloc(1, sizeof(struct rm_history));
}

static void line_free(struct rm_history *h, struct line *l)
{
    HASH_DEL(h->lines, l);
    free(l->path);
    free(l);
}

struct rm_history *rm_history_free(struct rm_history *h)
{
    struct line *l, *tmp;

    if (!h)
        return NULL;
    HASH_ITER (hh, h->lines, l, tmp)
        line_free(h, l);
    free(h);
    return NULL;
}

static struct line *find(const struct rm_history *h, const char *path)
{
    struct line *l;

    HASH_FIND_STR(h->lines, path, l);
    return l;
}

/* ---- Samples ---- */

static void fill(const struct rm_queue_info *q, const struct line *l, float ret[static RM_FIGURES])
{
    ret[RM_FIGURE_MEMORY_MB] = (float)q->used.mem;
    ret[RM_FIGURE_VCORES] = (float)q->used.vcores;
    ret[RM_FIGURE_CONTAINERS] = (float)q->containers;
    ret[RM_FIGURE_PENDING_MB] = (float)q->pending.mem;
    ret[RM_FIGURE_PENDING_VCORES] = (float)q->pending.vcores;
    ret[RM_FIGURE_WAIT_MS] =
        l && l->waits > 0 ? (float)((double)l->waits_ms / (double)l->waits) : RM_UNKNOWN;
}

/* NULL: there are enough. */
static struct line *line_of(struct rm_history *h, const struct rm_queue_info *q, int64_t number)
{
    struct line *l = find(h, q->path);

    if (l || HASH_COUNT(h->lines) >= RM_HISTORY_QUEUES)
        return l;
    l = calloc(1, sizeof(*l));
    if (!l)
        sv_out_of_memory();
    l->path = rm_strdup(q->path);
    l->first = number;
    HASH_ADD_KEYPTR(hh, h->lines, l->path, strlen(l->path), l);
    return l;
}

struct sampling {
    struct rm_history *history;
    int64_t number;
};

static int sample(const struct rm_queue_info *q, void *userdata)
{
    const struct sampling *s = userdata;
    struct line *l = line_of(s->history, q, s->number);
    float now[RM_FIGURES];

    if (!l)
        return 0;
    l->parent = q->parent ? find(s->history, q->parent) : NULL;
    l->seen = s->number;
    fill(q, l, now);
    for (int i = 0; i < RM_FIGURES; i++)
        l->values[i][s->number % RM_HISTORY_SAMPLES] = now[i];
    l->waits = l->waits_ms = 0;
    return 0;
}

/* Samples that were missed, as while the machine slept. */
static void skip(struct rm_history *h, int64_t number)
{
    int64_t from = SV_MAX(h->last + 1, number - RM_HISTORY_SAMPLES);

    for (struct line *l = h->lines; l; l = l->hh.next)
        for (int64_t k = from; k < number; k++)
            for (int i = 0; i < RM_FIGURES; i++)
                l->values[i][k % RM_HISTORY_SAMPLES] = RM_UNKNOWN;
}

void rm_history_tick(struct rm *rm, int64_t now_ms)
{
    struct rm_history *h = rm->history;
    struct sampling s = { .history = h, .number = now_ms / RM_HISTORY_STEP_MS };
    struct line *l, *tmp;

    if (s.number <= h->last)
        return;
    if (h->last > 0)
        skip(h, s.number);
    (void)rm_sched_each_queue(rm->sched, sample, &s); /* sample does not fail, ignoring */
    h->last = s.number;
    HASH_ITER (hh, h->lines, l, tmp)
        if (l->seen != s.number)
            line_free(h, l); /* its children, which are gone too, set no parent again */
}

void rm_history_waited(struct rm *rm, const char *path, int64_t ms)
{
    for (struct line *l = find(rm->history, path); l; l = l->parent) {
        l->waits++;
        l->waits_ms += ms;
    }
}

/* ---- Readers ---- */

int rm_history_now(const struct rm *rm, const char *path, int64_t now_ms,
                   struct rm_history_now *ret)
{
    struct rm_queue_info q;

    if (rm_sched_queue(rm->sched, path, &q) < 0)
        return -ENOENT;
    for (int i = 0; i < RM_FIGURES; i++)
        ret->full[i] = RM_UNKNOWN;
    ret->at = now_ms / RM_HISTORY_STEP_MS + 1; /* the sample that is next */
    fill(&q, find(rm->history, q.path), ret->values);
    ret->full[RM_FIGURE_MEMORY_MB] = (float)q.effective_max.mem;
    ret->full[RM_FIGURE_VCORES] = (float)q.effective_max.vcores;
    return 0;
}

size_t rm_history_samples(const struct rm *rm, const char *path, enum rm_figure figure,
                          float ret[static RM_HISTORY_SAMPLES])
{
    const struct rm_history *h = rm->history;
    const struct line *l = find(h, path);
    int64_t from;
    size_t n = 0;

    if (!l)
        return 0;
    from = SV_MAX(l->first, h->last - RM_HISTORY_SAMPLES + 1);
    for (int64_t k = from; k <= h->last; k++)
        ret[n++] = l->values[figure][k % RM_HISTORY_SAMPLES];
    return n;
}

int64_t rm_history_last(const struct rm *rm)
{
    return rm->history->last;
}
