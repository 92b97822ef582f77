/* Preemption, first half: the ideal share of each queue, and how much of its excess this round
 * reclaims. Pure.
 *
 * ProportionalCapacityPreemptionPolicy's distribution: below each parent every queue first keeps
 * the part of its usage that lies within its guarantee; the rest goes to queues below their
 * guarantees up to their demand, then, in proportion to the guarantees, to those above up to their
 * usage. Hadoop's fixpoint over one queue at a time is quadratic in the queues; here a phase offers
 * all its queues their parts at once, in a bounded number of passes. */
#include "rm-lite/scheduler/scheduler-impl.h"

#define PASSES 32 /* each at least halves the rest, or ends */

static const struct rm_res none;

static bool greater(const struct rm_sched *s, struct rm_res a, struct rm_res b)
{
    return rm_res_share(s->set.calc, a, s->cluster) >
           rm_res_share(s->set.calc, b, s->cluster) + 1e-9;
}

static struct rm_res positive(struct rm_res a)
{
    return rm_res_max(a, none);
}

/* The leaf's demand, within its users' limits, that fits the largest node. */
static struct rm_res leaf_pending(const struct rm_sched *s, struct rm_queue *leaf,
                                  struct rm_res largest)
{
    struct rm_res sum = none;
    struct rm_sched_app *app;

    for (struct rm_user *u = leaf->users; u; u = u->hh.next)
        u->share_left = positive(rm_res_sub(rm_user_limit(s, leaf, u), u->used));
    DL_FOREACH2(leaf->ready, app, r_next)
    {
        struct rm_res want = app->pending;
        const struct rm_ask_group *g;

        if (app->n_groups <= RM_PREEMPT_GROUPS) {
            want = none;
            DL_FOREACH (app->groups, g)
                if (g->any > 0 && rm_res_fits(s->set.calc, g->capability, largest))
                    want = rm_res_add(want, rm_res_times(g->capability, g->any));
        }
        want = rm_res_min(want, app->user->share_left);
        app->user->share_left = rm_res_sub(app->user->share_left, want);
        sum = rm_res_add(sum, want);
    }
    return sum;
}

static void measure(const struct rm_sched *s, struct rm_queue *q, struct rm_res largest)
{
    struct rm_share *sh = &q->share;
    struct rm_res extra, preemptable = none;

    *sh = (struct rm_share){ .used = rm_res_sub(q->used, q->killing) };
    extra = positive(rm_res_sub(sh->used, q->eff_min));
    if (rm_queue_leaf(q)) {
        sh->pending = leaf_pending(s, q, largest);
        preemptable = q->preemption_disabled ? none : extra;
    }
    for (size_t i = 0; i < q->n_children; i++) {
        const struct rm_share *c = &q->children[i]->share;

        measure(s, q->children[i], largest);
        sh->pending = rm_res_add(sh->pending, c->pending);
        preemptable = rm_res_add(preemptable, c->preemptable);
    }
    sh->preemptable = rm_res_min(preemptable, extra);
    sh->untouchable = rm_res_sub(extra, sh->preemptable);
}

/* Upper bound of a queue's ideal share: its usage plus demand, at most its maximum, and not above
 * the larger of its guarantee, its usage and the share that it has. */
static struct rm_res ceiling(const struct rm_sched *s, const struct rm_queue *q)
{
    const struct rm_share *sh = &q->share;
    struct rm_res top = greater(s, sh->used, q->eff_min) ? sh->used : q->eff_min;

    return rm_res_min(rm_res_min(q->eff_max, rm_res_add(sh->used, sh->pending)),
                      rm_res_max(top, sh->ideal));
}

enum phase { BELOW_GUARANTEE, ABOVE_GUARANTEE, WITHOUT_GUARANTEE };

static struct rm_res wanted(const struct rm_sched *s, const struct rm_queue *q, enum phase phase)
{
    struct rm_res top = ceiling(s, q);

    if (rm_res_is_zero(q->eff_min) != (phase == WITHOUT_GUARANTEE))
        return none;
    if (phase == BELOW_GUARANTEE)
        top = rm_res_min(top, q->eff_min);
    return positive(rm_res_sub(top, q->share.ideal));
}

/* Offers each queue of the phase its part of `left` until no queue accepts more; returns the
 * rest. */
static struct rm_res offer(const struct rm_sched *s, struct rm_queue *parent, enum phase phase,
                           struct rm_res left)
{
    for (int pass = 0; pass < PASSES && !rm_res_is_zero(left); pass++) {
        struct rm_res taken = none;
        double sum = 0;

        for (size_t i = 0; i < parent->n_children; i++)
            if (!rm_res_is_zero(wanted(s, parent->children[i], phase)))
                sum += phase == WITHOUT_GUARANTEE ? 1 : parent->children[i]->abs_capacity;
        if (sum <= 0)
            break;
        for (size_t i = 0; i < parent->n_children; i++) {
            struct rm_queue *q = parent->children[i];
            double part = (phase == WITHOUT_GUARANTEE ? 1 : q->abs_capacity) / sum;
            struct rm_res more = rm_res_min(wanted(s, q, phase), rm_res_scale_up(left, part));

            more = rm_res_min(more, rm_res_sub(left, taken));
            q->share.ideal = rm_res_add(q->share.ideal, more);
            taken = rm_res_add(taken, more);
        }
        if (rm_res_is_zero(taken))
            break;
        left = rm_res_sub(left, taken);
    }
    return left;
}

static void distribute(const struct rm_sched *s, struct rm_queue *parent, struct rm_res allowed)
{
    struct rm_res left = parent->share.ideal, needed = none;
    double scale = 1, need, may;

    for (size_t i = 0; i < parent->n_children; i++) {
        struct rm_queue *q = parent->children[i];
        struct rm_share *sh = &q->share;

        sh->ideal = greater(s, sh->used, q->eff_min)
                        ? rm_res_add(rm_res_min(q->eff_min, sh->used), sh->untouchable)
                        : sh->used;
        left = positive(rm_res_sub(left, sh->ideal));
    }
    left = offer(s, parent, BELOW_GUARANTEE, left);
    left = offer(s, parent, ABOVE_GUARANTEE, left);
    (void)offer(s, parent, WITHOUT_GUARANTEE, left); /* the rest is idle, ignoring */
    for (size_t i = 0; i < parent->n_children; i++) {
        struct rm_share *sh = &parent->children[i]->share;

        if (greater(s, sh->used, sh->ideal))
            needed = rm_res_add(needed, positive(rm_res_sub(sh->used, sh->ideal)));
    }
    need = rm_res_share(s->set.calc, needed, s->cluster);
    may = rm_res_share(s->set.calc, allowed, s->cluster);
    if (need > may)
        scale = may / need;
    for (size_t i = 0; i < parent->n_children; i++) {
        struct rm_share *sh = &parent->children[i]->share;

        if (greater(s, sh->used, sh->ideal))
            sh->excess = rm_res_scale(positive(rm_res_sub(sh->used, sh->ideal)), scale);
        distribute(s, parent->children[i], allowed);
    }
}

void rm_preempt_shares(const struct rm_sched *s, struct rm_queue *root, struct rm_res allowed)
{
    struct rm_res largest = none;
    const struct rm_sched_node *n;

    DL_FOREACH (s->node_list, n)
        if (n->schedulable)
            largest = rm_res_max(largest, n->total);
    measure(s, root, largest);
    root->share.ideal = root->eff_min;
    distribute(s, root, allowed);
}

/* Amount to reclaim from the leaf, above the dead zone: a part of the excess, since containers also
 * end by themselves. */
struct rm_res rm_preempt_from(const struct rm_sched *s, const struct rm_queue *leaf)
{
    const struct rm_preempt_settings *p = &s->set.preempt;

    if (!greater(s, leaf->share.used, rm_res_scale(leaf->eff_min, 1 + p->ignored_over)))
        return none;
    return rm_res_scale(leaf->share.excess, p->factor);
}
