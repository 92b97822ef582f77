/* Selection of the next container on one node: the CapacityScheduler's walk from the root queue to
 * one ask, with its limits and its locality delay. Called by scheduler.c only. Pure. */
#include "rm-lite/scheduler-impl.h"

#include <errno.h>
#include <string.h>

enum outcome { NOTHING, SKIPPED, ALLOCATED, RESERVED, FAILED };

struct pass { /* one call of rm_assign_node */
    struct rm_sched *s;
    struct rm_sched_node *n;
    bool heartbeat;
    enum rm_locality locality; /* of the last allocation */
};

static enum outcome allocate(struct pass *p, struct rm_sched_app *app, struct rm_ask_group *g,
                             enum rm_locality l)
{
    struct yarn_container_id id = {
        .attempt = { .app = app->id, .attempt = app->attempt },
        .id = (p->s->epoch << RM_EPOCH_SHIFT) | (app->sequence + 1),
    };
    struct rm_decision *d = rm_decide(p->s, RM_DECIDE_ALLOCATED);
    struct rm_sched_container *c;

    if (!d)
        return FAILED;
    c = rm_container_add(p->s, app, p->n, id, g->capability);
    if (!c) {
        p->s->n_out--;
        return FAILED;
    }
    app->sequence++;
    c->priority = g->priority;
    c->allocation_id = g->allocation_id;
    c->locality = l;
    d->app = app->id;
    d->container = id;
    d->node = p->n->id;
    d->resource = g->capability;
    d->priority = g->priority;
    d->allocation_id = g->allocation_id;
    d->locality = l;
    p->locality = l;
    rm_asks_took(p->s, app, g, p->n, l); /* may free g */
    return ALLOCATED;
}

static enum outcome reserve(struct pass *p, struct rm_sched_app *app, struct rm_ask_group *g)
{
    struct rm_decision *d;

    if (!p->heartbeat || p->n->reserved_app || g->reserved >= g->any)
        return SKIPPED;
    d = rm_decide(p->s, RM_DECIDE_RESERVED);
    if (!d)
        return FAILED;
    p->n->reserved_app = app;
    p->n->reserved_group = g;
    p->n->reserved = g->capability;
    g->reserved++;
    rm_reserve_account(app, g->capability, 1);
    d->app = app->id;
    d->container.attempt = (struct yarn_attempt_id){ .app = app->id, .attempt = app->attempt };
    d->node = p->n->id;
    d->resource = g->capability;
    d->priority = g->priority;
    return RESERVED;
}

/* The locality that an ask may have on this node now. */
static bool locality_allowed(const struct pass *p, const struct rm_ask_group *g,
                             enum rm_locality *ret)
{
    const struct rm_sched_settings *set = &p->s->set;
    const struct rm_ask_row *rack;
    int64_t nodes = SV_MAX(p->s->n_nodes, 1), places = (int64_t)HASH_COUNT(g->rows), limit;

    if (rm_asks_row(g, p->n->id.host)) {
        *ret = RM_NODE_LOCAL;
        return true;
    }
    rack = rm_asks_row(g, p->n->rack);
    if (rack) {
        if (!rack->relax)
            return false;
        *ret = RM_RACK_LOCAL;
        if (set->node_locality_delay < 0 || g->missed > SV_MIN(nodes, set->node_locality_delay))
            return true;
    }
    if (!g->any_relax)
        return false;
    *ret = RM_OFF_SWITCH;
    if (places == 0)
        return true;
    if (set->rack_additional_delay > -1)
        limit = SV_MIN(nodes, set->node_locality_delay + set->rack_additional_delay);
    else
        limit =
            SV_MIN(nodes, (int64_t)((double)g->any * SV_MIN((double)places / (double)nodes, 1)));
    return g->missed > limit;
}

static bool over_limit(const struct rm_sched *s, struct rm_res used, struct rm_res more,
                       struct rm_res limit)
{
    return rm_res_share(s->set.calc, rm_res_add(used, more), s->cluster) >
           rm_res_share(s->set.calc, limit, s->cluster) + 1e-9;
}

static bool blacklisted(const struct rm_sched_app *app, const struct rm_sched_node *n)
{
    struct rm_name *hit;

    if (!app->blacklist)
        return false;
    HASH_FIND_STR(app->blacklist, n->id.host, hit);
    if (!hit)
        HASH_FIND_STR(app->blacklist, n->rack, hit);
    return hit != NULL;
}

static enum outcome try_app(struct pass *p, struct rm_sched_app *app, struct rm_res limit)
{
    struct rm_ask_group *g, *tmp;

    if (blacklisted(app, p->n))
        return SKIPPED;
    DL_FOREACH_SAFE (app->groups, g, tmp) {
        enum rm_locality l;
        struct rm_res room = rm_res_sub(p->n->total, p->n->used);

        if (g->any <= 0 || !rm_res_fits(p->s->set.calc, g->capability, p->n->total))
            continue;
        if (p->heartbeat)
            g->missed++;
        if (!locality_allowed(p, g, &l))
            continue;
        if (over_limit(p->s, app->leaf->used, g->capability, limit))
            return NOTHING; /* the queue is full: FIFO, no later application may pass */
        if (rm_res_fits(p->s->set.calc, g->capability, room))
            return allocate(p, app, g, l);
        return reserve(p, app, g);
    }
    return SKIPPED;
}

static enum outcome assign_leaf(struct pass *p, struct rm_queue *q, struct rm_res limit)
{
    struct rm_sched_app *app, *tmp;

    DL_FOREACH_SAFE2(q->ready, app, tmp, r_next)
    {
        struct rm_res ul = rm_user_limit(p->s, q, app->user);
        enum outcome o;

        if (over_limit(p->s, app->user->used, (struct rm_res){ 0, 0 }, ul))
            continue;
        o = try_app(p, app, limit);
        if (o != SKIPPED)
            return o;
    }
    return SKIPPED;
}

static double used_capacity(const struct rm_sched *s, const struct rm_queue *q)
{
    if (rm_res_is_zero(q->eff_min)) /* no guarantee: after all queues that have one */
        return rm_res_is_zero(q->used) ? 1 : 1e9;
    return rm_res_share(s->set.calc, q->used, q->eff_min);
}

/* <0: a is served before b. */
static int queue_order(const struct rm_sched *s, const struct rm_queue *a, const struct rm_queue *b)
{
    double ua = used_capacity(s, a), ub = used_capacity(s, b);

    if (a->parent->priority_order && a->priority != b->priority && (ua < 1) == (ub < 1))
        return a->priority > b->priority ? -1 : 1;
    if (ua != ub)
        return ua < ub ? -1 : 1;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->abs_capacity != b->abs_capacity)
        return a->abs_capacity > b->abs_capacity ? -1 : 1;
    return 0;
}

/* Insertion sort: one assignment moves one queue, so the list is nearly sorted already. */
static void sort_children(const struct rm_sched *s, struct rm_queue *q)
{
    for (size_t i = 1; i < q->n_children; i++) {
        struct rm_queue *x = q->sorted[i];
        size_t j = i;

        while (j > 0 && queue_order(s, x, q->sorted[j - 1]) < 0) {
            q->sorted[j] = q->sorted[j - 1];
            j--;
        }
        q->sorted[j] = x;
    }
}

static enum outcome assign_queue(struct pass *p, struct rm_queue *q, struct rm_res limit)
{
    if (rm_res_is_zero(q->pending))
        return SKIPPED;
    if (rm_queue_leaf(q))
        return assign_leaf(p, q, limit);
    sort_children(p->s, q);
    for (size_t i = 0; i < q->n_children; i++) {
        struct rm_queue *c = q->sorted[i];
        struct rm_res room = rm_res_add(rm_res_sub(limit, q->used), c->used);
        enum outcome o = assign_queue(p, c, rm_res_min(c->eff_max, room));

        if (o == ALLOCATED || o == RESERVED || o == FAILED)
            return o;
    }
    return SKIPPED;
}

/* A reservation comes first on its node: fulfilled, dropped when no longer requested, or kept. */
static enum outcome serve_reservation(struct pass *p)
{
    struct rm_sched_node *n = p->n;
    struct rm_sched_app *app = n->reserved_app;
    struct rm_ask_group *g = n->reserved_group;

    if (!app)
        return SKIPPED;
    if (g->any < g->reserved || blacklisted(app, n)) {
        rm_unreserve(p->s, n);
        return SKIPPED;
    }
    if (!rm_res_fits(p->s->set.calc, n->reserved, rm_res_sub(n->total, n->used)))
        return RESERVED;
    rm_unreserve(p->s, n);
    return allocate(p, app, g,
                    rm_asks_row(g, n->id.host) ? RM_NODE_LOCAL
                    : rm_asks_row(g, n->rack)  ? RM_RACK_LOCAL
                                               : RM_OFF_SWITCH);
}

int rm_assign_node(struct rm_sched *s, struct rm_sched_node *n, bool heartbeat)
{
    struct pass p = { .s = s, .n = n, .heartbeat = heartbeat };
    int64_t given = 0, offswitch = 0;

    if (!n->schedulable)
        return 0;
    for (;;) {
        enum outcome o = serve_reservation(&p);

        if (o == SKIPPED) {
            /* Nothing fits into less than the smallest container. */
            if (!heartbeat &&
                !rm_res_fits(s->set.calc, s->set.min_alloc, rm_res_sub(n->total, n->used)))
                return (int)given;
            o = assign_queue(&p, s->root, s->root->eff_max);
        }
        if (o == FAILED)
            return -ENOMEM;
        if (o != ALLOCATED)
            return (int)given;
        given++;
        offswitch += p.locality == RM_OFF_SWITCH;
        if (!s->set.multiple_assignments || offswitch >= s->set.offswitch_limit ||
            (s->set.assignment_limit >= 0 && given >= s->set.assignment_limit))
            return (int)given;
    }
}
