/* Queries of the scheduler, and refreshQueues. See scheduler.h. */
#include "rm-lite/scheduler.h"

#include <errno.h>
#include <string.h>

#include "rm-lite/scheduler-impl.h"

struct rm_res rm_sched_min_allocation(const struct rm_sched *s)
{
    return s->set.min_alloc;
}

struct rm_res rm_sched_max_allocation(const struct rm_sched *s, const char *queue)
{
    const struct rm_queue *q = queue ? rm_queue_find(s->root, queue) : NULL;

    return q ? q->max_allocation : s->set.max_alloc;
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

    if (r.mem < 0 || r.vcores < 0 || r.mem > max.mem || r.vcores > max.vcores)
        return -ERANGE;
    r = rm_res_round_up(rm_res_max(r, s->set.min_alloc), s->set.min_alloc);
    *inout = rm_res_min(r, max);
    return 0;
}

int rm_sched_app_usage(const struct rm_sched *s, struct yarn_app_id id, struct rm_app_usage *ret)
{
    struct rm_sched_app *app, probe = { .key = { id.cluster_ts, id.id } };

    HASH_FIND(hh, s->apps, &probe.key, sizeof(probe.key), app);
    if (!app)
        return -ENOENT;
    *ret = (struct rm_app_usage){
        .used = app->used,
        .reserved = app->reserved,
        .pending = app->pending,
        .headroom = rm_headroom(s, app),
        .containers = app->n_containers,
        .reserved_containers = app->n_reserved,
        .active = app->active,
        .queue_path = app->leaf->path,
    };
    return 0;
}

int rm_sched_node_usage(const struct rm_sched *s, const struct yarn_node_id *node,
                        struct rm_node_usage *ret)
{
    struct rm_sched_node *n;
    char key[300];

    yarn_node_id_text(node, key);
    HASH_FIND_STR(s->nodes, key, n);
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

/* ------------------------------------------------------------ refreshQueues */

/* Every old queue must exist in the same role, unless it is stopped and empty. */
static int check_old(struct rm_queue *old, struct rm_queue *root, struct sv_error *err)
{
    struct rm_queue *now = rm_queue_find(root, old->path);

    if (!now && (old->apps > 0 || old->state == RM_QUEUE_RUNNING))
        return sv_error_set(err, -EBUSY,
                            "%s is deleted from the new capacity scheduler configuration, but the "
                            "queue is not yet in stopped state. Current State : %s",
                            old->path, old->state == RM_QUEUE_RUNNING ? "RUNNING" : "DRAINING");
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

int rm_sched_reconfigure(struct rm_sched *s, struct sv_conf *conf, struct sv_error *err)
{
    struct rm_sched_settings set;
    struct rm_queue *root = NULL;
    struct rm_sched_app *app;
    int r = rm_queues_parse(conf, &set, &root, err);

    if (r < 0)
        return r;
    r = check_old(s->root, root, err);
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
    return 0;
}
