/* See queue-counters.h. Called where applications and containers begin and end. */
#include "rm-lite/queue-counters.h"

#include <string.h>

#include "common/str.h"
#include "rm-lite/rm-app.h"
#include "rm-lite/scheduler.h"
#include "rm-lite/text.h"

static struct rm_queue_counters *entry(struct rm *rm, const char *path)
{
    struct rm_queue_counters *c;

    HASH_FIND_STR(rm->queue_counters, path, c);
    if (c)
        return c;
    c = calloc(1, sizeof(*c));
    if (!c)
        sv_out_of_memory();
    c->path = rm_strdup(path);
    HASH_ADD_KEYPTR(hh, rm->queue_counters, c->path, strlen(c->path), c);
    return c;
}

struct rm_queue_counters *rm_queue_counters_of(struct rm_app *app)
{
    struct rm_queue_info info;

    if (!app->counters)
        app->counters =
            entry(app->rm, app->rm->sched && rm_sched_queue(app->rm->sched, app->queue, &info) >= 0
                               ? info.path
                               : "");
    return app->counters;
}

static void count(const struct rm_app *app, int64_t now_ms, struct rm_queue_live *ret)
{
    static const int64_t bounds_s[] = { 60 * 60, 300 * 60, 1440 * 60 };
    int64_t s = (now_ms - app->start_ms) / 1000;
    size_t i = 0;

    if (rm_app_final_stored(app))
        return;
    if (app->state != RM_APP_ST_RUNNING) {
        ret->pending++;
        return;
    }
    ret->running++;
    while (i < SV_ARRAY_LEN(bounds_s) && s >= bounds_s[i])
        i++;
    ret->for_minutes[i]++;
}

void rm_queue_counters_live(struct rm *rm)
{
    int64_t now = sv_wall_ms();
    struct rm_app *app;

    for (struct rm_queue_counters *c = rm->queue_counters; c; c = c->hh.next)
        c->live = (struct rm_queue_live){ 0 };
    DL_FOREACH (rm->app_list, app)
        count(app, now, &rm_queue_counters_of(app)->live);
}

struct rm_queue_counters rm_queue_counters_sum(const struct rm *rm, const char *path)
{
    struct rm_queue_counters sum = { .path = NULL };
    size_t n = strlen(path);

    for (const struct rm_queue_counters *c = rm->queue_counters; c; c = c->hh.next) {
        if (strncmp(c->path, path, n) != 0 || (c->path[n] && c->path[n] != '.'))
            continue;
        sum.submitted += c->submitted;
        sum.completed += c->completed;
        sum.failed += c->failed;
        sum.killed += c->killed;
        sum.allocated += c->allocated;
        sum.released += c->released;
        sum.live.running += c->live.running;
        sum.live.pending += c->live.pending;
        for (size_t i = 0; i < SV_ARRAY_LEN(sum.live.for_minutes); i++)
            sum.live.for_minutes[i] += c->live.for_minutes[i];
    }
    return sum;
}

void rm_queue_counters_free(struct rm *rm)
{
    struct rm_queue_counters *c, *tmp;

    HASH_ITER (hh, rm->queue_counters, c, tmp) {
        HASH_DEL(rm->queue_counters, c);
        free(c->path);
        free(c);
    }
}
