/* A framework's tasks from the request for a container to their end, as the launcher is told them.
 */
#include "tests/unit/service/framework-master-fixture.h"

/* Registered after the greeting; a container is prepared when the launcher has its task's state. */
static void test_told_before_started(void **state)
{
    (void)state;
    new_master(ROLE("1", "", "", ""), 1);
    assert_int_equal(times("register"), 0);
    answer("");
    assert_int_equal(times("register(-1)"), 1);
    registered();
    assert_string_equal(told("W-0", "taskState"), "CONTAINER_REQUESTED");
    allocate(2, "node1");
    assert_int_equal(times("prepare"), 0);
    assert_non_null(w.open);
    settle();
    assert_string_equal(told("W-0", "containerId"), "container_1_0001_01_000002");
    assert_string_equal(told("W-0", "containerHost"), "node1");
    assert_string_equal(told("W-0", "containerLogHttpAddress"),
                        "http://node1:8042/node/containerlogs/container_1_0001_01_000002/ann/");
    assert_int_equal(times("prepare"), 1);
    assert_int_equal(times("start("), 0);
    started(2);
    assert_int_equal(times("start(2)"), 1);
    assert_string_equal(told("W-0", "taskState"), "CONTAINER_RUNNING");
    ended(2, 0);
    assert_int_equal(times("finish"), 0); /* the end is told first */
    settle();
    assert_string_equal(told("W-0", "taskState"), "TASK_COMPLETED");
    assert_string_equal(told("W-0", "containerId"), "container_1_0001_01_000002");
    assert_memory_equal(told("W-0", "containerLogHttpAddress"), "http://node1:8042/", 18);
    assert_int_equal(times("finish(SUCCEEDED: <LAUNCHER_AM_DIAGNOSTICS_START>"), 1);
    assert_int_equal(w.m.exit_code, 0);
}

/* A retry's count is on the launcher's disk before the next container starts. */
static void test_retry(void **state)
{
    (void)state;
    begin(ROLE("1", "\"maxRetryCount\":1", "", ""));
    allocate(2, "node1");
    settle();
    started(2);
    ended(2, 5);
    settle();
    assert_int_equal(retries("W-0", "retriedCount"), 1);
    allocate(3, "node1");
    settle();
    started(3);
    ended(3, 5);
    settle();
    assert_string_equal(told("W-0", "containerExitCode"), "5");
    assert_int_equal(times("finish(FAILED"), 1);
    assert_int_equal(w.m.exit_code, 200);
}

/* A host that lacks ports is refused: its container is released, another one asked for. */
static void test_ports(void **state)
{
    (void)state;
    begin(ROLE("2", "", "\"p\":{\"count\":2}", ""));
    allocate(2, "node1");
    allocate(3, "node1");
    assert_int_equal(times("release(3)"), 1);
    settle();
    assert_memory_equal(told("W-0", "containerPorts"), "p:2", 3);
    assert_non_null(strstr(told("W-1", "containerExitDiagnostics"), "free on node1"));
    assert_true(w.n_asked == 1 || times("ask") >= 2);
}

static void test_gang(void **state)
{
    (void)state;
    begin(ROLE("2", "", "", ",\"platformSpecificParameters\":{\"gangAllocation\":true}"));
    allocate(2, "node1");
    settle();
    assert_string_equal(told("W-0", "taskState"), "CONTAINER_ALLOCATED");
    assert_int_equal(times("prepare"), 0);
    allocate(3, "node2");
    settle();
    assert_int_equal(times("prepare"), 2);
    assert_string_equal(svc_fwm_addresses(&w.m)->text, "W 0 node1 \nW 1 node2 \n");
}

/* More addresses than a file may have end the framework, in words, and start nothing. */
static void test_large_gang(void **state)
{
    (void)state;
    begin(ROLE("2", "", "", ",\"platformSpecificParameters\":{\"gangAllocation\":true}"));
    w.m.addresses_max = strlen("W 0 node1 \nW 1 node2 ");
    allocate(2, "node1");
    allocate(3, "node2");
    settle();
    assert_int_equal(times("prepare"), 0);
    assert_int_equal(times("finish(FAILED"), 1);
    assert_non_null(strstr(am_calls.log, "gangAllocation"));
    assert_non_null(strstr(am_calls.log, "-7251"));
}

/* taskNumber of a later revision; what is removed is told as removed. */
static void test_flex(void **state)
{
    static const char more[] =
        ",\"descriptor\":{\"version\":3,\"taskRoles\":{\"W\":{\"taskNumber\":1," SERVICE("") "}}}";

    (void)state;
    begin(ROLE("2", "", "", ""));
    allocate(2, "node1");
    allocate(3, "node1");
    settle();
    assert_int_equal(json_object_size(w.told), 2);
    w.revision = 2;
    answer(more);
    settle();
    assert_int_equal(json_object_size(w.told), 1);
    assert_string_equal(told("W-0", "containerId"), "container_1_0001_01_000002");
}

static void test_migrate(void **state)
{
    (void)state;
    begin(ROLE("1", "\"fancyRetryPolicy\":true", "", ""));
    allocate(2, "node1");
    settle();
    started(2);
    w.revision = 2;
    answer(",\"migrate\":[\"container_1_0001_01_000002\"]");
    assert_int_equal(times("stop(2)"), 1);
    ended(2, YARN_EXIT_KILLED_BY_APPMASTER);
    settle();
    assert_int_equal(retries("W-0", "transientNormalRetriedCount"), 1);
}

/* A client's word of the progress counts more than the tasks that have ended. */
static void test_progress(void **state)
{
    (void)state;
    begin(ROLE("2", "", "", ""));
    settle();
    assert_true(json_number_value(json_object_get(w.open, "progress")) == 0);
    w.revision = 2;
    answer(",\"progress\":0.25");
    settle();
    assert_true(json_number_value(json_object_get(w.open, "progress")) == 0.25);
}

static void test_gone(void **state)
{
    (void)state;
    begin(ROLE("1", "", "", ""));
    json_decref(w.open);
    w.open = NULL;
    w.answered(410, "", 0, "", w.answered_userdata);
    am_turn(w.m.event);
    assert_int_equal(times("finish(FAILED"), 1);
    assert_int_equal(w.m.exit_code, 202);
}

/* A task that the attempt before told goes on in its container, with its counts and ports. */
static void test_resumed(void **state)
{
    static const char statuses[] =
        ",\"statuses\":{\"W\":[{\"taskIndex\":0,\"taskRoleName\":\"W\",\"taskState\":"
        "\"CONTAINER_RUNNING\",\"taskRetryPolicyState\":{\"retriedCount\":4,"
        "\"succeededRetriedCount\":0,\"transientNormalRetriedCount\":0,"
        "\"transientConflictRetriedCount\":0,\"nonTransientRetriedCount\":0,"
        "\"unKnownRetriedCount\":4},\"taskCreatedTimestamp\":1,\"taskServiceStatus\":{"
        "\"serviceVersion\":7},\"containerId\":\"container_1_0001_01_000002\",\"containerHost\":"
        "\"node1\",\"containerPorts\":\"p:2000,2001;\"}]}";
    const struct cli_allocation kept = { .id = am_container(2),
                                         .node = { "node1", 8041 },
                                         .http_address = "node1:8042",
                                         .request_id = CLI_NO_REQUEST_ID },
                                stranger = { .id = am_container(9),
                                             .node = { "node1", 8041 },
                                             .http_address = "node1:8042",
                                             .request_id = CLI_NO_REQUEST_ID };

    (void)state;
    new_master(ROLE("2", "\"maxRetryCount\":9", "\"p\":{\"count\":2}", ""), 2);
    answer(statuses);
    svc_fwm_yarn_ops.recovered(NULL, &kept, &w.m);
    svc_fwm_yarn_ops.recovered(NULL, &stranger, &w.m);
    am_turn(w.m.event);
    assert_int_equal(times("release"), 0);
    registered();
    assert_int_equal(times("release(9)") + times("stop(9)"), 1);
    assert_int_equal(times("release(2)") + times("stop(2)"), 0);
    ended(9, YARN_EXIT_KILLED_BY_APPMASTER);
    settle();
    assert_int_equal(w.n_asked, 1); /* of W-1 alone */
    allocate(3, "node1");
    assert_int_equal(times("release(3)"), 1); /* the ports are W-0's */
    ended(2, 7);
    settle();
    assert_int_equal(retries("W-0", "retriedCount"), 5);
    assert_int_equal(retries("W-0", "unKnownRetriedCount"), 5);
}

static void publish(size_t room)
{
    assert_int_equal(sd_event_source_set_time_relative(w.m.publish_timer, 0), 0);
    w.m.info_stale = true;
    while (!w.m.info_open)
        assert_true(sd_event_run(w.m.event, UINT64_MAX) >= 0);
    w.m.info.max = SV_MIN(w.m.info.max, w.m.info.len + room);
    while (w.m.info_open)
        assert_true(sd_event_run(w.m.event, UINT64_MAX) >= 0);
}

/* Tasks with more to tell than the file may have do not end the master. */
static void test_info_too_large(void **state)
{
    (void)state;
    begin(ROLE("1", "", "", ""));
    publish(60);
    assert_int_equal(times("publish "), 0);
    assert_int_equal(w.m.info.len, 0);
    publish(SIZE_MAX / 2);
    assert_int_equal(times("publish "), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_told_before_started, tear_down),
        cmocka_unit_test_teardown(test_retry, tear_down),
        cmocka_unit_test_teardown(test_ports, tear_down),
        cmocka_unit_test_teardown(test_gang, tear_down),
        cmocka_unit_test_teardown(test_large_gang, tear_down),
        cmocka_unit_test_teardown(test_flex, tear_down),
        cmocka_unit_test_teardown(test_migrate, tear_down),
        cmocka_unit_test_teardown(test_progress, tear_down),
        cmocka_unit_test_teardown(test_gone, tear_down),
        cmocka_unit_test_teardown(test_resumed, tear_down),
        cmocka_unit_test_teardown(test_info_too_large, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
