/* Preemption inside a leaf: resources that applications of lower priority, and of users above their
 * limit, yield to the leaf's others. Pure; the rules are those of FifoIntraQueuePreemptionPlugin.
 *
 * The leaf's usage, without ApplicationMasters, is distributed anew: in the order of priority and
 * age each application gets its usage and demand, up to its user's limit. An application whose
 * share is above its usage needs the difference; one whose share is below may yield it. */
#include "rm-lite/scheduler/scheduler-impl.h"

#define PAIRS 100000 /* pairs of a needing and a yielding application tested in one leaf */

static const struct rm_res none;

static struct rm_res positive(struct rm_res a)
{
    return rm_res_max(a, none);
}

static bool above_limit(const struct rm_sched *s, struct rm_queue *leaf, const struct rm_user *u,
                        struct rm_res less)
{
    return !rm_res_fits(s->set.calc, rm_res_sub(rm_res_sub(u->used, u->killing), less),
                        rm_user_limit(s, leaf, u));
}

/* True if the user would fall below its limit: users_first never preempts for that, not even for
 * the user's own applications. */
bool rm_preempt_keeps(const struct rm_sched *s, const struct rm_sched_container *c)
{
    return !s->set.preempt.priority_first &&
           !above_limit(s, c->app->leaf, c->app->user, c->resource);
}

/* Computes each application's share. share_left: the user's limit without masters, less the shares
 * of its applications so far. */
static void deal(const struct rm_sched *s, struct rm_queue *leaf, struct rm_claim *v, size_t n)
{
    struct rm_res left = rm_res_sub(rm_res_sub(leaf->used, leaf->killing),
                                    rm_res_add(leaf->am_used, leaf->reserved));

    left = positive(left);
    for (struct rm_user *u = leaf->users; u; u = u->hh.next)
        u->share_left = positive(rm_res_sub(rm_user_limit(s, leaf, u), u->am_used));
    for (size_t i = 0; i < n; i++) {
        struct rm_sched_app *app = v[i].app;
        struct rm_res has = rm_res_sub(app->used, app->killing), want;

        if (app->am_counted && !app->am_wanted)
            has = rm_res_sub(has, app->am);
        has = positive(has);
        want = rm_res_min(rm_res_add(has, app->pending), rm_res_min(app->user->share_left, left));
        app->user->share_left = rm_res_sub(app->user->share_left, want);
        left = rm_res_sub(left, want);
        v[i].needs = positive(rm_res_sub(want, has));
        v[i].may_give = positive(rm_res_sub(has, want));
        v[i].gives = none;
    }
}

/* True if `g` yields to `h`: its priority is lower, or its user is above the limit. */
static bool gives_to(const struct rm_sched *s, struct rm_queue *leaf, const struct rm_claim *g,
                     const struct rm_claim *h)
{
    if (g->app->user == h->app->user)
        return g->app->priority < h->app->priority;
    return s->set.preempt.priority_first ? g->app->priority <= h->app->priority
                                         : above_limit(s, leaf, g->app->user, none);
}

void rm_preempt_inside(const struct rm_sched *s, struct rm_queue *leaf, struct rm_res limit,
                       struct rm_claim *v, size_t n)
{
    int pairs = 0;

    deal(s, leaf, v, n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = n; k-- > 0 && pairs < PAIRS && rm_res_some(s->set.calc, v[i].needs);) {
            struct rm_res part = rm_res_min(rm_res_min(v[i].needs, v[k].may_give), limit);

            pairs++;
            if (!rm_res_some(s->set.calc, part) || !gives_to(s, leaf, &v[k], &v[i]))
                continue;
            v[i].needs = rm_res_sub(v[i].needs, part);
            v[k].may_give = rm_res_sub(v[k].may_give, part);
            v[k].gives = rm_res_add(v[k].gives, part);
            limit = rm_res_sub(limit, part);
        }
}
