/* The engine under YARN's policy: what Hadoop's services do, event by event. */
#include "tests/unit/service/engine-fixture.h"

#include <errno.h>

static struct world w;
static struct def f;

static void begin(size_t n)
{
    def_init(&f, "1", n);
}

static void start_all(void)
{
    world_init(&w, &svc_yarn_policy, &f, NULL);
    world_start(&w);
}

static void test_start(void **state)
{
    (void)state;
    begin(1);
    f.c[0].count = 3;
    start_all();
    assert_int_equal(w.n_asks, 1);
    assert_int_equal(w.ask[0].count, 3);
    assert_true(w.asked_relax);
    assert_int_equal(component(&w, 0).state, SVC_COMPONENT_FLEXING);
    for (size_t i = 0; i < 3; i++) {
        char name[8];

        (void)snprintf(name, sizeof(name), "a-%zu", i);
        assert_int_equal(offer(&w, &w.ask[0], "h0"), i);
        deliver(&w, i);
        assert_string_equal(w.box[i].name, name);
        started(&w, i);
        assert_int_equal(w.ops_of[SVC_OP_CHECK], 1);
        assert_int_equal(svc_engine_state(w.e), SVC_STARTED);
        ready(&w, i, true);
    }
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
    assert_int_equal(component(&w, 0).state, SVC_COMPONENT_STABLE);
    ready(&w, 1, false);
    assert_int_equal(svc_engine_state(w.e), SVC_STARTED);
    world_free(&w);
}

static void test_dependencies(void **state)
{
    (void)state;
    begin(3);
    def_depend(&f, 0, 1); /* a needs b, b needs c, a job */
    def_depend(&f, 1, 2);
    f.c[2].restart = SVC_RESTART_NEVER;
    start_all();
    assert_int_equal(w.n_asks, 1);
    assert_int_equal(w.ask[0].comp, 2);
    deliver(&w, offer(&w, &w.ask[0], NULL));
    started(&w, 0);
    ready(&w, 0, true);
    assert_int_equal(w.n_asks, 0); /* a job is ready for others when it ended */
    completed(&w, 0, 1);
    assert_int_equal(w.ask[0].comp, 1);
    assert_int_equal(component(&w, 0).state, SVC_COMPONENT_INIT);
    bring_up(&w);
    assert_int_equal(component(&w, 0).ready, 1);
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
    /* b fails: a's own failure is still replaced */
    completed(&w, box_named(&w, "b-0"), 1);
    completed(&w, box_named(&w, "a-0"), 1);
    assert_int_equal(w.n_asks, 2);
    world_free(&w);
}

static void test_flex_names(void **state)
{
    (void)state;
    begin(1);
    f.c[0].count = 5;
    start_all();
    bring_up(&w);
    assert_int_equal(flex(&w, "a", 5), 0);
    assert_int_equal(w.last_ops, 0);
    assert_int_equal(flex(&w, "a", 2), 0);
    assert_int_equal(w.ops_of[SVC_OP_STOP], 3);
    assert_int_equal(w.ops_of[SVC_OP_PERSIST], 1);
    assert_int_equal(w.persisted[0], 2);
    assert_int_equal(state_of(&w, "a-2"), SVC_INSTANCE_STOPPING);
    assert_int_equal(state_of(&w, "a-1"), SVC_INSTANCE_READY);
    /* a-2 is wanted again while its container ends: no second one before that */
    assert_int_equal(flex(&w, "a", 3), 0);
    assert_int_equal(w.n_asks, 0);
    end_released(&w);
    assert_int_equal(w.ask[0].count, 1);
    assert_int_equal(state_of(&w, "a-3"), 0);
    bring_up(&w);
    assert_int_equal(state_of(&w, "a-2"), SVC_INSTANCE_READY);
    assert_int_equal(flex(&w, "a", 4), 0);
    bring_up(&w);
    assert_int_equal(state_of(&w, "a-3"), SVC_INSTANCE_READY);
    assert_int_equal(flex(&w, "nobody", 4), -ENOENT);
    assert_int_equal(flex(&w, "a", -1), -EINVAL);
    assert_int_equal(flex(&w, "a", SVC_INSTANCES_MAX + 1), -EINVAL);
    world_free(&w);
}

static void test_flex_before_allocation(void **state)
{
    (void)state;
    begin(1);
    f.c[0].count = 6;
    start_all();
    assert_int_equal(flex(&w, "a", 3), 0);
    assert_int_equal(w.ask[0].count, 3);
    assert_int_equal(flex(&w, "a", 0), 0);
    assert_int_equal(w.n_asks, 0);
    assert_int_equal(w.ops_of[SVC_OP_CANCEL], 1);
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
    world_free(&w);
}

static void test_decommission(void **state)
{
    (void)state;
    begin(1);
    f.c[0].count = 3;
    start_all();
    bring_up(&w);
    assert_int_equal(decommission(&w, "a-1"), 0);
    assert_int_equal(w.persisted[0], 2);
    assert_int_equal(w.n_decommissioned[0], 1);
    assert_int_equal(decommission(&w, "a-1"), 0);
    assert_int_equal(w.last_ops, 0);
    assert_int_equal(decommission(&w, "a-9"), -ENOENT);
    assert_int_equal(decommission(&w, "a-01"), -ENOENT);
    assert_int_equal(decommission(&w, "x-1"), -ENOENT);
    assert_int_equal(decommission(&w, "a"), -ENOENT);
    end_released(&w);
    assert_int_equal(flex(&w, "a", 4), 0);
    bring_up(&w);
    assert_int_equal(state_of(&w, "a-1"), 0);
    assert_int_equal(state_of(&w, "a-3"), SVC_INSTANCE_READY);
    assert_int_equal(state_of(&w, "a-4"), SVC_INSTANCE_READY);
    assert_int_equal(component(&w, 0).live, 4);
    world_free(&w);
}

static void run_job(enum svc_restart restart, int32_t first, int32_t second)
{
    begin(1);
    f.c[0].count = 2;
    f.c[0].restart = restart;
    start_all();
    bring_up(&w);
    completed(&w, box_named(&w, "a-0"), first);
    bring_up(&w);
    completed(&w, box_named(&w, "a-1"), second);
}

static void test_restart_policies(void **state)
{
    (void)state;
    run_job(SVC_RESTART_NEVER, 0, 0);
    assert_int_equal(svc_engine_state(w.e), SVC_SUCCEEDED);
    assert_true(w.unregistered && w.success);
    world_free(&w);

    run_job(SVC_RESTART_NEVER, 1, 0);
    assert_int_equal(svc_engine_state(w.e), SVC_FAILED);
    assert_true(w.unregistered && !w.success);
    assert_string_equal(w.text, "component a: 1 of 2 instances failed");
    world_free(&w);

    run_job(SVC_RESTART_ON_FAILURE, 1, 0);
    assert_false(w.unregistered);
    assert_int_equal(component(&w, 0).succeeded, 1);
    completed(&w, box_named(&w, "a-0"), 0);
    assert_int_equal(svc_engine_state(w.e), SVC_SUCCEEDED);
    world_free(&w);

    run_job(SVC_RESTART_ALWAYS, 0, 0);
    assert_false(w.unregistered);
    bring_up(&w);
    assert_int_equal(component(&w, 0).ready, 2);
    world_free(&w);
}

static void test_dominant(void **state)
{
    (void)state;
    begin(2);
    f.c[0].restart = SVC_RESTART_NEVER;
    f.o[0].dominant = true;
    start_all();
    bring_up(&w);
    completed(&w, box_named(&w, "a-0"), 0);
    assert_int_equal(svc_engine_state(w.e), SVC_SUCCEEDED);
    assert_false(w.unregistered);
    end_released(&w); /* b-0 */
    assert_true(w.unregistered);
    world_free(&w);
}

static void fail_once(int32_t status)
{
    bring_up(&w);
    completed(&w, box_named(&w, "a-0"), status);
}

static void test_failure_threshold(void **state)
{
    (void)state;
    begin(1);
    f.o[0].node_threshold = -1;
    start_all();
    for (int i = 0; i < 10; i++)
        fail_once(1);
    fail_once(YARN_EXIT_PREEMPTED); /* not the application's fault */
    fail_once(YARN_EXIT_ABORTED);
    fail_once(YARN_EXIT_DISKS_FAILED);
    fail_once(YARN_EXIT_KILLED_EXCEEDED_PMEM);
    fail_once(0);
    assert_int_equal(w.n_blacklisted, 0);
    assert_int_equal(component(&w, 0).failed_recently, 10);
    assert_int_equal(component(&w, 0).failed_total, 14);
    fail_once(1);
    assert_int_equal(svc_engine_state(w.e), SVC_FAILED);
    assert_int_equal(component(&w, 0).state, SVC_COMPONENT_FAILED);
    assert_true(w.unregistered && !w.success);
    assert_string_equal(w.text,
                        "component a: 11 containers failed, 10 are allowed; the last: it ended");
    world_free(&w);
}

static void test_failure_window(void **state)
{
    (void)state;
    begin(1);
    start_all();
    for (int i = 0; i < 3; i++)
        fail_once(1);
    assert_int_equal(w.n_blacklisted, 0);
    fail_once(1); /* the fourth on h0 */
    assert_int_equal(w.n_blacklisted, 1);
    for (int i = 0; i < 6; i++)
        fail_once(1);
    timer(&w, 21600000);
    assert_int_equal(w.n_blacklisted, 0);
    assert_int_equal(component(&w, 0).failed_recently, 0);
    for (int i = 0; i < 10; i++)
        fail_once(1);
    assert_false(w.unregistered);
    world_free(&w);
}

static void test_kill(void **state)
{
    (void)state;
    begin(1);
    start_all();
    assert_int_equal(kill_one(&w, "a-0"), -ESRCH);
    assert_int_equal(kill_one(&w, "a-7"), -ENOENT);
    bring_up(&w);
    assert_int_equal(kill_one(&w, "a-0"), 0);
    assert_int_equal(w.ops_of[SVC_OP_STOP], 1);
    assert_int_equal(kill_one(&w, "a-0"), 0);
    assert_int_equal(w.last_ops, 0);
    assert_int_equal(w.n_asks, 0);
    completed(&w, 0, 143);
    assert_int_equal(w.n_asks, 1);
    assert_int_equal(component(&w, 0).failed_recently, 0);
    bring_up(&w);
    assert_int_equal(state_of(&w, "a-0"), SVC_INSTANCE_READY);
    world_free(&w);
}

/* Slider counts it twice. */
static void test_start_failure_counts_once(void **state)
{
    (void)state;
    begin(1);
    start_all();
    deliver(&w, offer(&w, &w.ask[0], NULL));
    svc_engine_start_failed(w.e, w.now, box_id(0), "connection refused");
    carry_out(&w);
    assert_int_equal(w.ops_of[SVC_OP_RELEASE], 1);
    assert_int_equal(w.n_asks, 0); /* it may run after all: its end is awaited */
    completed(&w, 0, 1);
    assert_int_equal(component(&w, 0).failed_recently, 1);
    assert_int_equal(component(&w, 0).start_failed_total, 1);
    assert_int_equal(w.n_asks, 1);
    world_free(&w);
}

static void test_surplus(void **state)
{
    struct svc_allocated a;
    size_t i;

    (void)state;
    begin(1);
    start_all();
    w.ask[0].count = 3;
    i = offer(&w, &w.ask[0], NULL);
    w.box[i].request = SVC_REQUEST_UNKNOWN; /* an old ResourceManager: by its priority */
    deliver(&w, i);
    assert_int_equal(w.box[i].state, LAUNCHED);
    i = offer(&w, &w.ask[0], NULL);
    deliver(&w, i);
    assert_int_equal(w.box[i].state, RELEASED);
    assert_int_equal(component(&w, 0).surplus, 1);
    a = allocated_of(&w, i); /* twice */
    svc_engine_allocated(w.e, w.now, &a);
    assert_int_equal(carry_out(&w), 0);
    i = offer(&w, &w.ask[0], NULL);
    w.box[i].request = 77;
    w.box[i].priority = 77;
    deliver(&w, i);
    assert_int_equal(w.box[i].state, RELEASED);
    completed(&w, i, YARN_EXIT_ABORTED);
    assert_int_equal(svc_engine_unknown_completed(w.e), 0);
    world_free(&w);
}

static void reject(void)
{
    svc_engine_rejected(w.e, w.now, w.ask[0].id, 0, "no node has the attribute");
    w.n_asks = 0;
    carry_out(&w);
}

static void test_rejected(void **state)
{
    int64_t waits[8];

    (void)state;
    begin(1);
    f.c[0].count = 2;
    start_all();
    for (size_t i = 0; i < SV_ARRAY_LEN(waits); i++) {
        assert_int_equal(w.ask[0].count, 2);
        reject();
        assert_int_equal(w.n_asks, 0);
        assert_string_equal(component(&w, 0).reason, "no node has the attribute");
        waits[i] = w.due - w.now;
        timer(&w, w.due);
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(waits); i++) {
        int64_t least = SV_MIN((int64_t)1000 << i, 60000);

        assert_in_range(waits[i], least, least + least / 4);
    }
    reject();
    assert_int_equal(flex(&w, "a", 1), 0); /* one of those held back is not needed */
    timer(&w, w.due);
    assert_int_equal(w.ask[0].count, 1);
    world_free(&w);
}

static void test_resync(void **state)
{
    (void)state;
    begin(2);
    f.c[0].count = 3;
    start_all();
    deliver(&w, offer(&w, &w.ask[0], NULL));
    started(&w, 0);
    assert_int_equal(kill_one(&w, "a-0"), 0);
    w.n_asks = 0;
    w.now = 1000;
    svc_engine_resync(w.e, w.now);
    carry_out(&w);
    assert_int_equal(w.n_asks, 2);
    assert_int_equal(w.ask[0].count + w.ask[1].count, 3);
    assert_int_equal(w.ops_of[SVC_OP_RELEASE], 1);
    timer(&w, 1000 + 659999);
    assert_int_equal(component(&w, 0).requested, 2);
    box_gone(&w, 0);
    w.box[0].lost = true;
    timer(&w, 1000 + 660000); /* the ResourceManager does not know it any more */
    assert_int_equal(component(&w, 0).requested, 3);
    world_free(&w);
}

/* A container that was allocated and ended before the master heard of it. */
static void test_answer_lost(void **state)
{
    (void)state;
    begin(1);
    start_all();
    (void)offer(&w, &w.ask[0], NULL);
    assert_int_equal(w.n_asks, 0);
    completed(&w, 0, YARN_EXIT_ABORTED);
    assert_int_equal(svc_engine_unknown_completed(w.e), 1);
    assert_int_equal(w.n_asks, 0);
    timer(&w, w.now + 1000);
    assert_int_equal(w.ask[0].count, 1);
    world_free(&w);
}

static void test_no_resourcemanager(void **state)
{
    (void)state;
    begin(1);
    f.c[0].count = 3;
    start_all();
    deliver(&w, offer(&w, &w.ask[0], NULL));
    started(&w, 0);
    ready(&w, 0, true);
    assert_int_equal(kill_one(&w, "a-0"), 0);
    for (int64_t at = 1000; at <= 600000; at += 1000) {
        timer(&w, at);
        assert_int_equal(w.last_ops, w.ops_of[SVC_OP_TIMER]);
    }
    assert_int_equal(component(&w, 0).requested, 2);
    world_free(&w);
}

static void test_stop(void **state)
{
    (void)state;
    begin(2);
    f.c[0].count = 3;
    start_all();
    deliver(&w, offer(&w, &w.ask[0], NULL));
    started(&w, 0);
    deliver(&w, offer(&w, &w.ask[0], NULL));
    svc_engine_stop(w.e, w.now, "by its user");
    carry_out(&w);
    assert_int_equal(svc_engine_state(w.e), SVC_STOPPED);
    assert_int_equal(w.n_asks, 0);
    assert_int_equal(w.box[0].state, RELEASED);
    assert_int_equal(w.box[1].state, RELEASED);
    assert_int_equal(flex(&w, "a", 5), -EBUSY);
    svc_engine_stop(w.e, w.now, "again");
    assert_int_equal(carry_out(&w), 0);
    completed(&w, 0, 143);
    assert_false(w.unregistered);
    timer(&w, 29999);
    assert_false(w.unregistered);
    timer(&w, 30000); /* the other one's node does not answer */
    assert_true(w.unregistered && w.success);
    assert_string_equal(w.text, "by its user");
    completed(&w, 1, 143);
    assert_int_equal(w.last_ops, 0);
    world_free(&w);
}

static void test_health(void **state)
{
    (void)state;
    begin(1);
    f.c[0].count = 4;
    f.o[0].health_percent = 50;
    f.o[0].node_threshold = -1;
    start_all();
    bring_up(&w);
    for (int i = 0; i < 20; i++)
        fail_once(1); /* the threshold of failures is off */
    bring_up(&w);
    timer(&w, 700000);
    assert_false(w.unregistered);
    for (size_t k = 0; k < 3; k++)
        ready(&w, box_named(&w, (const char *[]){ "a-0", "a-1", "a-2" }[k]), false);
    timer(&w, 700000 + 599000);
    ready(&w, box_named(&w, "a-0"), true); /* 50 % again */
    timer(&w, 700000 + 700000);
    ready(&w, box_named(&w, "a-0"), false);
    timer(&w, 700000 + 700000 + 600000);
    assert_int_equal(svc_engine_state(w.e), SVC_FAILED);
    world_free(&w);
}

static void test_definitions_refused(void **state)
{
    struct svc_setup setup = { .policy = &svc_yarn_policy, .limits = SVC_LIMITS_DEFAULT };
    struct sv_error err = { 0 };
    struct svc_engine *e;

    (void)state;
    begin(3);
    setup.definition = &f.d;
    f.c[1].count = SVC_INSTANCES_MAX;
    assert_int_equal(svc_engine_new(&setup, &e, &err), -EINVAL);
    f.c[1].count = -1;
    assert_int_equal(svc_engine_new(&setup, &e, &err), -EINVAL);
    assert_string_equal(err.text,
                        "components[1].number_of_containers: -1: 0 to 100000 are allowed");
    begin(3);
    def_depend(&f, 0, 1);
    def_depend(&f, 1, 2);
    def_depend(&f, 2, 0);
    assert_int_equal(svc_engine_new(&setup, &e, &err), -EINVAL);
    assert_string_equal(err.text, "components[2].dependencies: \"a\" depends on it in turn");
    begin(2);
    def_depend(&f, 0, 5);
    assert_int_equal(svc_engine_new(&setup, &e, &err), -EINVAL);
    assert_string_equal(err.text, "components[0].dependencies: \"f\" is no component");
    begin(2);
    f.c[1].name = "a";
    assert_int_equal(svc_engine_new(&setup, &e, &err), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_dependencies),
        cmocka_unit_test(test_flex_names),
        cmocka_unit_test(test_flex_before_allocation),
        cmocka_unit_test(test_decommission),
        cmocka_unit_test(test_restart_policies),
        cmocka_unit_test(test_dominant),
        cmocka_unit_test(test_failure_threshold),
        cmocka_unit_test(test_failure_window),
        cmocka_unit_test(test_kill),
        cmocka_unit_test(test_start_failure_counts_once),
        cmocka_unit_test(test_surplus),
        cmocka_unit_test(test_rejected),
        cmocka_unit_test(test_resync),
        cmocka_unit_test(test_answer_lost),
        cmocka_unit_test(test_no_resourcemanager),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_health),
        cmocka_unit_test(test_definitions_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
