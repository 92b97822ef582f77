/* core/container-retry.c: which exits are retried, how often, and what is recorded of that. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/core/container-retry.h"

#define ALL HADOOP__YARN__CONTAINER_RETRY_POLICY_PROTO__RETRY_ON_ALL_ERRORS
#define SOME HADOOP__YARN__CONTAINER_RETRY_POLICY_PROTO__RETRY_ON_SPECIFIC_ERROR_CODES

static int32_t codes[] = { 7, 137, 143, 0, -104, 9 };
static Hadoop__Yarn__ContainerRetryContextProto m;
static Hadoop__Yarn__ContainerLaunchContextProto clc;
static struct nm_retry r;

static void set(int policy, int32_t max, int64_t window_ms)
{
    hadoop__yarn__container_retry_context_proto__init(&m);
    hadoop__yarn__container_launch_context_proto__init(&clc);
    clc.container_retry_context = &m;
    m.retry_policy = (Hadoop__Yarn__ContainerRetryPolicyProto)policy;
    m.max_retries = max;
    m.failures_validity_interval = window_ms;
    m.error_codes = codes;
    m.n_error_codes = sizeof(codes) / sizeof(codes[0]);
    nm_retry_set(&r, &clc, 1000);
}

/* Retries at these times until one is refused; how many. */
static int retries(int code, int64_t from_ms, int64_t step_ms, int most)
{
    int n = 0;

    for (; n < most && nm_retry_wanted(&r, &clc, code, from_ms + n * step_ms); n++)
        assert_int_equal(nm_retry_count(&r, from_ms + n * step_ms), 0);
    return n;
}

static void policies(void **state)
{
    (void)state;
    hadoop__yarn__container_launch_context_proto__init(&clc);
    nm_retry_set(&r, &clc, 1000); /* none */
    assert_false(r.policy || nm_retry_wanted(&r, &clc, 1, 0));
    set(0, 5, -1);
    assert_false(nm_retry_wanted(&r, &clc, 1, 0));
    set(ALL, 5, -1);
    assert_true(nm_retry_wanted(&r, &clc, 1, 0) && nm_retry_wanted(&r, &clc, 255, 0));
    set(SOME, 5, -1);
    assert_true(nm_retry_wanted(&r, &clc, 7, 0) && nm_retry_wanted(&r, &clc, 9, 0));
    assert_false(nm_retry_wanted(&r, &clc, 8, 0));
    for (int i = 1; i < 5; i++) /* named, and never retried */
        assert_false(nm_retry_wanted(&r, &clc, codes[i], 0));
    set(7, 5, -1); /* of a later Hadoop */
    assert_false(nm_retry_wanted(&r, &clc, 7, 0));
}

static void numbers(void **state)
{
    (void)state;
    set(ALL, 3, -1);
    assert_int_equal(retries(1, 0, 0, 10), 3);
    set(ALL, 0, -1);
    assert_int_equal(retries(1, 0, 0, 10), 0);
    set(ALL, -2, -1);
    assert_int_equal(retries(1, 0, 0, 10), 0);
    set(ALL, NM_RETRY_FOREVER, -1);
    assert_int_equal(retries(1, 0, 0, 5000), 5000);
    m.retry_interval = 5;
    nm_retry_set(&r, &clc, 1000);
    assert_int_equal(r.interval_ms, 1000);
    m.retry_interval = 5000;
    nm_retry_set(&r, &clc, 1000);
    assert_int_equal(r.interval_ms, 5000);
    m.retry_interval = -5;
    nm_retry_set(&r, &clc, 0);
    assert_int_equal(r.interval_ms, 0);
}

static void windows(void **state)
{
    (void)state;
    set(ALL, 3, 100);
    assert_int_equal(retries(1, 1000, 10, 10), 3);
    assert_false(nm_retry_wanted(&r, &clc, 1, 1100));
    assert_true(nm_retry_wanted(&r, &clc, 1, 1101)); /* the first has left the window */
    set(ALL, 3, 100);
    assert_int_equal(retries(1, 1000, 34, 1000), 1000); /* never three in one window */
    assert_true(r.n_times <= 3);
    set(ALL, INT32_MAX, INT64_MAX); /* more than are counted */
    assert_int_equal(retries(1, 1000, 1, 3000), 3000);
    assert_int_equal(r.n_times, 0);
    set(ALL, NM_RETRY_TIMES_MAX, INT64_MAX);
    assert_int_equal(retries(1, 1000, 1, 3000), NM_RETRY_TIMES_MAX);
    assert_true(nm_retry_wanted(&r, &clc, 1, INT64_MIN)); /* a clock that was set: no overflow */
}

static void restored(const char *text, int expected)
{
    assert_int_equal(nm_retry_restore(&r, text), expected);
}

static void records(void **state)
{
    char *text;

    (void)state;
    set(ALL, 3, 100);
    assert_int_equal(retries(1, 1000, 10, 2), 2);
    text = nm_retry_text(&r);
    assert_string_equal(text, "1 1000 1010");
    set(ALL, 3, 100);
    restored(text, 0);
    free(text);
    assert_int_equal(retries(1, 1020, 0, 10), 1);
    set(ALL, NM_RETRY_TIMES_MAX, INT64_MAX);
    assert_int_equal(retries(1, INT64_MAX - 5000, 1, 3000), NM_RETRY_TIMES_MAX);
    text = nm_retry_text(&r);
    assert_non_null(text);
    restored(text, 0);
    assert_int_equal(r.n_times, NM_RETRY_TIMES_MAX);
    free(text);
    set(ALL, 3, -1);
    restored("", 0);
    assert_int_equal(r.remaining, 3);
    restored("-1", 0);
    assert_int_equal(r.remaining, -1);
    for (size_t i = 0; i < 6; i++)
        restored(((const char *const[]){ "x", "1 x", "1 2x", "99999999999",
                                         "1 2 99999999999999999999", " " })[i],
                 -EBADMSG);
    assert_int_equal(r.remaining, -1);
}

static int clear(void **state)
{
    (void)state;
    nm_retry_clear(&r);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(policies, clear),
        cmocka_unit_test_teardown(numbers, clear),
        cmocka_unit_test_teardown(windows, clear),
        cmocka_unit_test_teardown(records, clear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
