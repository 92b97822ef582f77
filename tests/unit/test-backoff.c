/* Waiting times between attempts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/backoff.h"

static void test_grows(void **state)
{
    (void)state;
    struct ipc_backoff b = { .first_ms = 100, .max_ms = 3000 };
    static const int64_t upper[] = { 100, 200, 400, 800, 1600, 3000, 3000, 3000 };
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < SV_ARRAY_LEN(upper); i++)
            assert_in_range(ipc_backoff_next(&b), upper[i] / 2, upper[i]);
        ipc_backoff_reset(&b);
    }
}

static void test_spreads(void **state)
{
    (void)state;
    int low = 0;
    for (int i = 0; i < 1000; i++) {
        struct ipc_backoff b = { .first_ms = 1000, .max_ms = 1000 };
        low += ipc_backoff_next(&b) < 750;
    }
    assert_in_range(low, 350, 650);
}

static void test_edges(void **state)
{
    (void)state;
    struct ipc_backoff zero = { .first_ms = 0, .max_ms = 0 };
    struct ipc_backoff huge = { .first_ms = INT64_MAX, .max_ms = INT64_MAX };
    for (int i = 0; i < 200; i++) {
        assert_int_equal(ipc_backoff_next(&zero), 1);
        assert_true(ipc_backoff_next(&huge) >= INT64_MAX / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows),
        cmocka_unit_test(test_spreads),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
