/* logs/log-aggregation.c and its parts: configurations rejected at start, reports until they are
 * delivered, policies over a restart, concurrent uploads, deletion of local logs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/nodemanager/logs/aggregation-fixture.h"

static void refused(void **state)
{
    static char *const bad[][2] = {
        { SET("yarn.nodemanager.remote-app-log-dir=s3a://bucket/logs"),
          SET("=s3a://bucket/logs: logs are uploaded to hdfs:, webhdfs: and file: alone") },
        { SET("yarn.nodemanager.remote-app-log-dir=https://host/logs"),
          SET("=https://host/logs: logs are uploaded to hdfs:, webhdfs: and file: alone") },
        { SET(LOGS "policy.class=org.example.MostPolicy"),
          SET(LOGS "policy.class: org.example.MostPolicy is not supported") },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        struct sv_error err = { 0 };

        assert_true(start(SETTINGS(bad[i][0]), &err) < 0);
        if (!strstr(err.text, bad[i][1]))
            fail_msg("\"%s\" does not say \"%s\"", err.text, bad[i][1]);
        g = NULL;
        close_node();
    }
}

/* An unanswered message is followed by one with the same reports, at registration as in heartbeats;
 * an answer acknowledges exactly the reports of its message. */
static void reported(void **state)
{
    struct nm_app *a;

    (void)state;
    begin(SETTINGS(NULL));
    a = add_app(1, "", "", "");
    assert_string_equal(reports(), "");
    nm_aggregation_app_finished(g, a);
    for (int lost = 0; lost < 3; lost++)
        assert_string_equal(reports(), RUNNING);
    nm_aggregation_reports_delivered(g);
    assert_string_equal(reports(), "");
    turn(&started, 1);
    nm_aggregation_app_finished(g, a);
    assert_string_equal(reports(), "");
    answer(0, LOGS_DONE);
    for (int lost = 0; lost < 3; lost++)
        assert_string_equal(reports(), ENDED);
    nm_aggregation_reports_delivered(g);
    assert_string_equal(reports(), "");
    a = add_app(2, "", "", "");
    nm_aggregation_app_finished(g, a);
    assert_string_equal(reports(), RUNNING);
    turn(&started, 2);
    answer(1, LOGS_DONE); /* while the message with RUNNING is under way */
    nm_aggregation_reports_delivered(g);
    assert_string_equal(reports(), ENDED);
    nm_aggregation_reports_delivered(g);
    assert_string_equal(reports(), "");
    close_node();
}

/* The ids that the upload leaves out. */
static void expect_skipped(unsigned i, const char *const *wanted)
{
    const struct logs_upload *u = &uploads[i]->request;
    size_t n = 0;

    for (; wanted[n]; n++) {
        assert_true(n < u->skips.n);
        assert_string_equal(u->skips.v[n], wanted[n]);
    }
    assert_int_equal(u->skips.n, n);
}

/* Policies of an application, decided before and after a restart of the daemon. */
static void policies(void **state)
{
    static const struct {
        const char *name, *parameters, *skipped[4];
    } rows[] = {
        { "FailedContainerLogAggregationPolicy",
          "",
          { "container_1_0001_01_000002", "container_1_0001_01_000004",
            "container_1_0001_01_000001" } },
        { "SampleContainerLogAggregationPolicy", "SR:0,MIN:1", { "container_1_0001_01_000004" } },
        { "", "", { NULL } },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct nm_app *a;

        fresh(state);
        begin(SETTINGS(NULL));
        a = add_app(1, rows[i].name, rows[i].parameters, "");
        container_done(a, 2, 0);
        container_done(a, 3, 1);
        restart(SETTINGS(NULL));
        container_done(a, 4, 0);
        container_done(a, 5, 1);
        container_done(a, 1, 0);
        nm_aggregation_app_finished(g, a);
        turn(&started, 1);
        expect_skipped(0, rows[i].skipped);
        restart(SETTINGS(NULL)); /* and in the middle of the upload */
        turn(&started, 1);
        expect_skipped(0, rows[i].skipped);
        close_node();
    }
}

/* The next one starts when one has ended, however it ended. */
static void at_a_time(void **state)
{
    (void)state;
    begin(SETTINGS(SET("yarn.nodemanager.logaggregation.threadpool-size-max=2")));
    for (int n = 1; n <= 5; n++)
        nm_aggregation_app_finished(g, add_app(n, "", "", ""));
    turn(&started, 2); /* one pass over the list starts all that may */
    answer(0, LOGS_DONE);
    turn(&started, 3);
    answer(1, LOGS_REFUSED);
    turn(&started, 4);
    answer(2, LOGS_FAILED);
    turn(&started, 5);
    answer(3, LOGS_NOTHING);
    answer(4, LOGS_DONE);
    close_node();
}

/* Uploaded logs are deleted at once, or at the end of log.retain-seconds. */
static void local_cleanup(void **state)
{
    for (int delete = 0; delete < 2; delete ++) {
        struct nm_app *a;

        fresh(state);
        begin(SETTINGS(SET(delete ? AGGREGATION "enable-local-cleanup=true"
                                  : AGGREGATION "enable-local-cleanup=false")));
        a = add_app(1, "", "", "");
        nm_aggregation_app_finished(g, a);
        turn(&started, 1);
        assert_int_equal(deleted, 0);
        answer(0, LOGS_DONE);
        assert_int_equal(nm_log_handler_until(handler, a->text) == 0, delete);
        if (delete)
            turn(&deleted, 1);
        assert_int_equal(nm_log_handler_keeps(handler, a->text), !delete);
        close_node();
    }
}

/* Rolled logs, which their uploader deletes. */
static void rolled_cleanup(void **state)
{
    static char *const more[][2] = {
        { SET(AGGREGATION "enable-local-cleanup=true"), SET("1") },
        { SET(AGGREGATION "enable-local-cleanup=false"), SET("") },
        { SET("yarn.nodemanager.delete.debug-delay-sec=600"), SET("") },
        { SET("yarn.nodemanager.delete.debug-delay-sec=-1"), SET("") },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(more); i++) {
        struct nm_app *a;

        fresh(state);
        begin(SETTINGS(SET(LOGS "roll-monitoring-interval-seconds=1"),
                       SET(LOGS "debug-enabled=true"), more[i][0]));
        a = add_app(1, "", "", "^log\\.");
        container_done(a, 2, 0);
        turn(&started, 1);
        assert_int_equal(uploads[0]->visibility, EXE_VISIBILITY_ROLLED_LOGS);
        assert_true(uploads[0]->request.app_runs);
        assert_int_equal(uploads[0]->request.delete_uploaded, *more[i][1] != '\0');
        close_node();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(refused, fresh),       cmocka_unit_test_setup(reported, fresh),
        cmocka_unit_test_setup(policies, fresh),      cmocka_unit_test_setup(at_a_time, fresh),
        cmocka_unit_test_setup(local_cleanup, fresh), cmocka_unit_test_setup(rolled_cleanup, fresh),
    };

    return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}
