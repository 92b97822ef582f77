/* rm-lite/scheduler/resource-types.c, and the scheduler with yarn.io/gpu beside memory and vcores.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/yarn.pb-c.h"
#include "tests/unit/rm-lite/scheduler-fixture.h"

#define TYPES "yarn.resource-types"
#define GPU "yarn.io/gpu"

static void node_with(struct fix *f, int i, struct rm_res total)
{
    struct yarn_node_id id = node_id(i);

    assert_int_equal(
        go(f, (struct rm_sched_event){ .type = RM_SCHED_NODE_ADDED,
                                       .node_added = { .node = &id, .total = total } }),
        0);
}

static void ask_gpus(struct fix *f, int i, int64_t gpus, int count)
{
    struct rm_ask a = { .priority = 1,
                        .allocation_id = -1,
                        .name = RM_ANY,
                        .count = count,
                        .relax = true,
                        .capability = { 1024, 1, { gpus } } };

    assert_int_equal(
        go(f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                       .ask = { .app = app_id(i), .asks = &a, .n_asks = 1 } }),
        0);
}

static void test_gpus_are_counted(void **state)
{
    struct fix f;
    struct rm_app_usage u;

    (void)state;
    for (int memory = 0; memory < 2; memory++) { /* with both calculators */
        fix_conf(&f);
        set(&f, TYPES, GPU);
        set(&f, CS "per-node-heartbeat.maximum-offswitch-assignments", "100");
        if (memory)
            set(&f, CS "resource-calculator",
                "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator");
        fix_start(&f);
        node_with(&f, 1, (struct rm_res){ 65536, 64 });
        node_with(&f, 2, (struct rm_res){ 65536, 64, { 4 } });
        app(&f, 1, "ann", "default", 0);
        ask_gpus(&f, 1, 1, 3);
        ask_gpus(&f, 1, 2, 2);
        assert_int_equal(beat(&f, 1), 0); /* none there */
        assert_int_equal(beat(&f, 2), 2); /* 2 + 2: the larger ask first */
        assert_int_equal(f.d[0].resource.extra[0], 2);
        rm_sched_app_usage(f.s, app_id(1), &u);
        assert_int_equal(u.used.extra[0], 4);
        assert_int_equal(u.pending.extra[0], 3);
        assert_int_equal(
            go(&f, (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE,
                                            .container_done = { .container = f.d[0].container } }),
            0);
        assert_int_equal(beat(&f, 2), 2);
        fix_end(&f);
    }
}

/* Four GPUs are 100 % of a queue's share, whatever memory they come with. */
static void test_dominant_share_and_maximum(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, TYPES, GPU);
    set(&f, CS "root.b.maximum-capacity", "50");
    fix_start(&f);
    node_with(&f, 1, (struct rm_res){ 65536, 64, { 8 } });
    app(&f, 1, "ann", "a", 0);
    app(&f, 2, "bob", "b", 0);
    ask_gpus(&f, 1, 1, 8);
    ask(&f, 2, 8192, 8);
    (void)beat(&f, 1);
    assert_int_equal(count_app(&f, 1), 8);
    assert_int_equal(count_app(&f, 2), 4); /* its 50 % of memory */
    assert_int_equal(f.d[1].app.id, 2);    /* one each, as 1/8 is the share of both */
    fix_end(&f);
    two_queues(&f, "50", "50");
    set(&f, TYPES, GPU);
    set(&f, CS "root.b.maximum-capacity", "50");
    fix_start(&f);
    node_with(&f, 1, (struct rm_res){ 65536, 64, { 8 } });
    app(&f, 2, "bob", "b", 0);
    ask_gpus(&f, 2, 1, 8);
    assert_int_equal(beat(&f, 1), 4); /* its 50 % of GPUs */
    fix_end(&f);
}

static void test_bounds_of_an_ask(void **state)
{
    struct fix f;
    struct rm_res r = { 1024, 1, { 3 } };

    (void)state;
    two_queues(&f, "50", "[x]");
    set(&f, CS "root.b.capacity", "50");
    set(&f, TYPES, GPU ",fpga");
    set(&f, TYPES "." GPU ".maximum-allocation", "4");
    set(&f, TYPES ".fpga.minimum-allocation", "1");
    set(&f, CS "root.a.maximum-allocation", "memory-mb=4096, " GPU "=2");
    fix_start(&f);
    assert_int_equal(rm_sched_normalize(f.s, "b", &r), 0);
    assert_int_equal(r.extra[0], 3);
    assert_int_equal(r.extra[1], 1); /* raised to the minimum */
    assert_int_equal(rm_sched_normalize(f.s, "a", &r), -ERANGE);
    r = (struct rm_res){ 1024, 1, { 5 } };
    assert_int_equal(rm_sched_normalize(f.s, "b", &r), -ERANGE);
    r = (struct rm_res){ 1024, 1, { -1 } };
    assert_int_equal(rm_sched_normalize(f.s, "b", &r), -ERANGE);
    r = rm_sched_max_allocation(f.s, "a");
    assert_true(r.mem == 4096 && r.vcores == 64 && r.extra[0] == 2);
    fix_end(&f);
}

static void test_absolute_capacities(void **state)
{
    struct rm_queue_info q;
    struct fix f;

    (void)state;
    two_queues(&f, "[memory=4096,vcores=4," GPU "=2]", "[memory=4096,vcores=4]");
    set(&f, TYPES, GPU);
    set(&f, CS "root.a.maximum-capacity", "[memory=8192,vcores=8]");
    set(&f, CS "root.b.maximum-capacity", "[memory=8192,vcores=8," GPU "=1]");
    fix_start(&f);
    node_with(&f, 1, (struct rm_res){ 65536, 64, { 8 } });
    assert_int_equal(rm_sched_queue(f.s, "a", &q), 0);
    assert_int_equal(q.effective_min.extra[0], 2);
    assert_int_equal(q.effective_max.extra[0], 8); /* not named: the parent's */
    assert_int_equal(rm_sched_queue(f.s, "b", &q), 0);
    assert_int_equal(q.effective_min.extra[0], 0);
    assert_int_equal(q.effective_max.extra[0], 1);
    fix_end(&f);
}

static void test_refused(void **state)
{
    static const char *const bad[][3] = {
        { TYPES, "a,b,c", "at most 2 types" },
        { TYPES ".a.units", "G", "counted without a unit" },
        { TYPES ".a.minimum-allocation", "9", "above the maximum" },
        { TYPES ".a.maximum-allocation", "-1", "a.maximum-allocation" },
        { CS "root.a.maximum-allocation", "gpu=1", "is not memory-mb=MB,vcores=N" },
        { CS "root.a.capacity", "[memory=1,gpu=1]", "is not [memory=MB,vcores=N]" },
    };
    struct fix f;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        struct sv_error err = { 0 };

        two_queues(&f, "50", "50");
        set(&f, TYPES, "memory-mb,a");
        set(&f, TYPES ".a.maximum-allocation", "8");
        set(&f, bad[i][0], bad[i][1]);
        if (rm_sched_new(f.conf, 0, &f.s, &err) >= 0)
            fail_msg("%s=%s is taken", bad[i][0], bad[i][1]);
        if (!strstr(err.text, bad[i][2]))
            fail_msg("%s=%s: %s", bad[i][0], bad[i][1], err.text);
        f.conf = sv_conf_free(f.conf);
    }
    fix_conf(&f);
    set(&f, TYPES, "a");
    fix_start(&f);
    set(&f, TYPES, "a,b");
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_RECONFIGURED,
                                                     .reconfigured = { .conf = f.conf } }),
                     -EINVAL);
    fix_end(&f);
}

static void test_messages(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct rm_types none = { 0 }, types = { .n = 2, .names = { "fpga", GPU } };
    Hadoop__Yarn__ResourceProto *m;
    char unknown[RM_TYPE_NAME_MAX];
    struct rm_res r;

    (void)state;
    rm_types_set(&types);
    m = rm_res_to(a, (struct rm_res){ 2048, 3, { 1, 2 } });
    assert_int_equal(m->n_resource_value_map, 2);
    assert_int_equal(rm_res_from(m, &r), 0);
    assert_true(rm_res_equal(r, (struct rm_res){ 2048, 3, { 1, 2 } }));
    rm_res_unknown(m, unknown, sizeof(unknown));
    assert_string_equal(unknown, "");
    types.n = 1;
    rm_types_set(&types);
    assert_int_equal(rm_res_from(m, &r), 0);
    assert_true(rm_res_equal(r, (struct rm_res){ 2048, 3, { 1 } }));
    rm_res_unknown(m, unknown, sizeof(unknown));
    assert_string_equal(unknown, GPU);
    m->resource_value_map[1]->value = 0; /* none of it is no reason to refuse */
    rm_res_unknown(m, unknown, sizeof(unknown));
    assert_string_equal(unknown, "");
    m->resource_value_map[0]->value = -1;
    assert_int_equal(rm_res_from(m, &r), -EBADMSG);
    m->resource_value_map[0]->value = INT64_MAX;
    assert_int_equal(rm_res_from(m, &r), -EBADMSG);
    m->resource_value_map[0]->value = 1;
    m->resource_value_map[0]->units = (char *)(uintptr_t) "k";
    assert_int_equal(rm_res_from(m, &r), -EBADMSG);
    rm_types_set(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpus_are_counted), cmocka_unit_test(test_dominant_share_and_maximum),
        cmocka_unit_test(test_bounds_of_an_ask), cmocka_unit_test(test_absolute_capacities),
        cmocka_unit_test(test_refused),          cmocka_unit_test(test_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
