/* rm-lite/scheduler/allocation-pass.c: cost of an allocation pass, in nodes visited and decisions,
 * on 100 nodes and on 10,000. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/scheduler/scheduler-impl.h"
#include "tests/unit/rm-lite/scheduler-fixture.h"

#define FEW 100
#define MANY 10000

struct cost {
    int64_t nodes, apps, groups;
    size_t given, events;
};

/* Rounds until none is waiting; every event keeps to its bounds. */
static struct cost passes(struct fix *f)
{
    struct rm_sched_counts a = rm_sched_counts(f->s), b;
    struct cost c = { 0 };
    int64_t last = a.nodes_visited;

    while (rm_sched_pass_waiting(f->s)) {
        assert_int_equal(
            go(f, (struct rm_sched_event){ .type = RM_SCHED_PASS, .pass = { .window_ms = 1000 } }),
            0);
        assert_true(f->n <= RM_TURN_DECISIONS);
        b = rm_sched_counts(f->s);
        assert_true(b.nodes_visited - last <= RM_TURN_NODES);
        last = b.nodes_visited;
        for (size_t i = 0; i < f->n; i++)
            c.given += f->d[i].type == RM_DECIDE_ALLOCATED;
        c.events++;
    }
    b = rm_sched_counts(f->s);
    c.nodes = b.nodes_visited - a.nodes_visited;
    c.apps = b.apps_tried - a.apps_tried;
    c.groups = b.groups_tried - a.groups_tried;
    return c;
}

static void cluster(struct fix *f, int nodes, int64_t mem)
{
    fix_start(f);
    for (int i = 1; i <= nodes; i++) {
        node(f, i, i % 2 ? "/r1" : "/r2", mem, 64);
        beat(f, i);
    }
}

/* A container ends while the cluster is full and others wait: its node is visited, no other. */
static struct cost end_on_full_cluster(int nodes)
{
    struct fix f;
    struct cost c;

    fix_conf(&f);
    cluster(&f, nodes, 2048);
    app(&f, 1, "ann", "default", 0);
    app(&f, 2, "ann", "default", 0);
    ask(&f, 1, 1024, nodes * 2);
    assert_int_equal(passes(&f).given, nodes * 2);
    ask(&f, 2, 1024, 1000);
    assert_int_equal(passes(&f).given, 0);
    container_done(&f, 1, 17);
    c = passes(&f);
    assert_int_equal(c.given, 1);
    fix_end(&f);
    return c;
}

/* All nodes have free resources, but pending asks name a full host: strict, or not yet relaxed. */
static struct cost end_with_host_asks(int nodes)
{
    struct fix f;
    struct cost c;

    fix_conf(&f);
    cluster(&f, nodes, 4096);
    app(&f, 1, "ann", "default", 0);
    app(&f, 2, "ann", "default", 0);
    ask_full(&f, 1, 1, "node7", 1024, 1, 4, true);
    ask_full(&f, 1, 1, "/r1", 1024, 1, 4, true);
    ask_full(&f, 1, 1, RM_ANY, 1024, 1, 4, true);
    assert_int_equal(passes(&f).given, 4);
    for (int p = 1; p <= 50; p++) {
        ask_full(&f, 2, p, "node7", 1024, 1, 1, true);
        ask_full(&f, 2, p, "/r1", 1024, 1, 1, p % 2);
        ask_full(&f, 2, p, RM_ANY, 1024, 1, 1, p % 2);
    }
    assert_int_equal(passes(&f).given, 0);
    container_done(&f, 1, 2);
    c = passes(&f);
    assert_int_equal(c.given, 1);
    fix_end(&f);
    return c;
}

/* An ask by name on an empty cluster. */
static struct cost ask_for_host(int nodes)
{
    struct fix f;
    struct cost c;

    fix_conf(&f);
    cluster(&f, nodes, 8192);
    app(&f, 1, "ann", "default", 0);
    ask_full(&f, 1, 1, "node7", 1024, 1, 3, true);
    ask_full(&f, 1, 1, "/r1", 1024, 1, 3, true);
    ask_full(&f, 1, 1, RM_ANY, 1024, 1, 3, true);
    c = passes(&f);
    assert_int_equal(c.given, 3);
    fix_end(&f);
    return c;
}

/* All nodes have free capacity, a queue is at its maximum: an end gives it one more, and no walk.
 */
static struct cost end_below_queue_limit(int nodes)
{
    struct fix f;
    struct cost c;

    two_queues(&f, "50", "50");
    set(&f, CS "root.a.maximum-capacity", "50");
    set(&f, CS "per-node-heartbeat.maximum-offswitch-assignments", "1");
    cluster(&f, nodes, 2048);
    app(&f, 1, "ann", "a", 0);
    ask(&f, 1, 1024, nodes * 2);
    assert_int_equal(passes(&f).given, nodes);
    container_done(&f, 1, 9);
    c = passes(&f);
    assert_int_equal(c.given, 1);
    fix_end(&f);
    return c;
}

static void test_an_end_visits_its_node(void **state)
{
    (void)state;
    for (int nodes = FEW; nodes <= MANY; nodes *= 100) {
        assert_true(end_on_full_cluster(nodes).nodes <= 2);
        assert_true(end_with_host_asks(nodes).nodes <= 4);
        assert_true(end_with_host_asks(nodes).groups <= 4 * 50);
        assert_true(ask_for_host(nodes).nodes <= 8);
        assert_true(end_below_queue_limit(nodes).nodes <= 4);
    }
}

/* Nodes that are full are not visited at all; those with free capacity once for each container, and
 * once more to see that nothing fits. */
static void test_a_scan_visits_nodes_with_free_capacity(void **state)
{
    struct fix f;
    struct cost c;

    (void)state;
    fix_conf(&f);
    cluster(&f, MANY, 1024);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, MANY - 10);
    c = passes(&f);
    assert_int_equal(c.given, MANY - 10);
    assert_true(c.nodes <= MANY);
    ask(&f, 1, 1024, 4);
    c = passes(&f);
    assert_int_equal(c.given, 4);
    assert_true(c.nodes <= 5);
    ask(&f, 1, 1024, 7);
    c = passes(&f);
    assert_int_equal(c.given, 6);
    assert_true(c.nodes <= 7);
    fix_end(&f);
}

/* One greedy ask is cut into turns, between which others get their share. */
static void test_a_turn_has_an_end(void **state)
{
    struct fix f;
    struct cost c;

    (void)state;
    two_queues(&f, "50", "50");
    cluster(&f, MANY, 65536);
    app(&f, 1, "ann", "a", 0);
    ask(&f, 1, 1024, RM_MAX_ASK_COUNT);
    assert_int_equal(
        go(&f, (struct rm_sched_event){ .type = RM_SCHED_PASS, .pass = { .window_ms = 1000 } }), 0);
    assert_true(f.n > 0 && f.n <= RM_TURN_DECISIONS);
    assert_true(rm_sched_pass_waiting(f.s));
    app(&f, 2, "bob", "b", 0);
    ask(&f, 2, 1024, 5);
    assert_int_equal(
        go(&f, (struct rm_sched_event){ .type = RM_SCHED_PASS,
                                        .pass = { .window_ms = 1000, .max_decisions = 20 } }),
        0);
    assert_true(f.n <= 20);
    assert_int_equal(count_app(&f, 2), 5);
    c = passes(&f);
    assert_true(c.events >= (size_t)MANY * 64 / RM_TURN_DECISIONS - 2);
    assert_true(c.given > (size_t)MANY * 63);
    fix_end(&f);
}

/* A master with thousands of different asks that fit nowhere: few nodes are visited in a turn. */
static void test_a_turn_of_many_asks(void **state)
{
    struct fix f;
    struct cost c;

    (void)state;
    fix_conf(&f);
    cluster(&f, FEW, 4096);
    f.s->walk_all = true; /* without the index by host, which finds at once that none is for here */
    app(&f, 1, "ann", "default", 0);
    app(&f, 2, "ann", "default", 0);
    ask(&f, 2, 1024, FEW);
    assert_int_equal(passes(&f).given, FEW);
    for (int p = 1; p <= 4000; p++) {
        ask_full(&f, 1, p, "elsewhere", 1024, 1, 1, true);
        ask_full(&f, 1, p, RM_ANY, 1024, 1, 1, false);
    }
    (void)passes(&f);
    for (int k = 1; k <= FEW; k++)
        container_done(&f, 2, k);
    c = passes(&f);
    assert_int_equal(c.nodes, FEW);
    assert_true(c.events >= (size_t)FEW * 4000 / (RM_TURN_ASKS + 4000));
    fix_end(&f);
}

/* A container that ends costs nothing for the applications that wait for other hosts. */
static void test_applications_that_wait_for_hosts(void **state)
{
    struct rm_sched_counts before;
    struct fix f;

    (void)state;
    fix_conf(&f);
    cluster(&f, FEW, 4096);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, FEW);
    assert_int_equal(passes(&f).given, FEW);
    for (int i = 2; i <= 101; i++) {
        app(&f, i, "ann", "default", 0);
        ask_full(&f, i, 1, i == 101 ? "node1" : "elsewhere", 1024, 1, 1, true);
        ask_full(&f, i, 1, "/default-rack", 1024, 1, 1, true);
        ask_full(&f, i, 1, RM_ANY, 1024, 1, 1, true);
    }
    (void)passes(&f);
    before = rm_sched_counts(f.s);
    for (int k = 1; k <= FEW; k++)
        container_done(&f, 1, k);
    (void)passes(&f);
    assert_true(rm_sched_counts(f.s).apps_tried - before.apps_tried <= 2);
    fix_end(&f);
}

/* Nobody waits for an ask by name that may not go anywhere else until its node has free capacity.
 */
static void test_nothing_to_do(void **state)
{
    struct fix f;

    (void)state;
    fix_conf(&f);
    cluster(&f, FEW, 4096);
    app(&f, 1, "ann", "default", 0);
    assert_false(rm_sched_pass_waiting(f.s));
    ask_full(&f, 1, 1, "elsewhere", 1024, 1, 1, true);
    ask_full(&f, 1, 1, RM_ANY, 1024, 1, 1, false);
    assert_int_equal(passes(&f).given, 0);
    assert_false(rm_sched_pass_waiting(f.s));
    fix_end(&f);
}

/* A visit in a pass allocates as much as one heartbeat: 8 containers on 3 idle nodes. */
static void test_a_visit_keeps_the_heartbeats_limits(void **state)
{
    static const struct {
        const char *offswitch, *containers;
        size_t per_node[4];
    } rows[] = {
        { "1", "100", { 0, 3, 3, 2 } },
        { "100", "2", { 0, 4, 2, 2 } },
        { "3", "100", { 0, 3, 3, 2 } },
        { "100", "100", { 0, 8, 0, 0 } },
    };

    (void)state;
    for (size_t k = 0; k < SV_ARRAY_LEN(rows); k++) {
        size_t per_node[4] = { 0 };
        struct fix f;

        fix_conf(&f);
        set(&f, CS "per-node-heartbeat.maximum-offswitch-assignments", rows[k].offswitch);
        set(&f, CS "per-node-heartbeat.maximum-container-assignments", rows[k].containers);
        cluster(&f, 3, 16384);
        app(&f, 1, "ann", "default", 0);
        ask(&f, 1, 1024, 8);
        while (rm_sched_pass_waiting(f.s)) {
            assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_PASS,
                                                             .pass = { .window_ms = 1000 } }),
                             0);
            for (size_t i = 0; i < f.n; i++)
                per_node[f.d[i].node.host[4] - '0']++;
        }
        assert_memory_equal(per_node, rows[k].per_node, sizeof(per_node));
        fix_end(&f);
    }
}

/* Its free capacity is kept; that of the nodes behind it is not. */
static void test_a_scan_goes_on_after_a_reserved_node(void **state)
{
    struct fix f;

    (void)state;
    fix_conf(&f);
    cluster(&f, 2, 4096);
    node(&f, 3, NULL, 8192, 64); /* never heard of: the queue has space */
    app(&f, 1, "ann", "default", 0);
    app(&f, 2, "ann", "default", 0);
    ask(&f, 1, 3072, 1);
    assert_int_equal(beat(&f, 1), 1);
    ask(&f, 1, 1024, 1);
    assert_int_equal(beat(&f, 2), 1);
    ask_full(&f, 1, 1, RM_ANY, 4096, 1, 1, true);
    beat(&f, 1);
    assert_non_null(f.s->node_list->reserved_app);
    (void)passes(&f);
    f.s->cursor = f.s->node_list;
    ask(&f, 2, 1024, 1);
    assert_int_equal(passes(&f).given, 1);
    assert_int_equal(f.s->node_list->n_containers, 1);
    fix_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_end_visits_its_node),
        cmocka_unit_test(test_a_scan_visits_nodes_with_free_capacity),
        cmocka_unit_test(test_a_scan_goes_on_after_a_reserved_node),
        cmocka_unit_test(test_a_turn_has_an_end),
        cmocka_unit_test(test_a_turn_of_many_asks),
        cmocka_unit_test(test_applications_that_wait_for_hosts),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_a_visit_keeps_the_heartbeats_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
