/* Places, order, asks, allocation passes and nodes at their exact limits: written for faults of
 * tests/mutants/scheduler.faults that the other tests did not notice. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/scheduler/scheduler-impl.h"
#include "tests/unit/rm-lite/scheduler-fixture.h"

static void test_blacklisted_rack(void **state)
{
    const char *racks[] = { "/r1" };
    struct fix *f = *state;

    fix_start(f);
    node(f, 1, "/r1", 8192, 8);
    node(f, 2, "/r2", 8192, 8);
    app(f, 1, "ann", "default", 0);
    ask(f, 1, 1024, 1);
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                                    .ask = { .app = app_id(1),
                                                             .blacklist_add = racks,
                                                             .n_blacklist_add = 1 } }),
                     0);
    assert_int_equal(beat(f, 1), 0);
    assert_int_equal(beat(f, 2), 1);
}

/* With one named host of three nodes and three containers, any node after min(3, 3 * 1/3) chances.
 */
static void test_delay_for_any_node(void **state)
{
    struct fix *f = *state;

    fix_start(f);
    for (int i = 1; i <= 3; i++)
        node(f, i, i < 3 ? "/r1" : "/r2", 8192, 8);
    app(f, 1, "ann", "default", 0);
    ask_full(f, 1, 1, "node1", 1024, 1, 3, true);
    ask_full(f, 1, 1, RM_ANY, 1024, 1, 3, true);
    assert_int_equal(beat(f, 3), 0); /* the first chance: one is not more than one */
    assert_true(beat(f, 3) > 0);
}

static void test_more_asked_waits_anew(void **state)
{
    struct fix *f = *state;

    set(f, CS "node-locality-delay", "2");
    set(f, CS "rack-locality-additional-delay", "10");
    fix_start(f);
    for (int i = 1; i <= 4; i++)
        node(f, i, "/r1", 8192, 8);
    app(f, 1, "ann", "default", 0);
    for (int count = 1; count <= 2; count++) {
        ask_full(f, 1, 1, "node1", 1024, 1, count, true);
        ask_full(f, 1, 1, "/r1", 1024, 1, count, true);
        ask_full(f, 1, 1, RM_ANY, 1024, 1, count, true);
        assert_int_equal(beat(f, 2), 0);
        assert_int_equal(beat(f, 2), 0);
    }
    assert_true(beat(f, 2) > 0);
}

static void test_older_first(void **state)
{
    struct fix *f = *state;

    fix_start_with(f, 1024, "default");
    app(f, 2, "ann", "default", 0);
    ask(f, 2, 1024, 1);
    ask(f, 1, 1024, 1);
    assert_int_equal(beat(f, 1), 1);
    assert_int_equal(count_app(f, 1), 1);
}

static int ask_id(struct fix *f, int64_t id, const char *name)
{
    struct rm_ask a = { .priority = 1,
                        .allocation_id = id,
                        .name = name,
                        .count = 1,
                        .relax = true,
                        .capability = { 1024, 1 } };

    return go(f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                          .ask = { .app = app_id(1), .asks = &a, .n_asks = 1 } });
}

static void test_numbers_of_asks(void **state)
{
    struct fix *f = *state;

    fix_start(f);
    app(f, 1, "ann", "default", 0);
    for (int i = 0; i < RM_MAX_ASK_GROUPS; i++)
        assert_int_equal(ask_id(f, i, RM_ANY), 0);
    assert_int_equal(ask_id(f, RM_MAX_ASK_GROUPS, RM_ANY), -E2BIG);
    for (int i = 0; i < RM_MAX_ASK_ROWS; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "h%d", i / 1000);
        assert_int_equal(ask_id(f, i % 1000, name), 0);
    }
    assert_int_equal(ask_id(f, 0, "other"), -E2BIG);
    assert_int_equal(ask_id(f, 0, "h1"), 0); /* there already */
}

/* A node whose reservation is given back is visited by the next allocation pass. */
static void test_pass_after_a_reservation(void **state)
{
    struct fix *f = *state;

    fix_start(f);
    node(f, 1, NULL, 4096, 16);
    node(f, 2, NULL, 2048, 16); /* which the queue has left while node 1 has too little */
    for (int i = 1; i <= 3; i++)
        app(f, i, "ann", "default", 0);
    ask(f, 1, 3072, 1);
    assert_int_equal(beat(f, 1), 1);
    ask(f, 2, 2048, 1);
    assert_int_equal(beat(f, 1), 0);
    assert_int_equal(app_usage(f, 2).reserved.mem, 2048);
    ask(f, 3, 1024, 1);
    while (rm_sched_pass_waiting(f->s))
        assert_int_equal(allocation_pass(f), 0);
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED,
                                                    .app_removed = { .app = app_id(2) } }),
                     0);
    assert_int_equal(allocation_pass(f), 1);
}

/* A scan goes on to a node with free capacity, and reserves none before. */
static void test_scan_reserves_nothing(void **state)
{
    struct fix *f = *state;

    fix_start(f);
    node(f, 1, NULL, 4096, 16);
    node(f, 2, NULL, 4096, 16);
    app(f, 1, "ann", "default", 0);
    ask(f, 1, 3072, 1);
    assert_int_equal(beat(f, 1), 1);
    beat(f, 2);
    ask(f, 1, 2048, 1);
    for (int i = 0; i < 2 && rm_sched_pass_waiting(f->s); i++) {
        (void)allocation_pass(f);
        for (size_t k = 0; k < f->n; k++)
            assert_int_equal(f->d[k].type, RM_DECIDE_ALLOCATED);
    }
    assert_int_equal(app_used(f, 1), 5120);
}

/* A node that takes no containers is not among those that a scan visits. */
static void test_scan_leaves_out_closed_nodes(void **state)
{
    struct rm_sched_counts before, after;
    struct yarn_node_id id = node_id(1);
    struct fix *f = *state;

    fix_start(f);
    node(f, 1, NULL, 4096, 16);
    beat(f, 1);
    assert_int_equal(
        go(f, (struct rm_sched_event){ .type = RM_SCHED_NODE_SCHEDULABLE,
                                       .node_schedulable = { .node = &id, .schedulable = false } }),
        0);
    app(f, 1, "ann", "default", 0);
    ask(f, 1, 1024, 1);
    before = rm_sched_counts(f->s);
    assert_int_equal(allocation_pass(f), 0);
    after = rm_sched_counts(f->s);
    assert_int_equal(after.nodes_visited, before.nodes_visited);
}

static void test_resized_node(void **state)
{
    struct yarn_node_id id = node_id(1);
    struct fix *f = *state;

    fix_start(f);
    node(f, 1, NULL, 4096, 16);
    assert_int_equal(
        go(f, (struct rm_sched_event){ .type = RM_SCHED_NODE_RESIZED,
                                       .node_resized = { .node = &id, .total = { 8192, 32 } } }),
        0);
    assert_int_equal(rm_sched_cluster(f->s).mem, 8192);
    assert_int_equal(rm_sched_cluster(f->s).vcores, 32);
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
        assert_int_equal(
            go(&f, (struct rm_sched_event){ .type = RM_SCHED_ATTEMPT_REMOVED,
                                            .attempt_removed = { .app = app_id(1),
                                                                 .keep_containers = keep } }),
            0);
        assert_int_equal(app_used(&f, 1), keep ? 2048 : 0);
        fix_end(&f);
    }
}

static void test_deleted_queue(void **state)
{
    struct sv_conf *conf = sv_conf_new();
    struct sv_error err = { 0 };
    struct fix *f = *state;

    fix_start(f);
    assert_int_equal(sv_conf_set(conf, CS "root.queues", "b"), 0);
    assert_int_equal(sv_conf_set(conf, CS "root.b.capacity", "100"), 0);
    assert_int_equal(reconfigure(f, conf, &err), -EBUSY); /* without applications, but it runs */
    assert_non_null(strstr(err.text, "root.a is deleted"));
    sv_conf_free(conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE_QUEUE(test_blacklisted_rack),      ONE_QUEUE(test_delay_for_any_node),
        ONE_QUEUE(test_more_asked_waits_anew), ONE_QUEUE(test_older_first),
        ONE_QUEUE(test_numbers_of_asks),       ONE_QUEUE(test_pass_after_a_reservation),
        ONE_QUEUE(test_scan_reserves_nothing), ONE_QUEUE(test_scan_leaves_out_closed_nodes),
        ONE_QUEUE(test_resized_node),          cmocka_unit_test(test_containers_of_an_attempt),
        TWO_QUEUES(test_deleted_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
