/* Limits of running applications: max-parallel-apps of queues and users. An application above one
 * of them is held in ACCEPTED until another ends: CSMaxRunningAppsEnforcer. Pure. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <string.h>

static struct rm_person *person_find(const struct rm_sched *s, const char *name)
{
    struct rm_person *p;

    HASH_FIND_STR(s->people, name, p);
    return p;
}

static void person_count(struct rm_sched *s, const char *name, int32_t change)
{
    struct rm_person *p = person_find(s, name);

    if (!p) {
        p = calloc(1, sizeof(*p));
        if (!p || !(p->name = strdup(name)))
            sv_out_of_memory();
        HASH_ADD_KEYPTR(hh, s->people, p->name, strlen(p->name), p);
    }
    p->running += change;
    if (p->running > 0)
        return;
    HASH_DEL(s->people, p);
    free(p->name);
    free(p);
}

static bool may_run(const struct rm_sched *s, const struct rm_sched_app *app)
{
    const struct rm_person *p;

    for (const struct rm_queue *q = app->leaf; q; q = q->parent)
        if (q->running >= q->max_parallel)
            return false;
    p = person_find(s, app->user->name);
    return (p ? p->running : 0) < rm_user_max_parallel(s, app->user->name);
}

static void hold(struct rm_sched *s, struct rm_sched_app *app, bool held)
{
    s->n_held += (int32_t)held - (int32_t)app->held;
    app->held = held;
}

void rm_parallel_take(struct rm_sched *s, struct rm_sched_app *app)
{
    if (app->runs)
        return;
    if (!may_run(s, app)) {
        hold(s, app, true);
        return;
    }
    person_count(s, app->user->name, 1);
    hold(s, app, false);
    app->runs = true;
    for (struct rm_queue *q = app->leaf; q; q = q->parent)
        q->running++;
}

/* The first held application, in the order of rm_app_order(), that its limits allow to run. */
static struct rm_sched_app *next(const struct rm_sched *s, struct rm_queue *q)
{
    struct rm_sched_app *best = NULL, *app;

    if (q->running >= q->max_parallel)
        return NULL;
    DL_FOREACH2(q->waiting, app, w_next)
    if (app->held && may_run(s, app)) {
        best = app;
        break;
    }
    for (size_t i = 0; i < q->n_children; i++) {
        app = next(s, q->children[i]);
        if (app && (!best || rm_app_order(app, best) < 0))
            best = app;
    }
    return best;
}

void rm_parallel_next(struct rm_sched *s)
{
    struct rm_sched_app *app;

    while (s->n_held > 0 && (app = next(s, s->root))) {
        rm_parallel_take(s, app);
        rm_queue_activate(s, app->leaf);
    }
}

void rm_parallel_give(struct rm_sched *s, struct rm_sched_app *app)
{
    hold(s, app, false);
    if (!app->runs)
        return;
    app->runs = false;
    for (struct rm_queue *q = app->leaf; q; q = q->parent)
        q->running--;
    person_count(s, app->user->name, -1);
}
