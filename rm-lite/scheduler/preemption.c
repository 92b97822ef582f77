/* Preemption, second half: selection of victims, on RM_SCHED_PREEMPT, every monitoring_interval.
 * Pure; the rules are those of ProportionalCapacityPreemptionPolicy and its FifoCandidatesSelector.
 *
 * In a leaf above its share the application that is served last is reclaimed from first: its
 * reservations, then its containers, those of lower priority and newer ones first. Containers of
 * ApplicationMasters are victims only if nothing else is left, and only as far as they exceed the
 * leaf's share of them. A victim is first announced to its master, and killed if it is selected
 * again after max_wait_before_kill. In a leaf that owes nothing to other queues, applications may
 * owe each other (preempt-inside.c). One event takes at most RM_PREEMPT_DECISIONS decisions and
 * scans RM_PREEMPT_CONTAINERS containers of an application. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <errno.h>
#include <stdlib.h>

struct round {
    struct rm_sched *s;
    int64_t now;
    struct rm_res allowed; /* may still be reclaimed in this round, in the whole cluster */
};

static bool some_left(const struct rm_sched *s, struct rm_res r)
{
    return rm_res_some(s->set.calc, r);
}

/* Announces the victim or, after max_wait_before_kill, decides its kill. */
static void announce_or_kill(struct round *r, struct rm_sched_container *c)
{
    const struct rm_preempt_settings *set = &r->s->set.preempt;
    /* An announcement expires if it was older than twice the wait at the last round. */
    bool old = c->preempt_ms > 0 && r->s->preempted_ms - c->preempt_ms <= 2 * set->wait_ms;
    struct rm_decision *d;

    if (old && r->now - c->preempt_ms < set->wait_ms)
        return;
    d = rm_decide(r->s, old ? RM_DECIDE_PREEMPTED : RM_DECIDE_PREEMPT);
    d->app = c->app->id;
    d->container = rm_container_id(c);
    rm_node_id_to(c->node, &d->node);
    d->resource = c->resource;
    c->preempt_ms = r->now;
    if (!old)
        return;
    c->killing = true;
    rm_queue_kill(c->app, c->resource);
}

/* True if killing it frees a resource still to be reclaimed: where GPUs are short, a container
 * without one is no victim. */
static bool helps(const struct rm_sched *s, struct rm_res r, struct rm_res left)
{
    bool some = r.mem > 0 && left.mem > 0;

    some |= s->set.calc != RM_CALC_MEMORY && r.vcores > 0 && left.vcores > 0;
    for (int i = 0; i < RM_RES_EXTRA; i++)
        some |= r.extra[i] > 0 && left.extra[i] > 0;
    return some;
}

/* Selects the container as a victim, if policy permits. */
static bool take(struct round *r, struct rm_sched_container *c, struct rm_res *left)
{
    if (!helps(r->s, c->resource, *left) || r->s->n_out >= RM_PREEMPT_DECISIONS ||
        !rm_res_fits(r->s->set.calc, c->resource, r->allowed))
        return false;
    announce_or_kill(r, c);
    *left = rm_res_sub(*left, c->resource);
    r->allowed = rm_res_sub(r->allowed, c->resource);
    return true;
}

/* Numerically larger (lower) priority first, then newer first. */
static int container_order(const void *a, const void *b)
{
    const struct rm_sched_container *x = *(struct rm_sched_container *const *)a;
    const struct rm_sched_container *y = *(struct rm_sched_container *const *)b;

    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return x->number > y->number ? -1 : x->number < y->number;
}

static void take_reservations(struct round *r, struct rm_sched_app *app, struct rm_res *left)
{
    struct rm_ask_group *g, *tmp;

    DL_FOREACH_SAFE (app->groups, g, tmp) {
        while (g->reservations && some_left(r->s, *left) && r->s->n_out < RM_PREEMPT_DECISIONS) {
            *left = rm_res_sub(*left, g->reservations->reserved);
            rm_unreserve(r->s, g->reservations);
        }
        rm_asks_collect(r->s, app, g);
    }
}

static void take_from_app(struct round *r, struct rm_sched_app *app, struct rm_res *left,
                          struct rm_sched_container **space)
{
    struct rm_sched_container *c = rm_app_last(r->s, app);
    size_t n = 0;

    take_reservations(r, app, left);
    for (; c && n < RM_PREEMPT_CONTAINERS; c = rm_app_previous(r->s, c))
        if (!c->killing && !c->am)
            space[n++] = c;
    qsort(space, n, sizeof(*space), container_order);
    for (size_t i = 0; i < n && some_left(r->s, *left); i++)
        (void)take(r, space[i], left); /* a smaller one may still be permitted, ignoring */
}

/* Only while masters exceed their share of the leaf's guarantee. */
static void take_masters(struct round *r, const struct rm_queue *leaf, struct rm_sched_app **apps,
                         size_t n, struct rm_res *left)
{
    struct rm_res keep = rm_res_scale(leaf->eff_min, leaf->am_percent), masters = leaf->am_used;

    for (size_t i = 0; i < n && some_left(r->s, *left); i++) {
        struct rm_sched_container *c = rm_app_first(r->s, apps[i]);

        if (rm_res_fits(r->s->set.calc, masters, keep))
            return;
        while (c && (!c->am || c->killing))
            c = rm_app_next(r->s, c);
        if (c && take(r, c, left))
            masters = rm_res_sub(masters, c->resource);
    }
}

/* ------------------------------------------------------------- between queues */

/* By leaf, then the application served last first. */
static int app_order(const void *a, const void *b)
{
    struct rm_sched_app *x = *(struct rm_sched_app *const *)a;
    struct rm_sched_app *y = *(struct rm_sched_app *const *)b;

    if (x->leaf != y->leaf)
        return x->leaf->number < y->leaf->number ? -1 : 1;
    return rm_ready_order(y, x);
}

/* The applications of leaves from which to reclaim. */
static size_t candidates(struct rm_sched *s, struct rm_sched_app **ret)
{
    size_t n = 0;

    for (struct rm_sched_app *app = s->apps; app; app = app->hh.next) {
        if ((!app->n_containers && !app->n_reserved) ||
            !some_left(s, rm_preempt_from(s, app->leaf)))
            continue;
        if (!app->in_ready)
            app->magnitude = rm_app_magnitude(app);
        ret[n++] = app;
    }
    qsort(ret, n, sizeof(*ret), app_order);
    return n;
}

static void between_queues(struct round *r, struct rm_sched_app **apps,
                           struct rm_sched_container **space)
{
    size_t n = candidates(r->s, apps);

    for (size_t i = 0, end; i < n; i = end) {
        struct rm_queue *leaf = apps[i]->leaf;
        struct rm_res left = rm_preempt_from(r->s, leaf);

        for (end = i; end < n && apps[end]->leaf == leaf; end++)
            take_from_app(r, apps[end], &left, space);
        take_masters(r, leaf, apps + i, end - i, &left);
    }
}

/* ------------------------------------------------------------ inside of a leaf */

/* By leaf, then priority and age. */
static int claim_order(const void *a, const void *b)
{
    struct rm_sched_app *x = ((const struct rm_claim *)a)->app;
    struct rm_sched_app *y = ((const struct rm_claim *)b)->app;

    if (x->leaf != y->leaf)
        return x->leaf->number < y->leaf->number ? -1 : 1;
    return rm_app_order(x, y);
}

static bool inside(const struct rm_sched *s, const struct rm_queue *leaf)
{
    return !leaf->inside_disabled && !rm_res_is_zero(leaf->pending) &&
           !some_left(s, rm_preempt_from(s, leaf)) &&
           rm_res_share(s->set.calc, leaf->used, leaf->eff_min) >= s->set.preempt.inside_from;
}

/* True if one resource type is reclaimed in full: the selection ends there, whatever is left of the
 * others. */
static bool spent(const struct rm_sched *s, struct rm_res given, struct rm_res left)
{
    bool r = given.mem > 0 && left.mem <= 0;

    r |= s->set.calc != RM_CALC_MEMORY && given.vcores > 0 && left.vcores <= 0;
    for (int i = 0; i < RM_RES_EXTRA; i++)
        r |= given.extra[i] > 0 && left.extra[i] <= 0;
    return r;
}

/* The newest containers of each yielding application, until its user is down to the limit. */
static void take_given(struct round *r, const struct rm_claim *claim,
                       struct rm_sched_container **space)
{
    struct rm_sched_container *c = rm_app_last(r->s, claim->app);
    struct rm_res left = claim->gives;
    size_t n = 0;

    if (!some_left(r->s, left))
        return;
    for (; c && n < RM_PREEMPT_CONTAINERS; c = rm_app_previous(r->s, c))
        if (!c->killing && !c->am)
            space[n++] = c;
    qsort(space, n, sizeof(*space), container_order);
    for (size_t i = 0; i < n && !spent(r->s, claim->gives, left); i++) {
        if (rm_preempt_keeps(r->s, space[i]))
            return;
        (void)take(r, space[i], &left); /* a smaller one may still be permitted, ignoring */
    }
}

static int inside_leaves(struct round *r, struct rm_sched_container **space)
{
    _cleanup_free_ struct rm_claim *v = calloc(HASH_COUNT(r->s->apps) + 1, sizeof(*v));
    size_t n = 0;

    if (!v)
        return -ENOMEM;
    for (struct rm_sched_app *app = r->s->apps; app; app = app->hh.next)
        if (app->active && inside(r->s, app->leaf))
            v[n++].app = app;
    qsort(v, n, sizeof(*v), claim_order);
    for (size_t i = 0, end; i < n; i = end) {
        struct rm_queue *leaf = v[i].app->leaf;
        struct rm_res limit = rm_res_scale(leaf->eff_min, r->s->set.preempt.inside_at_most);

        for (end = i + 1; end < n && v[end].app->leaf == leaf; end++)
            ;
        rm_preempt_inside(r->s, leaf, rm_res_min(limit, r->allowed), v + i, end - i);
        for (size_t k = end; k-- > i;)
            take_given(r, &v[k], space);
    }
    return 0;
}

int rm_preempt(struct rm_sched *s, int64_t now)
{
    struct round r = { .s = s,
                       .now = now,
                       .allowed = rm_res_scale(s->cluster, s->set.preempt.per_round) };
    _cleanup_free_ struct rm_sched_container **space = NULL;
    _cleanup_free_ struct rm_sched_app **apps = NULL;
    int e = 0;

    if (!s->set.preempt.enabled)
        return 0;
    if (rm_res_is_zero(s->root->pending)) {
        s->preempted_ms = now;
        return 0;
    }
    rm_preempt_shares(s, s->root, r.allowed);
    apps = calloc(HASH_COUNT(s->apps) + 1, sizeof(struct rm_sched_app *));
    space = calloc(RM_PREEMPT_CONTAINERS, sizeof(struct rm_sched_container *));
    if (!apps || !space)
        return -ENOMEM;
    between_queues(&r, apps, space);
    if (s->set.preempt.inside)
        e = inside_leaves(&r, space);
    s->preempted_ms = now;
    return e;
}
