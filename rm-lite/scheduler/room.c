/* The nodes with free capacity, and the list of those pending a visit by the next allocation pass.
 * Pure.
 *
 * An allocation pass must not walk over all nodes of the cluster for every container that ends. So
 * each event records what it made possible: a container that ended makes its node pending; an ask
 * makes the hosts that it names pending; an ask for any host, and a limit with headroom again,
 * start a scan of the nodes with free capacity. rounds.c visits them. The next heartbeat of a node
 * finds whatever this misses. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <string.h>

static struct rm_sched_host *host_find(const struct rm_sched *s, const char *name)
{
    struct rm_sched_host *h;

    HASH_FIND_STR(s->hosts, name, h);
    return h;
}

void rm_room_add_node(struct rm_sched *s, struct rm_sched_node *n, const char *host)
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
    rm_room_update(s, n);
}

static void leave_room(struct rm_sched *s, struct rm_sched_node *n)
{
    if (s->cursor == n)
        s->cursor = n->m_next;
    DL_DELETE2(s->roomy, n, m_prev, m_next);
    n->roomy = false;
    s->n_roomy--;
}

void rm_room_remove_node(struct rm_sched *s, struct rm_sched_node *n)
{
    struct rm_sched_host *h = host_find(s, n->host_label.name);

    if (n->roomy)
        leave_room(s, n);
    if (n->due)
        DL_DELETE2(s->due, n, t_prev, t_next);
    DL_DELETE2(h->nodes, n, o_prev, o_next);
    if (!h->nodes) {
        HASH_DEL(s->hosts, h);
        free(h->name);
        free(h);
    }
}

void rm_room_update(struct rm_sched *s, struct rm_sched_node *n)
{
    bool roomy =
        n->schedulable && rm_res_fits(s->set.calc, s->set.min_alloc, rm_res_sub(n->total, n->used));

    if (roomy == n->roomy)
        return;
    if (!roomy) {
        leave_room(s, n);
        return;
    }
    DL_APPEND2(s->roomy, n, m_prev, m_next);
    n->roomy = true;
    s->n_roomy++;
}

void rm_room_visit(struct rm_sched *s, struct rm_sched_node *n, bool freed)
{
    if (!n->roomy)
        return;
    n->freed |= freed;
    if (n->due)
        return;
    n->due = true;
    DL_APPEND2(s->due, n, t_prev, t_next);
}

void rm_room_visit_host(struct rm_sched *s, const char *host)
{
    struct rm_sched_host *h = host_find(s, host);
    struct rm_sched_node *n;

    if (h)
        DL_FOREACH2(h->nodes, n, o_next)
    rm_room_visit(s, n, false);
}

struct rm_sched_node *rm_room_next_due(struct rm_sched *s)
{
    struct rm_sched_node *n = s->due;

    if (n) {
        DL_DELETE2(s->due, n, t_prev, t_next);
        n->due = false;
    }
    return n;
}

void rm_room_sweep(struct rm_sched *s)
{
    s->sweep_left = s->n_roomy;
}

/* Excludes the root: its limit is the cluster, so if that blocks an ask, no node has free capacity
 * either. */
void rm_room_unblock(struct rm_sched *s, struct rm_queue *leaf)
{
    bool blocked = false;

    for (struct rm_queue *q = leaf; q->parent; q = q->parent) {
        blocked |= q->blocked;
        q->blocked = false;
    }
    if (blocked)
        rm_room_sweep(s);
}
