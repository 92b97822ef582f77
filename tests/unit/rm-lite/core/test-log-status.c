/* rm-lite/core/log-status.c: the log status in an application's report while its nodes report. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include "rm-lite/core/log-status.h"

#define S(x) HADOOP__YARN__LOG_AGGREGATION_STATUS_PROTO__LOG_##x

static const char *const keys[][2] = { { "yarn.log-aggregation-enable", "true" }, { NULL, NULL } };

/* The reports of one node, in one message; ends with 0. */
static void reports(struct fix *f, struct rm_node *n, struct yarn_app_id id, const int *statuses)
{
    Hadoop__Yarn__LogAggregationReportProto m[8], *list[8];
    Hadoop__Yarn__ApplicationIdProto app = HADOOP__YARN__APPLICATION_ID_PROTO__INIT;
    size_t k = 0;

    app.has_id = app.has_cluster_timestamp = true;
    app.id = id.id;
    app.cluster_timestamp = id.cluster_ts;
    for (; statuses[k]; k++) {
        hadoop__yarn__log_aggregation_report_proto__init(&m[k]);
        m[k].application_id = &app;
        m[k].has_log_aggregation_status = true;
        m[k].log_aggregation_status = (Hadoop__Yarn__LogAggregationStatusProto)statuses[k];
        list[k] = &m[k];
    }
    rm_log_reports(f->rm, n, list, k);
}

static void finish(struct fix *f, struct rm_app *app)
{
    kill_app(f, app);
    rm_attempt_post(app->current, RM_ATT_EV_CONTAINER_FINISHED, NULL);
    settle(f);
    assert_true(rm_app_is_final(app));
}

static void disabled(void **state)
{
    struct rm_app *app;
    struct rm_node *n;
    struct fix f;

    (void)state;
    setup(&f);
    n = add_node(&f, 1);
    app = submit(&f, false, 1);
    reports(&f, n, app->id, (const int[]){ S(SUCCEEDED), 0 });
    assert_int_equal(rm_log_status(app), S(DISABLED));
    assert_string_equal(rm_log_status_name(rm_log_status(app)), "DISABLED");
    teardown(&f);
}

static void succeeds(void **state)
{
    struct rm_node *one, *two;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    one = add_node(&f, 1);
    two = add_node(&f, 2);
    app = submit(&f, false, 1);
    assert_int_equal(rm_log_status(app), S(NOT_START));
    heartbeat(&f, one);
    heartbeat(&f, two);
    rm_log_ran_on(app, one->key);
    rm_log_ran_on(app, two->key);
    assert_int_equal(rm_log_status(app), S(NOT_START));
    reports(&f, one, app->id, (const int[]){ S(RUNNING), 0 });
    assert_int_equal(rm_log_status(app), S(RUNNING));
    reports(&f, one, app->id, (const int[]){ S(RUNNING_WITH_FAILURE), S(RUNNING), 0 });
    assert_int_equal(rm_log_status(app), S(RUNNING_WITH_FAILURE));
    reports(&f, one, app->id, (const int[]){ S(RUNNING), S(SUCCEEDED), 0 });
    assert_int_equal(rm_log_status(app), S(RUNNING));
    reports(&f, two, app->id, (const int[]){ S(SUCCEEDED), 0 });
    assert_int_equal(rm_log_status(app), S(RUNNING)); /* the application is not over */
    finish(&f, app);
    assert_int_equal(rm_log_status(app), S(SUCCEEDED));
    reports(&f, two, app->id, (const int[]){ S(FAILED), 0 });
    assert_int_equal(rm_log_status(app), S(SUCCEEDED)); /* final */
    teardown(&f);
}

static void fails_or_is_late(void **state)
{
    struct rm_app *failed, *late;
    struct rm_node *n;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    n = add_node(&f, 1);
    failed = submit(&f, false, 1);
    late = submit(&f, false, 1);
    rm_log_ran_on(failed, n->key);
    rm_log_ran_on(late, n->key);
    finish(&f, failed);
    reports(&f, n, failed->id, (const int[]){ S(RUNNING_WITH_FAILURE), S(FAILED), 0 });
    assert_int_equal(rm_log_status(failed), S(FAILED));
    rm_app_post(late, RM_APP_EV_KILL, "");
    settle(&f);
    if (!rm_app_is_final(late)) {
        rm_attempt_post(late->current, RM_ATT_EV_CONTAINER_FINISHED, NULL);
        settle(&f);
    }
    reports(&f, n, late->id, (const int[]){ S(RUNNING), 0 });
    assert_int_equal(rm_log_status(late), S(RUNNING));
    late->finish_ms -= 500000;
    assert_int_equal(rm_log_status(late), S(RUNNING));
    late->finish_ms -= 200000;
    assert_int_equal(rm_log_status(late), S(TIME_OUT));
    teardown(&f);
}

/* Reports of a hostile node: unknown applications, invalid statuses, nothing at all. */
static void malformed(void **state)
{
    Hadoop__Yarn__LogAggregationReportProto m = HADOOP__YARN__LOG_AGGREGATION_REPORT_PROTO__INIT;
    Hadoop__Yarn__LogAggregationReportProto *list[] = { &m };
    struct rm_app *app;
    struct rm_node *n;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    n = add_node(&f, 1);
    app = submit(&f, false, 1);
    rm_log_ran_on(app, n->key);
    rm_log_reports(f.rm, n, list, 1);
    reports(&f, n, (struct yarn_app_id){ 1, 1 }, (const int[]){ S(FAILED), 0 });
    reports(&f, n, app->id, (const int[]){ 99, -1, 255, 0 });
    assert_int_equal(rm_log_status(app), S(NOT_START));
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disabled),
        cmocka_unit_test(succeeds),
        cmocka_unit_test(fails_or_is_late),
        cmocka_unit_test(malformed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
