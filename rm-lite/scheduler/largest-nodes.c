/* See largest-nodes.h. Nodes of a cluster are of a few sizes, and few of a busy one have free
 * capacity: RM_LARGEST_NODES are enough for all but odd clusters, of which the smaller ones are
 * left out. */
#include "rm-lite/scheduler/largest-nodes.h"

#include "rm-lite/scheduler/scheduler-impl.h"

static bool covers(struct rm_res a, struct rm_res b)
{
    return rm_res_fits(RM_CALC_DOMINANT, b, a);
}

static void add(struct rm_largest *r, struct rm_res size, const struct rm_sched_node *node)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < r->n; i++)
        if (covers(r->list[i].size, size))
            return;
    for (int32_t i = 0; i < r->n; i++)
        if (!covers(size, r->list[i].size))
            r->list[kept++] = r->list[i];
    r->cut |= kept == RM_LARGEST_NODES;
    if (kept < RM_LARGEST_NODES)
        r->list[kept++] = (struct rm_large_node){ .size = size, .node = node };
    r->n = kept;
}

const struct rm_largest *rm_largest_free(struct rm_sched *s)
{
    struct rm_largest *r = &s->largest_free;
    const struct rm_sched_node *n;

    if (r->known)
        return r;
    *r = (struct rm_largest){ .known = true };
    DL_FOREACH2(s->free_nodes, n, m_next)
    {
        r->nodes++;
        if (!n->reserved_app)
            add(r, rm_res_sub(n->total, n->used), n);
    }
    return r;
}

const struct rm_largest *rm_largest_total(struct rm_sched *s)
{
    struct rm_largest *r = &s->largest_total;
    const struct rm_sched_node *n;

    if (r->known)
        return r;
    *r = (struct rm_largest){ .known = true };
    DL_FOREACH (s->node_list, n)
        if (n->schedulable) {
            r->nodes++;
            add(r, n->total, n);
        }
    return r;
}

static double part(struct rm_res has, struct rm_res asked)
{
    double least = asked.mem > 0 ? (double)has.mem / (double)asked.mem : HUGE_VAL;

    if (asked.vcores > 0)
        least = SV_MIN(least, (double)has.vcores / (double)asked.vcores);
    for (int i = 0; i < RM_RES_EXTRA; i++)
        if (asked.extra[i] > 0)
            least = SV_MIN(least, (double)has.extra[i] / (double)asked.extra[i]);
    return least;
}

const struct rm_large_node *rm_largest_nearest(const struct rm_largest *r, struct rm_res asked)
{
    const struct rm_large_node *best = NULL;

    for (int32_t i = 0; i < r->n; i++)
        if (!best || part(r->list[i].size, asked) > part(best->size, asked))
            best = &r->list[i];
    return best;
}
