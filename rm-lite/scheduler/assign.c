/* Selection of the next container on one node: the CapacityScheduler's walk from the root queue to
 * one ask, with its limits and its locality delay. Pure. */
#include <string.h>

#include "rm-lite/scheduler/record-activities.h"
#include "rm-lite/scheduler/refuse.h"
#include "rm-lite/scheduler/scheduler-impl.h"

enum outcome { NOTHING, SKIPPED, ALLOCATED, RESERVED };

struct pass { /* one call of rm_assign_node */
    struct rm_sched *s;
    struct rm_sched_node *n;
    struct rm_assign *a;
    enum rm_locality locality; /* of the last allocation */
};

/* ---- Notes ---- */

/* The ask gets nothing on this node. */
static void refused(const struct pass *p, struct rm_sched_app *app, struct rm_ask_group *g,
                    enum rm_refusal why)
{
    rm_refuse(p->s, app, g, p->n, why);
    if (__builtin_expect(p->s->activities != NULL, 0))
        rm_visit_ask(p->s, app, g, p->n,
                     why == RM_REFUSED_QUEUE || why == RM_REFUSED_HEADROOM ? RM_ACTIVITY_REJECTED
                                                                           : RM_ACTIVITY_SKIPPED,
                     why, NULL);
}

/* An increase of a container of another node: no reason to wait, as its own node decides. */
static void not_its_node(const struct pass *p, struct rm_sched_app *app, struct rm_ask_group *g)
{
    if (__builtin_expect(p->s->activities != NULL, 0))
        rm_visit_ask(p->s, app, g, p->n, RM_ACTIVITY_SKIPPED, RM_REFUSED_STRICT, NULL);
}

/* The node is, or stays, reserved for the ask. */
static void reserved(const struct pass *p, struct rm_sched_app *app, struct rm_ask_group *g,
                     enum rm_activity_state state)
{
    rm_refuse(p->s, app, g, p->n, RM_REFUSED_RESERVED);
    if (__builtin_expect(p->s->activities != NULL, 0))
        rm_visit_ask(p->s, app, g, p->n, state, RM_REFUSED_SPACE, NULL);
}

static void allocated(const struct pass *p, struct rm_sched_app *app, const struct rm_ask_group *g,
                      const struct yarn_container_id *id)
{
    app->refused.why = RM_REFUSED_NOT;
    if (__builtin_expect(p->s->activities != NULL, 0))
        rm_visit_ask(p->s, app, g, p->n, RM_ACTIVITY_ALLOCATED, RM_REFUSED_NOT, id);
}

static void app_begins(const struct pass *p, const struct rm_sched_app *app)
{
    if (__builtin_expect(p->s->activities != NULL, 0))
        rm_visit_app_begins(p->s, p->n, app);
}

/* `why`: of an application that was refused whole. */
static void app_ends(const struct pass *p, const struct rm_sched_app *app,
                     enum rm_activity_state state, enum rm_refusal why)
{
    if (__builtin_expect(p->s->activities != NULL, 0))
        rm_visit_app_ends(p->s, app, state, (int)why);
}

/* `app`: that stopped its leaf with RM_REFUSED_HEADROOM. */
static void queue_ends(const struct pass *p, const struct rm_queue *q, enum rm_activity_state state,
                       int why, const struct rm_sched_app *app)
{
    if (__builtin_expect(p->s->activities != NULL, 0))
        rm_visit_queue(p->s, q, state, why, app);
}

/* `from`: the container was reserved before. */
static enum outcome visit_ends(const struct pass *p, enum outcome o, bool from)
{
    static const enum rm_activity_state states[] = {
        [NOTHING] = RM_ACTIVITY_SKIPPED,
        [SKIPPED] = RM_ACTIVITY_SKIPPED,
        [ALLOCATED] = RM_ACTIVITY_ALLOCATED,
        [RESERVED] = RM_ACTIVITY_RESERVED,
    };

    if (__builtin_expect(p->s->activities != NULL, 0))
        rm_visit_ends(p->s,
                      from && o == ALLOCATED ? RM_ACTIVITY_ALLOCATED_FROM_RESERVED : states[o]);
    return o;
}

/* ---- One ask on the node ---- */

static enum outcome allocate(struct pass *p, struct rm_sched_app *app, struct rm_ask_group *g,
                             enum rm_locality l)
{
    struct yarn_container_id id = {
        .attempt = { .app = app->id, .attempt = app->attempt },
        .id = (p->s->epoch << RM_EPOCH_SHIFT) | (app->sequence + 1),
    };
    struct rm_decision *d;
    struct rm_sched_container *c;

    p->locality = l;
    if (g->grows) {
        id = rm_container_id(g->grows);
        allocated(p, app, g, &id);
        rm_update_grant(p->s, g);
        return ALLOCATED;
    }
    allocated(p, app, g, &id);
    d = rm_decide(p->s, RM_DECIDE_ALLOCATED);
    c = rm_container_add(p->s, app, p->n, id, g->capability);
    app->sequence++;
    c->priority = g->priority;
    c->allocation_id = g->allocation_id;
    c->locality = l;
    if (g->placement) {
        rm_placement_join(p->s, c, g->placement);
        d->tags = g->placement->tag_names;
        g->placement->fitted = false;
        rm_free_nodes_visit(p->s, p->n, false); /* others may have waited for these tags */
    }
    c->am = app->am_wanted;
    app->am_wanted = false;
    d->app = app->id;
    d->container = id;
    rm_node_id_to(p->n, &d->node);
    d->resource = g->capability;
    d->priority = g->priority;
    d->allocation_id = g->allocation_id;
    d->locality = l;
    d->waited_ms = SV_MAX(p->s->now_ms - g->asked_ms, (int64_t)0);
    rm_asks_took(p->s, app, g, p->n, l); /* may free g */
    return ALLOCATED;
}

/* The locality that an ask may have on this node now. */
static bool locality_allowed(const struct pass *p, const struct rm_ask_group *g,
                             enum rm_locality *ret)
{
    const struct rm_ask_row *rack;

    *ret = g->grows ? RM_NODE_LOCAL : RM_OFF_SWITCH;
    if (g->grows)
        return true;
    if (!g->rows)
        return g->any_relax;
    rack = rm_asks_row(g, &p->n->rack_label);
    if (rack && rm_asks_row(g, &p->n->host_label)) {
        *ret = RM_NODE_LOCAL;
        return true;
    }
    if (rack && !rack->relax)
        return false;
    *ret = rack ? RM_RACK_LOCAL : RM_OFF_SWITCH;
    if (rack && rm_asks_rack_now(p->s, g))
        return true;
    *ret = RM_OFF_SWITCH;
    return rm_asks_any_now(p->s, g);
}

/* The places that the ask names, if locality_allowed() refused it. */
static enum rm_refusal elsewhere(const struct pass *p, const struct rm_ask_group *g)
{
    const struct rm_ask_row *rack = rm_asks_row(g, &p->n->rack_label);

    return (rack ? rack->relax : g->any_relax) ? RM_REFUSED_DELAY : RM_REFUSED_STRICT;
}

/* Whether the constraints of the group's request refuse the node. One without room that is not to
 * be reserved is none for it whatever they say. */
static enum rm_refusal placement_refused(struct pass *p, struct rm_ask_group *g)
{
    bool room = rm_res_fits(p->s->set.calc, g->capability, rm_res_sub(p->n->total, p->n->used));

    if (!room && !p->a->may_reserve)
        return RM_REFUSED_SPACE;
    if (!rm_placement_fits(p->s, g->placement, p->n))
        return RM_REFUSED_CONSTRAINT;
    g->placement->fitted |= room;
    return RM_REFUSED_NOT;
}

/* True if another node could serve the group although no event made that node pending: the scan
 * continues. */
static bool may_go_elsewhere(const struct pass *p, const struct rm_ask_group *g)
{
    return rm_asks_any_now(p->s, g) || (g->rows && rm_asks_rack_now(p->s, g));
}

static bool over_limit(const struct rm_sched *s, struct rm_res used, struct rm_res more,
                       struct rm_res limit)
{
    return rm_res_share(s->set.calc, rm_res_add(used, more), s->cluster) >
           rm_res_share(s->set.calc, limit, s->cluster) + 1e-9;
}

/* A queue's limit holds for each resource type by itself: a parent may have much free of one type
 * and little of another. */
static bool over_queue(const struct rm_sched *s, struct rm_res used, struct rm_res more,
                       struct rm_res limit)
{
    return !rm_res_fits(s->set.calc, rm_res_add(used, more), limit);
}

/* rm_free_nodes_unblock() clears the mark when the queue or the user is below its limit again. */
static void mark_blocked(struct rm_queue *leaf)
{
    for (struct rm_queue *q = leaf; q; q = q->parent)
        q->blocked = true;
}

static bool blacklisted(const struct rm_sched_app *app, const struct rm_sched_node *n)
{
    struct rm_name *hit;

    if (!app->blacklist)
        return false;
    HASH_FIND_STR(app->blacklist, n->host_label.name, hit);
    if (!hit)
        HASH_FIND_STR(app->blacklist, n->rack, hit);
    return hit != NULL;
}

struct excess { /* reservations an application must release to get one container */
    struct rm_res of_user, of_queue;
};

/* Allocates or reserves on a node that satisfies the ask's constraints:
 * RegularContainerAllocator.assignContainer. */
static enum outcome place(struct pass *p, struct rm_sched_app *app, struct rm_ask_group *g,
                          enum rm_locality l, struct excess over)
{
    struct rm_res need = rm_res_max(over.of_user, over.of_queue);
    bool wanted = rm_reserve_wanted(p->s, app, g) > 0, must = !rm_res_is_zero(need);

    if (rm_res_fits(p->s->set.calc, g->capability, rm_res_sub(p->n->total, p->n->used))) {
        struct rm_sched_node *other;

        if (p->s->set.continue_look && (!wanted || must)) {
            other = rm_reserve_find(p->s, g, must ? need : g->capability);
            if (!other) {
                refused(p, app, g, RM_REFUSED_UNRESERVE);
                return SKIPPED;
            }
            rm_unreserve(p->s, other);
        }
        return allocate(p, app, g, l);
    }
    p->a->ret_elsewhere |= may_go_elsewhere(p, g);
    if (!p->a->may_reserve || p->n->reserved_app || !wanted || must ||
        !rm_reserve_may_end(p->s, p->n, app, g)) {
        refused(p, app, g, RM_REFUSED_SPACE);
        return SKIPPED;
    }
    rm_reserve(p->s, p->n, app, g);
    reserved(p, app, g, RM_ACTIVITY_RESERVED);
    return RESERVED;
}

/* Why the ask cannot be served on this node; RM_REFUSED_NOT: the limit of its queue decides. */
static enum rm_refusal refused_here(struct pass *p, struct rm_sched_app *app,
                                    struct rm_ask_group *g, enum rm_locality *ret)
{
    if (p->a->heartbeat && !g->grows)
        rm_asks_missed(app, g);
    if (!locality_allowed(p, g, ret))
        return elsewhere(p, g);
    return g->placement ? placement_refused(p, g) : RM_REFUSED_NOT;
}

/* The ask does not fit into the rest of its queue's limit. */
static enum outcome queue_refuses(struct pass *p, struct rm_sched_app *app, struct rm_ask_group *g,
                                  struct rm_res limit, struct rm_res over_user)
{
    struct rm_queue *leaf = app->leaf;
    bool full = rm_res_fits(p->s->set.calc, limit, leaf->used);

    mark_blocked(leaf);
    refused(p, app, g, full ? RM_REFUSED_QUEUE : RM_REFUSED_HEADROOM);
    leaf->stopped.limit = limit;
    if (!rm_res_is_zero(over_user)) /* its user's limit stops it as well */
        return SKIPPED;
    leaf->stopped.app = app->id;
    leaf->stopped.visit = p->s->counts.nodes_visited;
    return NOTHING; /* the queue is full: FIFO, no later application may pass */
}

static enum outcome try_app(struct pass *p, struct rm_sched_app *app, struct rm_res limit,
                            struct rm_res over_user)
{
    const struct rm_sched_settings *set = &p->s->set;
    struct rm_res zero = { 0, 0 }, space = rm_res_sub(limit, app->leaf->used), given_back;
    bool black = blacklisted(app, p->n);
    struct rm_ask_group *g, *tmp;

    p->s->counts.apps_tried++;
    given_back = set->continue_look ? app->reserved : zero;
    DL_FOREACH_SAFE (app->groups, g, tmp) {
        struct rm_res whole =
            g->grows ? rm_res_add(g->capability, g->grows->resource) : g->capability;
        struct excess over = { .of_user = over_user };
        enum rm_refusal why;
        enum rm_locality l;

        p->s->counts.groups_tried++;
        if (g->any <= 0)
            continue;
        if (g->grows && g->grows->node != p->n) {
            not_its_node(p, app, g);
            continue;
        }
        if (black || !rm_res_fits(set->calc, whole, p->n->total)) {
            p->a->ret_elsewhere |= may_go_elsewhere(p, g);
            refused(p, app, g, black ? RM_REFUSED_BLACKLIST : RM_REFUSED_TOTAL);
            continue;
        }
        if (!set->continue_look && rm_reserve_wanted(p->s, app, g) <= 0) {
            refused(p, app, g, RM_REFUSED_RESERVATION);
            continue;
        }
        why = refused_here(p, app, g, &l);
        if (why) {
            p->a->ret_elsewhere |= may_go_elsewhere(p, g);
            refused(p, app, g, why);
            continue;
        }
        if (over_queue(p->s, rm_res_sub(app->leaf->used, given_back), g->capability, limit)) {
            if (g->reserved >= g->any) /* nodes reserved for all its asks: must not block others */
                continue;
            return queue_refuses(p, app, g, limit, over_user);
        }
        if (over_queue(p->s, app->leaf->used, g->capability, limit))
            over.of_queue = rm_res_max(rm_res_sub(g->capability, space), zero);
        return place(p, app, g, l, over);
    }
    return SKIPPED;
}

/* True if the user's limit lets the application have nothing; else *ret_over: what it must give
 * back of its reservations. */
static bool over_user_limit(const struct pass *p, const struct rm_sched_app *app,
                            struct rm_res *ret_over)
{
    struct rm_res ul = rm_user_limit(p->s, app->leaf, app->user), zero = { 0, 0 };

    *ret_over = zero;
    if (!over_limit(p->s, app->user->used, zero, ul))
        return false;
    if (!p->s->set.continue_look ||
        over_limit(p->s, rm_res_sub(app->user->used, app->reserved), zero, ul))
        return true;
    *ret_over = rm_res_max(rm_res_sub(app->user->used, ul), zero);
    return false;
}

/* The application, and with it its leaf, is refused by the queue's limit. */
static void leaf_ends(const struct pass *p, const struct rm_sched_app *app)
{
    enum rm_refusal why = app->refused.why;

    app_ends(p, app, RM_ACTIVITY_REJECTED, why == RM_REFUSED_QUEUE ? why : RM_REFUSED_NOT);
    queue_ends(p, app->leaf, RM_ACTIVITY_REJECTED, (int)why,
               why == RM_REFUSED_HEADROOM ? app : NULL);
}

static enum outcome assign_leaf(struct pass *p, struct rm_queue *q, struct rm_res limit)
{
    static const enum rm_activity_state states[] = {
        [SKIPPED] = RM_ACTIVITY_SKIPPED,
        [ALLOCATED] = RM_ACTIVITY_ALLOCATED,
        [RESERVED] = RM_ACTIVITY_RESERVED,
    };
    struct rm_sched_app *app;
    struct rm_walk w;

    rm_queue_activate_more(p->s, q);
    rm_walk_begin(p->s, q, p->n, p->a->heartbeat, &w);
    while ((app = rm_walk_next(&w))) {
        struct rm_res over;
        enum outcome o;

        app_begins(p, app);
        if (over_user_limit(p, app, &over)) {
            mark_blocked(q);
            rm_refuse(p->s, app, NULL, p->n, RM_REFUSED_USER);
            app_ends(p, app, RM_ACTIVITY_REJECTED, RM_REFUSED_USER);
            continue;
        }
        o = try_app(p, app, limit, over);
        if (o == NOTHING)
            leaf_ends(p, app);
        else
            app_ends(p, app, states[o], RM_REFUSED_NOT);
        if (o == ALLOCATED || o == RESERVED)
            queue_ends(p, q, RM_ACTIVITY_ACCEPTED, 0, NULL);
        if (o != SKIPPED)
            return o;
    }
    queue_ends(p, q, RM_ACTIVITY_SKIPPED, 0, NULL);
    return SKIPPED;
}

static enum outcome assign_queue(struct pass *p, struct rm_queue *q, struct rm_res limit)
{
    if (rm_res_is_zero(q->pending)) {
        queue_ends(p, q, RM_ACTIVITY_SKIPPED, RM_ACTIVITY_IDLE, NULL);
        return SKIPPED;
    }
    if (rm_queue_leaf(q))
        return assign_leaf(p, q, limit);
    rm_queue_sort(p->s, q);
    for (size_t i = 0; i < q->n_children; i++) {
        struct rm_queue *c = q->sorted[i];
        struct rm_res room = rm_res_add(rm_res_sub(limit, q->used), c->used);
        enum outcome o = assign_queue(p, c, rm_res_min(c->eff_max, room));

        if (o == ALLOCATED || o == RESERVED) {
            queue_ends(p, q, RM_ACTIVITY_ACCEPTED, 0, NULL);
            return o;
        }
    }
    queue_ends(p, q, RM_ACTIVITY_SKIPPED, 0, NULL);
    return SKIPPED;
}

/* A node's reservation precedes other asks: it is fulfilled, dropped if no longer requested, or
 * kept. */
static enum outcome serve_reservation(struct pass *p)
{
    struct rm_sched_node *n = p->n;
    struct rm_sched_app *app = n->reserved_app;
    struct rm_ask_group *g = n->reserved_group;

    if (!app)
        return SKIPPED;
    if (g->any <= 0 || rm_reserve_too_many(g) || blacklisted(app, n) ||
        (g->placement && !rm_placement_fits(p->s, g->placement, n))) {
        rm_unreserve(p->s, n);
        rm_asks_collect(p->s, app, g);
        return SKIPPED;
    }
    app_begins(p, app);
    if (!rm_res_fits(p->s->set.calc, n->reserved, rm_res_sub(n->total, n->used))) {
        g->rereserved += p->a->heartbeat;
        reserved(p, app, g, RM_ACTIVITY_RE_RESERVED);
        app_ends(p, app, RM_ACTIVITY_RE_RESERVED, RM_REFUSED_NOT);
        queue_ends(p, app->leaf, RM_ACTIVITY_RE_RESERVED, 0, NULL);
        return RESERVED;
    }
    rm_unreserve(p->s, n);
    (void)allocate(p, app, g,
                   g->grows                          ? RM_NODE_LOCAL
                   : !rm_asks_row(g, &n->rack_label) ? RM_OFF_SWITCH
                   : rm_asks_row(g, &n->host_label)  ? RM_NODE_LOCAL
                                                     : RM_RACK_LOCAL);
    app_ends(p, app, RM_ACTIVITY_ALLOCATED, RM_REFUSED_NOT);
    queue_ends(p, app->leaf, RM_ACTIVITY_ACCEPTED, 0, NULL);
    return ALLOCATED;
}

/* One container, a reservation or nothing. */
static enum outcome serve(struct pass *p)
{
    bool held = p->n->reserved_app;
    enum outcome o = serve_reservation(p);

    if (o == RESERVED) /* a reserved node serves nobody else: the scan continues */
        p->a->ret_elsewhere = true;
    if (o != SKIPPED)
        return visit_ends(p, o, held);
    /* Less free capacity than the smallest container: nothing fits, and no reservation is made. */
    if (!p->n->has_free) {
        queue_ends(p, p->s->root, RM_ACTIVITY_REJECTED, RM_ACTIVITY_NODE_FULL, NULL);
        return visit_ends(p, NOTHING, false);
    }
    return visit_ends(p, assign_queue(p, p->s->root, p->s->root->eff_max), false);
}

void rm_assign_node(struct rm_sched *s, struct rm_sched_node *n, struct rm_assign *a)
{
    struct pass p = { .s = s, .n = n, .a = a };
    int64_t offswitch = 0;

    s->counts.nodes_visited++;
    if (!n->schedulable)
        return;
    __builtin_prefetch(n->host_label.name); /* for the decision */
    while (s->n_out + RM_VISIT_DECISIONS <= a->max_out) {
        if (__builtin_expect(s->activities != NULL, 0))
            rm_visit_begins(s, n);
        if (serve(&p) != ALLOCATED)
            return;
        a->ret_given++;
        offswitch += p.locality == RM_OFF_SWITCH;
        if (!s->set.multiple_assignments || offswitch >= s->set.offswitch_limit ||
            (s->set.assignment_limit >= 0 && a->ret_given >= s->set.assignment_limit))
            return;
    }
}
