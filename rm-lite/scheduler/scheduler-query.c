/* Queries of the scheduler. See scheduler.h. */
#include "rm-lite/scheduler/scheduler.h"

#include <errno.h>
#include <string.h>

#include "rm-lite/scheduler/scheduler-impl.h"

const struct rm_types *rm_sched_types(const struct rm_sched *s)
{
    return &s->set.types;
}

struct rm_res rm_sched_min_allocation(const struct rm_sched *s)
{
    return s->set.min_alloc;
}

struct rm_res rm_sched_max_allocation(const struct rm_sched *s, const char *queue)
{
    const struct rm_queue *q = queue ? rm_queue_find(s->root, queue) : NULL;

    return q ? q->max_allocation : s->set.max_alloc;
}

int64_t rm_sched_preempt_interval(const struct rm_sched *s)
{
    return s->set.preempt.enabled ? s->set.preempt.interval_ms : 0;
}

struct rm_res rm_sched_cluster(const struct rm_sched *s)
{
    return s->cluster;
}

enum rm_calculator rm_sched_calculator(const struct rm_sched *s)
{
    return s->set.calc;
}

struct rm_sched_counts rm_sched_counts(const struct rm_sched *s)
{
    return s->counts;
}

int rm_sched_normalize(const struct rm_sched *s, const char *queue, struct rm_res *inout)
{
    struct rm_res max = rm_sched_max_allocation(s, queue), r = *inout;

    if (!rm_res_fits(RM_CALC_DOMINANT, (struct rm_res){ 0 }, r) ||
        !rm_res_fits(RM_CALC_DOMINANT, r, max))
        return -ERANGE;
    r = rm_res_round_up(rm_res_max(r, s->set.min_alloc), s->set.min_alloc);
    *inout = rm_res_min(r, max);
    return 0;
}

int rm_sched_app_amounts(const struct rm_sched *s, struct yarn_app_id id, struct rm_app_usage *ret)
{
    const struct rm_sched_app *app = rm_sched_app_find(s, id);

    if (!app)
        return -ENOENT;
    *ret = (struct rm_app_usage){
        .used = app->used,
        .reserved = app->reserved,
        .pending = app->pending,
        .pending_containers = app->n_pending,
        .containers = app->n_containers,
        .reserved_containers = app->n_reserved,
        .active = app->active,
        .queue_path = app->leaf->path,
    };
    return 0;
}

int rm_sched_app_usage(const struct rm_sched *s, struct yarn_app_id id, struct rm_app_usage *ret)
{
    int r = rm_sched_app_amounts(s, id, ret);

    if (r >= 0)
        ret->headroom = rm_headroom(s, rm_sched_app_find(s, id));
    return r;
}

bool rm_sched_container_waits(const struct rm_sched *s, struct yarn_container_id container)
{
    const struct rm_sched_container *c = rm_sched_container_find(s, container);

    return c && c->growth;
}

int rm_sched_node_usage(const struct rm_sched *s, const struct yarn_node_id *node,
                        struct rm_node_usage *ret)
{
    const struct rm_sched_node *n = rm_sched_node_find(s, node);

    if (!n)
        return -ENOENT;
    *ret =
        (struct rm_node_usage){ .total = n->total, .used = n->used, .containers = n->n_containers };
    return 0;
}

int rm_sched_queue(const struct rm_sched *s, const char *name, struct rm_queue_info *ret)
{
    struct rm_queue *q = rm_queue_find(s->root, name);

    if (!q)
        return -ENOENT;
    rm_queue_info_fill(s, q, ret);
    return 0;
}

bool rm_sched_may_submit(const struct rm_sched *s, const char *queue,
                         bool (*admits)(const char *acl, void *userdata), void *userdata)
{
    const struct rm_queue *q = rm_queue_find(s->root, queue);

    if (!q)
        return true;
    for (; q; q = q->parent)
        if (admits(q->acl_submit, userdata) || admits(q->acl_administer, userdata))
            return true;
    return false;
}

bool rm_sched_administers(const struct rm_sched *s, const char *queue,
                          bool (*admits)(const char *acl, void *userdata), void *userdata)
{
    for (const struct rm_queue *q = rm_queue_find(s->root, queue); q; q = q->parent)
        if (admits(q->acl_administer, userdata))
            return true;
    return false;
}

static int each(const struct rm_sched *s, struct rm_queue *q,
                int (*fn)(const struct rm_queue_info *, void *), void *userdata)
{
    struct rm_queue_info info;
    int r;

    rm_queue_info_fill(s, q, &info);
    r = fn(&info, userdata);
    for (size_t i = 0; i < q->n_children && r >= 0; i++)
        r = each(s, q->children[i], fn, userdata);
    return r;
}

int rm_sched_each_queue(const struct rm_sched *s,
                        int (*fn)(const struct rm_queue_info *q, void *userdata), void *userdata)
{
    return each(s, s->root, fn, userdata);
}
