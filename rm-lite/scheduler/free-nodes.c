/* The nodes with free capacity, and the list of those pending a visit by the next allocation pass.
 * Pure.
 *
 * An allocation pass must not walk over all nodes of the cluster for every container that ends. So
 * each event records what it made possible: a container that ended makes its node pending; an ask
 * makes the hosts that it names pending; an ask for any host, and a limit with headroom again,
 * start a scan of the nodes with free capacity. allocation-pass.c visits them. The next heartbeat
 * of a node finds whatever this misses. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <string.h>

static struct rm_sched_host *host_find(const struct rm_sched *s, const char *name)
{
    struct rm_sched_host *h;

    HASH_FIND_STR(s->hosts, name, h);
    return h;
}

void rm_free_nodes_add(struct rm_sched *s, struct rm_sched_node *n, const char *host)
{
    struct rm_sched_host *h = host_find(s, host);

    if (!h) {
        h = calloc(1, sizeof(*h));
        if (!h || !(h->name = strdup(host)))
            sv_out_of_memory();
        HASH_ADD_KEYPTR(hh, s->hosts, h->name, strlen(h->name), h);
    }
    n->host_label = rm_label(h->name); /* the host lives as long as it has nodes */
    DL_APPEND2(h->nodes, n, o_prev, o_next);
    rm_free_nodes_update(s, n);
}

static void leave_free_nodes(struct rm_sched *s, struct rm_sched_node *n)
{
    if (s->cursor == n)
        s->cursor = n->m_next;
    DL_DELETE2(s->free_nodes, n, m_prev, m_next);
    n->has_free = false;
    s->n_free_nodes--;
}

void rm_free_nodes_remove(struct rm_sched *s, struct rm_sched_node *n)
{
    struct rm_sched_host *h = host_find(s, n->host_label.name);

    if (n->has_free)
        leave_free_nodes(s, n);
    if (n->due)
        DL_DELETE2(s->due, n, t_prev, t_next);
    DL_DELETE2(h->nodes, n, o_prev, o_next);
    if (!h->nodes) {
        HASH_DEL(s->hosts, h);
        free(h->name);
        free(h);
    }
}

void rm_free_nodes_update(struct rm_sched *s, struct rm_sched_node *n)
{
    bool has_free =
        n->schedulable && rm_res_fits(s->set.calc, s->set.min_alloc, rm_res_sub(n->total, n->used));

    if (has_free == n->has_free)
        return;
    if (!has_free) {
        leave_free_nodes(s, n);
        return;
    }
    DL_APPEND2(s->free_nodes, n, m_prev, m_next);
    n->has_free = true;
    s->n_free_nodes++;
}

void rm_free_nodes_visit(struct rm_sched *s, struct rm_sched_node *n, bool freed)
{
    if (!n->has_free)
        return;
    n->freed |= freed;
    if (n->due)
        return;
    n->due = true;
    DL_APPEND2(s->due, n, t_prev, t_next);
}

void rm_free_nodes_visit_host(struct rm_sched *s, const char *host)
{
    struct rm_sched_host *h = host_find(s, host);
    struct rm_sched_node *n;

    if (h)
        DL_FOREACH2(h->nodes, n, o_next)
    rm_free_nodes_visit(s, n, false);
}

struct rm_sched_node *rm_free_nodes_next_due(struct rm_sched *s)
{
    struct rm_sched_node *n = s->due;

    if (n) {
        DL_DELETE2(s->due, n, t_prev, t_next);
        n->due = false;
    }
    return n;
}

void rm_free_nodes_scan(struct rm_sched *s)
{
    s->scan_left = s->n_free_nodes;
}

/* Excludes the root: its limit is the cluster, so if that blocks an ask, no node has free capacity
 * either. */
void rm_free_nodes_unblock(struct rm_sched *s, struct rm_queue *leaf)
{
    bool blocked = false;

    for (struct rm_queue *q = leaf; q->parent; q = q->parent) {
        blocked |= q->blocked;
        q->blocked = false;
    }
    if (blocked)
        rm_free_nodes_scan(s);
}
