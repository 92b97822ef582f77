/* An application in its queue: admission to a leaf, its end there, and its move to another leaf.
 * Names of queues are a client's. Pure. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <errno.h>

#define ACCESS "org.apache.hadoop.security.AccessControlException: "

static const struct rm_queue *not_running(const struct rm_queue *q)
{
    while (q && q->state == RM_QUEUE_RUNNING)
        q = q->parent;
    return q;
}

int rm_queue_admits(const struct rm_queue *leaf, const char *user, struct yarn_app_id app,
                    struct sv_error *err)
{
    const struct rm_queue *stopped = not_running(leaf);
    const struct rm_user *u;
    char id[YARN_ID_TEXT_MAX];

    yarn_app_id_text(app, id);
    if (stopped)
        return sv_error_set(err, -EACCES,
                            ACCESS "Queue %s is STOPPED. Cannot accept submission of application: "
                                   "%s",
                            stopped->path, id);
    if (leaf->apps >= leaf->max_apps)
        return sv_error_set(err, -EACCES,
                            ACCESS "Queue %s already has %d applications, cannot accept submission "
                                   "of application: %s",
                            leaf->path, leaf->apps, id);
    HASH_FIND_STR(leaf->users, user, u);
    if ((u ? u->apps : 0) >= leaf->max_apps_per_user)
        return sv_error_set(err, -EACCES,
                            ACCESS "Queue %s already has %d applications from user %s cannot "
                                   "accept submission of application: %s",
                            leaf->path, u ? u->apps : 0, user, id);
    return 0;
}

void rm_app_deactivate(struct rm_sched *s, struct rm_sched_app *app)
{
    rm_parallel_give(s, app);
    if (app->in_waiting) {
        DL_DELETE2(app->leaf->waiting, app, w_prev, w_next);
        app->in_waiting = false;
    }
    if (app->am_counted) {
        app->leaf->am_used = rm_res_sub(app->leaf->am_used, app->am);
        app->user->am_used = rm_res_sub(app->user->am_used, app->am);
        for (struct rm_queue *up = app->leaf; up; up = up->parent)
            up->active_apps--;
        app->user->active_apps--;
        app->am_counted = false;
    }
    app->active = false;
    rm_app_ready(app);
}

void rm_app_wait(struct rm_sched *s, struct rm_sched_app *app)
{
    if (!app->in_waiting && !app->active) {
        app->in_waiting = true;
        DL_INSERT_INORDER2(app->leaf->waiting, app, rm_app_order, w_prev, w_next);
    }
    rm_queue_activate(s, app->leaf);
}

void rm_app_leave(struct rm_queue *leaf, struct rm_user *user)
{
    user->apps--;
    for (struct rm_queue *q = leaf; q; q = q->parent) {
        q->apps--;
        if (q->apps == 0 && q->state == RM_QUEUE_DRAINING)
            q->state = RM_QUEUE_STOPPED;
    }
    rm_user_put(leaf, user);
}

void rm_app_enter(struct rm_sched_app *app, struct rm_queue *leaf, struct rm_user *user)
{
    app->leaf = leaf;
    app->user = user;
    user->apps++;
    for (struct rm_queue *q = leaf; q; q = q->parent)
        q->apps++;
}

/* Adds (1) or subtracts (-1) the application's usage and demand in its queue and user. */
static void account(struct rm_sched_app *app, int sign)
{
    struct rm_res used = rm_res_times(app->used, sign);
    struct rm_res reserved = rm_res_times(app->reserved, sign);
    struct rm_res killing = rm_res_times(app->killing, sign);

    app->user->used = rm_res_add(app->user->used, rm_res_add(used, reserved));
    app->user->killing = rm_res_add(app->user->killing, killing);
    rm_queue_use(app->leaf, used, sign * app->n_containers);
    rm_queue_reserve(app->leaf, reserved);
    rm_queue_pend(app->leaf, rm_res_times(app->pending, sign));
    for (struct rm_queue *q = app->leaf; q; q = q->parent)
        q->killing = rm_res_add(q->killing, killing);
}

static void move_to(struct rm_sched *s, struct rm_sched_app *app, struct rm_queue *leaf,
                    struct rm_user *user)
{
    struct rm_queue *from = app->leaf;
    bool has_attempt = app->in_waiting || app->active;

    rm_app_deactivate(s, app);
    account(app, -1);
    rm_app_leave(from, app->user);
    rm_app_enter(app, leaf, user);
    account(app, 1);
    if (has_attempt) {
        rm_parallel_take(s, app);
        rm_app_wait(s, app);
    }
    rm_parallel_next(s);
    rm_queue_activate(s, from);
    rm_free_nodes_unblock(s, from);
    rm_free_nodes_unblock(s, leaf);
}

int rm_app_move(struct rm_sched *s, struct rm_sched_app *app, const char *queue,
                struct sv_error *err)
{
    struct rm_queue *leaf = rm_queue_find(s->root, queue);
    int r;

    if (!leaf)
        return sv_error_set(err, -EINVAL, "The specified Queue: %.255s doesn't exist", queue);
    if (!rm_queue_leaf(leaf))
        return sv_error_set(err, -EINVAL, "The specified Queue: %.255s is not a Leaf Queue.",
                            queue);
    if (leaf == app->leaf)
        return 0;
    r = rm_queue_admits(leaf, app->user->name, app->id, err);
    if (r < 0)
        return r;
    move_to(s, app, leaf, rm_user_get(leaf, app->user->name));
    return 0;
}
