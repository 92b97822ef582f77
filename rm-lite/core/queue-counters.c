/* See queue-counters.h. */
#include "rm-lite/core/queue-counters.h"

#include <string.h>

#include "common/oom.h"
#include "common/str.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/scheduler/scheduler.h"

#define KEY_MAX ((size_t)4096)

static size_t make_key(const char *path, size_t n, const char *user, char ret[static KEY_MAX])
{
    size_t m = user ? SV_MIN(strlen(user), KEY_MAX / 2 - 2) + 1 : 0;

    n = SV_MIN(n, KEY_MAX / 2);
    memcpy(ret, path, n);
    ret[n] = 0;
    if (m) {
        memcpy(ret + n + 1, user, m - 1);
        ret[n + m] = 0;
    }
    return n + m;
}

/* NULL: too many users. */
static struct rm_queue_counters *entry(struct rm *rm, const char *path, size_t n, const char *user)
{
    struct rm_queue_counters *c;
    char key[KEY_MAX];
    size_t len = make_key(path, n, user, key);

    HASH_FIND(hh, rm->queue_counters, key, len, c);
    if (c || (user && rm->n_queue_users >= RM_QUEUE_USERS_MAX))
        return c;
    c = calloc(1, sizeof(*c));
    if (!c || !(c->key = malloc(len + 1)))
        sv_out_of_memory();
    memcpy(c->key, key, len + 1);
    if (user) {
        c->user = c->key + strlen(c->key) + 1;
        if (++rm->n_queue_users == RM_QUEUE_USERS_MAX)
            sv_log_warning("metrics of users: %d entries; further users are not counted",
                           RM_QUEUE_USERS_MAX);
    }
    HASH_ADD_KEYPTR(hh, rm->queue_counters, c->key, len, c);
    return c;
}

static const char *path_of(const struct rm_app *app)
{
    struct rm_queue_info info;

    return app->rm->sched && rm_sched_queue(app->rm->sched, app->queue, &info) >= 0 ? info.path
                                                                                    : "";
}

/* Caches the application's entries: its queue's and, if users are counted, its user's there. */
static void entries(struct rm_app *app)
{
    const char *path;

    if (app->counters)
        return;
    path = path_of(app);
    app->counters = entry(app->rm, path, strlen(path), NULL);
    app->user_counters =
        app->rm->conf.user_metrics ? entry(app->rm, path, strlen(path), app->user) : NULL;
}

static void count(struct rm_app *app, int what, int64_t n)
{
    entries(app);
    app->counters->n[what] += n;
    if (app->user_counters)
        app->user_counters->n[what] += n;
}

void rm_queue_count(struct rm_app *app, enum rm_queue_count what)
{
    count(app, what, 1);
}

void rm_queue_count_preempted(struct rm_app *app, struct rm_res res, int64_t ms)
{
    count(app, RM_COUNT_PREEMPTED, 1);
    count(app, RM_COUNT_PREEMPTED_MB, res.mem);
    count(app, RM_COUNT_PREEMPTED_VCORES, res.vcores);
    count(app, RM_COUNT_PREEMPTED_MB_MS, res.mem * ms);
    count(app, RM_COUNT_PREEMPTED_VCORE_MS, res.vcores * ms);
    for (int i = 0; i < RM_RES_EXTRA; i++)
        count(app, RM_COUNT_PREEMPTED_EXTRA_MS + i, res.extra[i] * ms);
}

/* ---- Sums ---- */

static void age(const struct rm_app *app, int64_t now_ms, struct rm_queue_live *ret)
{
    static const int64_t bounds_s[] = { 60 * 60, 300 * 60, 1440 * 60 };
    int64_t s = (now_ms - app->start_ms) / 1000;
    size_t i = 0;

    if (app->state != RM_APP_ST_RUNNING) {
        ret->pending = 1;
        return;
    }
    ret->running = 1;
    while (i < SV_ARRAY_LEN(bounds_s) && s >= bounds_s[i])
        i++;
    ret->for_minutes[i] = 1;
}

static struct rm_queue_live live_of(const struct rm_app *app, int64_t now_ms)
{
    struct rm_queue_live live = { 0 };
    struct rm_app_usage use;

    age(app, now_ms, &live);
    if ((app->user_counters ? rm_sched_app_usage(app->rm->sched, app->id, &use)
                            : rm_sched_app_amounts(app->rm->sched, app->id, &use)) < 0)
        return live;
    live.headroom = use.headroom;
    live.active = use.active;
    live.containers = use.containers;
    live.reserved_containers = use.reserved_containers;
    live.pending_containers = use.pending_containers;
    live.used = use.used;
    live.reserved = use.reserved;
    live.wanted = use.pending;
    return live;
}

static void add_live(struct rm_queue_live *to, const struct rm_queue_live *l)
{
    to->running += l->running;
    to->pending += l->pending;
    to->active += l->active;
    for (size_t i = 0; i < SV_ARRAY_LEN(to->for_minutes); i++)
        to->for_minutes[i] += l->for_minutes[i];
    to->containers += l->containers;
    to->reserved_containers += l->reserved_containers;
    to->pending_containers += l->pending_containers;
    to->used = rm_res_add(to->used, l->used);
    to->reserved = rm_res_add(to->reserved, l->reserved);
    to->wanted = rm_res_add(to->wanted, l->wanted);
}

/* Adds to the entry and to those of the queues above it. */
static void add_up(struct rm *rm, const struct rm_queue_counters *c, const int64_t *n,
                   const struct rm_queue_live *live)
{
    for (size_t len = strlen(c->key);;) {
        struct rm_queue_counters *to = entry(rm, c->key, len, c->user);

        for (int i = 0; to && n && i < RM_COUNTS; i++)
            to->sum[i] += n[i];
        if (to && live)
            add_live(&to->live, live);
        while (len > 0 && c->key[len - 1] != '.')
            len--;
        if (len == 0)
            return;
        len--;
    }
}

void rm_queue_counters_gather(struct rm *rm)
{
    int64_t now = sv_wall_ms();
    struct rm_app *app;

    for (struct rm_queue_counters *c = rm->queue_counters; c; c = c->hh.next) {
        memset(c->sum, 0, sizeof(c->sum));
        c->own = c->live = (struct rm_queue_live){ 0 };
    }
    DL_FOREACH (rm->app_list, app) {
        struct rm_queue_live live;

        if (rm_app_final_stored(app))
            continue;
        entries(app);
        live = live_of(app, now);
        if (app->counters)
            add_live(&app->counters->own, &live);
        if (app->user_counters) {
            add_live(&app->user_counters->own, &live);
            app->user_counters->own.headroom = live.headroom; /* of any application of the user */
        }
    }
    /* Per queue, not per application: may append parents, whose own numbers are 0. */
    for (struct rm_queue_counters *c = rm->queue_counters; c; c = c->hh.next) {
        add_up(rm, c, c->n, &c->own);
        c->live.headroom = c->own.headroom;
    }
}

const struct rm_queue_counters *rm_queue_counters_find(const struct rm *rm, const char *path,
                                                       const char *user)
{
    static const struct rm_queue_counters nothing;
    const struct rm_queue_counters *c;
    char key[KEY_MAX];
    size_t len = make_key(path, strlen(path), user, key);

    HASH_FIND(hh, rm->queue_counters, key, len, c);
    return c ? c : &nothing;
}

void rm_queue_counters_free(struct rm *rm)
{
    struct rm_queue_counters *c, *tmp;

    HASH_ITER (hh, rm->queue_counters, c, tmp) {
        HASH_DEL(rm->queue_counters, c);
        free(c->key);
        free(c);
    }
}
