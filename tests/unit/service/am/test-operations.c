/* Tests service/am/operations.c: each operation of the engine becomes one call of the library, of
 * the worker or of a timer. */
#include "tests/unit/service/master-fixture.h"

#include <errno.h>

#define COMPONENT(name, count, more)                                                               \
    "{\"name\":\"" name "\",\"number_of_containers\":" count ",\"launch_command\":\"x\","          \
    "\"resource\":{\"cpus\":1,\"memory\":\"64\"}" more "}"
#define BODY(version, components)                                                                  \
    "\"name\":\"shop\",\"version\":\"" version "\",\"configuration\":{\"properties\":{"            \
    "\"yarn.service.node-blacklist.threshold\":\"1\","                                             \
    "\"yarn.service.container-failure-per-component.threshold\":\"3\"}},\"components\":"           \
    "[" components "]}"
#define SERVICE(components) "{" BODY("7", components)
#define PLACED                                                                                     \
    ",\"placement_policy\":{\"constraints\":[{\"type\":\"ANTI_AFFINITY\",\"scope\":\"NODE\","      \
    "\"target_tags\":[\"web\"]}]}"
#define WEB 1, 0 /* request and priority */

static int tear_down(void **state)
{
    (void)state;
    mf_free();
    return 0;
}

static void flex(const char *component, int64_t count)
{
    am_calls.log[0] = '\0';
    assert_int_equal(svc_engine_flex(mf.m.engine, 1, component, count, NULL), 0);
    svc_master_operate(&mf.m);
}

static void asks(void **state)
{
    (void)state;
    mf_new(SERVICE(COMPONENT("web", "3", "") "," COMPONENT("db", "1", "")));
    mf_registered();
    mf_assert_log("ask(1=3 of 64 MiB, priority 0) ");
    mf_assert_log("ask(2=1 of 64 MiB, priority 1) ");
    flex("web", 0);
    mf_assert_log("cancel(1) ");
    mf_assert_log("store(shop.json) "); /* the counts */
    flex("web", 2);
    mf_assert_log("ask(1=2 of 64 MiB, priority 0) ");
    mf.m.stored_by_caller = true; /* by the API, before it told */
    flex("web", 1);
    assert_null(strstr(am_calls.log, "store("));
}

/* One constraint anywhere makes every request a scheduling request. */
static void schedules(void **state)
{
    (void)state;
    mf_new(SERVICE(COMPONENT("web", "3", PLACED) "," COMPONENT("db", "1", "")));
    mf_registered();
    mf_assert_log("schedule(1=3 tag web constrained) ");
    mf_assert_log("schedule(2=1 tag db) ");
    assert_null(strstr(am_calls.log, "ask("));
}

/* The library reports no end of what is released: the master does, in the next turn. */
static void releases(void **state)
{
    int64_t number;

    (void)state;
    mf_new(SERVICE(COMPONENT("web", "1", "")));
    mf_registered();
    number = mf_allocate(WEB);
    flex("web", 0); /* before its launch is prepared */
    mf_settle(0);
    assert_null(strstr(am_calls.log, "start("));
    mf_completed(number, -105); /* where it was stopped, in place of released */
    am_turn(mf.m.event);
    assert_int_equal(mf.m.containers.n, 0);
    flex("web", 1);
    mf_run(WEB);
    assert_int_equal(mf_state("web-0"), SVC_INSTANCE_READY);
}

static void stops_newest_first(void **state)
{
    (void)state;
    mf_new(SERVICE(COMPONENT("web", "2", "")));
    mf_registered();
    mf_run(WEB);
    mf_run(WEB);
    flex("web", 1);
    mf_assert_log("stop(2) ");
    assert_null(strstr(am_calls.log, "stop(1)"));
    mf_completed(2, -105);
    assert_int_equal(mf.m.containers.n, 1);
}

/* Names before starts: the journal is stored in the turn of the launches, once, before them. */
static void launches(void **state)
{
    (void)state;
    mf_new(SERVICE(COMPONENT("web", "2", "")));
    mf_registered();
    am_calls.log[0] = '\0';
    mf_allocate(WEB);
    mf_allocate(WEB);
    assert_null(strstr(am_calls.log, "prepare("));
    am_turn(mf.m.event);
    /* jobs are done in order */
    assert_string_equal(am_calls.log, "store(" SVC_JOURNAL_FILE ") prepare(web-0) prepare(web-1) ");
    mf_settle(-ENOENT); /* a source that is not there: both starts have failed */
    assert_null(strstr(am_calls.log, "start("));
    assert_int_equal(mf_state("web-0"), SVC_INSTANCE_INIT); /* released, wanted again */
}

static void refused_start(void **state)
{
    (void)state;
    mf_new(SERVICE(COMPONENT("web", "1", "")));
    mf_registered();
    am_calls.start_result = -ENOENT; /* it ended meanwhile */
    mf_allocate(WEB);
    mf_settle(0);
    mf_assert_log("start(1) ");
    assert_int_equal(mf_state("web-0"), SVC_INSTANCE_INIT); /* released, wanted again */
}

/* A node on which instances fail is avoided; too many failures end the service. */
static void fails(void **state)
{
    (void)state;
    mf_new(SERVICE(COMPONENT("web", "1", "")));
    mf_registered();
    for (int i = 0; i < 4; i++)
        mf_completed(mf_run(WEB), 1);
    mf_assert_log("blacklist(node1 on) ");
    mf_assert_log("finish(FAILED: ");
    assert_int_equal(svc_engine_state(mf.m.engine), SVC_FAILED);
}

/* The stored definition is the new one, of the same application. */
static void finalizes(void **state)
{
    static const char next[] = "{" BODY("8", COMPONENT("web", "5", ""));
    struct sv_error err = { 0 };
    struct svc_plan *plan;

    (void)state;
    mf_new("{\"id\":\"application_1_0001\"," BODY(
        "7", COMPONENT("web", "1", ",\"decommissioned_instances\":[\"web-7\"]")));
    mf_registered();
    mf_run(WEB);
    am_calls.log[0] = '\0';
    assert_int_equal(svc_plan_new(next, strlen(next), mf.conf, &plan, &err), 0);
    mf.m.next = plan;
    assert_int_equal(
        svc_engine_upgrade(mf.m.engine, 1, plan->resolved, plan->options, true, false, &err), 0);
    svc_master_operate(&mf.m);
    am_turn(mf.m.event);
    mf_assert_log("store(shop.json) ");
    assert_ptr_equal(mf.m.plan, plan);
    assert_string_equal(mf.m.version, "8");
    assert_string_equal(plan->stored->id, "application_1_0001");
    assert_string_equal(plan->stored->components[0].decommissioned[0], "web-7");
    assert_int_equal(plan->stored->components[0].count, 1); /* a flex is another request */
    mf_jobs(0);
    assert_null(mf.m.old);
}

/* The engine's timer: a container that ended before its request was answered is asked for again. */
static void timer(void **state)
{
    const struct cli_rejection r = { .request_id = 1, .count = 1 };

    (void)state;
    mf_new(SERVICE(COMPONENT("web", "1", "")));
    mf_registered();
    svc_master_yarn_ops.rejected(NULL, &r, &mf.m);
    am_calls.log[0] = '\0';
    for (int i = 0; i < 100 && !strstr(am_calls.log, "ask("); i++)
        assert_true(sd_event_run(mf.m.event, 10000000) >= 0); /* in a second or so */
    mf_assert_log("ask(1=1 ");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(asks),     TEST(schedules),     TEST(releases), TEST(stops_newest_first),
        TEST(launches), TEST(refused_start), TEST(fails),    TEST(finalizes),
        TEST(timer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
