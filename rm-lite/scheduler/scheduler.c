/* The scheduler's events. See scheduler.h. */
#include "rm-lite/scheduler/scheduler.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/scheduler/record-activities.h"
#include "rm-lite/scheduler/scheduler-impl.h"

int rm_sched_new(struct sv_conf *conf, int64_t epoch, struct rm_sched **ret, struct sv_error *err)
{
    struct rm_sched *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return -ENOMEM;
    s->epoch = epoch;
    s->node_pool = RM_POOL_INIT(struct rm_sched_node);
    s->container_pool = RM_POOL_INIT(struct rm_sched_container);
    s->block_pool = RM_POOL_INIT(struct rm_sched_block);
    s->nodes.pool = &s->node_pool;
    s->blocks.pool = &s->block_pool;
    r = rm_queues_parse(conf, &s->set, &s->root, err);
    if (r < 0) {
        free(s);
        return r;
    }
    rm_queues_derive(s);
    *ret = s;
    return 0;
}

static void app_free(struct rm_sched *s, struct rm_sched_app *app)
{
    struct rm_sched_container *c;

    rm_asks_clear(s, app);
    rm_blacklist_clear(app);
    while ((c = rm_app_first(s, app)))
        rm_container_remove(s, c);
    rm_parallel_give(s, app);
    rm_rules_free(s, &app->rules);
    for (size_t i = 0; i < app->n_app_tags; i++)
        rm_word_put(s, app->app_tags[i]);
    free(app->app_tags);
    HASH_DEL(s->apps, app);
    free(app);
}

static void node_free(struct rm_sched *s, struct rm_sched_node *n)
{
    rm_sched_node_unindex(s, n);
    rm_free_nodes_remove(s, n);
    DL_DELETE(s->node_list, n);
    free(n->rack);
    if (n->cap_containers)
        free(n->containers);
    rm_pool_give(&s->node_pool, n);
}

struct rm_sched *rm_sched_free(struct rm_sched *s)
{
    struct rm_sched_app *app, *atmp;
    struct rm_sched_node *n, *ntmp;

    if (!s)
        return NULL;
    rm_placements_forget(s);
    HASH_ITER (hh, s->apps, app, atmp)
        app_free(s, app);
    DL_FOREACH_SAFE (s->node_list, n, ntmp)
        node_free(s, n);
    rm_id_clear(&s->nodes);
    rm_id_clear(&s->blocks);
    rm_pool_free(&s->node_pool);
    rm_pool_free(&s->container_pool);
    rm_pool_free(&s->block_pool);
    rm_queue_free(s->root);
    rm_activities_free(s->activities);
    free(s->named);
    free(s->out);
    free(s);
    return NULL;
}

/* ------------------------------------------------------------------ nodes */

static void node_new(struct rm_sched *s, const struct rm_ev_node_added *ev)
{
    struct rm_sched_node *n = rm_pool_take(&s->node_pool);

    n->handle = rm_pool_handle(n);
    n->port = ev->node->port;
    n->total = ev->total;
    n->schedulable = true;
    n->heartbeat_ms = -1;
    n->rack = strdup(ev->rack ? ev->rack : RM_DEFAULT_RACK);
    if (!n->rack)
        sv_out_of_memory();
    rm_free_nodes_add(s, n, ev->node->host);
    n->rack_label = rm_label(n->rack);
    rm_sched_node_index(s, n);
    DL_APPEND(s->node_list, n);
    s->n_nodes++;
    s->cluster = rm_res_add(s->cluster, n->total);
}

static int node_added(struct rm_sched *s, const struct rm_ev_node_added *ev, struct sv_error *err)
{
    char key[300];

    if (rm_sched_node_find(s, ev->node))
        return sv_error_set(err, -EEXIST, "node %s: already in the scheduler",
                            yarn_node_id_text(ev->node, key));
    node_new(s, ev);
    rm_queues_derive(s);
    return 0;
}

static void give_reservation_back(struct rm_sched *s, struct rm_sched_node *n)
{
    struct rm_sched_app *app = n->reserved_app;
    struct rm_ask_group *g = n->reserved_group;

    rm_unreserve(s, n);
    if (app)
        rm_asks_collect(s, app, g);
}

/* No application is told any more that this node refused it. */
static void forget_refusals(const struct rm_sched *s, const struct rm_sched_node *n)
{
    for (struct rm_sched_app *app = s->apps; app; app = app->hh.next)
        if (app->refused.node == n->handle)
            app->refused.node = 0;
}

static int node_removed(struct rm_sched *s, struct rm_sched_node *n)
{
    forget_refusals(s, n);
    give_reservation_back(s, n);
    for (int32_t i = 0; i < n->n_containers; i++) {
        struct rm_sched_container *c = rm_pool_at(&s->container_pool, n->containers[i]);
        struct rm_decision *d = rm_decide(s, RM_DECIDE_LOST);

        d->app = c->app->id;
        d->container = rm_container_id(c);
        rm_node_id_to(n, &d->node);
        d->resource = c->resource;
    }
    while (n->n_containers > 0) {
        struct rm_sched_container *c =
            rm_pool_at(&s->container_pool, n->containers[n->n_containers - 1]);

        rm_update_cancel(s, c);
        rm_container_remove(s, c);
    }
    s->n_nodes--;
    s->cluster = rm_res_sub(s->cluster, n->total);
    node_free(s, n);
    rm_queues_derive(s);
    return 0;
}

static int node_resized(struct rm_sched *s, struct rm_sched_node *n, struct rm_res total)
{
    s->cluster = rm_res_add(rm_res_sub(s->cluster, n->total), total);
    n->total = total;
    if (!rm_res_fits(s->set.calc, n->reserved, n->total))
        give_reservation_back(s, n);
    rm_queues_derive(s);
    rm_free_nodes_update(s, n);
    return 0;
}

static int node_schedulable(struct rm_sched *s, struct rm_sched_node *n, bool schedulable)
{
    n->schedulable = schedulable;
    if (!schedulable)
        give_reservation_back(s, n);
    rm_free_nodes_update(s, n);
    return 0;
}

static int node_heartbeat(struct rm_sched *s, struct rm_sched_node *n, int64_t now)
{
    struct rm_assign beat = { .heartbeat = true,
                              .may_reserve = true,
                              .max_out = RM_TURN_DECISIONS };

    n->heartbeat_ms = now;
    rm_assign_node(s, n, &beat);
    return 0;
}

static void activate_all(struct rm_sched *s, struct rm_queue *q)
{
    if (rm_queue_leaf(q))
        rm_queue_activate(s, q);
    for (size_t i = 0; i < q->n_children; i++)
        activate_all(s, q->children[i]);
}

/* ------------------------------------------------------------- applications */

static int reject(struct rm_sched *s, struct yarn_app_id app, const char *fmt, ...) _printf_(3, 4);
static int reject(struct rm_sched *s, struct yarn_app_id app, const char *fmt, ...)
{
    struct rm_decision *d = rm_decide(s, RM_DECIDE_APP_REJECTED);
    va_list ap;

    d->app = app;
    va_start(ap, fmt);
    (void)vsnprintf(s->text, sizeof(s->text), fmt, ap);
    va_end(ap);
    d->text = s->text;
    return 0;
}

static void set_app_tags(struct rm_sched *s, struct rm_sched_app *app, const char *const *tags,
                         size_t n)
{
    app->app_tags = n ? calloc(n, sizeof(struct rm_word *)) : NULL;
    if (n && !app->app_tags)
        sv_out_of_memory();
    for (size_t i = 0; i < n; i++) {
        struct rm_word *w = rm_word_get(s, tags[i]);
        size_t k = 0;

        while (k < app->n_app_tags && app->app_tags[k] != w)
            k++;
        if (k == app->n_app_tags)
            app->app_tags[app->n_app_tags++] = w;
        else
            rm_word_put(s, w);
    }
}

static int app_added(struct rm_sched *s, const struct rm_ev_app_added *ev, struct sv_error *err)
{
    struct rm_queue *leaf = rm_queue_find(s->root, ev->queue);
    char id[YARN_ID_TEXT_MAX];
    struct rm_sched_app *app;
    struct rm_decision *d;
    struct sv_error why = { 0 };

    yarn_app_id_text(ev->app, id);
    if (rm_sched_app_find(s, ev->app))
        return sv_error_set(err, -EEXIST, "%s: already in the scheduler", id);
    if (!leaf)
        return reject(s, ev->app, "Application %s submitted by user %s to unknown queue: %s", id,
                      ev->user, ev->queue);
    if (!rm_queue_leaf(leaf))
        return reject(s, ev->app, "Application %s submitted by user %s to non-leaf queue: %s", id,
                      ev->user, ev->queue);
    if (!ev->recovered && rm_queue_admits(leaf, ev->user, ev->app, &why) < 0)
        return reject(s, ev->app, "%s", why.text);
    app = calloc(1, sizeof(*app));
    if (!app)
        sv_out_of_memory();
    d = rm_decide(s, RM_DECIDE_APP_ACCEPTED);
    d->app = ev->app;
    app->key.ts = ev->app.cluster_ts;
    app->key.id = ev->app.id;
    app->id = ev->app;
    app->priority = ev->priority;
    app->am = ev->am_resource;
    set_app_tags(s, app, ev->tags, SV_MIN(ev->n_tags, (size_t)RM_APP_TAGS_MAX));
    rm_app_enter(app, leaf, rm_user_get(leaf, ev->user));
    HASH_ADD(hh, s->apps, key, sizeof(app->key), app);
    return 0;
}

/* Reports and removes the containers of the ended attempt. */
static void app_drop_containers(struct rm_sched *s, struct rm_sched_app *app)
{
    struct rm_sched_container *c;

    while ((c = rm_app_first(s, app))) {
        struct rm_decision *d = rm_decide(s, RM_DECIDE_ORPHANED);

        d->app = app->id;
        d->container = rm_container_id(c);
        rm_node_id_to(c->node, &d->node);
        d->resource = c->resource;
        rm_container_remove(s, c);
    }
}

static int attempt_added(struct rm_sched *s, struct rm_sched_app *app,
                         const struct rm_ev_attempt_added *ev)
{
    struct rm_decision *d = rm_decide(s, RM_DECIDE_ATTEMPT_ADDED);
    int r;

    d->app = app->id;
    d->container.attempt = (struct yarn_attempt_id){ app->id, ev->attempt };
    app->attempt = ev->attempt;
    app->sequence = 0;
    app->am_wanted = ev->n_asks > 0;
    for (size_t i = 0; i < ev->n_asks; i++) {
        r = rm_asks_update(s, app, &ev->asks[i]);
        if (r < 0)
            return r;
    }
    rm_asks_sort(app);
    rm_parallel_take(s, app);
    rm_app_wait(s, app);
    return 0;
}

static int attempt_removed(struct rm_sched *s, struct rm_sched_app *app, bool keep)
{
    struct rm_queue *leaf = app->leaf;

    rm_asks_clear(s, app);
    rm_blacklist_clear(app);
    app->refused = (struct rm_refused){ 0 };
    if (!keep)
        app_drop_containers(s, app);
    rm_app_deactivate(s, app);
    rm_parallel_next(s);
    rm_queue_activate(s, leaf);
    rm_free_nodes_unblock(s, leaf);
    return 0;
}

static int app_removed(struct rm_sched *s, struct rm_sched_app *app)
{
    struct rm_queue *leaf = app->leaf;
    struct rm_user *user = app->user;

    (void)attempt_removed(s, app, false); /* cannot fail, ignoring */
    app_free(s, app);
    rm_app_leave(leaf, user);
    return 0;
}

static int app_asks(struct rm_sched *s, struct rm_sched_app *app, const struct rm_ev_ask *ev,
                    struct sv_error *err)
{
    char id[YARN_ID_TEXT_MAX];
    int r = rm_placements_update(s, app, ev, err);

    if (r >= 0)
        r = rm_blacklist_update(app, ev);
    for (size_t i = 0; i < ev->n_asks && r >= 0; i++)
        r = rm_asks_update(s, app, &ev->asks[i]);
    rm_asks_sort(app);
    if (ev->n_blacklist_remove)
        rm_free_nodes_scan(s);
    rm_free_nodes_unblock(s, app->leaf); /* less demand of a user may leave more to others */
    if (r == -E2BIG && !(err && err->text[0]))
        return sv_error_set(err, r,
                            "%s asks for too much at once: the rest of this request is dropped. It "
                            "may have %d rows of hosts and racks, %d different asks and a "
                            "blacklist of %d names; take back what is not needed (0 containers)",
                            yarn_app_id_text(app->id, id), RM_MAX_ASK_ROWS, RM_MAX_ASK_GROUPS,
                            RM_MAX_ASK_ROWS);
    return r;
}

static int app_priority(struct rm_sched *s, struct rm_sched_app *app, int32_t priority)
{
    if (app->in_waiting) {
        DL_DELETE2(app->leaf->waiting, app, w_prev, w_next);
        app->priority = priority;
        DL_INSERT_INORDER2(app->leaf->waiting, app, rm_app_order, w_prev, w_next);
        rm_queue_activate(s, app->leaf);
    }
    rm_app_set_priority(app, priority);
    return 0;
}

/* --------------------------------------------------------------- containers */

static int container_done(struct rm_sched *s, const struct rm_ev_container_done *ev,
                          struct sv_error *err)
{
    struct rm_sched_container *c = rm_sched_container_find(s, ev->container);
    char id[YARN_ID_TEXT_MAX];
    struct rm_queue *leaf;
    int r = 0;

    if (!c)
        return sv_error_set(err, -ENOENT, "%s: not in the scheduler",
                            yarn_container_id_text(ev->container, id));
    __builtin_prefetch(&c->attempt, 1); /* its second cache line: it is taken for the next one */
    leaf = c->app->leaf;
    if (ev->put_ask_back && c->app->active && c->app->attempt == c->attempt)
        r = rm_asks_put_back(s, c->app, c);
    if (ev->put_ask_back && c->am)
        c->app->am_wanted = true;
    if (ev->put_ask_back)
        rm_free_nodes_scan(s); /* its node is gone or could not take it */
    rm_update_cancel(s, c);
    rm_container_remove(s, c);
    rm_queue_activate(s, leaf);
    return r;
}

static int container_recovered(struct rm_sched *s, const struct rm_ev_container_recovered *ev,
                               struct sv_error *err)
{
    struct rm_sched_app *app = rm_sched_app_find(s, ev->container.attempt.app);
    struct rm_sched_node *n = rm_sched_node_find(s, ev->node);
    int64_t sequence = ev->container.id & (((int64_t)1 << RM_EPOCH_SHIFT) - 1);
    struct rm_sched_container *c;
    struct rm_placement *p;
    char id[YARN_ID_TEXT_MAX];

    yarn_container_id_text(ev->container, id);
    if (!app || !n)
        return sv_error_set(err, -ENOENT, "%s: its application or node is not in the scheduler",
                            id);
    if (rm_sched_container_find(s, ev->container))
        return sv_error_set(err, -EEXIST, "%s: already in the scheduler", id);
    c = rm_container_add(s, app, n, ev->container, ev->resource);
    c->priority = ev->priority;
    c->allocation_id = -1;
    c->locality = RM_OFF_SWITCH;
    c->am = ev->is_master;
    p = rm_placement_of_tags(s, app, ev->tags, ev->n_tags);
    if (p)
        rm_placement_join(s, c, p);
    rm_placement_put(s, p);
    if (ev->container.attempt.attempt == app->attempt && sequence > app->sequence)
        app->sequence = sequence;
    return 0;
}

/* ------------------------------------------------------------------- events */

/* NULL, with the reason, where the scheduler does not have it. */
static struct rm_sched_node *node_of(const struct rm_sched *s, const struct yarn_node_id *id,
                                     struct sv_error *err)
{
    struct rm_sched_node *n = rm_sched_node_find(s, id);
    char key[300];

    if (!n)
        (void)sv_error_set(err, -ENOENT, "node %s: not in the scheduler",
                           yarn_node_id_text(id, key));
    return n;
}

static struct rm_sched_app *app_of(const struct rm_sched *s, struct yarn_app_id id,
                                   struct sv_error *err)
{
    struct rm_sched_app *app = rm_sched_app_find(s, id);
    char text[YARN_ID_TEXT_MAX];

    if (!app)
        (void)sv_error_set(err, -ENOENT, "%s: not in the scheduler", yarn_app_id_text(id, text));
    return app;
}

static int handle_node(struct rm_sched *s, const struct rm_sched_event *ev, int64_t now,
                       struct sv_error *err)
{
    struct rm_sched_node *n;

    switch (ev->type) {
    case RM_SCHED_NODE_REMOVED:
        n = node_of(s, ev->node_removed.node, err);
        return n ? node_removed(s, n) : -ENOENT;
    case RM_SCHED_NODE_RESIZED:
        n = node_of(s, ev->node_resized.node, err);
        return n ? node_resized(s, n, ev->node_resized.total) : -ENOENT;
    case RM_SCHED_NODE_SCHEDULABLE:
        n = node_of(s, ev->node_schedulable.node, err);
        return n ? node_schedulable(s, n, ev->node_schedulable.schedulable) : -ENOENT;
    default: /* RM_SCHED_NODE_HEARTBEAT */
        n = node_of(s, ev->node_heartbeat.node, err);
        return n ? node_heartbeat(s, n, now) : -ENOENT;
    }
}

static int handle_app(struct rm_sched *s, const struct rm_sched_event *ev, struct sv_error *err)
{
    struct rm_sched_app *app;

    switch (ev->type) {
    case RM_SCHED_APP_REMOVED:
        app = app_of(s, ev->app_removed.app, err);
        return app ? app_removed(s, app) : -ENOENT;
    case RM_SCHED_ATTEMPT_ADDED:
        app = app_of(s, ev->attempt_added.app, err);
        return app ? attempt_added(s, app, &ev->attempt_added) : -ENOENT;
    case RM_SCHED_ATTEMPT_REMOVED:
        app = app_of(s, ev->attempt_removed.app, err);
        return app ? attempt_removed(s, app, ev->attempt_removed.keep_containers) : -ENOENT;
    case RM_SCHED_APP_PRIORITY:
        app = app_of(s, ev->app_priority.app, err);
        return app ? app_priority(s, app, ev->app_priority.priority) : -ENOENT;
    case RM_SCHED_APP_MOVED:
        app = app_of(s, ev->app_moved.app, err);
        return app ? rm_app_move(s, app, ev->app_moved.queue, err) : -ENOENT;
    case RM_SCHED_CONSTRAINTS:
        app = app_of(s, ev->constraints.app, err);
        return app ? rm_rules_update(s, app, &ev->constraints, err) : -ENOENT;
    default: /* RM_SCHED_ASK */
        app = app_of(s, ev->ask.app, err);
        return app ? app_asks(s, app, &ev->ask, err) : -ENOENT;
    }
}

int rm_sched_handle(struct rm_sched *s, const struct rm_sched_event *ev, int64_t now_ms,
                    const struct rm_decision **ret, size_t *ret_n, struct sv_error *err)
{
    int r = -EINVAL;

    s->n_out = 0;
    s->now_ms = now_ms;
    s->largest_free.known = false;
    if (s->unplaced)
        rm_placements_forget(s);
    switch (ev->type) {
    case RM_SCHED_NODE_ADDED:
        r = node_added(s, &ev->node_added, err);
        s->largest_total.known = false;
        if (r >= 0)
            activate_all(s, s->root);
        break;
    case RM_SCHED_NODE_REMOVED:
    case RM_SCHED_NODE_RESIZED:
    case RM_SCHED_NODE_SCHEDULABLE:
    case RM_SCHED_NODE_HEARTBEAT:
        r = handle_node(s, ev, now_ms, err);
        s->largest_total.known &= ev->type == RM_SCHED_NODE_HEARTBEAT;
        if (r >= 0 && ev->type != RM_SCHED_NODE_HEARTBEAT)
            activate_all(s, s->root);
        break;
    case RM_SCHED_PASS:
        rm_allocation_pass(s, &ev->pass, now_ms);
        r = 0;
        break;
    case RM_SCHED_APP_ADDED:
        r = app_added(s, &ev->app_added, err);
        break;
    case RM_SCHED_APP_REMOVED:
    case RM_SCHED_ATTEMPT_ADDED:
    case RM_SCHED_ATTEMPT_REMOVED:
    case RM_SCHED_ASK:
    case RM_SCHED_CONSTRAINTS:
    case RM_SCHED_APP_PRIORITY:
    case RM_SCHED_APP_MOVED:
        r = handle_app(s, ev, err);
        break;
    case RM_SCHED_PREEMPT:
        r = rm_preempt(s, now_ms);
        break;
    case RM_SCHED_RECONFIGURED:
        r = rm_reconfigure(s, ev->reconfigured.conf, err);
        if (r >= 0)
            activate_all(s, s->root);
        break;
    case RM_SCHED_CONTAINER_DONE:
        r = container_done(s, &ev->container_done, err);
        break;
    case RM_SCHED_CONTAINER_RECOVERED:
        r = container_recovered(s, &ev->container_recovered, err);
        break;
    case RM_SCHED_CONTAINER_UPDATE:
        r = rm_container_update(s, &ev->container_update, err);
        break;
    }
    *ret = s->out;
    *ret_n = s->n_out;
    return r < 0 ? r : 0;
}
