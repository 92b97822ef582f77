/* Progress of the scheduler on random workloads (scheduler-workload.h):
 * - room is not idle for two rounds of heartbeats beside an ask that fits there;
 * - a reservation goes with its ask, and is fulfilled or given back when what is on its node ends;
 * - an ask that fits the cluster is served in a bounded number of rounds once others end, and a
 *   large one also while small ones go on coming.
 * What may wait is said by waits(). 200 seeds, 10,000 with SELVEDGE_CHECK=full, or the one of
 * SEED; a workload that fails is shortened, and printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rm-lite/scheduler-workload.h"

#define ROUNDS_MAX 3000

/* ------------------------------------------------------------------ permitted waiting */

static bool at_most(const struct rm_sched *s, struct rm_res used, struct rm_res limit)
{
    return rm_res_share(s->set.calc, used, s->cluster) <=
           rm_res_share(s->set.calc, limit, s->cluster) + 1e-9;
}

static bool listed(const struct rm_sched_app *app, const char *name)
{
    struct rm_name *hit;

    HASH_FIND_STR(app->blacklist, name, hit);
    return hit;
}

/* True if the ask names the node, or may be relaxed to it; `now`: after its delay. */
static bool place_fits(const struct rm_sched *s, const struct rm_sched_app *app,
                       const struct rm_ask_group *g, const struct rm_sched_node *n, bool now)
{
    const struct rm_ask_row *rack = rm_asks_row(g, &n->rack_label);

    if (listed(app, n->host_label.name) || listed(app, n->rack))
        return false;
    if (!g->rows)
        return g->any_relax;
    if (rack && rm_asks_row(g, &n->host_label))
        return true;
    if (rack)
        return rack->relax && (!now || rm_asks_rack_now(s, g) || rm_asks_any_now(s, g));
    return g->any_relax && (!now || rm_asks_any_now(s, g));
}

static bool below_maxima(const struct rm_sched *s, const struct rm_queue *q, struct rm_res more)
{
    for (; q; q = q->parent)
        if (!rm_res_fits(s->set.calc, rm_res_add(q->used, more), q->eff_max))
            return false;
    return true;
}

/* The ask that the application has for the node now: one of less priority does not pass it. */
static const struct rm_ask_group *ask_for(const struct rm_sched *s, const struct rm_sched_app *app,
                                          const struct rm_sched_node *n)
{
    const struct rm_ask_group *g;

    DL_FOREACH (app->groups, g)
        if (g->any > 0 && rm_res_fits(s->set.calc, g->capability, n->total) &&
            (s->set.continue_look || g->reserved < g->any) && place_fits(s, app, g, n, true))
            return g;
    return NULL;
}

/* Returns an application of the leaf whose ask fits the node. Permitted to wait: applications above
 * their user's limit, those behind an ask that a maximum of the leaf or above it blocks (ADR 40),
 * and those whose next ask fits nodes like this one and waits for more resources. */
static const struct rm_sched_app *fitting(const struct rm_sched *s, struct rm_queue *leaf,
                                          const struct rm_sched_node *n)
{
    struct rm_res room = rm_res_sub(n->total, n->used);
    struct rm_sched_app *app;

    DL_FOREACH2(leaf->ready, app, r_next)
    {
        const struct rm_ask_group *g = ask_for(s, app, n);

        if (!g || !at_most(s, app->user->used, rm_user_limit(s, leaf, app->user)))
            continue;
        if (!below_maxima(s, leaf, g->capability))
            return NULL;
        if (rm_res_fits(s->set.calc, g->capability, room))
            return app;
    }
    return NULL;
}

static bool idle_in(const struct rm_sched *s, struct rm_queue *q, const struct rm_sched_node *n,
                    char *why, size_t size)
{
    const struct rm_sched_app *app = rm_queue_leaf(q) ? fitting(s, q, n) : NULL;

    if (app)
        (void)snprintf(why, size, "room of %s is idle beside an ask of application %d in %s",
                       n->host_label.name, app->id.id, q->path);
    for (size_t i = 0; i < q->n_children && !app; i++)
        if (idle_in(s, q->children[i], n, why, size))
            return true;
    return app != NULL;
}

/* Room that is kept for a reservation is not idle, nor is that of a node that takes nothing. */
static bool idle_room(const struct rm_sched *s, char *why, size_t size)
{
    for (const struct rm_sched_node *n = s->node_list; n; n = n->next)
        if (n->schedulable && !n->reserved_app && idle_in(s, s->root, n, why, size))
            return true;
    return false;
}

/* ----------------------------------------------------------------------- rounds */

struct round {
    size_t given, reserved;
};

/* After a heartbeat of its node a reservation has its ask, which may be served there. */
static void check_reservation(struct world *w, int i)
{
    struct yarn_node_id id = node_id(i);
    const struct rm_sched_node *n = rm_sched_node_find(w->f.s, &id);

    if (!n->reserved_app)
        return;
    if (n->reserved_group->any <= 0)
        fails(w, "the reservation of node%d has survived its ask", i);
    if (!n->schedulable || !rm_res_fits(w->f.s->set.calc, n->reserved, n->total) ||
        listed(n->reserved_app, n->host_label.name))
        fails(w, "node%d is reserved for an ask that it cannot serve", i);
}

static struct round beat_all(struct world *w)
{
    int first = (int)(rnd(w) % NODES);
    struct round r = { 0 };

    w->f.now += 1000;
    for (int k = 0; k < NODES; k++) {
        int i = (first + k) % NODES + 1;

        if (!w->nodes[i])
            continue;
        r.given += beat(&w->f, i);
        for (size_t d = 0; d < w->f.n; d++)
            r.reserved += w->f.d[d].type == RM_DECIDE_RESERVED;
        check_reservation(w, i);
    }
    return r;
}

static bool some_room(const struct rm_sched *s)
{
    for (const struct rm_sched_node *n = s->node_list; n; n = n->next)
        if (n->has_free && !n->reserved_app)
            return true;
    return false;
}

/* Applications wait for max-parallel-apps, for the masters' share of the queue, or for that of
 * their user. */
static void check_waiting(struct world *w, const struct rm_queue *q)
{
    struct rm_queue_info info;

    for (size_t i = 0; i < q->n_children; i++)
        check_waiting(w, q->children[i]);
    rm_queue_info_fill(w->f.s, q, &info);
    for (const struct rm_sched_app *app = q->waiting; app; app = app->w_next) {
        bool share = rm_res_fits(w->f.s->set.calc, rm_res_add(q->am_used, app->am), info.am_limit);

        if (app->runs && (share || q->active_apps == 0) &&
            (q->user_limit_factor == -1 || app->user->active_apps == 0))
            fails(w, "application %d waits beside masters' share of %s", app->id.id, q->path);
    }
}

/* Heartbeats until nothing changes any more. Each round gives something, or reserves some of a
 * bounded number of nodes, or nothing fits. */
static void come_to_rest(struct world *w)
{
    size_t given = 0, reserved = 0, barren = 0;

    for (int quiet = 0, k = 0; quiet < 3 && !w->why[0]; k++) {
        char why[200];
        bool idle = idle_room(w->f.s, why, sizeof(why));
        struct round a = beat_all(w), b = beat_all(w);

        given = a.given + b.given;
        reserved = a.reserved + b.reserved;
        barren = given ? 0 : barren + reserved;
        if (idle && given + reserved == 0 && idle_room(w->f.s, why, sizeof(why)))
            fails(w, "for two rounds %s", why);
        if (barren > 10 * NODES || k > ROUNDS_MAX)
            fails(w, "reservations come and go, and nothing is served");
        quiet = given + reserved == 0 ? quiet + 1 : 0;
    }
    if (some_room(w->f.s))
        check_waiting(w, w->f.s->root);
}

/* ------------------------------------------------------------------------- ends */

/* All but masters. */
static size_t end_containers(struct world *w)
{
    struct yarn_container_id ids[NODES * 64];
    size_t n = 0;

    for (const struct rm_sched_app *app = w->f.s->apps; app; app = app->hh.next)
        for (const struct rm_sched_container *c = rm_app_first(w->f.s, app); c;
             c = rm_app_next(w->f.s, c))
            if (!c->am && n < SV_ARRAY_LEN(ids))
                ids[n++] = rm_container_id(c);
    for (size_t i = 0; i < n; i++)
        (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE,
                                                 .container_done = { .container = ids[i] } });
    return n;
}

static const struct rm_sched_app *app_of(const struct world *w, int i)
{
    const struct rm_sched_app *app = w->f.s->apps;

    while (app && app->id.id != i)
        app = app->hh.next;
    return app;
}

/* Ends applications whose asks have all been served. */
static void end_served(struct world *w)
{
    for (int i = 1; i <= APPS; i++) {
        const struct rm_sched_app *app = w->made[i] ? app_of(w, i) : NULL;

        if (app && rm_res_is_zero(app->pending) && app->n_containers <= 1)
            remove_app(w, i);
    }
}

/* True if an ask fits the node beside its application's master. */
static bool fits_beside_master(const struct rm_sched *s, const struct rm_sched_app *app,
                               const struct rm_ask_group *g, const struct rm_sched_node *n)
{
    struct rm_res room = n->total;

    for (const struct rm_sched_container *c = rm_app_first(s, app); c; c = rm_app_next(s, c))
        if (c->am && c->node == n)
            room = rm_res_sub(room, c->resource);
    return n->schedulable && place_fits(s, app, g, n, false) &&
           rm_res_fits(s->set.calc, g->capability, room);
}

/* True if some node can serve the ask when its application is alone. An earlier ask of the same
 * application that does not fit anywhere keeps it from nodes that it prefers. */
static bool may_be_served(const struct rm_sched *s, const struct rm_sched_app *app,
                          const struct rm_ask_group *g)
{
    for (const struct rm_sched_node *n = s->node_list; n; n = n->next) {
        const struct rm_ask_group *before;

        if (!fits_beside_master(s, app, g, n))
            continue;
        DL_FOREACH (app->groups, before) {
            if (before == g)
                return true;
            if (before->any > 0 && place_fits(s, app, before, n, false) &&
                rm_res_fits(s->set.calc, before->capability, n->total))
                break;
        }
    }
    return false;
}

/* The one application that is left, at rest, without containers but its master. */
static void check_alone(struct world *w, const struct rm_sched_app *app)
{
    const struct rm_sched *s = w->f.s;
    const struct rm_ask_group *g;

    if (!app->active)
        fails(w, "application %d is alone and waits", app->id.id);
    if (app->n_reserved > 0)
        fails(w, "application %d is alone and has reservations", app->id.id);
    if (!at_most(s, app->user->used, rm_user_limit(s, app->leaf, app->user)))
        return;
    DL_FOREACH (app->groups, g) {
        if (g->any <= 0)
            continue;
        if (!below_maxima(s, app->leaf, g->capability))
            return; /* and the later ones wait behind it */
        if (may_be_served(s, app, g))
            fails(w, "application %d is alone and starves", app->id.id);
    }
}

/* Everything ends as it is served, then one application after the other, until one is left. */
static void drain(struct world *w)
{
    bool at_once;

    w->random = w->seed;
    at_once = rnd(w) % 2;
    for (int k = 0; w->f.s->apps && !w->why[0]; k++) {
        size_t left = HASH_COUNT(w->f.s->apps);
        uint32_t which = rnd(w) % (uint32_t)left;
        const struct rm_sched_app *app = w->f.s->apps;

        if (!at_once || left == 1) {
            while (!w->why[0]) {
                end_served(w);
                come_to_rest(w);
                if (end_containers(w) == 0)
                    break;
            }
        }
        left = HASH_COUNT(w->f.s->apps);
        if (left == 1)
            check_alone(w, w->f.s->apps);
        for (app = w->f.s->apps; app && which > 0; which--)
            app = app->hh.next ? app->hh.next : w->f.s->apps;
        if (app)
            remove_app(w, app->id.id);
    }
}

static bool breaks(struct world *w)
{
    begin(w);
    for (int i = 1; i <= 3; i++)
        node_added(w, i);
    for (size_t i = 0; i < w->n && !w->why[0]; i++) {
        step(w, &w->steps[i]);
        if (w->steps[i].op == PREEMPT)
            kill_preempted(w);
        if (w->steps[i].op == REST) {
            w->random = w->steps[i].a; /* so that a shortened workload goes on as before */
            come_to_rest(w);
        }
    }
    if (!w->why[0])
        drain(w);
    fix_end(&w->f);
    return w->why[0] != 0;
}

/* ------------------------------------------------------------------------ storm */

#define LARGE 10 /* the application with the large ask */
#define STORM_ROUNDS 200

static bool storms(int i)
{
    return i != LARGE;
}

static void ask_storm(struct world *w)
{
    for (int i = 1; i <= LARGE + 1; i++)
        if (w->made[i] && storms(i))
            ask(&w->f, i, 1024, 50);
}

/* Few of the small containers end: a node never empties by itself. */
static void end_some(struct world *w)
{
    struct yarn_container_id ids[NODES * 64];
    size_t n = 0;

    for (const struct rm_sched_app *app = w->f.s->apps; app; app = app->hh.next)
        for (const struct rm_sched_container *c = rm_app_first(w->f.s, app); c;
             c = rm_app_next(w->f.s, c))
            if (!c->am && storms(app->id.id) && n < SV_ARRAY_LEN(ids) && rnd(w) % 32 == 0)
                ids[n++] = rm_container_id(c);
    for (size_t i = 0; i < n; i++)
        (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE,
                                                 .container_done = { .container = ids[i] } });
}

static void weather(struct world *w, int containers, const char *what)
{
    for (int k = 0; k < STORM_ROUNDS; k++) {
        const struct rm_sched_app *app = app_of(w, LARGE);

        if (app && app->n_containers >= containers)
            return;
        (void)beat_all(w);
        end_some(w);
        ask_storm(w);
    }
    fails(w, "%s starves while others are served", what);
}

/* Applications of all queues take whatever is free, again and again; one of a queue below its
 * guarantee asks for much at once. They have no masters: as in Hadoop, one that does not end may
 * keep a reserved node from having room. */
static void test_storm_of(struct world *w)
{
    static const struct {
        int i;
        const char *user, *queue;
    } apps[] = {
        { 1, "user1", "x" }, { 2, "user2", "y" }, { 3, "user3", "x" }, { LARGE + 1, "user4", "a" }
    };

    begin(w);
    for (int i = 1; i <= NODES; i++)
        node_added(w, i);
    for (size_t k = 0; k < SV_ARRAY_LEN(apps); k++) {
        if (k + 1 == SV_ARRAY_LEN(apps))
            w->made[LARGE] = app(&w->f, LARGE, "user0", "a", 1024);
        w->made[apps[k].i] = app(&w->f, apps[k].i, apps[k].user, apps[k].queue, 0);
        for (int r = 0; r < 3; r++)
            (void)beat_all(w);
        ask_storm(w);
    }
    weather(w, 1, "a master");
    /* With the key off an application above its user's limit by its own reservation waits for that
     * node alone, which another's master may keep. */
    if (w->f.s->set.continue_look || w->unlimited) {
        ask(&w->f, LARGE, 5120, 1);
        weather(w, 2, "a large ask");
    }
    fix_end(&w->f);
    if (w->why[0])
        fail_msg("seed %u: %s", w->seed, w->why);
}

static void test_storm(void **state)
{
    static struct world w;

    (void)state;
    each_seed(&w, test_storm_of);
}

static void test_seed(struct world *w)
{
    if (breaks(w))
        report(w, breaks);
}

static void test_progress(void **state)
{
    static struct world w = { .every_op = true };

    (void)state;
    each_seed(&w, test_seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_storm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
