/* common/rate.c: numbers, averages of periods, and what an idle time leaves of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/rate.h"

#define P SV_RATE_PERIOD_MS

static void expect(const struct sv_rate *r, int64_t now, uint64_t n, double average, double rate)
{
    assert_int_equal(r->n, n);
    assert_float_equal(sv_rate_average(r, now), average, 1e-9);
    assert_float_equal(sv_rate_per_second(r, now), rate, 1e-9);
}

static void periods(void **state)
{
    struct sv_rate r = { 0 };
    int64_t now = 100 * P;

    (void)state;
    expect(&r, now, 0, 0, 0);
    sv_rate_add(&r, 10, now);
    sv_rate_add(&r, 30, now + P - 1);
    expect(&r, now + P - 1, 2, 20, 0); /* there is no whole period yet */
    now += P;
    expect(&r, now, 2, 20, 0.2);
    sv_rate_add(&r, 1000, now);
    expect(&r, now, 3, 20, 0.2); /* the current one does not count yet */
    now += P;
    expect(&r, now, 3, 1000, 0.1);
    now += 2 * P;
    expect(&r, now, 3, 1000, 0); /* the average stays, the rate does not */
    sv_rate_add(&r, 2, now);
    expect(&r, now + P, 4, 2, 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periods),
    };

    return cmocka_run_group_tests_name("rate", tests, NULL, NULL);
}
