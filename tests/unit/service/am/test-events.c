/* Tests service/am/events.c: what YARN reports becomes the engine's, and nothing of an unknown
 * container does harm. */
#include "tests/unit/service/master-fixture.h"

#include <errno.h>

#define SHOP                                                                                       \
    "{\"name\":\"shop\",\"version\":\"7\",\"configuration\":{\"properties\":{"                     \
    "\"yarn.service.container-failure-per-component.threshold\":\"100\"}},\"components\":[{"       \
    "\"name\":\"web\",\"number_of_containers\":2,\"launch_command\":\"web\",\"resource\":{"        \
    "\"cpus\":1,\"memory\":\"64\"}}]}"
#define WEB 1, 0 /* request and priority */

static int set_up(void **state)
{
    (void)state;
    mf_new(SHOP);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mf_free();
    return 0;
}

/* Containers with a record of their names are adopted, others released. */
static void recovers(void **state)
{
    static const struct yarn_resource resource = { .memory_mb = 64, .vcores = 1 };
    static const struct yarn_node_id node = { "node1", 8041 };
    struct svc_container *record =
        svc_containers_add(&mf.m.expected, am_container(7), &node, &resource, "");
    struct cli_allocation c = { .id = am_container(7), .node = node, .http_address = "node1:8042" };

    (void)state;
    assert_int_equal(svc_container_name(record, "web-1"), 0);
    svc_master_yarn_ops.recovered(NULL, &c, &mf.m);
    c.id = am_container(8); /* of nobody */
    svc_master_yarn_ops.recovered(NULL, &c, &mf.m);
    mf_assert_log("release(8) ");
    assert_null(strstr(am_calls.log, "release(7)"));
    assert_int_equal(mf.m.expected.n, 0);
    mf_registered();
    assert_int_equal(mf_state("web-1"), SVC_INSTANCE_STARTED);
    mf_ready("web-1");
    assert_null(strstr(am_calls.log, "prepare(web-1)"));
}

/* From the registration to STABLE; a container that was not wanted goes back. */
static void allocates(void **state)
{
    int64_t surplus;
    char text[32];

    (void)state;
    mf_registered();
    mf_assert_log("ask(1=2 of 64 MiB, priority 0) ");
    mf_run(WEB);
    mf_assert_log("prepare(web-0) ");
    mf_assert_log("start(1) ");
    mf_run(WEB);
    assert_int_equal(mf_state("web-0"), SVC_INSTANCE_READY);
    assert_int_equal(mf_state("web-1"), SVC_INSTANCE_READY);
    assert_int_equal(svc_engine_state(mf.m.engine), SVC_STABLE);
    mf_assert_log("progress(100%) ");
    surplus = mf_allocate(WEB);
    (void)snprintf(text, sizeof(text), "release(%lld) ", (long long)surplus);
    mf_assert_log(text);
    am_turn(mf.m.event);
    assert_int_equal(mf.m.containers.n, 2);
}

/* One container that is told twice is one. */
static void allocated_twice(void **state)
{
    struct cli_allocation c = { .id = am_container(1),
                                .node = { "node1", 8041 },
                                .http_address = "node1:8042",
                                .priority = 1,
                                .request_id = 1 };

    (void)state;
    mf_registered();
    svc_master_yarn_ops.allocated(NULL, &c, &mf.m);
    svc_master_yarn_ops.allocated(NULL, &c, &mf.m);
    am_turn(mf.m.event);
    assert_int_equal(mf.m.containers.n, 1);
    assert_null(strstr(am_calls.log, "release("));
    assert_null(strstr(am_calls.log, "prepare(web-1)"));
}

static void start_fails(void **state)
{
    const struct sv_error why = { .code = -EREMOTEIO, .text = "no room" };
    int64_t number;

    (void)state;
    mf_registered();
    number = mf_allocate(WEB);
    mf_settle(0);
    svc_master_yarn_ops.started(NULL, am_container(number), -EREMOTEIO, &why, &mf.m);
    assert_int_equal(mf_state("web-0"), SVC_INSTANCE_STOPPING);
    mf_completed(number, -100);
    mf_run(WEB);
    mf_run(WEB);                                             /* behind web-1 */
    assert_int_equal(mf_state("web-0"), SVC_INSTANCE_READY); /* its name is used again */
    svc_master_yarn_ops.started(NULL, am_container(99), 0, NULL, &mf.m); /* of nobody */
    svc_master_yarn_ops.started(NULL, am_container(99), -EIO, NULL, &mf.m);
}

static void completes(void **state)
{
    int64_t number;

    (void)state;
    mf_registered();
    number = mf_run(WEB);
    mf_run(WEB);
    am_calls.log[0] = '\0';
    mf_completed(number, 137);
    assert_int_equal(mf.m.containers.n, 1);
    mf_assert_log("ask(1=1 of 64 MiB");
    mf_completed(number, 137); /* again */
    mf_completed(99, 1);       /* of nobody */
    assert_int_equal(svc_engine_unknown_completed(mf.m.engine), 2);
    mf_run(WEB);
    assert_int_equal(mf_state("web-0"), SVC_INSTANCE_READY);
    assert_int_equal(svc_engine_state(mf.m.engine), SVC_STABLE);
}

static void rejected_and_resynced(void **state)
{
    const struct cli_rejection r = { .request_id = 1, .count = 2 };
    const struct cli_node_update gone = { .id = { "node1", 8041 }, .change = CLI_NODE_UNUSABLE };

    (void)state;
    mf_registered();
    am_calls.log[0] = '\0';
    svc_master_yarn_ops.rejected(NULL, &r, &mf.m);
    assert_null(strstr(am_calls.log, "ask(")); /* after a while */
    svc_master_yarn_ops.node(NULL, &gone, &mf.m);
    svc_master_yarn_ops.resynced(NULL, &mf.m);
    mf_allocate(WEB); /* late: taken all the same */
    mf_settle(0);
    mf_assert_log("prepare(web-0) ");
}

/* A check's result is the engine's; one of an unknown container is nobody's. */
static void checked(void **state)
{
    int64_t number;

    (void)state;
    mf_registered();
    number = mf_run(WEB);
    svc_master_checked(am_container(number), false, "refused", &mf.m);
    assert_int_equal(mf_state("web-0"), SVC_INSTANCE_STARTED);
    svc_master_checked(am_container(number), true, "", &mf.m);
    assert_int_equal(mf_state("web-0"), SVC_INSTANCE_READY);
    svc_master_checked(am_container(99), false, "refused", &mf.m);
}

static int exit_code(void)
{
    int code = -1;

    for (int i = 0; i < 10 && sd_event_get_state(mf.m.event) != SD_EVENT_FINISHED; i++)
        (void)sd_event_run(mf.m.event, 0);
    assert_int_equal(sd_event_get_exit_code(mf.m.event, &code), 0);
    return code;
}

static void ends(void **state)
{
    (void)state;
    mf_registered();
    svc_engine_stop(mf.m.engine, 1, "stopped");
    svc_master_operate(&mf.m);
    mf_assert_log("finish(SUCCEEDED: stopped) ");
    svc_master_yarn_ops.finished(NULL, &mf.m);
    assert_int_equal(exit_code(), 0);
}

static void lost(void **state)
{
    const struct sv_error why = { .code = -ESHUTDOWN, .text = "another attempt runs" };

    (void)state;
    mf_registered();
    svc_master_yarn_ops.lost(NULL, &why, &mf.m);
    assert_int_equal(exit_code(), 1); /* YARN starts another attempt, or has */
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(recovers),    TEST(allocates), TEST(allocated_twice),
        TEST(start_fails), TEST(completes), TEST(rejected_and_resynced),
        TEST(checked),     TEST(ends),      TEST(lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
