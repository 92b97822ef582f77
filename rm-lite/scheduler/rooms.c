/* See rooms.h. Nodes of a cluster are of a few sizes, and few of a busy one have free capacity:
 * RM_ROOMS are enough for all but odd clusters, of which the smaller rooms are left out. */
#include "rm-lite/scheduler/rooms.h"

#include "rm-lite/scheduler/scheduler-impl.h"

static bool covers(struct rm_res a, struct rm_res b)
{
    return rm_res_fits(RM_CALC_DOMINANT, b, a);
}

static void add(struct rm_rooms *r, struct rm_res size, const struct rm_sched_node *node)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < r->n; i++)
        if (covers(r->rooms[i].size, size))
            return;
    for (int32_t i = 0; i < r->n; i++)
        if (!covers(size, r->rooms[i].size))
            r->rooms[kept++] = r->rooms[i];
    r->cut |= kept == RM_ROOMS;
    if (kept < RM_ROOMS)
        r->rooms[kept++] = (struct rm_room){ .size = size, .node = node };
    r->n = kept;
}

const struct rm_rooms *rm_rooms_free(struct rm_sched *s)
{
    struct rm_rooms *r = &s->free_rooms;
    const struct rm_sched_node *n;

    if (r->known)
        return r;
    *r = (struct rm_rooms){ .known = true };
    DL_FOREACH2(s->free_nodes, n, m_next)
    {
        r->nodes++;
        if (!n->reserved_app)
            add(r, rm_res_sub(n->total, n->used), n);
    }
    return r;
}

const struct rm_rooms *rm_rooms_total(struct rm_sched *s)
{
    struct rm_rooms *r = &s->total_rooms;
    const struct rm_sched_node *n;

    if (r->known)
        return r;
    *r = (struct rm_rooms){ .known = true };
    DL_FOREACH (s->node_list, n)
        if (n->schedulable) {
            r->nodes++;
            add(r, n->total, n);
        }
    return r;
}

static double part(struct rm_res room, struct rm_res asked)
{
    double least = asked.mem > 0 ? (double)room.mem / (double)asked.mem : HUGE_VAL;

    if (asked.vcores > 0)
        least = SV_MIN(least, (double)room.vcores / (double)asked.vcores);
    for (int i = 0; i < RM_RES_EXTRA; i++)
        if (asked.extra[i] > 0)
            least = SV_MIN(least, (double)room.extra[i] / (double)asked.extra[i]);
    return least;
}

const struct rm_room *rm_rooms_nearest(const struct rm_rooms *r, struct rm_res asked)
{
    const struct rm_room *best = NULL;

    for (int32_t i = 0; i < r->n; i++)
        if (!best || part(r->rooms[i].size, asked) > part(best->size, asked))
            best = &r->rooms[i];
    return best;
}
