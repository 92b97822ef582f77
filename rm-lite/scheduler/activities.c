/* See activities.h and record-activities.h. Nothing is kept or computed without a request. What is
 * kept is bounded in rows, over all visits and applications together. */
#include "rm-lite/scheduler/activities.h"

#include <stdlib.h>
#include <string.h>

#include "rm-lite/scheduler/record-activities.h"

struct wanted_node {
    struct yarn_node_id id;
    struct wanted_node *prev, *next;
};

struct recorded_app {
    struct yarn_app_id id;
    int64_t until_ms;
    struct rm_visit *visits; /* oldest first */
    int32_t n_visits;
    struct rm_visit *now; /* of the visit that goes on */
    struct recorded_app *prev, *next;
};

struct rm_activities {
    struct wanted_node *nodes;
    int32_t n_nodes, next_visits;
    struct rm_visit *visits; /* oldest first */
    int32_t n_visits;
    struct rm_visit *now;
    struct recorded_app *apps; /* the one of the oldest request first */
    int32_t n_apps;
    size_t rows;
};

static bool same_node(const struct yarn_node_id *a, const struct yarn_node_id *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}

/* ---- Memory ---- */

static struct rm_activities *of(struct rm_sched *s)
{
    if (!s->activities)
        s->activities = calloc(1, sizeof(*s->activities));
    if (!s->activities)
        sv_out_of_memory();
    return s->activities;
}

static struct rm_visit *visit_free(struct rm_activities *a, struct rm_visit *v)
{
    if (!v)
        return NULL;
    a->rows -= v->n;
    for (size_t i = 0; i < v->n; i++)
        free(v->rows[i].queue);
    free(v->rows);
    free(v);
    return NULL;
}

static void visit_drop(struct rm_activities *a, struct rm_visit **list, int32_t *n,
                       struct rm_visit *v)
{
    DL_DELETE(*list, v);
    (*n)--;
    visit_free(a, v);
}

static void app_drop(struct rm_activities *a, struct recorded_app *r)
{
    while (r->visits)
        visit_drop(a, &r->visits, &r->n_visits, r->visits);
    visit_free(a, r->now);
    DL_DELETE(a->apps, r);
    a->n_apps--;
    free(r);
}

static void node_drop(struct rm_activities *a, struct wanted_node *w)
{
    DL_DELETE(a->nodes, w);
    a->n_nodes--;
    free(w);
}

struct rm_activities *rm_activities_free(struct rm_activities *a)
{
    if (!a)
        return NULL;
    while (a->nodes)
        node_drop(a, a->nodes);
    while (a->visits)
        visit_drop(a, &a->visits, &a->n_visits, a->visits);
    while (a->apps)
        app_drop(a, a->apps);
    visit_free(a, a->now);
    free(a);
    return NULL;
}

static bool too_old(const struct rm_visit *v, int64_t now_ms)
{
    return now_ms - v->at_ms > RM_ACTIVITIES_TTL_MS;
}

/* Drops what is too old, then the oldest visits of nodes and of applications while there are too
 * many rows. */
static void make_room(struct rm_activities *a, int64_t now_ms)
{
    struct recorded_app *r, *tmp;

    while (a->visits && (too_old(a->visits, now_ms) || a->n_visits > RM_VISITS_MAX ||
                         a->rows > RM_ACTIVITY_ROWS))
        visit_drop(a, &a->visits, &a->n_visits, a->visits);
    DL_FOREACH_SAFE (a->apps, r, tmp) {
        while (r->visits && (too_old(r->visits, now_ms) || r->n_visits > RM_APP_VISITS ||
                             a->rows > RM_ACTIVITY_ROWS))
            visit_drop(a, &r->visits, &r->n_visits, r->visits);
        if (!r->visits && !r->now && r->until_ms <= now_ms)
            app_drop(a, r);
    }
}

/* Without a request the scheduler does not look here again. */
static void forget_if_idle(struct rm_sched *s)
{
    const struct rm_activities *a = s->activities;

    if (!a->nodes && !a->visits && !a->apps && a->next_visits == 0)
        s->activities = rm_activities_free(s->activities);
}

/* ---- Requests ---- */

void rm_record_next_visit(struct rm_sched *s, const struct yarn_node_id *node)
{
    struct rm_activities *a = of(s);
    struct wanted_node *w;

    if (!node) {
        a->next_visits = SV_MAX(a->next_visits, 1);
        return;
    }
    DL_FOREACH (a->nodes, w)
        if (same_node(&w->id, node))
            return;
    if (a->n_nodes == RM_RECORDED_NODES)
        node_drop(a, a->nodes);
    w = calloc(1, sizeof(*w));
    if (!w)
        sv_out_of_memory();
    w->id = *node;
    DL_APPEND(a->nodes, w);
    a->n_nodes++;
}

int64_t rm_record_visits(struct rm_sched *s, int32_t n)
{
    struct rm_activities *a = of(s);

    a->next_visits = SV_MAX(a->next_visits, SV_MIN(n, RM_VISITS_MAX));
    return s->recorded + a->next_visits;
}

int64_t rm_recorded(const struct rm_sched *s)
{
    return s->recorded;
}

static struct recorded_app *app_find(const struct rm_activities *a, struct yarn_app_id app)
{
    struct recorded_app *r;

    DL_FOREACH (a->apps, r)
        if (yarn_app_id_cmp(r->id, app) == 0)
            return r;
    return NULL;
}

void rm_record_app(struct rm_sched *s, struct yarn_app_id app, int64_t until_ms)
{
    struct rm_activities *a = of(s);
    struct recorded_app *r = app_find(a, app);

    if (r) {
        DL_DELETE(a->apps, r);
    } else {
        if (a->n_apps == RM_RECORDED_APPS)
            app_drop(a, a->apps);
        r = calloc(1, sizeof(*r));
        if (!r)
            sv_out_of_memory();
        r->id = app;
        a->n_apps++;
    }
    r->until_ms = until_ms;
    DL_APPEND(a->apps, r);
}

/* ---- Records ---- */

/* NULL: the visit has as many as it may. */
static struct rm_activity *row(struct rm_activities *a, struct rm_visit *v,
                               enum rm_activity_level level)
{
    struct rm_activity *rows, *new;

    if (v->n >= RM_VISIT_ROWS && level != RM_ACTIVITY_QUEUE) {
        v->cut = true;
        return NULL;
    }
    if (v->n == v->cap) {
        v->cap = v->cap ? v->cap * 2 : 8;
        rows = reallocarray(v->rows, v->cap, sizeof(*rows));
        if (!rows)
            sv_out_of_memory();
        v->rows = rows;
    }
    new = &v->rows[v->n++];
    *new = (struct rm_activity){ .level = level };
    a->rows++;
    return new;
}

static struct rm_visit *visit_new(const struct rm_sched *s, const struct rm_sched_node *n)
{
    struct rm_visit *v = calloc(1, sizeof(*v));

    if (!v)
        sv_out_of_memory();
    rm_node_id_to(n, &v->node);
    v->at_ms = s->now_ms;
    return v;
}

static int32_t depth_of(const struct rm_queue *q)
{
    int32_t n = 0;

    while ((q = q->parent))
        n++;
    return n;
}

/* One that was asked for by name, or the next of whichever. */
static bool is_wanted(struct rm_activities *a, const struct rm_sched_node *n)
{
    struct yarn_node_id id = { 0 };
    struct wanted_node *w, *tmp;
    bool wanted = false;

    if (a->nodes)
        rm_node_id_to(n, &id);
    DL_FOREACH_SAFE (a->nodes, w, tmp)
        if (same_node(&w->id, &id)) {
            node_drop(a, w);
            wanted = true;
        }
    return wanted || a->next_visits > 0;
}

void rm_visit_begins(struct rm_sched *s, const struct rm_sched_node *n)
{
    struct rm_activities *a = s->activities;

    make_room(a, s->now_ms);
    if (is_wanted(a, n))
        a->now = visit_new(s, n);
    else
        forget_if_idle(s);
}

void rm_visit_ends(struct rm_sched *s, enum rm_activity_state state)
{
    struct rm_activities *a = s->activities;
    struct rm_visit *v = a->now;

    if (!v)
        return;
    a->now = NULL;
    v->end = state;
    if (v->n == 0) { /* a reservation that is no longer requested was released */
        visit_free(a, v);
        return;
    }
    a->next_visits -= a->next_visits > 0;
    v->number = ++s->recorded;
    DL_APPEND(a->visits, v);
    a->n_visits++;
}

void rm_visit_queue(struct rm_sched *s, const struct rm_queue *q, enum rm_activity_state state,
                    int why, const struct rm_sched_app *app)
{
    struct rm_activities *a = s->activities;
    struct rm_activity *r = a->now ? row(a, a->now, RM_ACTIVITY_QUEUE) : NULL;

    if (!r)
        return;
    r->state = state;
    r->why = why;
    r->depth = depth_of(q);
    r->queue = strdup(q->path);
    if (!r->queue)
        sv_out_of_memory();
    if (app)
        r->app = app->id;
}

void rm_visit_app_begins(struct rm_sched *s, const struct rm_sched_node *n,
                         const struct rm_sched_app *app)
{
    struct rm_activities *a = s->activities;
    struct recorded_app *r = a->apps ? app_find(a, app->id) : NULL;

    if (r && r->until_ms > s->now_ms)
        r->now = visit_new(s, n);
}

static void app_row(struct rm_activities *a, struct rm_visit *v, const struct rm_sched_app *app,
                    enum rm_activity_state state, int why)
{
    struct rm_activity *r = row(a, v, RM_ACTIVITY_APP);

    if (!r)
        return;
    r->state = state;
    r->why = why;
    r->depth = depth_of(app->leaf) + 1;
    r->app = app->id;
    r->priority = app->priority;
}

void rm_visit_app_ends(struct rm_sched *s, const struct rm_sched_app *app,
                       enum rm_activity_state state, int why)
{
    struct rm_activities *a = s->activities;
    struct recorded_app *r = a->apps ? app_find(a, app->id) : NULL;

    if (a->now)
        app_row(a, a->now, app, state, why);
    if (!r || !r->now)
        return;
    app_row(a, r->now, app, state, why);
    /* The state of one ask is not its application's, as in Hadoop. */
    if (state == RM_ACTIVITY_RE_RESERVED || (state == RM_ACTIVITY_REJECTED && why == 0))
        state = RM_ACTIVITY_SKIPPED;
    r->now->end = state;
    DL_APPEND(r->visits, r->now);
    r->now = NULL;
    r->n_visits++;
}

struct ask { /* of one visit */
    const struct rm_sched_app *app;
    const struct rm_ask_group *g;
    const struct rm_sched_node *n;
    enum rm_activity_state state;
    enum rm_refusal why;
    const struct yarn_container_id *container;
};

static bool is_of_request(enum rm_refusal why)
{
    return why == RM_REFUSED_HEADROOM || why == RM_REFUSED_RESERVATION;
}

/* The request's row on the node, then its own. */
static void ask_rows(const struct rm_sched *s, struct rm_visit *v, const struct ask *ask)
{
    const bool of_request = is_of_request(ask->why);
    struct rm_activities *a = s->activities;
    struct rm_activity *r = of_request ? NULL : row(a, v, RM_ACTIVITY_NODE);
    int32_t depth = depth_of(ask->app->leaf) + 2;

    if (r) {
        r->state = ask->state;
        r->why = (int)ask->why;
        r->depth = depth + 1;
        r->priority = ask->g->priority;
        r->allocation_id = ask->g->allocation_id;
        r->required = ask->g->capability;
        r->memory_alone = s->set.calc == RM_CALC_MEMORY;
        r->available =
            ask->why == RM_REFUSED_TOTAL ? ask->n->total : rm_res_sub(ask->n->total, ask->n->used);
        if (ask->container)
            r->container = *ask->container;
    }
    if (ask->container)
        v->container = *ask->container;
    r = row(a, v, RM_ACTIVITY_REQUEST);
    if (!r)
        return;
    r->state = ask->state;
    r->why = of_request ? (int)ask->why : 0;
    r->depth = depth;
    r->priority = ask->g->priority;
    r->allocation_id = ask->g->allocation_id;
}

void rm_visit_ask(struct rm_sched *s, const struct rm_sched_app *app, const struct rm_ask_group *g,
                  const struct rm_sched_node *n, enum rm_activity_state state, enum rm_refusal why,
                  const struct yarn_container_id *container)
{
    const struct ask ask = { app, g, n, state, why, container };
    struct rm_activities *a = s->activities;
    struct recorded_app *r = a->apps ? app_find(a, app->id) : NULL;

    if (why == RM_REFUSED_QUEUE) /* of all its asks, as the application's row says */
        return;
    if (a->now)
        ask_rows(s, a->now, &ask);
    if (r && r->now)
        ask_rows(s, r->now, &ask);
}

/* ---- Reading ---- */

const struct rm_visit *rm_visits(const struct rm_sched *s)
{
    return s->activities ? s->activities->visits : NULL;
}

const struct rm_visit *rm_visit_of(const struct rm_sched *s, const struct yarn_node_id *node,
                                   int64_t now_ms)
{
    const struct rm_visit *last = NULL, *v;

    DL_FOREACH (rm_visits(s), v)
        if (!too_old(v, now_ms) && (!node || same_node(&v->node, node)))
            last = v;
    return last;
}

const struct rm_visit *rm_app_visits(const struct rm_sched *s, struct yarn_app_id app,
                                     int64_t now_ms)
{
    const struct recorded_app *r = s->activities ? app_find(s->activities, app) : NULL;
    const struct rm_visit *v = r ? r->visits : NULL;

    while (v && too_old(v, now_ms))
        v = v->next;
    return v;
}
