/* A framework's master and the nodes of its cluster: which are asked for, which are avoided, and
 * what the ResourceManager's lists say of its containers. */
#include "tests/unit/service/framework-master-fixture.h"

/* Where a port that is named was taken, the next container is asked for elsewhere for a while. */
static void test_avoided(void **state)
{
    (void)state;
    begin(ROLE("1", "\"fancyRetryPolicy\":true", "\"p\":{\"start\":2001,\"count\":1}", ""));
    allocate(2, "node1");
    settle();
    started(2);
    ended(2, YARN_EXIT_PORT_CONFLICT);
    settle();
    assert_int_equal(retries("W-0", "transientNormalRetriedCount"), 1);
    assert_int_equal(times("blacklist(node1 on) ask"), 1);
    allocate(3, "node1"); /* it was given before */
    settle();
    started(3);
    ended(3, YARN_EXIT_PORT_CONFLICT);
    assert_int_equal(times("blacklist(node1 on)"), 1);
    w.m.avoided->until = 0;
    assert_int_equal(sd_event_source_set_time_relative(w.m.avoid_timer, 0), 0);
    am_turn(w.m.event);
    assert_int_equal(times("blacklist(node1 off)"), 1);
    assert_null(w.m.avoided);
}

static void end_avoiding(void)
{
    w.m.avoided->until = 0;
    assert_int_equal(sd_event_source_set_time_relative(w.m.avoid_timer, 0), 0);
    am_turn(w.m.event);
    assert_null(w.m.avoided);
}

/* A host that is on the blacklist for two reasons leaves it when both are over. */
static void test_avoided_twice(void **state)
{
    (void)state;
    begin(ROLE("2", "\"fancyRetryPolicy\":true", "\"p\":{\"start\":2001,\"count\":1}",
               ",\"platformSpecificParameters\":{\"antiaffinityAllocation\":true}"));
    allocate(2, "node1");
    settle();
    started(2);
    assert_int_equal(times("blacklist(node1 on)"), 1); /* a task is there */
    ended(2, YARN_EXIT_PORT_CONFLICT);
    settle();
    assert_non_null(w.m.avoided);
    assert_int_equal(times("blacklist(node1 off)"), 0); /* no task, but the port is taken */
    allocate(3, "node1");                               /* it was given before */
    settle();
    started(3);
    end_avoiding();
    assert_int_equal(times("blacklist(node1 off)"), 0); /* a task is there again */
    ended(3, 1);
    settle();
    assert_int_equal(times("blacklist(node1 off)"), 1);
}

#define GPU_ROLE                                                                                   \
    "{\"version\":3,\"taskRoles\":{\"W\":{\"taskNumber\":3,\"taskRetryPolicy\":{"                  \
    "\"maxRetryCount\":-2},\"taskService\":{\"version\":1,\"entryPoint\":\"true\","                \
    "\"sourceLocations\":[\"file:///x\"],\"resource\":{\"cpuNumber\":1,\"memoryMB\":64,"           \
    "\"gpuNumber\":1,\"portDefinitions\":{\"p\":{\"count\":1}}}}}}}"

/* Requests for GPUs are for the node whose free ones they fill best; where none has enough, for
 * any. */
static void test_gpus(void **state)
{
    static const struct cli_node_report nodes[] = {
        { .id = { .host = "full" },
          .capability = { 4096, 8, 4, { 0 } },
          .used = { 0, 0, 4, { 0 } } },
        { .id = { .host = "half" },
          .capability = { 4096, 8, 4, { 0 } },
          .used = { 0, 0, 2, { 0 } } },
        { .id = { .host = "none" }, .capability = { 4096, 8, 0, { 0 } } },
    };

    (void)state;
    new_master(GPU_ROLE, 1);
    answer("");
    while (!w.nodes)
        assert_true(sd_event_run(w.m.event, UINT64_MAX) >= 0);
    w.nodes(0, nodes, 3, NULL, &w.m);
    registered();
    assert_int_equal(times("ask(half)"), 2);
    assert_int_equal(times("ask(*)"), 1);
    assert_int_equal(w.asked_gpus, 1);
    assert_non_null(strstr(told("W-2", "containerExitDiagnostics"),
                           "no node of 3 has room for it now: full has 0 of 4 GPUs free, 1 wanted; "
                           "half has 0 of 4"));
    allocate(2, "half");
    allocate(3, "half");
    assert_int_equal(w.m.n_answered, 2);
    settle();
    started(2);
    ended(2, 0);
    settle();
    assert_int_equal(times("ask(half)"), 3); /* what it had is free before the next list */
    w.nodes(0, nodes, 3, NULL, &w.m);
    assert_int_equal(w.m.n_answered, 0);
}

/* Nothing is asked for before the nodes are known, or known not to be had. */
static void test_nodes_first(void **state)
{
    (void)state;
    new_master(GPU_ROLE, 1);
    answer("");
    registered();
    assert_int_equal(w.n_asked, 0);
    while (!w.nodes)
        assert_true(sd_event_run(w.m.event, UINT64_MAX) >= 0);
    assert_int_equal(w.n_asked, 0);
    w.nodes(-EIO, NULL, 0, NULL, &w.m);
    assert_int_equal(times("ask(*)"), 3);
    w.nodes(-EIO, NULL, 0, NULL, &w.m);
    assert_int_equal(w.n_asked, 3);
}

/* The list is asked for, and answered. */
static void answer_list(int status, const struct cli_container_report *list, size_t n)
{
    w.containers = NULL;
    assert_int_equal(sd_event_source_set_time_relative(w.m.resync_timer, 0), 0);
    while (!w.containers)
        assert_true(sd_event_run(w.m.event, UINT64_MAX) >= 0);
    w.containers(status, list, n, NULL, &w.m);
}

/* A container that the ResourceManager does not list has ended, but only in a list of ours. */
static void test_listed(void **state)
{
    const struct cli_container_report list[] = { { .id = am_container(1), .state = "RUNNING" },
                                                 { .id = am_container(2), .state = "RUNNING" } };

    (void)state;
    (void)setenv("CONTAINER_ID", "container_1_0001_01_000001", 1);
    begin(ROLE("1", "", "",
               ",\"platformSpecificParameters\":{\"containerConnectionMaxLostCount\":0}"));
    allocate(2, "node1");
    settle();
    started(2);
    answer_list(0, list, 2);
    answer_list(0, list, 0); /* without the master's own */
    answer_list(-EIO, NULL, 0);
    assert_true(w.m.lists_fail); /* which was logged */
    settle();
    assert_string_equal(told("W-0", "taskState"), "CONTAINER_RUNNING");
    answer_list(0, list, 1);
    assert_false(w.m.lists_fail);
    settle();
    assert_int_equal(times("stop(2)"), 1);
    ended(2, YARN_EXIT_KILLED_BY_APPMASTER);
    settle();
    assert_string_equal(told("W-0", "containerExitCode"), "-7151");
}

/* With Kerberos lists are asked for by a token alone. */
static void test_lists_with_kerberos(void **state)
{
    (void)state;
    new_master(ROLE("1", "", "", ""), 1);
    assert_int_equal(sv_conf_set(w.m.conf, "hadoop.security.authentication", "kerberos"), 0);
    for (int with = 0; with < 2; with++) {
        struct sv_error err = { 0 };

        w.m.tokens.of_rm = with;
        assert_int_equal(svc_fwm_cluster_new(&w.m, &err), 0);
        assert_int_equal(w.m.resync_timer != NULL, with);
    }
}

/* A role that no node of the cluster can hold ends the application, in words. */
static void test_cannot(void **state)
{
    const struct cli_registration r = { .queue = "default",
                                        .maximum = { .memory_mb = 32, .vcores = 4 } };

    (void)state;
    new_master(ROLE("1", "", "", ""), 1);
    answer("");
    svc_fwm_yarn_ops.registered(NULL, &r, &w.m);
    settle();
    assert_int_equal(times("memoryMB: 64: the cluster gives a container at most 32"), 1);
    assert_int_equal(times("finish(FAILED"), 1);
    assert_int_equal(w.m.exit_code, 202);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_avoided, tear_down),
        cmocka_unit_test_teardown(test_avoided_twice, tear_down),
        cmocka_unit_test_teardown(test_gpus, tear_down),
        cmocka_unit_test_teardown(test_nodes_first, tear_down),
        cmocka_unit_test_teardown(test_listed, tear_down),
        cmocka_unit_test_teardown(test_lists_with_kerberos, tear_down),
        cmocka_unit_test_teardown(test_cannot, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
