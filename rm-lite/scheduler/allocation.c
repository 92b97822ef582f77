/* Containers of the scheduler, and the decisions that report what happens to them. Pure. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <stdlib.h>
#include <string.h>

struct rm_decision *rm_decide(struct rm_sched *s, enum rm_decision_type type)
{
    struct rm_decision *d;

    if (s->n_out == s->cap_out) {
        size_t cap = s->cap_out ? s->cap_out * 2 : 16;

        d = realloc(s->out, cap * sizeof(*d));
        if (!d)
            sv_out_of_memory();
        s->out = d;
        s->cap_out = cap;
    }
    d = &s->out[s->n_out++];
    memset(d, 0, sizeof(*d));
    d->type = type;
    d->text = "";
    return d;
}

void rm_node_id_to(const struct rm_sched_node *n, struct yarn_node_id *dst)
{
    memcpy(dst->host, n->host_label.name, n->host_label.len + 1); /* same bound as the source */
    dst->port = n->port;
}

/* A place for one more. */
static void node_reserve(struct rm_sched_node *n)
{
    int32_t cap = n->cap_containers ? n->cap_containers * 2 : 2 * RM_NODE_FEW;
    uint32_t *v;

    if (!n->containers)
        n->containers = n->few;
    if (n->n_containers < SV_MAX(n->cap_containers, RM_NODE_FEW))
        return;
    v = reallocarray(n->cap_containers ? n->containers : NULL, (size_t)cap, sizeof(*v));
    if (!v)
        sv_out_of_memory();
    if (!n->cap_containers)
        memcpy(v, n->few, sizeof(n->few));
    n->containers = v;
    n->cap_containers = cap;
}

/* Searches from the end: the removal of a node frees its containers in that order. */
static void node_forget(struct rm_sched_node *n, uint32_t handle)
{
    size_t i = (size_t)n->n_containers - 1;

    while (n->containers[i] != handle)
        i--;
    n->n_containers--;
    memmove(n->containers + i, n->containers + i + 1,
            ((size_t)n->n_containers - i) * sizeof(*n->containers));
}

/* Containers that a resource counts as. */
static int counted(struct rm_res r)
{
    return !rm_res_is_zero(r);
}

/* In all sums. */
static void use(struct rm_sched *s, struct rm_sched_container *c, struct rm_res more, int n)
{
    c->app->n_containers += n;
    c->node->used = rm_res_add(c->node->used, more);
    c->app->used = rm_res_add(c->app->used, more);
    c->app->user->used = rm_res_add(c->app->user->used, more);
    rm_queue_use(c->app->leaf, more, n);
    rm_app_used_changed(c->app);
    rm_free_nodes_update(s, c->node);
}

/* Something is free again. */
static void freed(struct rm_sched *s, struct rm_sched_container *c)
{
    rm_free_nodes_visit(s, c->node, true);
    rm_free_nodes_unblock(s, c->app->leaf);
}

struct rm_sched_container *rm_container_add(struct rm_sched *s, struct rm_sched_app *app,
                                            struct rm_sched_node *n, struct yarn_container_id id,
                                            struct rm_res r)
{
    struct rm_sched_container *c;
    uint32_t handle;

    node_reserve(n);
    c = rm_pool_take(&s->container_pool);
    c->app = app;
    c->node = n;
    c->number = id.id;
    c->attempt = id.attempt.attempt;
    c->resource = r;
    handle = rm_pool_handle(c);
    rm_sched_container_index(s, c, handle);
    n->containers[n->n_containers++] = handle;
    use(s, c, r, counted(r));
    return c;
}

void rm_container_remove(struct rm_sched *s, struct rm_sched_container *c)
{
    struct rm_res minus = rm_res_times(c->resource, -1);

    if (c->killing)
        rm_queue_kill(c->app, minus);
    if (c->placed)
        rm_placement_leave(s, c);
    node_forget(c->node, rm_sched_container_unindex(s, c));
    use(s, c, minus, -counted(c->resource));
    freed(s, c);
    rm_pool_give(&s->container_pool, c);
}

void rm_container_resize(struct rm_sched *s, struct rm_sched_container *c, struct rm_res to)
{
    struct rm_res more = rm_res_sub(to, c->resource), less = rm_res_min(more, (struct rm_res){ 0 });
    int n = counted(to) - counted(c->resource);

    if (c->killing)
        rm_queue_kill(c->app, more);
    c->resource = to;
    use(s, c, more, n);
    if (!rm_res_is_zero(less))
        freed(s, c);
}
