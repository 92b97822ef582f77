/* See waiting.h. What was decided is read from rm_refused and rm_stopped; the figures beside it are
 * those of now. */
#include "rm-lite/scheduler/waiting.h"

#include <errno.h>

#include "rm-lite/scheduler/scheduler-impl.h"

static const struct rm_ask_group *group_of(const struct rm_sched_app *app)
{
    const struct rm_ask_group *g = app->refused.group;

    if (g && g->any > 0)
        return g;
    for (g = app->groups; g && g->any <= 0;)
        g = g->next;
    return g;
}

static void tell_ask(const struct rm_sched_app *app, struct rm_wait *w)
{
    const struct rm_ask_group *g = group_of(app);

    w->has_ask = g != NULL;
    if (!g)
        return;
    w->asked = g->capability;
    w->priority = g->priority;
    w->allocation_id = g->allocation_id;
}

/* Nothing, if the node has left since. */
static void tell_node(const struct rm_sched *s, const struct rm_sched_app *app, struct rm_wait *w)
{
    const struct rm_sched_node *n;

    if (!app->refused.node)
        return;
    n = rm_pool_at(&s->node_pool, app->refused.node);
    w->has_node = true;
    rm_node_id_to(n, &w->node);
    w->total = n->total;
    w->available = rm_res_sub(n->total, n->used);
}

/* The queue whose maximum left this limit: the leaf, or one above it that has no more to give. */
static const struct rm_queue *limiting(const struct rm_sched *s, const struct rm_queue *leaf,
                                       struct rm_res asked)
{
    const struct rm_queue *q = leaf;

    while (q->parent && rm_res_fits(s->set.calc, rm_res_add(q->used, asked), q->eff_max))
        q = q->parent;
    return q->parent ? q : leaf;
}

static const struct rm_queue *parallel_queue(const struct rm_queue *leaf)
{
    const struct rm_queue *q = leaf;

    while (q && q->running < q->max_parallel)
        q = q->parent;
    return q;
}

static void tell_limit(struct rm_sched *s, const struct rm_sched_app *app, struct rm_wait *w)
{
    const struct rm_queue *q = NULL;

    switch (w->why) {
    case RM_REFUSED_PARALLEL:
        q = parallel_queue(app->leaf);
        w->limit_apps = q ? q->max_parallel : rm_user_max_parallel(s, app->user->name);
        w->queue = q ? q->path : NULL;
        return;
    case RM_REFUSED_QUEUE_MASTERS:
        w->limit = app->leaf->am_limit_seen;
        w->used = app->leaf->am_used;
        return;
    case RM_REFUSED_USER_MASTERS:
        w->limit =
            rm_user_am_limit(s, app->leaf, app->user->weight, rm_queue_am_limit(s, app->leaf));
        w->used = app->user->am_used;
        return;
    case RM_REFUSED_USER:
        w->limit = rm_user_limit(s, app->leaf, app->user);
        w->used = app->user->used;
        return;
    case RM_REFUSED_QUEUE:
    case RM_REFUSED_HEADROOM:
    case RM_REFUSED_FIFO:
        q = limiting(s, app->leaf, w->asked);
        w->queue = q->path;
        w->limit = q == app->leaf ? app->leaf->stopped.limit : q->eff_max;
        w->used = q->used;
        return;
    default:
        return;
    }
}

static void tell_largest(struct rm_sched *s, struct rm_wait *w)
{
    const struct rm_largest *free_ = rm_largest_free(s), *total = rm_largest_total(s);
    const struct rm_large_node *large = rm_largest_nearest(free_, w->asked);

    if (large) {
        rm_node_id_to(large->node, &w->free_node);
        w->largest_free = large->size;
    }
    large = rm_largest_nearest(total, w->asked);
    if (!large)
        return;
    rm_node_id_to(large->node, &w->large_node);
    w->largest = large->size;
    w->fits_nowhere = !total->cut && w->has_ask && !rm_res_fits(s->set.calc, w->asked, large->size);
}

/* True if the application was not looked at in the last turn over the nodes. */
static bool is_stale(const struct rm_sched *s, const struct rm_sched_app *app)
{
    return s->counts.nodes_visited - app->refused.visit > SV_MAX(s->n_nodes, 1);
}

/* The reason of an active application with asks. */
static enum rm_refusal why_active(const struct rm_sched *s, const struct rm_sched_app *app,
                                  struct rm_wait *w)
{
    const struct rm_queue *q = app->leaf;
    const struct rm_refused *r = &app->refused;
    bool behind = q->stopped.visit > r->visit && yarn_app_id_cmp(q->stopped.app, app->id) != 0;

    if (s->n_free_nodes == 0 && (r->why == RM_REFUSED_NOT || is_stale(s, app)))
        return RM_REFUSED_SPACE;
    if (behind) {
        w->ahead = q->stopped.app;
        return RM_REFUSED_FIFO;
    }
    if (r->why == RM_REFUSED_NOT && q->ready && q->ready != app) {
        w->ahead = q->ready->id;
        return RM_REFUSED_TURN;
    }
    return r->why;
}

int rm_sched_wait(struct rm_sched *s, struct yarn_app_id id, struct rm_wait *ret)
{
    const struct rm_sched_app *app = rm_sched_app_find(s, id);

    if (!app)
        return -ENOENT;
    *ret = (struct rm_wait){
        .active = app->active,
        .at_ms = app->refused.at_ms,
        .containers = app->n_pending,
        .queue = app->leaf->path,
        .nodes = s->n_nodes,
        .free_nodes = s->n_free_nodes,
        .open_nodes = rm_largest_total(s)->nodes,
    };
    if (app->n_pending <= 0)
        return 0;
    tell_ask(app, ret);
    ret->why = ret->open_nodes == 0 ? RM_REFUSED_EMPTY
               : app->active        ? why_active(s, app, ret)
                                    : app->refused.why;
    if (ret->why == app->refused.why)
        tell_node(s, app, ret);
    tell_limit(s, app, ret);
    if (ret->why > RM_REFUSED_RESERVATION)
        ret->also = (app->refused.seen | app->refused.seen_before) & ~(1u << ret->why);
    if (ret->why == RM_REFUSED_SPACE || ret->why == RM_REFUSED_TOTAL)
        tell_largest(s, ret);
    return 0;
}

int rm_sched_masters(const struct rm_sched *s, struct yarn_app_id id, struct rm_masters *ret)
{
    const struct rm_sched_app *app = rm_sched_app_find(s, id);

    if (!app)
        return -ENOENT;
    *ret = (struct rm_masters){
        .request = app->am,
        .queue_limit = rm_queue_am_limit(s, app->leaf),
        .queue_used = app->leaf->am_used,
    };
    ret->user_limit = rm_user_am_limit(s, app->leaf, app->user->weight, ret->queue_limit);
    return 0;
}
