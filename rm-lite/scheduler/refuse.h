/* Notes why an application gets nothing, where that is decided. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_REFUSE_H
#define SELVEDGE_RM_LITE_SCHEDULER_REFUSE_H

#include "rm-lite/scheduler/scheduler-impl.h"

/* `g` NULL: of no ask; `n` NULL: whichever the node. */
static inline void rm_refuse(const struct rm_sched *s, struct rm_sched_app *app,
                             struct rm_ask_group *g, const struct rm_sched_node *n,
                             enum rm_refusal why)
{
    struct rm_refused *r = &app->refused;

    r->visit = s->counts.nodes_visited;
    if (r->visit - r->turn > s->n_nodes) {
        r->seen_before = r->seen;
        r->seen = 0;
        r->turn = r->visit;
    }
    r->at_ms = s->now_ms;
    r->group = g;
    r->seen |= 1u << why;
    r->node = n ? n->handle : 0;
    r->why = why;
}

#endif
