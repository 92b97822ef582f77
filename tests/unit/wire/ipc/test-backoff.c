/* Tests wire/ipc/backoff.c: waits between attempts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/ipc/backoff.h"

static void test_grows(void **state)
{
    (void)state;
    static const int64_t upper[] = { 100, 200, 400, 800, 1600, 3000, 3000, 3000 };
    for (int round = 0; round < 100; round++)
        for (unsigned i = 0; i < SV_ARRAY_LEN(upper); i++)
            assert_in_range(ipc_backoff_ms(100, 3000, i, ipc_backoff_noise()), upper[i] / 2,
                            upper[i]);
}

static void test_spreads(void **state)
{
    (void)state;
    int low = 0;
    for (int i = 0; i < 1000; i++)
        low += ipc_backoff_ms(1000, 1000, 0, ipc_backoff_noise()) < 750;
    assert_in_range(low, 350, 650);
}

static void test_edges(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        assert_int_equal(ipc_backoff_ms(0, 0, i, ipc_backoff_noise()), 1);
        assert_true(ipc_backoff_ms(INT64_MAX, INT64_MAX, i, ipc_backoff_noise()) >= INT64_MAX / 2);
        assert_int_equal(ipc_backoff_ms(1, INT64_MAX, UINT32_MAX, 0), INT64_MAX);
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
