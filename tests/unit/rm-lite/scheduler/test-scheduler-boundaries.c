/* The scheduler's limits at their exact values: written for the faults of
 * tests/mutants/scheduler.faults that the other tests did not notice. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/scheduler/scheduler-impl.h"
#include "tests/unit/rm-lite/scheduler-fixture.h"

#define PREEMPTION "yarn.resourcemanager.monitor.capacity.preemption."

/* One queue without limits, and heartbeats that give whatever fits. */
static void one_queue(struct fix *f)
{
    fix_conf(f);
    set(f, CS "user-limit-factor", "-1");
    set(f, CS "per-node-heartbeat.maximum-offswitch-assignments", "1000");
    set(f, CS "per-node-heartbeat.maximum-container-assignments", "-1");
}

static int64_t used(const struct fix *f, int i)
{
    struct rm_app_usage u;

    assert_int_equal(rm_sched_app_usage(f->s, app_id(i), &u), 0);
    return u.used.mem;
}

static struct rm_app_usage usage(const struct fix *f, int i)
{
    struct rm_app_usage u;

    assert_int_equal(rm_sched_app_usage(f->s, app_id(i), &u), 0);
    return u;
}

static void done(struct fix *f, int i, int container)
{
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE,
                                                    .container = { { app_id(i), 1 }, container } }),
                     0);
}

static size_t round_once(struct fix *f)
{
    size_t n = 0;

    assert_int_equal(
        go(f, (struct rm_sched_event){ .type = RM_SCHED_ASK_ROUND, .window_ms = 1000 }), 0);
    for (size_t i = 0; i < f->n; i++)
        n += f->d[i].type == RM_DECIDE_ALLOCATED;
    return n;
}

static int refresh(struct fix *f, struct sv_conf *conf, struct sv_error *err)
{
    struct rm_sched_event ev = { .type = RM_SCHED_RECONFIGURED, .conf = conf };

    return rm_sched_handle(f->s, &ev, f->now, &f->d, &f->n, err);
}

/* ---------------------------------------------------------------------- places */

static void test_blacklisted_rack(void **state)
{
    const char *racks[] = { "/r1" };
    struct fix f;

    (void)state;
    one_queue(&f);
    fix_start(&f);
    node(&f, 1, "/r1", 8192, 8);
    node(&f, 2, "/r2", 8192, 8);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, 1);
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                                     .app = app_id(1),
                                                     .blacklist_add = racks,
                                                     .n_blacklist_add = 1 }),
                     0);
    assert_int_equal(beat(&f, 1), 0);
    assert_int_equal(beat(&f, 2), 1);
    fix_end(&f);
}

/* With one named host of three nodes and three containers, any node after min(3, 3 * 1/3) chances.
 */
static void test_delay_for_any_node(void **state)
{
    struct fix f;

    (void)state;
    one_queue(&f);
    fix_start(&f);
    for (int i = 1; i <= 3; i++)
        node(&f, i, i < 3 ? "/r1" : "/r2", 8192, 8);
    app(&f, 1, "ann", "default", 0);
    ask_full(&f, 1, 1, "node1", 1024, 1, 3, true);
    ask_full(&f, 1, 1, RM_ANY, 1024, 1, 3, true);
    assert_int_equal(beat(&f, 3), 0); /* the first chance: one is not more than one */
    assert_true(beat(&f, 3) > 0);
    fix_end(&f);
}

static void test_more_asked_waits_anew(void **state)
{
    struct fix f;

    (void)state;
    one_queue(&f);
    set(&f, CS "node-locality-delay", "2");
    set(&f, CS "rack-locality-additional-delay", "10");
    fix_start(&f);
    for (int i = 1; i <= 4; i++)
        node(&f, i, "/r1", 8192, 8);
    app(&f, 1, "ann", "default", 0);
    for (int count = 1; count <= 2; count++) {
        ask_full(&f, 1, 1, "node1", 1024, 1, count, true);
        ask_full(&f, 1, 1, "/r1", 1024, 1, count, true);
        ask_full(&f, 1, 1, RM_ANY, 1024, 1, count, true);
        assert_int_equal(beat(&f, 2), 0);
        assert_int_equal(beat(&f, 2), 0);
    }
    assert_true(beat(&f, 2) > 0);
    fix_end(&f);
}

/* ----------------------------------------------------------------------- order */

static void test_older_first(void **state)
{
    struct fix f;

    (void)state;
    one_queue(&f);
    fix_start(&f);
    node(&f, 1, NULL, 1024, 8);
    app(&f, 1, "ann", "default", 0);
    app(&f, 2, "ann", "default", 0);
    ask(&f, 2, 1024, 1);
    ask(&f, 1, 1024, 1);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(count_app(&f, 1), 1);
    fix_end(&f);
}

/* The first application's next container does not fit the queue: no smaller one of another passes.
 */
static void test_nobody_passes_at_the_queues_limit(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "root.a.maximum-capacity", "50");
    fix_start(&f);
    node(&f, 1, NULL, 8192, 64);
    app(&f, 1, "ann", "a", 0);
    app(&f, 2, "bob", "a", 0);
    ask(&f, 1, 3072, 2);
    ask(&f, 2, 1024, 1);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(used(&f, 1), 3072);
    assert_int_equal(used(&f, 2), 0);
    fix_end(&f);
}

/* ----------------------------------------------------------------------- users */

/* The minimum of 100 %: the first user may have all, although two ask. */
static void test_minimum_of_a_users_limit(void **state)
{
    struct fix f;

    (void)state;
    one_queue(&f);
    set(&f, CS "minimum-user-limit-percent", "100");
    fix_start(&f);
    node(&f, 1, NULL, 8192, 64);
    app(&f, 1, "ann", "default", 0);
    app(&f, 2, "bob", "default", 0);
    ask(&f, 1, 1024, 8);
    ask(&f, 2, 1024, 8);
    assert_int_equal(beat(&f, 1), 8);
    assert_int_equal(count_app(&f, 1), 8);
    fix_end(&f);
}

/* Above the queue's guarantee the limit grows with the queue's usage. */
static void test_users_limit_grows(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "user-limit-factor", "2");
    fix_start(&f);
    node(&f, 1, NULL, 16384, 64);
    app(&f, 1, "ann", "a", 0);
    ask(&f, 1, 1024, 100);
    assert_int_equal(beat(&f, 1), 16);
    fix_end(&f);
}

/* A user stopped by the limit has room elsewhere when a container ends: a round finds it there. */
static void test_users_limit_wakes(void **state)
{
    struct fix f;

    (void)state;
    one_queue(&f);
    set(&f, CS "user-limit-factor", "0.5");
    fix_start(&f);
    node(&f, 1, "/r1", 4096, 64);
    node(&f, 2, "/r2", 4096, 64);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 4096, 1);
    assert_int_equal(beat(&f, 1), 1);
    beat(&f, 2);
    ask(&f, 1, 1024, 10);
    while (rm_sched_round_waiting(f.s))
        (void)round_once(&f);
    assert_int_equal(used(&f, 1), 5120); /* the limit and one container, as in Hadoop */
    ask_full(&f, 1, 1, RM_ANY, 1024, 1, 0, true);
    ask_full(&f, 1, 1, "node2", 2048, 1, 1, true);
    ask_full(&f, 1, 1, "/r2", 2048, 1, 1, false);
    ask_full(&f, 1, 1, RM_ANY, 2048, 1, 1, false);
    while (rm_sched_round_waiting(f.s))
        (void)round_once(&f);
    assert_int_equal(used(&f, 1), 5120);
    done(&f, 1, 1); /* on node 1 */
    while (rm_sched_round_waiting(f.s))
        (void)round_once(&f);
    assert_int_equal(used(&f, 1), 3072);
    fix_end(&f);
}

static void test_masters_share_of_a_queue(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "root.a.maximum-capacity", "50");
    set(&f, CS "maximum-am-resource-percent", "0.25");
    fix_start(&f);
    node(&f, 1, NULL, 16384, 64);
    app(&f, 1, "ann", "a", 1024); /* the share is 2048 */
    app(&f, 2, "bob", "a", 1024);
    app(&f, 3, "cid", "a", 1024);
    assert_true(usage(&f, 2).active);
    assert_false(usage(&f, 3).active);
    fix_end(&f);
}

static void test_masters_share_of_a_user(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "root.a.maximum-capacity", "50");
    set(&f, CS "maximum-am-resource-percent", "0.5");
    set(&f, CS "user-limit-factor", "1");
    set(&f, CS "root.a.minimum-user-limit-percent", "50");
    fix_start(&f);
    node(&f, 1, NULL, 16384, 64);
    app(&f, 1, "bob", "a", 1024); /* the share is 4096, of each of two users 2048 */
    for (int i = 2; i <= 4; i++)
        app(&f, i, "ann", "a", 1024);
    assert_true(usage(&f, 3).active);
    assert_false(usage(&f, 4).active);
    fix_end(&f);
}

/* Two of a queue, one of a user; different users, so that each limit is met alone. */
static void test_numbers_of_applications(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "root.a.maximum-applications", "2");
    set(&f, CS "root.b.maximum-applications", "4");
    set(&f, CS "root.b.user-limit-factor", "0.5");
    fix_start(&f);
    assert_true(app(&f, 1, "ann", "a", 0));
    assert_true(app(&f, 2, "bob", "a", 0));
    assert_false(app(&f, 3, "cid", "a", 0));
    assert_true(app(&f, 4, "ann", "b", 0));
    assert_true(app(&f, 5, "ann", "b", 0));
    assert_false(app(&f, 6, "ann", "b", 0));
    assert_true(app(&f, 7, "bob", "b", 0));
    fix_end(&f);
}

/* ------------------------------------------------------------------------ asks */

static int ask_id(struct fix *f, int64_t id, const char *name)
{
    struct rm_ask a = { .priority = 1,
                        .allocation_id = id,
                        .name = name,
                        .count = 1,
                        .relax = true,
                        .capability = { 1024, 1 } };

    return go(f, (struct rm_sched_event){
                     .type = RM_SCHED_ASK, .app = app_id(1), .asks = &a, .n_asks = 1 });
}

static void test_numbers_of_asks(void **state)
{
    struct fix f;

    (void)state;
    one_queue(&f);
    fix_start(&f);
    app(&f, 1, "ann", "default", 0);
    for (int i = 0; i < RM_MAX_ASK_GROUPS; i++)
        assert_int_equal(ask_id(&f, i, RM_ANY), 0);
    assert_int_equal(ask_id(&f, RM_MAX_ASK_GROUPS, RM_ANY), -E2BIG);
    for (int i = 0; i < RM_MAX_ASK_ROWS; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "h%d", i / 1000);
        assert_int_equal(ask_id(&f, i % 1000, name), 0);
    }
    assert_int_equal(ask_id(&f, 0, "other"), -E2BIG);
    assert_int_equal(ask_id(&f, 0, "h1"), 0); /* there already */
    fix_end(&f);
}

/* Headroom is the minimum of the remaining limits of user, queue and cluster. */
static void test_headroom(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "root.a.maximum-capacity", "50");
    fix_start(&f);
    node(&f, 1, NULL, 16384, 64);
    app(&f, 1, "ann", "a", 0);
    app(&f, 2, "bob", "a", 0);
    app(&f, 3, "cid", "b", 0);
    assert_int_equal(usage(&f, 1).headroom.mem, 8192); /* the user's limit */
    ask(&f, 2, 1024, 6);
    assert_int_equal(beat(&f, 1), 6);
    assert_int_equal(usage(&f, 1).headroom.mem, 2048); /* remaining in the queue */
    ask(&f, 3, 1024, 9);
    assert_int_equal(beat(&f, 1), 9);
    assert_int_equal(usage(&f, 1).headroom.mem, 1024); /* remaining in the cluster */
    fix_end(&f);
}

static void test_share_of_a_nested_queue(void **state)
{
    struct rm_queue_info info;
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "root.b.queues", "x,y");
    set(&f, CS "root.b.x.capacity", "50");
    set(&f, CS "root.b.y.capacity", "50");
    fix_start(&f);
    assert_int_equal(rm_sched_queue(f.s, "root.b.x", &info), 0);
    assert_true(info.abs_capacity == 0.25);
    fix_end(&f);
}

/* ---------------------------------------------------------------------- rounds */

/* A node whose reservation is given back is visited by the next round. */
static void test_round_after_a_reservation(void **state)
{
    struct fix f;

    (void)state;
    one_queue(&f);
    fix_start(&f);
    node(&f, 1, NULL, 4096, 16);
    node(&f, 2, NULL, 2048, 16); /* which the queue has left while node 1 has too little */
    for (int i = 1; i <= 3; i++)
        app(&f, i, "ann", "default", 0);
    ask(&f, 1, 3072, 1);
    assert_int_equal(beat(&f, 1), 1);
    ask(&f, 2, 2048, 1);
    assert_int_equal(beat(&f, 1), 0);
    assert_int_equal(usage(&f, 2).reserved.mem, 2048);
    ask(&f, 3, 1024, 1);
    while (rm_sched_round_waiting(f.s))
        assert_int_equal(round_once(&f), 0);
    assert_int_equal(
        go(&f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED, .app = app_id(2) }), 0);
    assert_int_equal(round_once(&f), 1);
    fix_end(&f);
}

/* A sweep goes on to a node with room, and reserves none before. */
static void test_sweep_reserves_nothing(void **state)
{
    struct fix f;

    (void)state;
    one_queue(&f);
    fix_start(&f);
    node(&f, 1, NULL, 4096, 16);
    node(&f, 2, NULL, 4096, 16);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 3072, 1);
    assert_int_equal(beat(&f, 1), 1);
    beat(&f, 2);
    ask(&f, 1, 2048, 1);
    for (int i = 0; i < 2 && rm_sched_round_waiting(f.s); i++) {
        (void)round_once(&f);
        for (size_t k = 0; k < f.n; k++)
            assert_int_equal(f.d[k].type, RM_DECIDE_ALLOCATED);
    }
    assert_int_equal(used(&f, 1), 5120);
    fix_end(&f);
}

/* A node that takes no containers is not among those that a sweep visits. */
static void test_sweep_leaves_out_closed_nodes(void **state)
{
    struct rm_sched_counts before, after;
    struct yarn_node_id id = node_id(1);
    struct fix f;

    (void)state;
    one_queue(&f);
    fix_start(&f);
    node(&f, 1, NULL, 4096, 16);
    beat(&f, 1);
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_NODE_SCHEDULABLE,
                                                     .node = &id,
                                                     .flag = false }),
                     0);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, 1);
    before = rm_sched_counts(f.s);
    assert_int_equal(round_once(&f), 0);
    after = rm_sched_counts(f.s);
    assert_int_equal(after.nodes_visited, before.nodes_visited);
    fix_end(&f);
}

/* A queue's limit has space again: a round looks at all nodes, not only where a container ended. */
static void test_queues_limit_wakes(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "root.a.maximum-capacity", "50");
    fix_start(&f);
    node(&f, 1, "/r1", 4096, 64);
    node(&f, 2, "/r2", 4096, 64);
    app(&f, 1, "ann", "a", 0);
    ask(&f, 1, 4096, 1);
    assert_int_equal(beat(&f, 1), 1);
    beat(&f, 2);
    ask_full(&f, 1, 1, "node2", 2048, 1, 1, true);
    ask_full(&f, 1, 1, "/r2", 2048, 1, 1, false);
    ask_full(&f, 1, 1, RM_ANY, 2048, 1, 1, false);
    while (rm_sched_round_waiting(f.s))
        assert_int_equal(round_once(&f), 0);
    done(&f, 1, 1);
    while (rm_sched_round_waiting(f.s))
        (void)round_once(&f);
    assert_int_equal(used(&f, 1), 2048);
    fix_end(&f);
}

/* -------------------------------------------------------------- nodes, attempts */

static void test_resized_node(void **state)
{
    struct yarn_node_id id = node_id(1);
    struct fix f;

    (void)state;
    one_queue(&f);
    fix_start(&f);
    node(&f, 1, NULL, 4096, 16);
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_NODE_RESIZED,
                                                     .node = &id,
                                                     .total = { 8192, 32 } }),
                     0);
    assert_int_equal(rm_sched_cluster(f.s).mem, 8192);
    assert_int_equal(rm_sched_cluster(f.s).vcores, 32);
    fix_end(&f);
}

static void test_containers_of_an_attempt(void **state)
{
    (void)state;
    for (int keep = 0; keep <= 1; keep++) {
        struct fix f;

        one_queue(&f);
        fix_start(&f);
        node(&f, 1, NULL, 4096, 16);
        app(&f, 1, "ann", "default", 0);
        ask(&f, 1, 1024, 2);
        assert_int_equal(beat(&f, 1), 2);
        assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_ATTEMPT_REMOVED,
                                                         .app = app_id(1),
                                                         .attempt = 1,
                                                         .flag = keep }),
                         0);
        assert_int_equal(used(&f, 1), keep ? 2048 : 0);
        fix_end(&f);
    }
}

/* --------------------------------------------------------------------- refresh */

static void test_deleted_queue(void **state)
{
    struct sv_conf *conf = sv_conf_new();
    struct sv_error err = { 0 };
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    fix_start(&f);
    assert_int_equal(sv_conf_set(conf, CS "root.queues", "b"), 0);
    assert_int_equal(sv_conf_set(conf, CS "root.b.capacity", "100"), 0);
    assert_int_equal(refresh(&f, conf, &err), -EBUSY); /* without applications, but it runs */
    assert_non_null(strstr(err.text, "root.a is deleted"));
    sv_conf_free(conf);
    fix_end(&f);
}

/* ------------------------------------------------------------------ preemption */

static void preemptive(struct fix *f, const char *per_round)
{
    set(f, "yarn.resourcemanager.scheduler.monitor.enable", "true");
    set(f, PREEMPTION "total_preemption_per_round", per_round);
    set(f, PREEMPTION "natural_termination_factor", "1");
    set(f, PREEMPTION "max_ignored_over_capacity", "0");
    set(f, PREEMPTION "max_wait_before_kill", "1000");
}

static size_t preempt(struct fix *f, int64_t ms, enum rm_decision_type type)
{
    size_t n = 0;

    f->now += ms;
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_PREEMPT }), 0);
    for (size_t i = 0; i < f->n; i++)
        n += f->d[i].type == type;
    return n;
}

/* Containers that have been killed and not ended yet count as gone, also after a refresh. */
static void test_killed_once(void **state)
{
    struct sv_error err = { 0 };
    struct fix f;

    (void)state;
    for (int refreshed = 0; refreshed <= 1; refreshed++) {
        two_queues(&f, "50", "50");
        preemptive(&f, "1");
        fix_start(&f);
        node(&f, 1, NULL, 16384, 64);
        app(&f, 1, "ann", "a", 0);
        ask(&f, 1, 1024, 16);
        assert_int_equal(beat(&f, 1), 16);
        app(&f, 2, "bob", "b", 0);
        ask(&f, 2, 1024, 4);
        assert_int_equal(preempt(&f, 0, RM_DECIDE_PREEMPT), 4);
        assert_int_equal(preempt(&f, 1000, RM_DECIDE_PREEMPTED), 4);
        if (refreshed)
            assert_int_equal(refresh(&f, f.conf, &err), 0);
        for (int i = 0; i < 3; i++) {
            (void)preempt(&f, 1000, RM_DECIDE_PREEMPT);
            assert_int_equal(f.n, 0);
        }
        fix_end(&f);
    }
}

/* Both queues above their guarantees contribute to the resources preempted in a round. */
static void test_a_rounds_part_of_each(void **state)
{
    size_t of[3] = { 0 };
    struct fix f;

    (void)state;
    fix_conf(&f);
    set(&f, CS "root.queues", "a,b,c");
    set(&f, CS "root.a.capacity", "25");
    set(&f, CS "root.b.capacity", "25");
    set(&f, CS "root.c.capacity", "50");
    set(&f, CS "user-limit-factor", "-1");
    set(&f, CS "per-node-heartbeat.maximum-offswitch-assignments", "1000");
    set(&f, CS "per-node-heartbeat.maximum-container-assignments", "-1");
    preemptive(&f, "0.25");
    fix_start(&f);
    node(&f, 1, NULL, 16384, 64);
    app(&f, 1, "ann", "a", 0);
    app(&f, 2, "bob", "b", 0);
    ask(&f, 1, 1024, 8);
    ask(&f, 2, 1024, 8);
    assert_int_equal(beat(&f, 1), 16);
    app(&f, 3, "cid", "c", 0);
    ask(&f, 3, 1024, 8);
    assert_int_equal(preempt(&f, 0, RM_DECIDE_PREEMPT), 4);
    for (size_t i = 0; i < f.n; i++)
        of[f.d[i].app.id]++;
    assert_int_equal(of[1], 2);
    assert_int_equal(of[2], 2);
    fix_end(&f);
}

/* One queue of which only ApplicationMasters and users decide. */
static void inside(struct fix *f, const char *order)
{
    two_queues(f, "50", "50");
    set(f, CS "root.a.maximum-capacity", "50");
    set(f, CS "minimum-user-limit-percent", "50");
    preemptive(f, "1");
    set(f, PREEMPTION "intra-queue-preemption.enabled", "true");
    set(f, PREEMPTION "intra-queue-preemption.preemption-order-policy", order);
    set(f, PREEMPTION "intra-queue-preemption.max-allowable-limit", "1");
}

/* The older of two applications with the same user and priority waits: nothing is preempted. */
static void test_same_priority_gives_nothing(void **state)
{
    struct fix f;

    (void)state;
    inside(&f, "priority_first");
    fix_start(&f);
    node(&f, 1, NULL, 16384, 64);
    app(&f, 1, "ann", "a", 0);
    app(&f, 2, "ann", "a", 0);
    ask(&f, 2, 1024, 8);
    assert_int_equal(beat(&f, 1), 8);
    ask(&f, 1, 1024, 4);
    assert_int_equal(preempt(&f, 3000, RM_DECIDE_PREEMPT), 0);
    fix_end(&f);
}

/* ann is above the limit by less than a container: it stays. */
static void test_user_keeps_the_limit(void **state)
{
    struct fix f;

    (void)state;
    inside(&f, "userlimit_first");
    fix_start(&f);
    node(&f, 1, NULL, 16384, 64);
    app(&f, 1, "ann", "a", 0);
    ask(&f, 1, 3072, 2); /* 6144 of 8192; with bob the limit is half */
    assert_int_equal(beat(&f, 1), 2);
    app(&f, 2, "bob", "a", 0);
    ask(&f, 2, 2048, 2);
    (void)beat(&f, 1);
    assert_int_equal(used(&f, 2), 2048);
    assert_int_equal(preempt(&f, 3000, RM_DECIDE_PREEMPT), 0);
    fix_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blacklisted_rack),
        cmocka_unit_test(test_delay_for_any_node),
        cmocka_unit_test(test_more_asked_waits_anew),
        cmocka_unit_test(test_older_first),
        cmocka_unit_test(test_nobody_passes_at_the_queues_limit),
        cmocka_unit_test(test_minimum_of_a_users_limit),
        cmocka_unit_test(test_users_limit_grows),
        cmocka_unit_test(test_users_limit_wakes),
        cmocka_unit_test(test_masters_share_of_a_queue),
        cmocka_unit_test(test_masters_share_of_a_user),
        cmocka_unit_test(test_numbers_of_applications),
        cmocka_unit_test(test_numbers_of_asks),
        cmocka_unit_test(test_headroom),
        cmocka_unit_test(test_share_of_a_nested_queue),
        cmocka_unit_test(test_round_after_a_reservation),
        cmocka_unit_test(test_sweep_reserves_nothing),
        cmocka_unit_test(test_sweep_leaves_out_closed_nodes),
        cmocka_unit_test(test_queues_limit_wakes),
        cmocka_unit_test(test_resized_node),
        cmocka_unit_test(test_containers_of_an_attempt),
        cmocka_unit_test(test_deleted_queue),
        cmocka_unit_test(test_killed_once),
        cmocka_unit_test(test_a_rounds_part_of_each),
        cmocka_unit_test(test_same_priority_gives_nothing),
        cmocka_unit_test(test_user_keeps_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
