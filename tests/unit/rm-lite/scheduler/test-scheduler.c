/* rm-lite/scheduler/scheduler.h: heartbeats, priorities, locality, reservations, lost nodes, and
 * that the same events give the same decisions. Queues are test-rm-queues'. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rm-lite/scheduler-fixture.h"

/* ------------------------------------------------------------------- the basics */

static void test_default_queue(void **state)
{
    struct fix f;
    struct rm_queue_info q;

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    assert_int_equal(rm_sched_queue(f.s, "default", &q), 0);
    assert_string_equal(q.path, "root.default");
    assert_true(q.leaf && q.abs_capacity == 1.0 && q.max_apps == 10000);
    node(&f, 1, NULL, 8192, 8);
    assert_true(app(&f, 1, "ann", "default", 1024));
    /* One off-switch container a heartbeat is Hadoop's default. */
    ask(&f, 1, 1024, 5);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(f.d[0].priority, 0); /* the master first */
    assert_int_equal(f.d[0].container.id, 1);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(f.d[0].container.id, 2);
    fix_end(&f);
}

static void test_heartbeat_limits(void **state)
{
    struct fix f;

    (void)state;
    fix_conf(&f);
    set(&f, CS "per-node-heartbeat.maximum-offswitch-assignments", "100");
    set(&f, CS "per-node-heartbeat.maximum-container-assignments", "3");
    fix_start(&f);
    node(&f, 1, NULL, 65536, 64);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, 5);
    assert_int_equal(beat(&f, 1), 3);
    assert_int_equal(beat(&f, 1), 2);
    assert_int_equal(beat(&f, 1), 0);
    fix_end(&f);
}

static void test_absolute_numbers_and_release(void **state)
{
    struct fix f;
    struct rm_app_usage u;
    struct rm_sched_event done = { .type = RM_SCHED_CONTAINER_DONE };

    (void)state;
    fix_conf(&f);
    set(&f, CS "per-node-heartbeat.maximum-offswitch-assignments", "100");
    fix_start(&f);
    node(&f, 1, NULL, 4096, 8);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, 9);
    ask(&f, 1, 1024, 6); /* absolute: replaces */
    assert_int_equal(beat(&f, 1), 4);
    rm_sched_app_usage(f.s, app_id(1), &u);
    assert_int_equal(u.pending.mem, 2048);
    assert_int_equal(u.used.mem, 4096);
    assert_int_equal(u.headroom.mem, 0);
    done.container_done.container = (struct yarn_container_id){ { app_id(1), 1 }, 2 };
    assert_int_equal(go(&f, done), 0);
    assert_int_equal(go(&f, done), -ENOENT);
    assert_int_equal(beat(&f, 1), 1);
    ask(&f, 1, 1024, 0); /* takes the rest back */
    rm_sched_app_usage(f.s, app_id(1), &u);
    assert_int_equal(u.pending.mem, 0);
    /* A container that no master has seen goes back into the asks. */
    done.container_done.container.id = 3;
    done.container_done.put_ask_back = true;
    assert_int_equal(go(&f, done), 0);
    assert_int_equal(beat(&f, 1), 1);
    fix_end(&f);
}

static void test_priorities(void **state)
{
    struct fix f;

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    node(&f, 1, NULL, 65536, 64);
    app(&f, 1, "ann", "default", 0);
    app_prio(&f, 2, "ann", "default", 0, 5); /* later, but of higher priority */
    ask_full(&f, 1, 3, RM_ANY, 1024, 1, 1, true);
    ask_full(&f, 1, 2, RM_ANY, 2048, 1, 1, true);
    ask_full(&f, 2, 7, RM_ANY, 1024, 1, 1, true);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(f.d[0].app.id, 2);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(f.d[0].priority, 2); /* within an application the lower number is first */
    assert_int_equal(f.d[0].resource.mem, 2048);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(f.d[0].priority, 3);
    fix_end(&f);
}

/* One request with its rows in any order, then a row that changes and a new one between. */
static void test_order_of_asks(void **state)
{
    struct rm_ask rows[] = {
        { 5, -1, RM_ANY, { 1024, 1 }, 1, true }, { 1, -1, RM_ANY, { 1024, 1 }, 1, true },
        { 9, -1, RM_ANY, { 1024, 1 }, 1, true }, { 3, -1, RM_ANY, { 1024, 1 }, 1, true },
        { 3, 7, RM_ANY, { 1024, 1 }, 1, true },  { 1, -1, RM_ANY, { 4096, 1 }, 1, true },
    };
    static const int32_t want[] = { 1, 1, 3, 3, 4, 5, 9 };
    struct fix f;

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    node(&f, 1, NULL, 65536, 64);
    app(&f, 1, "ann", "default", 0);
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                                     .ask = { .app = app_id(1),
                                                              .asks = rows,
                                                              .n_asks = SV_ARRAY_LEN(rows) } }),
                     0);
    ask_full(&f, 1, 9, RM_ANY, 1024, 1, 1, true);
    ask_full(&f, 1, 4, RM_ANY, 1024, 1, 1, true);
    for (size_t i = 0; i < SV_ARRAY_LEN(want); i++) {
        assert_int_equal(beat(&f, 1), 1);
        assert_int_equal(f.d[0].priority, want[i]);
        if (i == 0)
            assert_int_equal(f.d[0].resource.mem, 4096); /* of the same priority the larger */
    }
    assert_int_equal(beat(&f, 1), 0);
    fix_end(&f);
}

static void test_normalize(void **state)
{
    struct fix f;
    struct rm_res r = { 1, 0 };

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    assert_int_equal(rm_sched_normalize(f.s, "default", &r), 0);
    assert_true(r.mem == 1024 && r.vcores == 1);
    r = (struct rm_res){ 1500, 2 };
    assert_int_equal(rm_sched_normalize(f.s, NULL, &r), 0);
    assert_true(r.mem == 2048 && r.vcores == 2);
    r = (struct rm_res){ 8193, 1 };
    assert_int_equal(rm_sched_normalize(f.s, "default", &r), -ERANGE);
    r = (struct rm_res){ -1, 1 };
    assert_int_equal(rm_sched_normalize(f.s, "default", &r), -ERANGE);
    fix_end(&f);
}

static void test_dominant_resource(void **state)
{
    struct fix f;

    (void)state;
    fix_conf(&f);
    set(&f, CS "per-node-heartbeat.maximum-offswitch-assignments", "100");
    fix_start(&f);
    node(&f, 1, NULL, 65536, 4);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, 10);
    assert_int_equal(beat(&f, 1), 4); /* vcores run out first */
    fix_end(&f);
    fix_conf(&f);
    set(&f, CS "resource-calculator",
        "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator");
    set(&f, CS "per-node-heartbeat.maximum-offswitch-assignments", "100");
    fix_start(&f);
    node(&f, 1, NULL, 65536, 4);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, 10);
    assert_int_equal(beat(&f, 1), 10); /* memory alone counts */
    fix_end(&f);
}

/* Twice the vcores of the other queue's containers: half as many. */
static void test_queues_by_dominant_share(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    fix_start(&f);
    node(&f, 1, NULL, 65536, 32);
    app(&f, 1, "ann", "a", 0);
    app(&f, 2, "bob", "b", 0);
    ask_full(&f, 1, 1, RM_ANY, 1024, 2, 100, true);
    ask(&f, 2, 1024, 100);
    assert_int_equal(beat(&f, 1), 24);
    assert_int_equal(count_app(&f, 1), 8);
    assert_int_equal(count_app(&f, 2), 16);
    fix_end(&f);
}

static void test_greedy_master(void **state)
{
    struct fix f;
    struct rm_app_usage u;
    int r = 0;

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, INT32_MAX);
    rm_sched_app_usage(f.s, app_id(1), &u);
    assert_int_equal(u.pending.mem, INT64_C(1024) * RM_MAX_ASK_COUNT);
    for (int i = 0; i <= RM_MAX_ASK_GROUPS && r == 0; i++) {
        struct rm_ask a = { .priority = -i,
                            .allocation_id = -1,
                            .name = RM_ANY,
                            .count = 1,
                            .capability = { 1024, 1 } };

        r = go(&f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                            .ask = { .app = app_id(1), .asks = &a, .n_asks = 1 } });
    }
    assert_int_equal(r, -E2BIG);
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED,
                                                     .app_removed = { .app = app_id(1) } }),
                     0);
    fix_end(&f);
}

/* --------------------------------------------------------------------- locality */

static void test_locality_delay(void **state)
{
    struct fix f;

    (void)state;
    fix_conf(&f);
    set(&f, CS "rack-locality-additional-delay", "10");
    fix_start(&f);
    for (int i = 1; i <= 4; i++)
        node(&f, i, i <= 2 ? "/r1" : "/r2", 8192, 8);
    app(&f, 1, "ann", "default", 0);
    ask_full(&f, 1, 1, "node1", 1024, 1, 10, true);
    ask_full(&f, 1, 1, "/r1", 1024, 1, 10, true);
    ask_full(&f, 1, 1, RM_ANY, 1024, 1, 10, true);
    /* Others wait: rack after min(nodes, 40) missed chances, any after min(nodes, 40 + 10). */
    for (int i = 0; i < 4; i++)
        assert_int_equal(beat(&f, 2), 0);
    assert_int_equal(beat(&f, 1), 8); /* as many as fit: no off-switch limit for these */
    assert_int_equal(f.d[7].locality, RM_NODE_LOCAL);
    for (int i = 0; i < 4; i++) /* a full node is no chance */
        assert_int_equal(beat(&f, 2), 0);
    assert_int_equal(beat(&f, 2), 1);
    assert_int_equal(f.d[0].locality, RM_RACK_LOCAL);
    fix_end(&f);
}

static void test_strict_locality_and_blacklist(void **state)
{
    struct fix f;
    const char *black[] = { "node2" };

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    node(&f, 1, "/r1", 8192, 8);
    node(&f, 2, "/r1", 8192, 8);
    app(&f, 1, "ann", "default", 0);
    ask_full(&f, 1, 1, "node1", 1024, 1, 1, true);
    ask_full(&f, 1, 1, "/r1", 1024, 1, 1, false);
    ask_full(&f, 1, 1, RM_ANY, 1024, 1, 1, false);
    for (int i = 0; i < 100; i++)
        assert_int_equal(beat(&f, 2), 0);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                                     .ask = { .app = app_id(1),
                                                              .blacklist_add = black,
                                                              .n_blacklist_add = 1 } }),
                     0);
    ask_full(&f, 1, 2, RM_ANY, 1024, 1, 1, true);
    assert_int_equal(beat(&f, 2), 0);
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                                     .ask = { .app = app_id(1),
                                                              .blacklist_remove = black,
                                                              .n_blacklist_remove = 1 } }),
                     0);
    assert_int_equal(beat(&f, 2), 1);
    fix_end(&f);
}

/* As in Hadoop, a host's row counts only beside its rack's. */
static void test_host_row_needs_the_racks(void **state)
{
    struct fix f;

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    node(&f, 1, "/r1", 8192, 8);
    app(&f, 1, "ann", "default", 0);
    ask_full(&f, 1, 1, "node1", 1024, 1, 2, true);
    ask_full(&f, 1, 1, RM_ANY, 1024, 1, 2, false);
    assert_int_equal(beat(&f, 1), 0);
    ask_full(&f, 1, 1, "/r1", 1024, 1, 1, true);
    assert_int_equal(beat(&f, 1), 1); /* which takes the rack's row with it */
    assert_int_equal(f.d[0].locality, RM_NODE_LOCAL);
    assert_int_equal(beat(&f, 1), 0);
    ask_full(&f, 1, 1, RM_ANY, 1024, 1, 1, true); /* relaxed: the host may be used, off-switch */
    for (int i = 0; i < 3 && f.n == 0; i++)
        beat(&f, 1);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.d[0].locality, RM_OFF_SWITCH);
    fix_end(&f);
}

/* Rows of one priority and name, but of two sizes, are two asks (docs/adr/0038). */
static void test_sizes_are_apart(void **state)
{
    struct fix f;
    struct rm_app_usage u;

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    node(&f, 1, NULL, 65536, 64);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, 3);
    ask(&f, 1, 2048, 2);
    rm_sched_app_usage(f.s, app_id(1), &u);
    assert_int_equal(u.pending.mem, 3 * 1024 + 2 * 2048);
    ask(&f, 1, 2048, 1); /* replaces the row of its own size */
    ask(&f, 1, 1024, 0);
    rm_sched_app_usage(f.s, app_id(1), &u);
    assert_int_equal(u.pending.mem, 2048);
    fix_end(&f);
}

/* --------------------------------------------------------------- reserve and lose */

static void test_reservation(void **state)
{
    struct fix f;
    struct rm_app_usage u;
    struct rm_sched_event done = { .type = RM_SCHED_CONTAINER_DONE };

    (void)state;
    fix_conf(&f);
    set(&f, CS "per-node-heartbeat.maximum-offswitch-assignments", "100");
    fix_start(&f);
    node(&f, 1, NULL, 8192, 64);
    node(&f, 2, NULL, 8192, 64); /* no heartbeat later: the queue has space, the node has not */
    app(&f, 1, "ann", "default", 0);
    app(&f, 2, "ann", "default", 0);
    ask(&f, 1, 1024, 7);
    assert_int_equal(beat(&f, 1), 7);
    ask(&f, 1, 4096, 1);
    assert_int_equal(beat(&f, 1), 0);
    assert_int_equal(f.d[0].type, RM_DECIDE_RESERVED);
    ask(&f, 2, 1024, 1); /* would fit, but the node is reserved for the first */
    assert_int_equal(beat(&f, 1), 0);
    rm_sched_app_usage(f.s, app_id(1), &u);
    assert_int_equal(u.reserved.mem, 4096);
    for (int i = 1; i <= 3; i++) {
        done.container_done.container = (struct yarn_container_id){ { app_id(1), 1 }, i };
        assert_int_equal(go(&f, done), 0);
    }
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(count_app(&f, 1), 1);
    rm_sched_app_usage(f.s, app_id(1), &u);
    assert_int_equal(u.reserved.mem, 0);
    assert_int_equal(u.used.mem, 8192);
    fix_end(&f);
}

static void test_node_lost(void **state)
{
    struct fix f;
    struct yarn_node_id id = node_id(1);
    struct rm_app_usage u;

    (void)state;
    fix_conf(&f);
    set(&f, CS "per-node-heartbeat.maximum-offswitch-assignments", "100");
    fix_start(&f);
    node(&f, 1, NULL, 4096, 64);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, 9);
    assert_int_equal(beat(&f, 1), 4);
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_NODE_REMOVED,
                                                     .node_removed = { .node = &id } }),
                     0);
    assert_int_equal(f.n, 4);
    assert_int_equal(f.d[3].type, RM_DECIDE_LOST);
    rm_sched_app_usage(f.s, app_id(1), &u);
    assert_int_equal(u.used.mem, 0);
    assert_int_equal(rm_sched_cluster(f.s).mem, 0);
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_NODE_HEARTBEAT,
                                                     .node_heartbeat = { .node = &id } }),
                     -ENOENT);
    fix_end(&f);
}

static void test_recovered_container(void **state)
{
    struct fix f;
    struct yarn_node_id id = node_id(1);
    struct rm_sched_event ev = { .type = RM_SCHED_CONTAINER_RECOVERED,
                                 .container_recovered = { .node = &id,
                                                          .resource = { 1024, 1 },
                                                          .container = { { { TS, 1 }, 1 }, 41 } } };

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    node(&f, 1, NULL, 8192, 64);
    assert_int_equal(go(&f, ev), -ENOENT);
    app(&f, 1, "ann", "default", 0);
    assert_int_equal(go(&f, ev), 0);
    assert_int_equal(go(&f, ev), -EEXIST);
    ask(&f, 1, 1024, 1);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(f.d[0].container.id, 42); /* numbers continue after it */
    fix_end(&f);
}

static void test_allocation_pass(void **state)
{
    struct fix f;
    size_t per_node[4] = { 0 };

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    for (int i = 1; i <= 3; i++)
        node(&f, i, NULL, 8192, 64);
    for (int i = 1; i <= 3; i++) {
        beat(&f, i);
        f.now += 3000; /* node 1 is 6 s old at the end, node 3 is fresh */
    }
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, 10);
    assert_int_equal(
        go(&f, (struct rm_sched_event){ .type = RM_SCHED_PASS, .pass = { .window_ms = 6500 } }), 0);
    for (size_t i = 0; i < f.n; i++)
        per_node[f.d[i].node.host[4] - '0']++;
    assert_int_equal(f.n, 10);
    assert_int_equal(per_node[1], 0); /* its heartbeat is too old */
    assert_int_equal(per_node[2], 5); /* the others take turns */
    assert_int_equal(per_node[3], 5);
    ask(&f, 1, 1024, 10); /* the others have room for six */
    assert_int_equal(
        go(&f, (struct rm_sched_event){ .type = RM_SCHED_PASS, .pass = { .window_ms = 6500 } }), 0);
    assert_int_equal(f.n, 6);
    assert_false(rm_sched_pass_waiting(f.s)); /* it does not wait for a silent node */
    assert_int_equal(beat(&f, 1), 1);         /* which gets the rest as it is heard again */
    fix_end(&f);
}

/* ----------------------------------------------------------------- determinism */

static uint32_t rnd(uint32_t *s)
{
    *s = *s * 1664525u + 1013904223u;
    return *s >> 8;
}

/* Plays 20,000 events made from a seed and folds every decision into a number. */
static uint64_t play(uint32_t seed)
{
    struct fix f;
    uint64_t sum = 14695981039346656037u;
    int next_app = 1;
    char host[16];

    two_queues(&f, "30", "70");
    set(&f, CS "per-node-heartbeat.maximum-offswitch-assignments", "3");
    fix_start(&f);
    for (int i = 1; i <= 20; i++)
        node(&f, i, i % 2 ? "/r1" : "/r2", 8192 + 1024 * (i % 5), 16);
    for (int k = 0; k < 20000; k++) {
        uint32_t what = rnd(&seed) % 100;
        int i = next_app > 1 ? (int)(rnd(&seed) % (uint32_t)(next_app - 1)) + 1 : 0;

        f.now += rnd(&seed) % 50;
        f.n = 0;
        (void)snprintf(host, sizeof(host), "node%u", rnd(&seed) % 20 + 1);
        if (what < 2 && next_app < 400) {
            app_prio(&f, next_app, next_app % 3 ? "ann" : "bob", next_app % 2 ? "a" : "b", 1024,
                     (int32_t)(rnd(&seed) % 3));
            next_app++;
        } else if (what < 30 && i) {
            struct rm_ask rows[3] = {
                { 1, -1, host, { 1024, 1 }, (int32_t)(rnd(&seed) % 4), true },
                { 1, -1, "/r1", { 1024, 1 }, (int32_t)(rnd(&seed) % 4), true },
                { 1, -1, RM_ANY, { 1024, 1 }, (int32_t)(rnd(&seed) % 8), true },
            };

            (void)go(&f, (struct rm_sched_event){
                             .type = RM_SCHED_ASK,
                             .ask = { .app = app_id(i), .asks = rows, .n_asks = 3 } });
        } else if (what < 55 && i) {
            (void)go(&f,
                     (struct rm_sched_event){
                         .type = RM_SCHED_CONTAINER_DONE,
                         .container_done = { .container = { { app_id(i), 1 }, rnd(&seed) % 20 + 1 },
                                             .put_ask_back = rnd(&seed) % 4 == 0 } });
        } else if (what < 75 && what > 55) {
            (void)go(&f, (struct rm_sched_event){ .type = RM_SCHED_PASS,
                                                  .pass = { .window_ms = 1000 } });
        } else if (what == 55 && i) {
            (void)go(&f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED,
                                                  .app_removed = { .app = app_id(i) } });
        } else {
            beat(&f, (int)(rnd(&seed) % 20) + 1);
        }
        for (size_t d = 0; d < f.n; d++)
            sum = (sum ^ (uint64_t)(f.d[d].type * 1000003 + f.d[d].app.id * 7919) ^
                   (uint64_t)(f.d[d].container.id * 31 + f.d[d].node.host[4])) *
                  1099511628211u;
    }
    fix_end(&f);
    return sum;
}

static void test_deterministic(void **state)
{
    (void)state;
    assert_true(play(1) == play(1));
    assert_true(play(77) == play(77));
    assert_true(play(1) != play(2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_queue),
        cmocka_unit_test(test_heartbeat_limits),
        cmocka_unit_test(test_absolute_numbers_and_release),
        cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_order_of_asks),
        cmocka_unit_test(test_normalize),
        cmocka_unit_test(test_dominant_resource),
        cmocka_unit_test(test_queues_by_dominant_share),
        cmocka_unit_test(test_greedy_master),
        cmocka_unit_test(test_locality_delay),
        cmocka_unit_test(test_strict_locality_and_blacklist),
        cmocka_unit_test(test_host_row_needs_the_racks),
        cmocka_unit_test(test_sizes_are_apart),
        cmocka_unit_test(test_reservation),
        cmocka_unit_test(test_node_lost),
        cmocka_unit_test(test_recovered_container),
        cmocka_unit_test(test_allocation_pass),
        cmocka_unit_test(test_deterministic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
