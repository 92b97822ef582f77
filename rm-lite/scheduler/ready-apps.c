/* The active applications of a leaf with outstanding asks, in the order of service. Pure.
 *
 * An allocation pass visits a node because one container ended on it, while hundreds of
 * applications may wait for hosts that they name. So the leaf has a second list, in the same order,
 * of the "general" applications, which may get a container on a host that they do not name: one of
 * their asks names no place, or has missed an opportunity. ask-index.c finds the others by host. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Higher priority first, then order of submission. */
int rm_app_order(struct rm_sched_app *a, struct rm_sched_app *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->id.cluster_ts != b->id.cluster_ts)
        return a->id.cluster_ts < b->id.cluster_ts ? -1 : 1;
    return a->id.id < b->id.id ? -1 : a->id.id > b->id.id;
}

/* FairOrderingPolicy: memory in use, with size-based weight divided by the logarithm of the
 * demand. */
double rm_app_magnitude(const struct rm_sched_app *app)
{
    double used = (double)app->used.mem, demand = used + (double)app->pending.mem;

    return app->leaf->fair_by_size && demand > 0 ? used / log2(1 + demand) : used;
}

/* Fair order: least magnitude first; ties and FIFO leaves: rm_app_order(). */
int rm_ready_order(struct rm_sched_app *a, struct rm_sched_app *b)
{
    if (a->leaf->fair && a->magnitude != b->magnitude)
        return a->magnitude < b->magnitude ? -1 : 1;
    return rm_app_order(a, b);
}

static void insert(struct rm_sched_app *app)
{
    struct rm_queue *q = app->leaf;
    struct rm_sched_app *tail = q->ready ? q->ready->r_prev : NULL;

    app->magnitude = rm_app_magnitude(app);
    if (!tail || rm_ready_order(tail, app) < 0) /* the usual case: a new application */
        DL_APPEND2(q->ready, app, r_prev, r_next);
    else
        DL_INSERT_INORDER2(q->ready, app, rm_ready_order, r_prev, r_next);
}

/* A fair leaf orders by usage, which changes with each container: it has no second list. */
static void update_general(struct rm_sched_app *app)
{
    struct rm_queue *q = app->leaf;
    struct rm_sched_app *tail = q->general ? q->general->g_prev : NULL;
    bool general = app->in_ready && app->n_general > 0 && !q->fair;

    if (general == app->in_general)
        return;
    app->in_general = general;
    if (!general)
        DL_DELETE2(q->general, app, g_prev, g_next);
    else if (!tail || rm_ready_order(tail, app) < 0)
        DL_APPEND2(q->general, app, g_prev, g_next);
    else
        DL_INSERT_INORDER2(q->general, app, rm_ready_order, g_prev, g_next);
}

void rm_app_general(struct rm_sched_app *app, int32_t more)
{
    app->n_general += more;
    update_general(app);
}

static void leave(struct rm_sched_app *app)
{
    DL_DELETE2(app->leaf->ready, app, r_prev, r_next);
    app->leaf->n_ready--;
    app->in_ready = false;
    update_general(app);
}

static void enter(struct rm_sched_app *app)
{
    insert(app);
    app->leaf->n_ready++;
    app->in_ready = true;
    update_general(app);
}

void rm_app_used_changed(struct rm_sched_app *app)
{
    if (!app->leaf->fair || !app->in_ready || rm_app_magnitude(app) == app->magnitude)
        return;
    leave(app);
    enter(app);
}

void rm_app_ready(struct rm_sched_app *app)
{
    bool ready = app->active && !rm_res_is_zero(app->pending);

    if (app->leaf->fair_by_size)
        rm_app_used_changed(app);
    if (ready == app->in_ready)
        return;
    app->user->asking += ready ? 1 : -1;
    app->leaf->user_limits_known = false;
    if (ready)
        enter(app);
    else
        leave(app);
}

void rm_app_set_priority(struct rm_sched_app *app, int32_t priority)
{
    bool ready = app->in_ready;

    if (ready)
        leave(app);
    app->priority = priority;
    if (ready)
        enter(app);
}

void rm_ready_renew(struct rm_queue *leaf)
{
    struct rm_sched_app *app;

    leaf->general = NULL;
    leaf->n_ready = 0;
    DL_FOREACH2(leaf->ready, app, r_next)
    app->magnitude = rm_app_magnitude(app);
    DL_SORT2(leaf->ready, rm_ready_order, r_prev, r_next);
    DL_FOREACH2(leaf->ready, app, r_next)
    {
        leaf->n_ready++;
        app->in_general = false;
        update_general(app);
    }
}

static int by_order(const void *a, const void *b)
{
    return rm_ready_order(*(struct rm_sched_app *const *)a, *(struct rm_sched_app *const *)b);
}

/* The leaf's applications that name the host and are not in the general list, in order, once
 * each. */
static size_t named(struct rm_sched *s, const struct rm_queue *leaf, const struct rm_place *place)
{
    size_t n = 0, kept = 0;

    for (const struct rm_ask_row *row = place ? place->rows : NULL; row; row = row->p_next)
        if (row->app->leaf == leaf && row->app->in_ready && !row->app->in_general)
            s->named[n++] = row->app;
    if (n > 1)
        qsort(s->named, n, sizeof(*s->named), by_order);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || s->named[i] != s->named[i - 1])
            s->named[kept++] = s->named[i];
    return kept;
}

static int reserve(struct rm_sched *s, size_t n)
{
    struct rm_sched_app **v;

    if (n <= s->cap_named)
        return 0;
    v = realloc(s->named, n * sizeof(*v));
    if (!v)
        return -ENOMEM;
    s->named = v;
    s->cap_named = n;
    return 0;
}

void rm_walk_begin(struct rm_sched *s, const struct rm_queue *leaf, const struct rm_sched_node *n,
                   bool every, struct rm_walk *w)
{
    const struct rm_place *place;

    *w = (struct rm_walk){ .all = leaf->ready };
    if (every || leaf->fair || s->walk_all || s->set.node_locality_delay < 0)
        return;
    place = rm_place_find(s, &n->host_label);
    if (place && (place->n > (size_t)leaf->n_ready || reserve(s, place->n) < 0))
        return; /* the full walk is as fast, or no memory: every application */
    *w = (struct rm_walk){ .s = s, .general = leaf->general, .n = named(s, leaf, place) };
}

struct rm_sched_app *rm_walk_next(struct rm_walk *w)
{
    struct rm_sched_app *app, *other = w->s && w->i < w->n ? w->s->named[w->i] : NULL;

    if (!w->s) {
        app = w->all;
        w->all = app ? app->r_next : NULL;
        return app;
    }
    app = w->general;
    if (other && (!app || rm_ready_order(other, app) < 0)) {
        w->i++;
        return other;
    }
    w->general = app ? app->g_next : NULL;
    return app;
}
