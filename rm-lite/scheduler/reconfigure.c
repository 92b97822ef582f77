/* refreshQueues: replaces the queue tree and moves the applications to it, all or nothing. The
 * configuration is the operator's. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <errno.h>

static bool fits(const struct rm_queue *now, const struct rm_queue *old)
{
    return rm_res_fits(RM_CALC_DOMINANT, old->max_allocation, now->max_allocation);
}

/* Every old queue must exist in the same role, unless it is stopped and empty. */
static int check_old(struct rm_queue *old, struct rm_queue *root, struct sv_error *err)
{
    struct rm_queue *now = rm_queue_find(root, old->path);

    if (!now && (old->apps > 0 || old->state == RM_QUEUE_RUNNING))
        return sv_error_set(err, -EBUSY,
                            "%s is deleted from the new capacity scheduler configuration, but the "
                            "queue is not yet in stopped state. Current State : %s",
                            old->path, old->state == RM_QUEUE_RUNNING ? "RUNNING" : "DRAINING");
    if (now && rm_queue_leaf(old) && rm_queue_leaf(now) && !fits(now, old))
        return sv_error_set(
            err, -EINVAL,
            "%s: its maximum allocation would decrease from %lld MB and %lld vcores to %lld MB and "
            "%lld vcores, but running ApplicationMasters count on it: restart selvedge-rm for that",
            old->path, (long long)old->max_allocation.mem, (long long)old->max_allocation.vcores,
            (long long)now->max_allocation.mem, (long long)now->max_allocation.vcores);
    if (now && rm_queue_leaf(old) && !rm_queue_leaf(now) && old->apps > 0)
        return sv_error_set(err, -EBUSY,
                            "Can not convert the leaf queue: %s to parent queue since it is not "
                            "empty",
                            old->path);
    if (now && !rm_queue_leaf(old) && rm_queue_leaf(now) && old->apps > 0)
        return sv_error_set(err, -EBUSY, "Can not convert the parent queue: %s to leaf queue",
                            old->path);
    for (size_t i = 0; i < old->n_children; i++) {
        int r = check_old(old->children[i], root, err);

        if (r < 0)
            return r;
    }
    return 0;
}

static void carry_over(struct rm_queue *old, struct rm_queue *root)
{
    struct rm_queue *now = rm_queue_find(root, old->path);

    if (now) {
        now->used = old->used;
        now->reserved = old->reserved;
        now->pending = old->pending;
        now->am_used = old->am_used;
        now->containers = old->containers;
        now->apps = old->apps;
        now->active_apps = old->active_apps;
        now->running = old->running;
        now->killing = old->killing;
        if (rm_queue_leaf(now)) {
            now->users = SV_TAKE(old->users);
            now->waiting = SV_TAKE(old->waiting);
            now->ready = SV_TAKE(old->ready);
        }
        if (now->state == RM_QUEUE_STOPPED && now->apps > 0)
            now->state = RM_QUEUE_DRAINING;
    }
    for (size_t i = 0; i < old->n_children; i++)
        carry_over(old->children[i], root);
}

/* Recomputes the state that derives from the order of applications and the limits of users. */
static void renew(struct rm_queue *q)
{
    for (struct rm_user *u = q->users; u; u = u->hh.next)
        u->weight = rm_user_weight(q, u->name);
    rm_ready_renew(q);
    for (size_t i = 0; i < q->n_children; i++)
        renew(q->children[i]);
}

int rm_reconfigure(struct rm_sched *s, struct sv_conf *conf, struct sv_error *err)
{
    struct rm_sched_settings set;
    struct rm_queue *root = NULL;
    struct rm_sched_app *app;
    struct rm_sched_node *n;
    int r = rm_queues_parse(conf, &set, &root, err);

    if (r < 0)
        return r;
    r = rm_types_equal(&set.types, &s->set.types)
            ? check_old(s->root, root, err)
            : sv_error_set(err, -EINVAL,
                           "yarn.resource-types has changed: restart selvedge-rm for that");
    if (r < 0) {
        rm_queue_free(root);
        return r;
    }
    carry_over(s->root, root);
    for (app = s->apps; app; app = app->hh.next)
        app->leaf = rm_queue_find(root, app->leaf->path);
    rm_queue_free(s->root);
    s->root = root;
    s->set = set;
    rm_queues_derive(s);
    renew(root);
    DL_FOREACH (s->node_list, n)
        rm_free_nodes_update(s, n);
    rm_parallel_next(s);
    rm_free_nodes_scan(s);
    return 0;
}
