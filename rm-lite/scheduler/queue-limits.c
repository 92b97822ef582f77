/* The CapacityScheduler's arithmetic on the queue tree: effective shares, usage along the path,
 * user limit, ApplicationMaster limit, headroom, activation of waiting applications. Pure; the
 * formulas are those of AbstractCSQueue, UsersManager.computeUserLimit and
 * LeafQueue.activateApplications. */
#include "rm-lite/scheduler/refuse.h"
#include "rm-lite/scheduler/scheduler-impl.h"

#include <errno.h>
#include <string.h>

/* Scales a queue's absolute capacity down if its siblings' sum exceeds the parent's. */
static int64_t scaled_down(int64_t own, int64_t wanted, int64_t there)
{
    return wanted > there ? (int64_t)((double)own * ((double)there / (double)wanted)) : own;
}

static void derive(struct rm_sched *s, struct rm_queue *q)
{
    double weights = 0;
    struct rm_res wanted = { 0, 0 };

    if (!q->parent) {
        q->abs_capacity = q->abs_max_capacity = 1;
        q->eff_min = q->eff_max = s->cluster;
    }
    q->user_limits_known = false;
    q->unsorted = true;
    for (size_t i = 0; i < q->n_children; i++) {
        weights += q->children[i]->mode == RM_MODE_WEIGHT ? q->children[i]->weight : 0;
        wanted = rm_res_add(wanted, q->children[i]->abs_min);
    }
    for (size_t i = 0; i < q->n_children; i++) {
        struct rm_queue *c = q->children[i];

        if (c->mode == RM_MODE_ABSOLUTE) { /* scaled down when the cluster is too small */
            struct rm_res max = rm_res_is_zero(c->abs_max) ? q->eff_max : c->abs_max;

            c->eff_min.mem = scaled_down(c->abs_min.mem, wanted.mem, q->eff_min.mem);
            c->eff_min.vcores = scaled_down(c->abs_min.vcores, wanted.vcores, q->eff_min.vcores);
            for (int k = 0; k < RM_RES_EXTRA; k++) {
                c->eff_min.extra[k] =
                    scaled_down(c->abs_min.extra[k], wanted.extra[k], q->eff_min.extra[k]);
                if (max.extra[k] < 0) /* no maximum of this type: the parent's */
                    max.extra[k] = q->eff_max.extra[k];
            }
            c->eff_max = rm_res_min(max, q->eff_max);
            c->abs_capacity = rm_res_share(s->set.calc, c->eff_min, s->cluster);
            c->abs_max_capacity = rm_res_share(s->set.calc, c->eff_max, s->cluster);
            c->capacity = q->abs_capacity > 0 ? c->abs_capacity / q->abs_capacity : 0;
            c->max_capacity =
                q->abs_max_capacity > 0 ? c->abs_max_capacity / q->abs_max_capacity : 0;
        } else {
            if (c->mode == RM_MODE_WEIGHT)
                c->capacity = weights > 0 ? c->weight / weights : 0;
            c->abs_capacity = q->abs_capacity * c->capacity;
            c->abs_max_capacity = q->abs_max_capacity * c->max_capacity;
            c->eff_min = rm_res_scale(q->eff_min, c->capacity);
            c->eff_max = rm_res_scale(q->eff_max, c->max_capacity);
        }
        derive(s, c);
    }
    if (rm_queue_leaf(q)) {
        double per_user = q->user_limit / 100 * q->user_limit_factor;
        int64_t n = q->configured_max_apps >= 0 ? q->configured_max_apps
                    : s->set.queue_max_apps > 0
                        ? s->set.queue_max_apps
                        : (int64_t)((double)s->set.max_apps * q->abs_capacity);

        q->max_apps = (int32_t)SV_MIN(n, (int64_t)INT32_MAX);
        q->max_apps_per_user = q->user_limit_factor == -1
                                   ? q->max_apps
                                   : (int32_t)SV_MIN((double)q->max_apps, q->max_apps * per_user);
    }
}

void rm_queues_derive(struct rm_sched *s)
{
    derive(s, s->root);
}

void rm_queue_use(struct rm_queue *leaf, struct rm_res r, int containers)
{
    leaf->user_limits_known = false;
    for (struct rm_queue *q = leaf; q; q = q->parent) {
        q->used = rm_res_add(q->used, r);
        q->containers += containers;
        rm_queue_moved(q);
    }
}

void rm_queue_pend(struct rm_queue *leaf, struct rm_res r)
{
    for (struct rm_queue *q = leaf; q; q = q->parent)
        q->pending = rm_res_add(q->pending, r);
}

void rm_queue_kill(struct rm_sched_app *app, struct rm_res r)
{
    app->killing = rm_res_add(app->killing, r);
    app->user->killing = rm_res_add(app->user->killing, r);
    for (struct rm_queue *q = app->leaf; q; q = q->parent)
        q->killing = rm_res_add(q->killing, r);
}

void rm_queue_reserve(struct rm_queue *leaf, struct rm_res r)
{
    for (struct rm_queue *q = leaf; q; q = q->parent) {
        q->reserved = rm_res_add(q->reserved, r);
        q->used = rm_res_add(q->used, r); /* reserved counts as used */
        rm_queue_moved(q);
    }
}

struct rm_user *rm_user_get(struct rm_queue *leaf, const char *name)
{
    struct rm_user *u;

    HASH_FIND_STR(leaf->users, name, u);
    if (u)
        return u;
    u = calloc(1, sizeof(*u));
    if (!u || !(u->name = strdup(name)))
        sv_out_of_memory();
    u->weight = rm_user_weight(leaf, name);
    HASH_ADD_KEYPTR(hh, leaf->users, u->name, strlen(u->name), u);
    leaf->user_limits_known = false;
    return u;
}

void rm_user_put(struct rm_queue *leaf, struct rm_user *u)
{
    if (u->apps > 0)
        return;
    HASH_DEL(leaf->users, u);
    leaf->user_limits_known = false;
    free(u->name);
    free(u);
}

static bool above(const struct rm_sched *s, struct rm_res a, struct rm_res b)
{
    return rm_res_share(s->set.calc, a, s->cluster) >
           rm_res_share(s->set.calc, b, s->cluster) + 1e-12;
}

static void user_limits(const struct rm_sched *s, struct rm_queue *leaf)
{
    struct rm_res required = s->set.min_alloc, qcap, current, floor_, cap;
    struct rm_res base[2] = { { 0, 0 }, { 0, 0 } }; /* without and with outstanding asks */
    double n[2] = { 0, 0 };                         /* sums of their weights */
    double consumed = 0;

    for (const struct rm_user *it = leaf->users; it; it = it->hh.next) {
        consumed += rm_res_share(s->set.calc, it->used, s->cluster);
        n[0] += it->weight;
        if (it->asking > 0) {
            n[1] += it->weight;
            base[1] = rm_res_add(base[1], it->used);
        }
    }
    qcap = rm_res_max(leaf->eff_min, required);
    current = rm_res_scale_up(s->cluster, consumed);
    current = above(s, qcap, current) ? qcap : rm_res_add(current, required);
    base[0] = current;
    base[1] = rm_res_add(base[1], required);
    floor_ = rm_res_scale_up(current, leaf->user_limit / 100);
    if (leaf->user_limit_factor == -1 || leaf->capacity == 0)
        cap = leaf->eff_max;
    else
        cap = rm_res_scale(qcap, leaf->user_limit_factor);
    for (int i = 0; i < 2; i++) {
        struct rm_res ul = n[i] > 0 ? rm_res_scale_up(base[i], 1 / n[i]) : base[i];

        ul = rm_res_min(rm_res_max(ul, floor_), cap);
        leaf->user_limits[i] = rm_res_round_up(ul, s->set.min_alloc);
    }
    leaf->user_limits_known = true;
}

/* Cached: a visit of a node asks for the user limit of each application of a leaf, and the sums
 * over all users change far less often. */
static struct rm_res limit_of(const struct rm_sched *s, struct rm_queue *leaf,
                              const struct rm_user *u, bool asking)
{
    struct rm_res limit;

    if (!leaf->user_limits_known)
        user_limits(s, leaf);
    limit = leaf->user_limits[asking];
    return u->weight == 1 ? limit
                          : rm_res_round_down(rm_res_scale(limit, u->weight), s->set.min_alloc);
}

struct rm_res rm_user_limit(const struct rm_sched *s, struct rm_queue *leaf,
                            const struct rm_user *u)
{
    return limit_of(s, leaf, u, u->asking > 0);
}

struct rm_res rm_queue_am_limit(const struct rm_sched *s, const struct rm_queue *leaf)
{
    struct rm_res base = rm_res_max(leaf->eff_min, rm_res_max(leaf->used, (struct rm_res){ 0, 0 }));

    /* As LeafQueue: the larger of the guarantee and the amount available to the queue now. */
    if (leaf->parent) {
        struct rm_res free_now = rm_res_sub(leaf->parent->eff_max, leaf->parent->used);

        base = rm_res_max(base, rm_res_min(leaf->eff_max, rm_res_add(leaf->used, free_now)));
    }
    return rm_res_round_up(rm_res_scale_up(base, leaf->am_percent), s->set.min_alloc);
}

struct rm_res rm_user_am_limit(const struct rm_sched *s, const struct rm_queue *leaf, double weight,
                               struct rm_res queue_limit)
{
    int32_t active = (int32_t)HASH_COUNT(leaf->users); /* each has an application */
    double f = SV_MAX(leaf->user_limit / 100, 1.0 / SV_MAX(active, 1));
    struct rm_res r;

    f = SV_MIN(f * weight, 1.0);
    if (leaf->user_limit_factor == -1)
        return queue_limit;
    r = rm_res_round_up(
        rm_res_scale_up(leaf->eff_min, leaf->am_percent * f * leaf->user_limit_factor),
        s->set.min_alloc);
    return rm_res_min(r, queue_limit);
}

struct rm_res rm_headroom(const struct rm_sched *s, const struct rm_sched_app *app)
{
    struct rm_res zero = { 0, 0 }, h, q;

    /* The limit as if the user had outstanding asks: headroom informs a master what an ask may
     * bring. */
    h = rm_res_sub(limit_of(s, app->leaf, app->user, true), app->user->used);
    q = rm_res_sub(app->leaf->eff_max, app->leaf->used);
    h = rm_res_min(h, q);
    h = rm_res_min(h, rm_res_sub(s->cluster, s->root->used));
    return rm_res_max(h, zero);
}

void rm_queue_activate(struct rm_sched *s, struct rm_queue *leaf)
{
    struct rm_sched_app *app, *tmp;
    struct rm_res limit, user_limit;

    if (!leaf->waiting)
        return;
    limit = leaf->am_limit_seen = rm_queue_am_limit(s, leaf);
    DL_FOREACH_SAFE2(leaf->waiting, app, tmp, w_next)
    {
        struct rm_res q = rm_res_add(leaf->am_used, app->am);
        struct rm_res u = rm_res_add(app->user->am_used, app->am);

        if (!app->runs) {
            rm_refuse(s, app, NULL, NULL, RM_REFUSED_PARALLEL);
            continue;
        }
        user_limit = rm_user_am_limit(s, leaf, app->user->weight, limit);
        /* One application may always start, however small the limit. */
        if (leaf->active_apps > 0 && !rm_res_is_zero(leaf->am_used) &&
            !rm_res_fits(s->set.calc, q, limit)) {
            rm_refuse(s, app, NULL, NULL, RM_REFUSED_QUEUE_MASTERS);
            continue;
        }
        if (app->user->active_apps > 0 && !rm_res_is_zero(app->user->am_used) &&
            !rm_res_fits(s->set.calc, u, user_limit)) {
            rm_refuse(s, app, NULL, NULL, RM_REFUSED_USER_MASTERS);
            continue;
        }
        DL_DELETE2(leaf->waiting, app, w_prev, w_next);
        app->in_waiting = false;
        app->active = app->am_counted = true;
        app->refused = (struct rm_refused){ .at_ms = s->now_ms };
        for (struct rm_queue *up = leaf; up; up = up->parent)
            up->active_apps++;
        app->user->active_apps++;
        leaf->am_used = q;
        app->user->am_used = u;
        rm_app_ready(app);
        if (app->in_ready)
            rm_free_nodes_scan(s);
    }
}

/* The ApplicationMaster share also grows when other queues of the parent use less. */
void rm_queue_activate_more(struct rm_sched *s, struct rm_queue *leaf)
{
    if (leaf->waiting && !rm_res_fits(s->set.calc, rm_queue_am_limit(s, leaf), leaf->am_limit_seen))
        rm_queue_activate(s, leaf);
}

void rm_queue_info_fill(const struct rm_sched *s, const struct rm_queue *q,
                        struct rm_queue_info *ret)
{
    double guarantee = rm_res_share(s->set.calc, q->used, q->eff_min);

    *ret = (struct rm_queue_info){
        .name = q->name,
        .path = q->path,
        .parent = q->parent ? q->parent->path : NULL,
        .leaf = rm_queue_leaf(q),
        .state = q->state,
        .capacity = q->capacity,
        .max_capacity = q->max_capacity,
        .abs_capacity = q->abs_capacity,
        .abs_max_capacity = q->abs_max_capacity,
        .used_capacity = guarantee,
        .abs_used_capacity = rm_res_share(s->set.calc, q->used, s->cluster),
        .mode = q->mode,
        .weight = q->mode == RM_MODE_WEIGHT ? q->weight : -1,
        .abs_min = q->abs_min,
        .abs_max = rm_res_max(q->abs_max, (struct rm_res){ 0 }),
        .used = q->used,
        .reserved = q->reserved,
        .pending = q->pending,
        .am_used = q->am_used,
        .am_limit = rm_queue_am_limit(s, q),
        .user_am_limit = rm_user_am_limit(s, q, 1, rm_queue_am_limit(s, q)),
        .effective_min = q->eff_min,
        .effective_max = q->eff_max,
        .max_allocation = q->max_allocation,
        .containers = q->containers,
        .active_apps = q->active_apps,
        .pending_apps = q->apps - q->active_apps,
        .max_apps = q->max_apps,
        .max_apps_per_user = q->max_apps_per_user,
        .users = (int32_t)HASH_COUNT(q->users),
        .user_limit = q->user_limit,
        .user_limit_factor = q->user_limit_factor,
        .am_percent = q->am_percent,
        .priority = q->priority,
        .default_app_priority = q->default_app_priority,
        .max_parallel_apps = q->max_parallel,
        .preemption_disabled = q->preemption_disabled || !s->set.preempt.enabled,
        .inside_disabled = q->inside_disabled || !s->set.preempt.enabled || !s->set.preempt.inside,
        .max_lifetime_s = q->max_lifetime_s,
        .default_lifetime_s = q->default_lifetime_s ? q->default_lifetime_s : q->max_lifetime_s,
        .ordering = rm_queue_leaf(q)    ? q->fair ? "fair" : "fifo"
                    : q->priority_order ? "priority-utilization"
                                        : "utilization",
        .acl_submit = q->acl_submit,
        .acl_administer = q->acl_administer,
    };
}

size_t rm_sched_queue_users(const struct rm_sched *s, const char *queue, size_t max,
                            void (*fn)(const struct rm_queue_user *u, void *userdata),
                            void *userdata)
{
    struct rm_queue *q = rm_queue_find(s->root, queue);
    size_t n = 0;

    for (const struct rm_user *u = q ? q->users : NULL; u && n < max; u = u->hh.next, n++)
        fn(&(struct rm_queue_user){ .name = u->name,
                                    .used = u->used,
                                    .am_used = u->am_used,
                                    .limit = rm_user_limit(s, q, u),
                                    .am_limit =
                                        rm_user_am_limit(s, q, u->weight, rm_queue_am_limit(s, q)),
                                    .active_apps = u->active_apps,
                                    .pending_apps = u->apps - u->active_apps,
                                    .weight = u->weight,
                                    .asking = u->asking > 0 },
           userdata);
    return n;
}
