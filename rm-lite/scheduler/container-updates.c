/* Changes of the resource of a running container. Pure; Hadoop: ContainerUpdateContext.
 *
 * A decrease is decided at once. An increase is an ask for the difference, on the container's node
 * alone: it waits, reserves and counts as pending like another ask, within the limits of node,
 * queue and user, and comes after the application's asks for new containers. A container whose
 * resource is zero is not counted: it gets zero when it becomes OPPORTUNISTIC, and asks for all of
 * its resource when it becomes GUARANTEED again. The number of asks that wait is bounded with those
 * of the application (RM_MAX_ASK_GROUPS). */
#include <errno.h>

#include "rm-lite/scheduler/scheduler-impl.h"

static void change(struct rm_sched *s, struct rm_sched_container *c, struct rm_res to)
{
    struct rm_decision *d = rm_decide(s, RM_DECIDE_UPDATED);

    d->app = c->app->id;
    d->container = rm_container_id(c);
    rm_node_id_to(c->node, &d->node);
    d->resource = to;
    d->priority = c->priority;
    d->allocation_id = c->allocation_id;
    rm_container_resize(s, c, to);
}

void rm_update_cancel(struct rm_sched *s, struct rm_sched_container *c)
{
    if (c->growth)
        rm_asks_drop(s, c->app, c->growth);
}

void rm_update_grant(struct rm_sched *s, struct rm_ask_group *growth)
{
    struct rm_sched_container *c = growth->grows;
    struct rm_res to = rm_res_add(c->resource, growth->capability);

    rm_asks_drop(s, c->app, growth);
    change(s, c, to);
}

int rm_container_update(struct rm_sched *s, const struct rm_ev_container_update *ev,
                        struct sv_error *err)
{
    struct rm_sched_container *c = rm_sched_container_find(s, ev->container);
    struct rm_res zero = { 0 }, more;
    char id[YARN_ID_TEXT_MAX];
    int r;

    yarn_container_id_text(ev->container, id);
    if (!c)
        return sv_error_set(err, -ENOENT, "%s: not in the scheduler", id);
    if (!rm_res_fits(RM_CALC_DOMINANT, zero, ev->resource))
        return sv_error_set(err, -EINVAL, "%s: a resource below zero", id);
    more = rm_res_max(rm_res_sub(ev->resource, c->resource), zero);
    rm_update_cancel(s, c);
    rm_free_nodes_unblock(s, c->app->leaf); /* the canceled ask may have blocked others */
    if (rm_res_is_zero(more)) {
        change(s, c, ev->resource);
        return 0;
    }
    r = rm_asks_grow(s, c, more);
    if (r == -E2BIG)
        return sv_error_set(err, r,
                            "%s: its application has too many asks for an update of a container: "
                            "%d different ones, or %d rows; take back what is not needed",
                            id, RM_MAX_ASK_GROUPS, RM_MAX_ASK_ROWS);
    return r;
}
