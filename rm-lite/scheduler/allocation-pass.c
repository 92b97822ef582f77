/* Allocation passes: allocation between heartbeats, on the nodes where something has become
 * possible (free-nodes.c). Pure.
 *
 * One event visits a bounded number of nodes, so that neither an ask for millions of containers nor
 * a cluster of 10,000 nodes keeps the daemon's thread: the next event continues
 * (rm_sched_pass_waiting). Pending nodes come first; the scan continues after the node of its last
 * visit, so that small asks spread over the cluster, and ends when no ask may be served on another
 * node, or after one turn over the nodes with free capacity without an allocation. */
#include "rm-lite/scheduler/scheduler-impl.h"

static void visit(struct rm_sched *s, struct rm_sched_node *n, struct rm_assign *a,
                  const struct rm_ev_pass *ev, int64_t now)
{
    a->ret_given = 0;
    a->ret_elsewhere = false;
    if (n->heartbeat_ms < 0 || now - n->heartbeat_ms > ev->window_ms) {
        s->counts.nodes_visited++;
        a->ret_elsewhere = true; /* its own heartbeat, if one comes, allocates on it */
        return;
    }
    rm_assign_node(s, n, a);
}

static void visit_due(struct rm_sched *s, struct rm_assign *a, const struct rm_ev_pass *ev,
                      int64_t now)
{
    struct rm_sched_node *n = rm_free_nodes_next_due(s);
    bool freed = n->freed;

    n->freed = false;
    a->may_reserve = freed;
    visit(s, n, a, ev, now);
    if (a->ret_given > 0)
        rm_free_nodes_visit(s, n, freed);
}

static void visit_next(struct rm_sched *s, struct rm_assign *a, const struct rm_ev_pass *ev,
                       int64_t now)
{
    struct rm_sched_node *n = s->cursor ? s->cursor : s->free_nodes;

    if (!n) {
        s->scan_left = 0;
        return;
    }
    s->cursor = n->m_next;
    s->scan_left--;
    a->may_reserve = false; /* a later node may have free capacity */
    visit(s, n, a, ev, now);
    if (a->ret_given > 0)
        s->scan_left = s->n_free_nodes;
    else if (!a->ret_elsewhere)
        s->scan_left = 0;
}

void rm_allocation_pass(struct rm_sched *s, const struct rm_ev_pass *ev, int64_t now)
{
    struct rm_assign a = { .max_out = RM_TURN_DECISIONS };
    int64_t asks = s->counts.groups_tried;

    if (ev->max_decisions > 0)
        a.max_out = SV_MIN(a.max_out, ev->max_decisions);
    for (int i = 0; i < RM_TURN_NODES; i++) {
        if (s->n_out + RM_VISIT_DECISIONS > a.max_out ||
            s->counts.groups_tried - asks >= RM_TURN_ASKS)
            break;
        if (s->due)
            visit_due(s, &a, ev, now);
        else if (s->scan_left > 0)
            visit_next(s, &a, ev, now);
        else
            break;
    }
}

bool rm_sched_pass_waiting(const struct rm_sched *s)
{
    return !rm_res_is_zero(s->root->pending) && (s->due || s->scan_left > 0);
}
