/* rm-lite/scheduler/scheduler.h: the CapacityScheduler's rules of queues: shares, weights, maxima,
 * users, admission, refreshing, and configurations that are refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rm-lite/scheduler-fixture.h"

static void test_shares(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "75", "25");
    fix_start(&f);
    node(&f, 1, NULL, 16384, 64);
    app(&f, 1, "ann", "a", 0);
    app(&f, 2, "bob", "b", 0);
    ask(&f, 1, 1024, 100);
    ask(&f, 2, 1024, 100);
    assert_int_equal(beat(&f, 1), 16);
    assert_int_equal(count_app(&f, 1), 12); /* the queue furthest below its share is next */
    assert_int_equal(count_app(&f, 2), 4);
    fix_end(&f);
}

static void test_weights_and_absolute(void **state)
{
    struct fix f;
    struct rm_queue_info q;

    (void)state;
    two_queues(&f, "3w", "1w");
    fix_start(&f);
    node(&f, 1, NULL, 16384, 64);
    assert_int_equal(rm_sched_queue(f.s, "root.a", &q), 0);
    assert_true(q.abs_capacity == 0.75 && q.effective_min.mem == 12288);
    fix_end(&f);
    two_queues(&f, "[memory=4096,vcores=8]", "[memory=12288,vcores=24]");
    fix_start(&f);
    node(&f, 1, NULL, 8192, 64); /* half of the absolute capacities */
    assert_int_equal(rm_sched_queue(f.s, "root.b", &q), 0);
    assert_int_equal(q.effective_min.mem, 6144);
    assert_int_equal(q.effective_min.vcores, 24);
    fix_end(&f);
}

/* The limit depends on the free resources of the parent: a container that ends in another queue
 * lets a master start here. */
static void test_masters_share_grows(void **state)
{
    struct rm_app_usage u;
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "maximum-am-resource-percent", "0.1");
    fix_start(&f);
    node(&f, 1, NULL, 20480, 64);
    app(&f, 9, "bob", "b", 0);
    ask(&f, 9, 1024, 19);
    assert_int_equal(beat(&f, 1), 19);
    app(&f, 1, "ann", "a", 1024);
    app(&f, 2, "ann", "a", 1024);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(rm_sched_app_usage(f.s, app_id(2), &u), 0);
    assert_false(u.active);
    for (int64_t k = 1; k <= 19; k++)
        assert_int_equal(go(&f,
                            (struct rm_sched_event){
                                .type = RM_SCHED_CONTAINER_DONE,
                                .container_done = { .container = { { app_id(9), 1 }, k } } }),
                         0);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(count_app(&f, 2), 1);
    fix_end(&f);
}

static void test_elastic_and_maximum(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "root.b.maximum-capacity", "60");
    fix_start(&f);
    node(&f, 1, NULL, 10240, 64);
    app(&f, 1, "bob", "b", 0);
    ask(&f, 1, 1024, 100);
    assert_int_equal(beat(&f, 1), 6); /* beyond its 5, up to its maximum */
    app(&f, 2, "ann", "a", 0);
    ask(&f, 2, 1024, 100);
    assert_int_equal(beat(&f, 1), 4);
    fix_end(&f);
}

static void test_user_limit(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "user-limit-factor", "1");
    fix_start(&f);
    node(&f, 1, NULL, 16384, 64);
    app(&f, 1, "ann", "a", 0);
    ask(&f, 1, 1024, 100);
    /* factor 1: one user stops at the queue's capacity (and one container, as in Hadoop) */
    assert_in_range(beat(&f, 1), 8, 9);
    fix_end(&f);
    two_queues(&f, "50", "50");
    set(&f, CS "root.a.minimum-user-limit-percent", "50");
    fix_start(&f);
    node(&f, 1, NULL, 16384, 64);
    app(&f, 1, "ann", "a", 0);
    app(&f, 2, "bob", "a", 0);
    ask(&f, 1, 1024, 100);
    ask(&f, 2, 1024, 100);
    beat(&f, 1);
    assert_in_range(count_app(&f, 1), 7, 9); /* two users share it */
    assert_in_range(count_app(&f, 2), 7, 9);
    fix_end(&f);
}

static void test_admission(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "root.a.maximum-applications", "1");
    set(&f, CS "root.b.state", "STOPPED");
    fix_start(&f);
    assert_false(app(&f, 1, "ann", "c", 0));
    assert_non_null(strstr(f.d[0].text, "submitted by user ann to unknown queue: c"));
    assert_false(app(&f, 2, "ann", "root", 0));
    assert_non_null(strstr(f.d[0].text, "to non-leaf queue: root"));
    assert_false(app(&f, 3, "ann", "b", 0));
    assert_non_null(strstr(f.d[0].text, "Queue root.b is STOPPED. Cannot accept submission"));
    assert_true(app(&f, 4, "ann", "root.a", 0));
    assert_false(app(&f, 5, "ann", "a", 0));
    assert_non_null(strstr(f.d[0].text, "Queue root.a already has 1 applications"));
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED,
                                                     .app_removed = { .app = app_id(4) } }),
                     0);
    assert_true(app(&f, 6, "ann", "a", 0));
    fix_end(&f);
}

static void test_master_limit(void **state)
{
    struct fix f;
    struct rm_app_usage u;

    (void)state;
    fix_conf(&f);
    set(&f, CS "maximum-am-resource-percent", "0.1");
    set(&f, CS "per-node-heartbeat.maximum-offswitch-assignments", "100");
    fix_start(&f);
    node(&f, 1, NULL, 10240, 64);
    app(&f, 1, "ann", "default", 4096); /* far above 10 %, but one may always start */
    app(&f, 2, "ann", "default", 1024);
    rm_sched_app_usage(f.s, app_id(1), &u);
    assert_true(u.active);
    rm_sched_app_usage(f.s, app_id(2), &u);
    assert_false(u.active);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED,
                                                     .app_removed = { .app = app_id(1) } }),
                     0);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.d[0].type, RM_DECIDE_ORPHANED);
    rm_sched_app_usage(f.s, app_id(2), &u);
    assert_true(u.active);
    assert_int_equal(beat(&f, 1), 1);
    fix_end(&f);
}

static void test_refresh(void **state)
{
    struct fix f;
    struct sv_conf *conf;
    struct sv_error err = { 0 };
    struct rm_app_usage u;
    struct rm_queue_info q;

    (void)state;
    two_queues(&f, "50", "50");
    fix_start(&f);
    node(&f, 1, NULL, 10240, 64);
    app(&f, 1, "ann", "a", 0);
    ask(&f, 1, 1024, 100);
    assert_int_equal(beat(&f, 1), 10);
    conf = sv_conf_new();
    assert_int_equal(sv_conf_set(conf, CS "root.queues", "b"), 0);
    assert_int_equal(sv_conf_set(conf, CS "root.b.capacity", "100"), 0);
    assert_true(reconfigure(&f, conf, &err) < 0); /* a still runs */
    assert_non_null(strstr(err.text, "root.a is deleted"));
    sv_conf_free(conf);
    set(&f, CS "root.a.capacity", "40");
    set(&f, CS "root.b.capacity", "61");
    assert_true(reconfigure(&f, f.conf, &err) < 0); /* 101 % */
    set(&f, CS "root.b.capacity", "60");
    set(&f, CS "root.a.state", "STOPPED");
    assert_int_equal(reconfigure(&f, f.conf, &err), 0);
    assert_int_equal(rm_sched_queue(f.s, "a", &q), 0);
    assert_int_equal(q.state, RM_QUEUE_DRAINING);
    assert_int_equal(q.used.mem, 10240);
    rm_sched_app_usage(f.s, app_id(1), &u);
    assert_string_equal(u.queue_path, "root.a");
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED,
                                                     .app_removed = { .app = app_id(1) } }),
                     0);
    assert_int_equal(rm_sched_queue(f.s, "a", &q), 0);
    assert_int_equal(q.state, RM_QUEUE_STOPPED);
    assert_int_equal(q.used.mem, 0);
    fix_end(&f);
}

/* An ApplicationMaster that waits for the queue's share of them starts when a refresh raises it. */
static void test_refresh_starts_waiting(void **state)
{
    struct fix f;
    struct sv_error err = { 0 };
    struct rm_app_usage u;

    (void)state;
    fix_conf(&f);
    set(&f, CS "maximum-am-resource-percent", "0.1");
    fix_start(&f);
    node(&f, 1, NULL, 10240, 64);
    beat(&f, 1);
    app(&f, 1, "ann", "default", 1024);
    app(&f, 2, "ann", "default", 1024);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(beat(&f, 1), 0);
    rm_sched_app_usage(f.s, app_id(2), &u);
    assert_false(u.active);
    set(&f, CS "maximum-am-resource-percent", "0.5");
    assert_int_equal(reconfigure(&f, f.conf, &err), 0);
    rm_sched_app_usage(f.s, app_id(2), &u);
    assert_true(u.active);
    assert_true(rm_sched_pass_waiting(f.s)); /* at once: no heartbeat is needed */
    assert_int_equal(
        go(&f, (struct rm_sched_event){ .type = RM_SCHED_PASS, .pass = { .window_ms = 1000 } }), 0);
    assert_int_equal(count_app(&f, 2), 1);
    /* The maximum known to masters is unchanged. */
    set(&f, "yarn.scheduler.maximum-allocation-mb", "4096");
    assert_true(reconfigure(&f, f.conf, &err) < 0);
    assert_non_null(strstr(err.text, "root.default: its maximum allocation would decrease"));
    fix_end(&f);
}

static void test_bad_configuration(void **state)
{
    static const struct {
        const char *key, *value;
    } bad[] = {
        { CS "root.a.capacity", "49" },
        { CS "root.a.capacity", "150" },
        { CS "root.a.capacity", "3w" },
        { CS "root.a.capacity", "[memory=x]" },
        { CS "root.a.maximum-capacity", "10" },
        { CS "root.a.state", "BROKEN" },
        { CS "root.a.minimum-user-limit-percent", "0" },
        { CS "resource-calculator", "my.own.Calculator" },
        { "yarn.scheduler.minimum-allocation-mb", "999999" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        struct fix f;
        struct sv_error err = { 0 };

        two_queues(&f, "50", "50");
        set(&f, bad[i].key, bad[i].value);
        assert_true(rm_sched_new(f.conf, 0, &f.s, &err) < 0);
        assert_true(err.text[0] != 0);
        f.s = NULL;
        fix_end(&f);
    }
}

/* Without priority-utilization a queue's priority orders nothing: of equal queues the first. */
static void test_priority_without_its_policy(void **state)
{
    struct fix f;

    (void)state;
    for (int k = 0; k < 2; k++) {
        two_queues(&f, "50", "50");
        set(&f, CS "root.b.priority", "7");
        set(&f, CS "per-node-heartbeat.maximum-offswitch-assignments", "1");
        if (k)
            set(&f, CS "root.ordering-policy", "priority-utilization");
        fix_start(&f);
        node(&f, 1, NULL, 65536, 64);
        app(&f, 1, "ann", "a", 0);
        app(&f, 2, "bob", "b", 0);
        ask(&f, 1, 1024, 9);
        ask(&f, 2, 1024, 9);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(beat(&f, 1), 1);
            assert_int_equal(f.d[0].app.id, k || i % 2 ? 2 : 1);
        }
        fix_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_priority_without_its_policy),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_weights_and_absolute),
        cmocka_unit_test(test_masters_share_grows),
        cmocka_unit_test(test_elastic_and_maximum),
        cmocka_unit_test(test_user_limit),
        cmocka_unit_test(test_admission),
        cmocka_unit_test(test_master_limit),
        cmocka_unit_test(test_refresh),
        cmocka_unit_test(test_refresh_starts_waiting),
        cmocka_unit_test(test_bad_configuration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
