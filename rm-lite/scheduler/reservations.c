/* Reservations: a node with some free capacity, but too little for an ask that satisfies its
 * constraints, is kept for that ask. Pure.
 *
 * A reservation counts as used by queue and user, so it must not outlive its use. The rules are
 * those of RegularContainerAllocator: a full node is never reserved; an application reserves no
 * more nodes than it has asks, unless the reserved ones prove slow to empty ("starvation"); and an
 * allocation on another node may replace a reservation
 * (yarn.scheduler.capacity.reservations-continue-look-all-nodes). */
#include "rm-lite/scheduler/scheduler-impl.h"

static void account(struct rm_sched_app *app, struct rm_res r, int n)
{
    app->reserved = rm_res_add(app->reserved, r);
    app->n_reserved += n;
    app->user->used = rm_res_add(app->user->used, r);
    app->leaf->user_limits_known = false;
    rm_queue_reserve(app->leaf, r);
}

/* True unless the application's own master leaves too little of the node: other containers end, but
 * the master runs until its ask is served. */
bool rm_reserve_may_end(const struct rm_sched *s, const struct rm_sched_node *n,
                        const struct rm_sched_app *app, const struct rm_ask_group *g)
{
    for (int32_t i = 0; i < n->n_containers; i++) {
        const struct rm_sched_container *c = rm_pool_at(&s->container_pool, n->containers[i]);

        if (c->am && c->app == app)
            return rm_res_fits(s->set.calc, g->capability, rm_res_sub(n->total, c->resource));
    }
    return true;
}

void rm_reserve(struct rm_sched *s, struct rm_sched_node *n, struct rm_sched_app *app,
                struct rm_ask_group *g)
{
    struct rm_decision *d = rm_decide(s, RM_DECIDE_RESERVED);

    n->reserved_app = app;
    n->reserved_group = g;
    n->reserved = g->capability;
    DL_APPEND2(g->reservations, n, v_prev, v_next);
    g->surplus += g->reserved >= g->any;
    g->reserved++;
    g->rereserved = 0;
    account(app, g->capability, 1);
    d->app = app->id;
    d->container.attempt = (struct yarn_attempt_id){ .app = app->id, .attempt = app->attempt };
    rm_node_id_to(n, &d->node);
    d->resource = g->capability;
    d->priority = g->priority;
}

void rm_unreserve(struct rm_sched *s, struct rm_sched_node *n)
{
    struct rm_sched_app *app = n->reserved_app;
    struct rm_ask_group *g = n->reserved_group;
    struct rm_decision *d;

    if (!app)
        return;
    account(app, rm_res_times(n->reserved, -1), -1);
    DL_DELETE2(g->reservations, n, v_prev, v_next);
    g->reserved--;
    g->surplus = SV_MIN(g->surplus, g->reserved);
    n->reserved_app = NULL;
    n->reserved_group = NULL;
    d = rm_decide(s, RM_DECIDE_UNRESERVED);
    d->app = app->id;
    rm_node_id_to(n, &d->node);
    d->resource = n->reserved;
    n->reserved = (struct rm_res){ 0, 0 };
    rm_free_nodes_visit(s, n, true);
    rm_free_nodes_unblock(s, app->leaf);
}

/* True if the application has more reservations than outstanding asks plus starvation credit. */
bool rm_reserve_too_many(const struct rm_ask_group *g)
{
    return g->reserved > g->any + g->surplus;
}

/* Number of further nodes that the group may reserve; none if <= 0. Each heartbeat of a reserved
 * node on which the ask still does not fit adds starvation credit, divided by the number of
 * reserved nodes and weighted so that asks for nearly whole nodes, which any node takes long to
 * free, gain little. */
int64_t rm_reserve_wanted(const struct rm_sched *s, const struct rm_sched_app *app,
                          const struct rm_ask_group *g)
{
    struct rm_res max = app->leaf->max_allocation;
    double of_node, of_max, starved;

    if (g->reserved == 0)
        return g->any;
    of_node = rm_res_share(s->set.calc, g->capability, max);
    of_max = rm_res_share(s->set.calc, rm_res_sub(max, s->set.min_alloc), max);
    starved = (double)g->rereserved / (double)g->reserved * (1 - SV_MIN(of_node, of_max));
    return (int64_t)SV_MIN(starved, (double)RM_MAX_ASK_COUNT) + g->any - g->reserved;
}

/* The group's first reserved node with a reservation of at least `amount`. */
struct rm_sched_node *rm_reserve_find(const struct rm_sched *s, const struct rm_ask_group *g,
                                      struct rm_res amount)
{
    struct rm_sched_node *n;

    DL_FOREACH2(g->reservations, n, v_next)
    if (rm_res_fits(s->set.calc, amount, n->reserved))
        return n;
    return NULL;
}
