/* Tests common/clock.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "common/clock.h"

static void test_real(void **state)
{
    int64_t a = sv_now_ms(), b = sv_now_ms(), wall = sv_wall_ms();

    (void)state;
    assert_true(b >= a);
    assert_in_range(wall / 1000, time(NULL) - 2, time(NULL) + 2);
}

static void test_frozen(void **state)
{
    (void)state;
    sv_clock_set_test(5, 1700000000123);
    assert_int_equal(sv_now_ms(), 5);
    assert_true(sv_wall_ms() == 1700000000123);
    sv_clock_reset();
    assert_true(sv_now_ms() > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real),
        cmocka_unit_test(test_frozen),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
