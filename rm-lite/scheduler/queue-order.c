/* The order in which a parent serves its queues: PriorityUtilizationQueueOrderingPolicy;
 * queue-limits.c reports changes of usage. Pure.
 *
 * An assignment changes the usage of one queue of each level, so the order is kept: queues whose
 * usage has changed are marked, and only they are removed, found by the key with which they were
 * inserted, and inserted again. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <stdlib.h>
#include <string.h>

static double used_capacity(const struct rm_sched *s, const struct rm_queue *q)
{
    double guarantee = rm_res_share(s->set.calc, q->eff_min, s->cluster);

    if (guarantee <= 0) /* no guarantee: after all queues that have one */
        return rm_res_is_zero(q->used) ? 1 : 1e9;
    /* Shares of the cluster, as in Hadoop: of a guarantee of 3686 MB and 3 vcores, rounded down,
     * three containers of 1024 MB and one vcore are 0.83, not 1. */
    return rm_res_share(s->set.calc, q->used, s->cluster) / guarantee;
}

/* <0: a is served before b. A total order, as the configured one breaks ties. */
static int queue_order(const struct rm_queue *a, const struct rm_queue *b)
{
    if (a->parent->priority_order && a->priority != b->priority &&
        (a->order_key < 1) == (b->order_key < 1))
        return a->priority > b->priority ? -1 : 1;
    if (a->order_key != b->order_key)
        return a->order_key < b->order_key ? -1 : 1;
    if (a->abs_capacity != b->abs_capacity)
        return a->abs_capacity > b->abs_capacity ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static int compare(const void *a, const void *b)
{
    return queue_order(*(struct rm_queue *const *)a, *(struct rm_queue *const *)b);
}

/* Index of the first of the n sorted queues that is not before q. */
static size_t place_of(const struct rm_queue *parent, size_t n, const struct rm_queue *q)
{
    size_t lo = 0, hi = n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (queue_order(parent->sorted[mid], q) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void sort_all(const struct rm_sched *s, struct rm_queue *parent)
{
    for (size_t i = 0; i < parent->n_children; i++) {
        parent->children[i]->order_key = used_capacity(s, parent->children[i]);
        parent->children[i]->moved = false;
    }
    qsort(parent->sorted, parent->n_children, sizeof(struct rm_queue *), compare);
    parent->moved_children = NULL;
    parent->unsorted = false;
}

void rm_queue_moved(struct rm_queue *q)
{
    if (q->moved || !q->parent)
        return;
    q->moved = true;
    q->moved_next = q->parent->moved_children;
    q->parent->moved_children = q;
}

void rm_queue_sort(const struct rm_sched *s, struct rm_queue *parent)
{
    struct rm_queue **v = parent->sorted, *q;

    if (parent->n_children == 1) /* nothing to order, ever */
        return;
    if (parent->unsorted) {
        sort_all(s, parent);
        return;
    }
    while ((q = parent->moved_children)) {
        size_t from = place_of(parent, parent->n_children, q), to;

        parent->moved_children = q->moved_next;
        q->moved = false;
        memmove(v + from, v + from + 1, (parent->n_children - 1 - from) * sizeof(*v));
        q->order_key = used_capacity(s, q);
        to = place_of(parent, parent->n_children - 1, q);
        memmove(v + to + 1, v + to, (parent->n_children - 1 - to) * sizeof(*v));
        v[to] = q;
    }
}
