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
#include "rm-lite/scheduler/activities.h"
#include "rm-lite/scheduler/replay.h"
#include "rm-lite/scheduler/scheduler-impl.h"
#include "tests/unit/rm-lite/scheduler-workload.h"

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
        t->containers += !rm_res_is_zero(c->resource);
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

/* The reason to wait is one of its state, its ask is the application's, and a node that is large
 * enough is never denied. Queries and records change no decision: the replay of the record, which
 * makes none of them, has the same ones. */
static void check_waiting(struct world *w, const struct rm_sched_app *app)
{
    struct rm_sched *s = w->f.s;
    bool mine = !app->refused.group;
    struct rm_wait wait;

    for (const struct rm_ask_group *g = app->groups; g; g = g->next)
        mine |= g == app->refused.group;
    if (!mine)
        fails(w, "application %d was refused an ask that is not its own", app->id.id);
    if (rm_sched_wait(s, app->id, &wait) < 0 || wait.containers != app->n_pending)
        fails(w, "application %d does not wait for what it asked for", app->id.id);
    if (wait.containers > 0 && app->in_waiting && wait.why > RM_REFUSED_USER_MASTERS)
        fails(w, "application %d is not active and waits for %d", app->id.id, (int)wait.why);
    if (wait.containers > 0 && app->active && wait.why >= RM_REFUSED_PARALLEL &&
        wait.why <= RM_REFUSED_USER_MASTERS)
        fails(w, "application %d is active and waits for %d", app->id.id, (int)wait.why);
    for (const struct rm_sched_node *n = s->node_list; n && wait.fits_nowhere; n = n->next)
        if (n->schedulable && rm_res_fits(s->set.calc, wait.asked, n->total))
            fails(w, "application %d fits nowhere but on a node", app->id.id);
    rm_record_app(s, app->id, w->f.now + 100);
}

static void check_apps(struct world *w)
{
    rm_record_next_visit(w->f.s, NULL);
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
        check_waiting(w, app);
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

/* Returns the user's limit at the time of the allocation. The limit follows from usage; with
 * several resource types, usage of one may lower the limit of another. */
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

/* Checks queues and users that have just received an allocation. Reservations count as of their own
 * time: limits may have become lower meanwhile. An update that the event itself decides gives
 * nothing. */
static void check_limits(struct world *w, bool is_update)
{
    const struct rm_sched *s = w->f.s;
    size_t given = 0;

    for (size_t i = 0; i < w->f.n; i++) {
        if (w->f.d[i].type == RM_DECIDE_UNRESERVED)
            return;
        given += w->f.d[i].type == RM_DECIDE_ALLOCATED || w->f.d[i].type == RM_DECIDE_RESERVED ||
                 w->f.d[i].type == RM_DECIDE_UPDATED;
    }
    for (size_t i = 0; i < w->f.n; i++) {
        const struct rm_decision *d = &w->f.d[i];
        struct rm_sched_app *app;

        if (d->type != RM_DECIDE_ALLOCATED && d->type != RM_DECIDE_RESERVED &&
            (d->type != RM_DECIDE_UPDATED || is_update))
            continue;
        for (app = s->apps; app && app->id.id != d->app.id; app = app->hh.next)
            ;
        for (const struct rm_queue *q = app->leaf; q; q = q->parent)
            if (above(s, q->used, q->eff_max))
                fails(w, "%s uses %lld MB of at most %lld", q->path, (long long)q->used.mem,
                      (long long)q->eff_max.mem);
        if (given == 1 && d->type != RM_DECIDE_UPDATED && app->user->asking > 0 &&
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

/* ------------------------------------------------------------------------ ends */

/* Without reservations, the first application in a leaf that is below all limits and not picky is
 * served. */
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

/* True if the workload breaks a property. */
static bool breaks(struct world *w)
{
    int record;

    begin(w);
    record = record_start(w);
    w->f.s->walk_all = w->walk_all;
    for (int i = 1; i <= 3; i++)
        node_added(w, i);
    for (size_t i = 0; i < w->n && !w->why[0]; i++) {
        step(w, &w->steps[i]);
        note_decisions(w);
        check_limits(w, w->steps[i].op == UPDATE);
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

static void test_seed(struct world *w)
{
    uint64_t trace;

    w->walk_all = true;
    if (breaks(w))
        report(w, breaks);
    trace = w->trace;
    w->walk_all = false;
    if (breaks(w))
        report(w, breaks);
    /* A user's limit that stopped an application skipped here starts a scan there. */
    if (w->trace != trace && w->unlimited)
        fail_msg("seed %u: other decisions with the index by host than without", w->seed);
}

static void test_properties(void **state)
{
    static struct world w;

    (void)state;
    each_seed(&w, test_seed);
}

static void test_updates(void **state)
{
    static struct world w = { .updates = true };

    (void)state;
    each_seed(&w, test_seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_updates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
