/* health/launch-failures.c: failures that make a node unhealthy, those that do not, and the launch
 * that probes recovery. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/log.h"
#include "nodemanager/health/launch-failures.h"

static sd_event *event;
static struct nm_launch_failures *f;

static void make(unsigned limit, int64_t retry_ms)
{
    struct sv_error err;

    assert_int_equal(nm_launch_failures_new(event, limit, retry_ms, &f, &err), 0);
}

static void fail_app(int32_t n)
{
    nm_launch_failures_add(f, (struct yarn_app_id){ 1700000000000, n }, "the helper is gone");
}

static void different_applications(void **state)
{
    (void)state;
    make(3, 3600000);
    for (int i = 0; i < 10; i++)
        fail_app(1); /* perhaps its own fault */
    fail_app(2);
    assert_null(nm_launch_failures_report(f));
    nm_launch_failures_clear(f);
    fail_app(3);
    fail_app(4);
    assert_null(nm_launch_failures_report(f));
    fail_app(5);
    assert_non_null(strstr(nm_launch_failures_report(f), "launches of 3 applications"));
    assert_non_null(strstr(nm_launch_failures_report(f), "the helper is gone"));
    nm_launch_failures_clear(f); /* one that was under way has succeeded */
    assert_null(nm_launch_failures_report(f));
    fail_app(6);
    assert_null(nm_launch_failures_report(f));
    f = nm_launch_failures_free(f);
}

static void run_until_offered(void)
{
    while (nm_launch_failures_report(f))
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
}

static void tried_again(void **state)
{
    (void)state;
    make(2, 1);
    fail_app(1);
    fail_app(2);
    assert_non_null(strstr(nm_launch_failures_report(f), "tried in 1 ms"));
    run_until_offered();
    fail_app(2); /* of whatever application */
    assert_non_null(strstr(nm_launch_failures_report(f), "tried in 2 ms"));
    for (int i = 0; i < 6; i++) {
        run_until_offered();
        fail_app(3);
    }
    assert_non_null(strstr(nm_launch_failures_report(f), "tried in 16 ms"));
    run_until_offered();
    nm_launch_failures_clear(f);
    fail_app(4);
    assert_null(nm_launch_failures_report(f));
    f = nm_launch_failures_free(f);
}

static void switched_off(void **state)
{
    (void)state;
    make(0, 1);
    for (int i = 1; i < 200; i++)
        fail_app(i);
    assert_null(nm_launch_failures_report(f));
    f = nm_launch_failures_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(different_applications),
        cmocka_unit_test(tried_again),
        cmocka_unit_test(switched_off),
    };
    int r;

    sv_log_init("test");
    sv_log_set_level(-1);
    if (sd_event_default(&event) < 0)
        return 1;
    r = cmocka_run_group_tests(tests, NULL, NULL);
    sd_event_unref(event);
    return r;
}
