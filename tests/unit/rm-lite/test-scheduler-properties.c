/* Properties of the scheduler on random workloads: no queue above its maximum, no user above the
 * limit, no node overfull, every sum that of its parts, no room idle beside an ask that fits,
 * nothing left at the end; and the record of every tenth gives the same decisions again. 200 seeds,
 * 10,000 with SELVEDGE_CHECK=full, or the one of SEED. A workload that fails is shortened, and
 * printed. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "rm-lite/replay.h"
#include "rm-lite/scheduler-impl.h"
#include "tests/unit/rm-lite/scheduler-fixture.h"

#define EVENTS 400
#define APPS 40
#define NODES 8
#define USERS 4

enum op {
    BEAT,
    ROUND,
    ASK,
    HOST_ASK,
    APP,
    APP_END,
    DONE,
    RETRY,
    PREEMPT,
    NODE,
    NODE_END,
    REFRESH,
    PRIORITY,
    MOVE,
    OPS
};

struct step {
    enum op op;
    uint32_t a, b, c;
};

struct world {
    struct fix f;
    struct step steps[EVENTS];
    size_t n;
    uint32_t seed, random;
    bool made[APPS + 1], nodes[NODES + 1], gpus;
    bool unlimited; /* no user's limit stops anybody */
    bool walk_all;  /* without the index by host */
    uint64_t trace; /* a hash of all decisions */
    char why[300];  /* the property that does not hold */
};

static uint32_t rnd(struct world *w)
{
    w->random = w->random * 1664525u + 1013904223u;
    return w->random >> 8;
}

static bool fails(struct world *w, const char *fmt, ...) _printf_(2, 3);
static bool fails(struct world *w, const char *fmt, ...)
{
    va_list ap;

    if (w->why[0])
        return true;
    va_start(ap, fmt);
    (void)vsnprintf(w->why, sizeof(w->why), fmt, ap);
    va_end(ap);
    return true;
}

/* ------------------------------------------------------------------ properties */

struct sums {
    struct rm_res used, reserved, pending, killing;
    int32_t containers, apps, running, active;
};

static void add_containers(struct sums *t, const struct rm_sched *s, const struct rm_sched_app *app)
{
    for (const struct rm_sched_container *c = rm_app_first(s, app); c; c = rm_app_next(s, c)) {
        t->used = rm_res_add(t->used, c->resource);
        t->killing = rm_res_add(t->killing, c->killing ? c->resource : (struct rm_res){ 0 });
        t->containers++;
    }
}

static struct rm_res asked(const struct rm_sched_app *app)
{
    struct rm_res r = { 0 };

    for (const struct rm_ask_group *g = app->groups; g; g = g->next)
        r = rm_res_add(r, rm_res_times(g->capability, g->any));
    return r;
}

static struct sums of_queue(struct world *w, const struct rm_queue *q)
{
    struct sums t = { 0 };

    for (size_t i = 0; i < q->n_children; i++) {
        struct sums c = of_queue(w, q->children[i]);

        t.used = rm_res_add(t.used, c.used);
        t.reserved = rm_res_add(t.reserved, c.reserved);
        t.pending = rm_res_add(t.pending, c.pending);
        t.killing = rm_res_add(t.killing, c.killing);
        t.containers += c.containers;
        t.apps += c.apps;
        t.running += c.running;
        t.active += c.active;
    }
    for (const struct rm_sched_app *app = w->f.s->apps; app; app = app->hh.next) {
        if (app->leaf != q)
            continue;
        add_containers(&t, w->f.s, app);
        t.reserved = rm_res_add(t.reserved, app->reserved);
        t.pending = rm_res_add(t.pending, asked(app));
        t.apps++;
        t.running += app->runs;
        t.active += app->active;
    }
    if (!rm_res_equal(q->used, rm_res_add(t.used, t.reserved)) ||
        !rm_res_equal(q->reserved, t.reserved) || !rm_res_equal(q->pending, t.pending) ||
        !rm_res_equal(q->killing, t.killing) || q->containers != t.containers ||
        q->apps != t.apps || q->running != t.running || q->active_apps != t.active)
        fails(w, "%s is not the sum of its parts: used %lld, containers and reservations %lld",
              q->path, (long long)q->used.mem, (long long)(t.used.mem + t.reserved.mem));
    return t;
}

/* An ask that is served leaves no reservation and is not served again. */
static void check_asks(struct world *w, const struct rm_sched_app *app)
{
    struct rm_res reserved = { 0 };
    int32_t n = 0;

    for (const struct rm_ask_group *g = app->groups; g; g = g->next) {
        if (g->any < 0)
            fails(w, "application %d has more containers than it asked for", app->id.id);
        for (const struct rm_sched_node *v = g->reservations; v; v = v->v_next) {
            reserved = rm_res_add(reserved, v->reserved);
            n++;
        }
    }
    if (!rm_res_equal(app->reserved, reserved) || app->n_reserved != n)
        fails(w, "application %d is not the sum of its reservations", app->id.id);
}

/* The order is kept by the use that each queue has now. */
static void check_order(struct world *w, struct rm_queue *q)
{
    const struct rm_sched *s = w->f.s;

    if (q->n_children < 2)
        return;
    rm_queue_sort(s, q);
    for (size_t i = 0; i < q->n_children; i++) {
        const struct rm_queue *c = q->children[i];

        double guarantee = rm_res_share(s->set.calc, c->eff_min, s->cluster);

        if (guarantee > 0 &&
            c->order_key != rm_res_share(s->set.calc, c->used, s->cluster) / guarantee)
            fails(w, "%s is ordered by a use that it no longer has", c->path);
        check_order(w, q->children[i]);
    }
}

static void check_apps(struct world *w)
{
    for (const struct rm_sched_app *app = w->f.s->apps; app; app = app->hh.next) {
        struct sums t = { 0 };

        add_containers(&t, w->f.s, app);
        check_asks(w, app);
        if (!rm_res_equal(app->used, t.used) || !rm_res_equal(app->pending, asked(app)) ||
            app->n_containers != t.containers)
            fails(w, "application %d is not the sum of its containers", app->id.id);
        if (app->in_ready != (app->active && !rm_res_is_zero(app->pending)))
            fails(w, "application %d: ready %d, active %d", app->id.id, app->in_ready, app->active);
        if (app->active && !app->runs)
            fails(w, "application %d is active above max-parallel-apps", app->id.id);
    }
}

static void check_users(struct world *w, const struct rm_queue *q)
{
    for (const struct rm_user *u = q->users; u; u = u->hh.next) {
        struct rm_res used = { 0 };
        int32_t asking = 0;

        for (const struct rm_sched_app *app = w->f.s->apps; app; app = app->hh.next)
            if (app->user == u) {
                used = rm_res_add(used, rm_res_add(app->used, app->reserved));
                asking += app->in_ready;
            }
        if (!rm_res_equal(used, u->used) || asking != u->asking)
            fails(w, "user %s of %s is not the sum of the applications", u->name, q->path);
    }
    if (q->running > q->max_parallel)
        fails(w, "%s runs %d applications", q->path, q->running);
    for (size_t i = 0; i < q->n_children; i++)
        check_users(w, q->children[i]);
}

static void check_nodes(struct world *w)
{
    const struct rm_sched *s = w->f.s;
    struct rm_res cluster = { 0 };

    for (const struct rm_sched_node *n = s->node_list; n; n = n->next) {
        struct rm_res used = { 0 };

        for (int32_t i = 0; i < n->n_containers; i++) {
            const struct rm_sched_container *c = rm_pool_at(&s->container_pool, n->containers[i]);

            used = rm_res_add(used, c->resource);
        }
        if (!rm_res_equal(used, n->used))
            fails(w, "%s is not the sum of its containers", n->host_label.name);
        if (!rm_res_fits(s->set.calc, n->used, n->total))
            fails(w, "%s is overfull", n->host_label.name);
        cluster = rm_res_add(cluster, n->total);
    }
    if (!rm_res_equal(cluster, s->cluster))
        fails(w, "the cluster is not the sum of its nodes");
}

static bool above(const struct rm_sched *s, struct rm_res a, struct rm_res limit)
{
    return rm_res_share(s->set.calc, a, s->cluster) >
           rm_res_share(s->set.calc, limit, s->cluster) + 1e-6;
}

/* The user's limit when it was given the container. The limit follows from what is used, and with
 * several types of resources it may become less of one by what has been used of another. */
static struct rm_res limit_before(const struct rm_sched *s, struct rm_sched_app *app,
                                  struct rm_res given)
{
    struct rm_res used = app->user->used, limit;

    app->user->used = rm_res_sub(used, given);
    app->leaf->user_limits_known = false;
    limit = rm_user_limit(s, app->leaf, app->user);
    app->user->used = used;
    app->leaf->user_limits_known = false;
    return limit;
}

/* Of the queues and users that have just been given something. What was reserved counts since then:
 * limits may have become less meanwhile. */
static void check_limits(struct world *w)
{
    const struct rm_sched *s = w->f.s;
    size_t given = 0;

    for (size_t i = 0; i < w->f.n; i++) {
        if (w->f.d[i].type == RM_DECIDE_UNRESERVED)
            return;
        given += w->f.d[i].type == RM_DECIDE_ALLOCATED || w->f.d[i].type == RM_DECIDE_RESERVED;
    }
    for (size_t i = 0; i < w->f.n; i++) {
        const struct rm_decision *d = &w->f.d[i];
        struct rm_sched_app *app;

        if (d->type != RM_DECIDE_ALLOCATED && d->type != RM_DECIDE_RESERVED)
            continue;
        for (app = s->apps; app && app->id.id != d->app.id; app = app->hh.next)
            ;
        for (const struct rm_queue *q = app->leaf; q; q = q->parent)
            if (above(s, q->used, q->eff_max))
                fails(w, "%s uses %lld MB of at most %lld", q->path, (long long)q->used.mem,
                      (long long)q->eff_max.mem);
        if (given == 1 && app->user->asking > 0 &&
            above(s, rm_res_sub(app->user->used, d->resource), limit_before(s, app, d->resource)))
            fails(w, "user %s of %s was above the limit before the last container", app->user->name,
                  app->leaf->path);
    }
}

static bool holds(struct world *w)
{
    (void)of_queue(w, w->f.s->root);
    check_apps(w);
    check_users(w, w->f.s->root);
    check_nodes(w);
    check_order(w, w->f.s->root);
    return !w->why[0];
}

/* ------------------------------------------------------------------- workloads */

static void configure(struct world *w)
{
    static const char *const shares[][2] = { { "50", "50" }, { "20", "80" }, { "3w", "1w" } };
    static const char *const some[] = { "1", "2", "5", "100" };
    static const char *const limits[] = { "-1", "0.5", "1", "3" };
    struct fix *f = &w->f;
    uint32_t k = rnd(w) % 3;

    two_queues(f, shares[k][0], shares[k][1]);
    set(f, CS "root.b.queues", "x,y");
    set(f, CS "root.b.x.capacity", "40");
    set(f, CS "root.b.y.capacity", "60");
    set(f, CS "root.a.maximum-capacity", rnd(w) % 2 ? "100" : "80");
    set(f, CS "root.b.y.maximum-capacity", rnd(w) % 2 ? "100" : "70");
    set(f, CS "root.b.y.ordering-policy", rnd(w) % 2 ? "fair" : "fifo");
    set(f, CS "root.b.y.ordering-policy.fair.enable-size-based-weight",
        rnd(w) % 2 ? "true" : "false");
    set(f, CS "root.ordering-policy", rnd(w) % 2 ? "utilization" : "priority-utilization");
    set(f, CS "root.a.priority", some[rnd(w) % 3]);
    set(f, CS "user-limit-factor", limits[rnd(w) % 4]);
    set(f, CS "minimum-user-limit-percent", rnd(w) % 2 ? "100" : "25");
    set(f, CS "root.user-settings.user1.weight", rnd(w) % 2 ? "1" : "0.5");
    w->unlimited = !strcmp(sv_conf_raw(f->conf, CS "user-limit-factor"), "-1") &&
                   !strcmp(sv_conf_raw(f->conf, CS "minimum-user-limit-percent"), "100") &&
                   !strcmp(sv_conf_raw(f->conf, CS "root.user-settings.user1.weight"), "1");
    set(f, CS "max-parallel-apps", some[rnd(w) % 2 + 2]);
    set(f, CS "user.max-parallel-apps", some[rnd(w) % 3 + 1]);
    set(f, CS "maximum-am-resource-percent", rnd(w) % 2 ? "1" : "0.2");
    set(f, CS "per-node-heartbeat.maximum-offswitch-assignments", some[rnd(w) % 4]);
    set(f, CS "reservations-continue-look-all-nodes", rnd(w) % 2 ? "true" : "false");
    if (rnd(w) % 3 == 0)
        set(f, CS "resource-calculator",
            "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator");
    w->gpus = rnd(w) % 2;
    if (w->gpus)
        set(f, "yarn.resource-types", "yarn.io/gpu");
    set(f, "yarn.resourcemanager.scheduler.monitor.enable", "true");
    set(f, "yarn.resourcemanager.monitor.capacity.preemption.total_preemption_per_round", "0.5");
    set(f, "yarn.resourcemanager.monitor.capacity.preemption.max_wait_before_kill", "100");
}

static void node_added(struct world *w, int i)
{
    struct rm_res total = { 4096 + 1024 * (i * 7 % 9), 8 + i, { w->gpus ? i % 3 * 2 : 0 } };
    struct yarn_node_id id = node_id(i);

    if (!w->nodes[i])
        (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_NODE_ADDED,
                                                 .node = &id,
                                                 .rack = i % 2 ? "/r1" : "/r2",
                                                 .total = total });
    w->nodes[i] = true;
}

static struct rm_sched_container *some_container(const struct rm_sched *s, uint32_t k)
{
    uint32_t count = (uint32_t)s->root->containers;

    k = count ? k % count : 0;
    for (const struct rm_sched_node *n = s->node_list; n; n = n->next) {
        if (k < (uint32_t)n->n_containers)
            return rm_pool_at(&s->container_pool, n->containers[k]);
        k -= (uint32_t)n->n_containers;
    }
    return NULL;
}

static void done(struct world *w, struct rm_sched_container *c, bool again)
{
    if (c)
        (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE,
                                                 .container = rm_container_id(c),
                                                 .flag = again && !c->am });
}

static void kill_preempted(struct world *w)
{
    struct yarn_container_id ids[RM_PREEMPT_DECISIONS];
    size_t n = 0;

    for (size_t i = 0; i < w->f.n; i++)
        if (w->f.d[i].type == RM_DECIDE_PREEMPTED)
            ids[n++] = w->f.d[i].container;
    for (size_t i = 0; i < n; i++)
        (void)go(&w->f,
                 (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE, .container = ids[i] });
}

static void ask_some(struct world *w, int i, const struct step *s, bool host)
{
    struct rm_res size = { 1024 * (1 + s->b % 4),
                           1 + s->b / 4 % 3,
                           { w->gpus ? s->b / 12 % 3 : 0 } };
    int32_t count = (int32_t)(s->c % 7), priority = (int32_t)(s->c / 7 % 2);
    char name[16];
    struct rm_ask rows[] = { { priority, -1, name, size, count, true },
                             { priority, -1, s->c % 3 ? "/r1" : "/r2", size, count, true },
                             { priority, -1, RM_ANY, size, count, s->c % 5 > 0 } };

    (void)snprintf(name, sizeof(name), "node%u", s->b % NODES + 1);
    (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                             .app = app_id(i),
                                             .asks = host ? rows : rows + 2,
                                             .n_asks = host ? 3 : 1 });
}

static void remove_app(struct world *w, int i)
{
    if (w->made[i])
        (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED, .app = app_id(i) });
    w->made[i] = false;
}

static void step(struct world *w, const struct step *s)
{
    static const char *const queues[] = { "a", "x", "y" };
    int i = (int)(s->a % APPS) + 1, n = (int)(s->a % NODES) + 1;
    struct yarn_node_id id = node_id(n);
    char user[16];

    w->f.now += 50;
    w->f.n = 0;
    (void)snprintf(user, sizeof(user), "user%u", s->b % USERS);
    switch (s->op) {
    case BEAT:
        if (w->nodes[n])
            (void)beat(&w->f, n);
        break;
    case ROUND:
        (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_ASK_ROUND, .window_ms = 1000 });
        break;
    case ASK:
    case HOST_ASK:
        if (w->made[i])
            ask_some(w, i, s, s->op == HOST_ASK);
        break;
    case APP:
        if (!w->made[i])
            w->made[i] =
                app_prio(&w->f, i, user, queues[s->b / USERS % 3], 1024, (int32_t)(s->c % 3));
        break;
    case APP_END:
        remove_app(w, i);
        break;
    case DONE:
    case RETRY:
        done(w, some_container(w->f.s, s->a), s->op == RETRY);
        break;
    case PREEMPT:
        (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_PREEMPT });
        break;
    case NODE:
        node_added(w, n);
        break;
    case NODE_END:
        if (w->nodes[n])
            (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_NODE_REMOVED, .node = &id });
        w->nodes[n] = false;
        break;
    case REFRESH:
        (void)go(&w->f,
                 (struct rm_sched_event){ .type = RM_SCHED_RECONFIGURED, .conf = w->f.conf });
        break;
    case MOVE: /* or its refusal, which changes nothing */
        if (w->made[i])
            (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_APP_MOVED,
                                                     .app = app_id(i),
                                                     .queue = queues[s->b % 3] });
        break;
    default: /* PRIORITY */
        if (w->made[i])
            (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_APP_PRIORITY,
                                                     .app = app_id(i),
                                                     .priority = (int32_t)(s->c % 3) });
    }
}

/* ------------------------------------------------------------------------ ends */

/* With no reservation about, whoever is first in a leaf, below all limits and not picky, is served.
 */
static void check_no_idle_room(struct world *w, struct rm_queue *leaf)
{
    const struct rm_sched *s = w->f.s;
    struct rm_sched_app *app = leaf->ready;
    const struct rm_ask_group *g = app ? app->groups : NULL;

    for (size_t i = 0; i < leaf->n_children; i++)
        check_no_idle_room(w, leaf->children[i]);
    while (g && g->any <= 0)
        g = g->next;
    if (!g || g->rows || !g->any_relax || !rm_res_is_zero(s->root->reserved) ||
        above(s, app->user->used, rm_user_limit(s, leaf, app->user)))
        return;
    for (const struct rm_queue *q = leaf; q; q = q->parent)
        if (!rm_res_fits(s->set.calc, rm_res_add(q->used, g->capability), q->eff_max))
            return;
    for (const struct rm_sched_node *n = s->node_list; n; n = n->next)
        if (rm_res_fits(s->set.calc, g->capability, rm_res_sub(n->total, n->used)))
            fails(w, "application %d of %s waits beside room on %s", app->id.id, leaf->path,
                  n->host_label.name);
}

static void settle(struct world *w)
{
    for (int k = 0; k < 60; k++)
        for (int i = 1; i <= NODES; i++)
            if (w->nodes[i])
                (void)beat(&w->f, i);
}

/* Everything ends, and one new application has the cluster for itself. */
static void check_end(struct world *w)
{
    const struct rm_sched *s = w->f.s;

    settle(w);
    (void)holds(w);
    check_no_idle_room(w, w->f.s->root);
    for (int i = 1; i <= APPS; i++)
        remove_app(w, i);
    (void)holds(w);
    if (!rm_res_is_zero(s->root->used) || !rm_res_is_zero(s->root->pending) ||
        !rm_res_is_zero(s->root->reserved) || s->root->running || s->n_held || s->people)
        fails(w, "something is left of applications that have ended");
    node_added(w, 1);
    if (!app(&w->f, APPS + 1, "user0", "a", 1024))
        fails(w, "the empty cluster takes no application");
    settle(w);
    if (s->root->containers != 1)
        fails(w, "the empty cluster serves no master");
}

/* ---------------------------------------------------------------------- record */

static int record_start(struct world *w)
{
    int fd = w->seed % 10 == 0 ? memfd_create("record", MFD_CLOEXEC) : -1;

    w->f.record = NULL;
    if (fd >= 0)
        assert_int_equal(rm_record_new(dup(fd), UINT64_MAX, w->f.conf, 0, &w->f.record), 0);
    return fd;
}

static void record_end(struct world *w, int fd)
{
    struct sv_error err = { 0 };
    static struct rm_replay got;
    off_t size;
    void *data;

    if (fd < 0)
        return;
    w->f.record = rm_record_free(w->f.record);
    size = lseek(fd, 0, SEEK_END);
    data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_ptr_not_equal(data, MAP_FAILED);
    if (rm_replay(data, (size_t)size, &got, &err) < 0)
        fails(w, "its record: %s", err.text);
    else if (got.differs)
        fails(w, "its record differs: %.200s", got.what);
    else if (got.end != RM_REPLAY_END || got.events == 0)
        fails(w, "its record has %d events", (int)got.events);
    (void)munmap(data, (size_t)size);
    sv_close(fd);
}

static void note_decisions(struct world *w)
{
    for (size_t i = 0; i < w->f.n; i++) {
        const struct rm_decision *d = &w->f.d[i];
        uint64_t what[] = { (uint64_t)d->type, (uint64_t)d->app.id, (uint64_t)d->container.id,
                            (uint64_t)d->node.port, (uint64_t)d->node.host[4] };

        for (size_t k = 0; k < SV_ARRAY_LEN(what); k++)
            w->trace = (w->trace ^ what[k]) * UINT64_C(0x100000001b3);
    }
}

/* Whether the workload breaks a property. */
static bool breaks(struct world *w)
{
    int record;

    w->random = w->seed;
    w->trace = 0;
    memset(w->made, 0, sizeof(w->made));
    memset(w->nodes, 0, sizeof(w->nodes));
    w->why[0] = 0;
    configure(w);
    fix_start(&w->f);
    record = record_start(w);
    w->f.s->walk_all = w->walk_all;
    for (int i = 1; i <= 3; i++)
        node_added(w, i);
    for (size_t i = 0; i < w->n && !w->why[0]; i++) {
        step(w, &w->steps[i]);
        note_decisions(w);
        check_limits(w);
        if (w->steps[i].op == PREEMPT)
            kill_preempted(w);
        (void)holds(w);
    }
    if (!w->why[0])
        check_end(w);
    record_end(w, record);
    fix_end(&w->f);
    return w->why[0] != 0;
}

static void generate(struct world *w)
{
    static const enum op weights[] = { BEAT,    BEAT,     BEAT,     BEAT,    BEAT,     BEAT,
                                       ROUND,   ROUND,    ROUND,    ASK,     ASK,      ASK,
                                       ASK,     HOST_ASK, HOST_ASK, APP,     APP,      APP,
                                       DONE,    DONE,     DONE,     DONE,    RETRY,    PREEMPT,
                                       APP_END, NODE,     NODE_END, REFRESH, PRIORITY, MOVE };

    w->random = w->seed * 2654435761u + 1;
    w->n = EVENTS;
    for (size_t i = 0; i < w->n; i++)
        w->steps[i] =
            (struct step){ weights[rnd(w) % SV_ARRAY_LEN(weights)], rnd(w), rnd(w), rnd(w) };
}

/* Leaves out one part after the other, as long as the rest breaks a property. */
static void shrink(struct world *w)
{
    static struct step whole[EVENTS];

    for (size_t part = w->n / 2; part > 0; part /= 2)
        for (size_t at = 0; at + part <= w->n;) {
            size_t n = w->n;

            memcpy(whole, w->steps, sizeof(whole));
            memmove(&w->steps[at], &w->steps[at + part], (n - at - part) * sizeof(w->steps[0]));
            w->n = n - part;
            if (breaks(w))
                continue;
            memcpy(w->steps, whole, sizeof(whole));
            w->n = n;
            at += part;
        }
    (void)breaks(w); /* for its words */
}

static void report(struct world *w)
{
    static const char *const names[OPS] = { "BEAT",     "ROUND",   "ASK",      "HOST_ASK", "APP",
                                            "APP_END",  "DONE",    "RETRY",    "PREEMPT",  "NODE",
                                            "NODE_END", "REFRESH", "PRIORITY", "MOVE" };

    shrink(w);
    for (size_t i = 0; i < w->n; i++)
        print_error("  %s %u %u %u\n", names[w->steps[i].op], w->steps[i].a, w->steps[i].b,
                    w->steps[i].c);
    fail_msg("seed %u, after %zu events: %s", w->seed, w->n, w->why);
}

static void test_properties(void **state)
{
    static struct world w;
    const char *one = getenv("SEED"), *mode = getenv("SELVEDGE_CHECK");
    uint32_t last = mode && strcmp(mode, "full") == 0 ? 10000 : 200;
    uint64_t trace;

    (void)state;
    for (uint32_t seed = 1; seed <= last; seed++) {
        w.seed = one ? (uint32_t)strtoul(one, NULL, 10) : seed;
        generate(&w);
        w.walk_all = true;
        if (breaks(&w))
            report(&w);
        trace = w.trace;
        w.walk_all = false;
        if (breaks(&w))
            report(&w);
        /* A user's limit that stopped an application skipped here starts a sweep there. */
        if (w.trace != trace && w.unlimited)
            fail_msg("seed %u: other decisions with the index by host than without", w.seed);
        if (one)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
