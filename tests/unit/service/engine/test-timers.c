/* The heap of timers: order, equal times, disarming in the middle, against a plain list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "service/engine/timers.h"

#define N 200

static void test_order(void **state)
{
    struct svc_timers ts = { 0 };
    struct svc_timer t[N] = { 0 };
    uint32_t seed = 7;
    int64_t last = 0;
    size_t armed = 0, taken = 0;

    (void)state;
    assert_null(svc_timer_take(&ts, INT64_MAX));
    assert_true(svc_timers_due(&ts) == INT64_MAX);
    for (size_t i = 0; i < 5000; i++) {
        struct svc_timer *one;

        seed = seed * 1664525 + 1013904223;
        one = &t[(seed >> 8) % N];
        armed += !one->place;
        svc_timer_arm(&ts, one, 1, (int64_t)(seed >> 16) % 100);
        seed = seed * 1664525 + 1013904223;
        one = &t[(seed >> 8) % N];
        if (seed & 1 << 30) {
            armed -= one->place != 0;
            svc_timer_disarm(&ts, one);
        }
        assert_int_equal(ts.n, armed);
    }
    for (struct svc_timer *one; (one = svc_timer_take(&ts, INT64_MAX)); taken++) {
        assert_true(one->at >= last);
        last = one->at;
    }
    assert_int_equal(taken, armed);
    svc_timers_free(&ts);
}

static void test_equal_times(void **state)
{
    struct svc_timers ts = { 0 };
    struct svc_timer t[N] = { 0 };

    (void)state;
    for (size_t i = 0; i < N; i++)
        svc_timer_arm(&ts, &t[i], 1, 5);
    svc_timer_arm(&ts, &t[3], 1, 5); /* again: the last now */
    assert_null(svc_timer_take(&ts, 4));
    for (size_t i = 0; i < N; i++)
        if (i != 3)
            assert_ptr_equal(svc_timer_take(&ts, 5), &t[i]);
    assert_ptr_equal(svc_timer_take(&ts, 5), &t[3]);
    svc_timers_free(&ts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_equal_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
