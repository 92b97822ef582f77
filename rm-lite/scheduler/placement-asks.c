/* SchedulingRequests as asks of their application: new and changed ones, the end of those that were
 * not placed in time, and the constraints that an application registers. Requests are
 * ApplicationMasters'. Pure; Hadoop: AppSchedulingInfo, PlacementConstraintProcessor.
 *
 * A request is an ask for any host with one more condition, so it waits, reserves and counts as
 * pending like another one. An event with a request that is not valid changes nothing. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "rm-lite/scheduler/scheduler-impl.h"

typedef Hadoop__Yarn__SchedulingRequestProto Request;

/* Its evaluation on one node: itself, its constraint and the one of its tag. */
static int64_t cost_of(const struct rm_placement *p)
{
    const struct rm_rule *rule = rm_rule_of(p);

    return 1 + (p->constraint ? p->constraint->cost : 0) + (rule ? rule->constraint->cost : 0);
}

static int too_much(const struct rm_sched_app *app, struct sv_error *err)
{
    char id[YARN_ID_TEXT_MAX];

    return sv_error_set(err, -E2BIG,
                        "%s: its SchedulingRequests that wait have more than %d constraints, "
                        "targets and values together; take back what is not needed (0 "
                        "allocations)",
                        yarn_app_id_text(app->id, id), RM_PLACEMENT_COST);
}

static int changed(const struct rm_placement *p, struct sv_error *err)
{
    return sv_error_set(err, -EINVAL,
                        "Invalid updated SchedulingRequest added to scheduler, only numAllocations "
                        "may change for priority %" PRId64 " and allocationRequestId %" PRId64
                        ": cancel the old request (numAllocations 0) or send another priority or "
                        "allocationRequestId",
                        p->key.priority, p->key.allocation_id);
}

/* The count is absolute. */
static int set(struct rm_sched *s, struct rm_placement *p, int32_t count, struct sv_error *err)
{
    struct rm_placement *same;

    HASH_FIND(hk, p->app->placed_keys, &p->key, sizeof(p->key), same);
    if (same && same != p) {
        if (count > 0 && same->group->any > 0)
            return changed(p, err);
        rm_asks_drop(s, p->app, same->group);
    }
    return rm_asks_place(s, p, count);
}

/* The count is of further ones. */
static int add(struct rm_sched *s, struct rm_placement *p, int32_t count)
{
    int64_t all = (int64_t)count + (p->group ? p->group->any : 0);
    int r = count ? rm_asks_place(s, p, (int32_t)SV_MIN(all, (int64_t)RM_MAX_ASK_COUNT)) : 0;

    if (p->group)
        p->attempts = 1;
    return r;
}

static int apply(struct rm_sched *s, struct rm_placement *p, int32_t count,
                 const struct rm_ev_ask *ev, struct sv_error *err)
{
    if (!p->group) {
        p->cost = cost_of(p);
        if (count > 0 && p->app->placed_cost + p->cost > RM_PLACEMENT_COST)
            return too_much(p->app, err);
    }
    return ev->attempts > 0 ? add(s, p, count) : set(s, p, count, err);
}

/* --------------------------------------------------------------------- attempts */

/* The decision's bytes live until the next event. */
static void give_up(struct rm_sched *s, struct rm_placement *p)
{
    struct rm_decision *d = rm_decide(s, RM_DECIDE_UNPLACED);

    d->app = p->app->id;
    d->container.attempt =
        (struct yarn_attempt_id){ .app = p->app->id, .attempt = p->app->attempt };
    d->resource = p->capability;
    d->priority = (int32_t)p->key.priority;
    d->allocation_id = p->key.allocation_id;
    d->request = p->bytes;
    d->request_len = p->len;
    d->count = p->group->any;
    d->fitted = p->fitted;
    p->refs++;
    p->next_unplaced = s->unplaced;
    s->unplaced = p;
    rm_asks_drop(s, p->app, p->group);
}

void rm_placements_forget(struct rm_sched *s)
{
    while (s->unplaced) {
        struct rm_placement *p = s->unplaced;

        s->unplaced = p->next_unplaced;
        rm_placement_put(s, p);
    }
}

/* Each RM_SCHED_ASK is one attempt to place what waits; a scan over the nodes follows it. */
static void attempt(struct rm_sched *s, struct rm_sched_app *app, int32_t max)
{
    struct rm_ask_group *g, *tmp;

    if (app->n_placed == 0)
        return;
    DL_FOREACH_SAFE (app->groups, g, tmp) {
        if (!g->placement || g->any <= 0)
            continue;
        if (g->placement->attempts++ >= max && s->n_out < RM_TURN_DECISIONS)
            give_up(s, g->placement);
    }
    if (app->n_placed > 0)
        rm_free_nodes_scan(s);
}

/* ----------------------------------------------------------------------- events */

static int read_all(struct rm_sched *s, struct rm_sched_app *app, const struct rm_ev_ask *ev,
                    struct rm_placement **ret, struct sv_error *err)
{
    int r = 0;

    for (size_t i = 0; i < ev->n_requests && r >= 0; i++)
        r = rm_placement_read(s, app, ev->requests[i], &ret[i], err);
    return r;
}

int rm_placements_update(struct rm_sched *s, struct rm_sched_app *app, const struct rm_ev_ask *ev,
                         struct sv_error *err)
{
    _cleanup_free_ struct rm_placement **v = NULL;
    int r;

    if (ev->n_requests == 0) {
        if (ev->attempts > 0)
            attempt(s, app, ev->attempts);
        return 0;
    }
    v = calloc(ev->n_requests, sizeof(struct rm_placement *));
    if (!v)
        sv_out_of_memory();
    r = read_all(s, app, ev, v, err);
    if (r >= 0 && ev->attempts > 0)
        attempt(s, app, ev->attempts);
    for (size_t i = 0; i < ev->n_requests && r >= 0; i++)
        r = apply(s, v[i], ev->requests[i]->resourcesizing->numallocations, ev, err);
    for (size_t i = 0; i < ev->n_requests; i++)
        rm_placement_put(s, v[i]);
    rm_asks_sort(app);
    return r;
}

/* ------------------------------------------------------------------------ rules */

static void drop_all(struct rm_sched *s, struct rm_sched_app *app)
{
    struct rm_ask_group *g, *tmp;

    DL_FOREACH_SAFE (app->groups, g, tmp)
        if (g->placement)
            rm_asks_drop(s, app, g);
}

static int add_rule(struct rm_sched *s, struct rm_rule **rules,
                    const Hadoop__Yarn__PlacementConstraintMapEntryProto *m, struct sv_error *err)
{
    const char *tag = m->n_allocation_tags == 1 ? m->allocation_tags[0] : NULL;
    struct rm_rule *rule, *old;
    int r;

    if (tag && (!*tag || strlen(tag) > RM_TAG_BYTES))
        return sv_error_set(err, -EINVAL,
                            "placement constraints: a source tag has %zu bytes, not 1 to %d",
                            strlen(tag), RM_TAG_BYTES);
    rule = calloc(1, sizeof(*rule));
    if (!rule)
        sv_out_of_memory();
    r = rm_constraint_read(s, m->placement_constraint, &rule->constraint, err);
    if (r < 0 || !tag) {
        rm_rule_free(s, rule);
        return r;
    }
    rule->tag = rm_word_get(s, tag);
    HASH_FIND_PTR(*rules, &rule->tag, old);
    if (old) { /* the last one of a tag counts */
        HASH_DEL(*rules, old);
        rm_rule_free(s, old);
    }
    HASH_ADD_PTR(*rules, tag, rule);
    return 0;
}

int rm_rules_update(struct rm_sched *s, struct rm_sched_app *app,
                    const struct rm_ev_constraints *ev, struct sv_error *err)
{
    struct rm_rule *rules = NULL, *old = app->rules;
    int r = 0;

    if (ev->n_entries > RM_RULES_MAX)
        return sv_error_set(err, -E2BIG,
                            "placement constraints: %zu source tags have one, more than %d",
                            ev->n_entries, RM_RULES_MAX);
    for (size_t i = 0; i < ev->n_entries && r >= 0; i++)
        r = add_rule(s, &rules, ev->entries[i], err);
    if (r >= 0 && ev->n_entries > 0) {
        drop_all(s, app); /* their cost was that of the old rules */
        app->rules = rules;
        rules = old;
    }
    rm_rules_free(s, &rules);
    return r;
}
