/* Gangs: all tasks or none, later rounds, rounds that last too long. */
#include "tests/unit/service/framework-fixture.h"

static struct world w;
static struct framework f;

static void test_gang(void **state)
{
    size_t a, b, c;

    (void)state;
    framework_init(&f, 2);
    f.d.gang = true;
    f.roles[0].tasks = 2;
    f.roles[0].retry.max_retries = 1;
    framework_start(&w, &f);
    a = allocate_for(&w, "role0-0", "h0");
    b = allocate_for(&w, "role0-1", "h0");
    assert_int_equal(task_state(&w, "role0-0"), SVC_FW_CONTAINER_ALLOCATED);
    assert_int_equal(view_of(&w, "role0-0").task.launched_ms, 0);
    w.now = 7000;
    c = allocate_for(&w, "role1-0", "h1");
    assert_int_equal(w.ops_of[SVC_OP_LAUNCH], 3);
    assert_int_equal(task_state(&w, "role0-0"), SVC_FW_CONTAINER_LAUNCHED);
    assert_int_equal(view_of(&w, "role0-0").task.launched_ms, 7000);
    started(&w, a);
    started(&w, b);
    started(&w, c);
    ended_with(&w, b, 1, "x"); /* retried alone, the others run on */
    b = allocate_for(&w, "role0-1", "h0");
    assert_int_equal(task_state(&w, "role0-1"), SVC_FW_CONTAINER_LAUNCHED);
    assert_int_equal(w.box[a].state, RUNNING);
    framework_free(&w, &f);
}

/* One of a gang is lost before the others have their containers: none starts. */
static void test_gang_loses_one(void **state)
{
    size_t a, b;

    (void)state;
    framework_init(&f, 1);
    f.d.gang = true;
    f.roles[0].tasks = 2;
    f.roles[0].retry.fancy = true;
    framework_start(&w, &f);
    a = allocate_for(&w, "role0-0", "h0");
    ended_with(&w, a, YARN_EXIT_ABORTED, "Container released on a *lost* node");
    b = allocate_for(&w, "role0-1", "h0");
    assert_int_equal(task_state(&w, "role0-1"), SVC_FW_CONTAINER_ALLOCATED);
    assert_int_equal(migrate(&w, b), 0); /* ends: it may come back, and is waited for */
    a = allocate_for(&w, "role0-0", "h0");
    assert_int_equal(task_state(&w, "role0-0"), SVC_FW_CONTAINER_ALLOCATED);
    ended_with(&w, b, YARN_EXIT_ABORTED, "");
    b = allocate_for(&w, "role0-1", "h0");
    assert_int_equal(w.ops_of[SVC_OP_LAUNCH], 2);
    assert_int_equal(w.box[a].state, LAUNCHED);
    assert_int_equal(w.box[b].state, LAUNCHED);
    framework_free(&w, &f);
}

/* Without a retry: the gang's application fails, to be tried again. */
static void test_gang_start_fails(void **state)
{
    size_t a, b;

    (void)state;
    framework_init(&f, 1);
    f.d.gang = true;
    f.roles[0].tasks = 2;
    framework_start(&w, &f);
    a = allocate_for(&w, "role0-0", "h0");
    b = allocate_for(&w, "role0-1", "h0");
    started(&w, a);
    svc_engine_start_failed(w.e, w.now, box_id(b), "no disk");
    carry_out(&w);
    ended_with(&w, b, YARN_EXIT_ABORTED, "");
    assert_true(w.unregistered && !w.success);
    assert_int_equal(end_of(&w).code, -7150);
    assert_int_equal(svc_fw_exit_status(end_of(&w).type), 201);
    framework_free(&w, &f);
}

/* A shrink takes the last outstanding one away: the rest starts. */
static void test_gang_shrinks(void **state)
{
    size_t a;

    (void)state;
    framework_init(&f, 1);
    f.d.gang = true;
    f.roles[0].tasks = 2;
    framework_start(&w, &f);
    a = allocate_for(&w, "role0-0", "h0");
    assert_int_equal(flex(&w, "role0", 1), 0);
    assert_int_equal(w.box[a].state, LAUNCHED);
    framework_free(&w, &f);
}

static void test_gang_times_out(void **state)
{
    struct svc_fw_state s;
    size_t a, b;

    (void)state;
    framework_init(&f, 1);
    f.d.gang = true;
    f.roles[0].tasks = 2;
    f.roles[0].retry.fancy = true;
    framework_start(&w, &f);
    svc_fw_state(w.e, &s);
    assert_int_equal(s.outstanding, 2);
    assert_int_equal(s.round, 0);
    assert_int_equal(s.gang_until, 1000 + 500000);
    a = allocate_for(&w, "role0-0", "h0");
    b = allocate_for(&w, "role0-1", "h0");
    svc_fw_state(w.e, &s);
    assert_int_equal(s.round, 1);
    assert_int_equal(s.gang_until, 0);
    started(&w, a);
    started(&w, b);
    while (svc_engine_due(w.e) < 600000) /* the first round's time is over, and it was complete */
        timer(&w, svc_engine_due(w.e));
    assert_false(w.unregistered);
    w.now = 700000;
    ended_with(&w, b, YARN_EXIT_PREEMPTED, "");
    while (!w.unregistered)
        timer(&w, svc_engine_due(w.e));
    assert_int_equal(w.now, 700000 + 500000);
    assert_int_equal(end_of(&w).code, -7252);
    assert_int_equal(end_of(&w).type, SVC_FW_TRANSIENT_CONFLICT);
    assert_false(w.success);
    assert_int_equal(task_state(&w, "role0-0"), SVC_FW_CONTAINER_RUNNING);
    framework_free(&w, &f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gang),
        cmocka_unit_test(test_gang_loses_one),
        cmocka_unit_test(test_gang_start_fails),
        cmocka_unit_test(test_gang_shrinks),
        cmocka_unit_test(test_gang_times_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
