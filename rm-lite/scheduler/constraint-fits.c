/* Whether a node satisfies the constraints of a SchedulingRequest now: its own and the one that its
 * application registered for its tag. Pure; Hadoop: PlacementConstraintsUtil.canSatisfyConstraints.
 * One evaluation costs at most the sum of the two trees' costs; each counts as an ask that is
 * tested, so that a pass takes turns by the work that it does. */
#include <limits.h>

#include "rm-lite/scheduler/scheduler-impl.h"

struct question {
    struct rm_sched *s;
    const struct rm_placement *p;
    const struct rm_sched_node *n;
};

static int64_t number(const struct question *q, const struct rm_target *t, const void *place,
                      const struct rm_word *tag)
{
    const struct rm_sched *s = q->s;

    switch (t->ns) {
    case RM_NS_SELF:
        return rm_tags_of(s, q->p->app, place, tag);
    case RM_NS_NOT_SELF:
        return rm_tags_of(s, s, place, tag) - rm_tags_of(s, q->p->app, place, tag);
    case RM_NS_ALL:
        return rm_tags_of(s, s, place, tag);
    case RM_NS_APP_ID: {
        const struct rm_sched_app *app = rm_sched_app_find(s, t->app);

        return app ? rm_tags_of(s, app, place, tag) : 0;
    }
    case RM_NS_APP_TAG:
        return rm_tags_of(s, t->app_tag, place, tag);
    }
    return 0;
}

/* Each tag's number of containers is within the bounds. A rack that no tagged container has is in
 * no table: all its numbers are 0. */
static bool tags_fit(const struct question *q, const struct rm_constraint *c,
                     const struct rm_target *t)
{
    const void *place = c->rack ? (const void *)rm_word_find(q->s, q->n->rack) : q->n;
    struct rm_word *const *words = t->own ? q->p->tags : t->words;
    size_t n = t->own ? q->p->n_tags : t->n_words;

    q->s->counts.groups_tried += (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        int64_t has = place ? number(q, t, place, words[i]) : 0;

        if (has < c->min || has > c->max)
            return false;
    }
    return true;
}

static bool target_fits(const struct question *q, const struct rm_constraint *c,
                        const struct rm_target *t)
{
    switch (t->kind) {
    case RM_TARGET_TAGS:
        return tags_fit(q, c, t);
    case RM_TARGET_PARTITION: /* every node is in the default one */
        return t->n_words == 0;
    case RM_TARGET_ATTRIBUTE: /* no node has any */
        return c->unequal;
    }
    return false;
}

static bool fits(const struct question *q, const struct rm_constraint *c)
{
    q->s->counts.groups_tried++;
    switch (c->kind) {
    case RM_CONSTRAINT_SIMPLE:
        for (size_t i = 0; i < c->n_targets; i++)
            if (!target_fits(q, c, &c->targets[i]))
                return false;
        return true;
    case RM_CONSTRAINT_AND:
        for (size_t i = 0; i < c->n_children; i++)
            if (!fits(q, &c->children[i]))
                return false;
        return true;
    case RM_CONSTRAINT_OR:
        for (size_t i = 0; i < c->n_children; i++)
            if (fits(q, &c->children[i]))
                return true;
        return false;
    case RM_CONSTRAINT_NEVER:
        return false;
    }
    return false;
}

bool rm_placement_fits(struct rm_sched *s, const struct rm_placement *p,
                       const struct rm_sched_node *n)
{
    struct question q = { .s = s, .p = p, .n = n };
    const struct rm_rule *rule = rm_rule_of(p);

    if (!rm_tags_fit(p->app, p->n_tags))
        return false;
    return (!p->constraint || fits(&q, p->constraint)) && (!rule || fits(&q, rule->constraint));
}
