/* federation/policy/random.c: draws by weight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "federation/policy/random.h"

static float fixed_unit(void *userdata)
{
    return *(float *)userdata;
}

static void by_weight(void **state)
{
    static const float weights[] = { 0, 1, -3, 3 }, none[] = { 0, -1 };
    float point = 0;
    struct fed_random r = { fixed_unit, NULL, &point };

    (void)state;
    assert_int_equal(fed_random_weighted(&r, weights, 4), 1);
    point = 0.2f;
    assert_int_equal(fed_random_weighted(&r, weights, 4), 1);
    point = 0.26f;
    assert_int_equal(fed_random_weighted(&r, weights, 4), 3);
    point = 0.99999994f;
    assert_int_equal(fed_random_weighted(&r, weights, 4), 3);
    point = 1.5f; /* as if rounding had left something */
    assert_int_equal(fed_random_weighted(&r, weights, 4), 3);
    assert_int_equal(fed_random_weighted(&r, none, 2), 2);
    assert_int_equal(fed_random_weighted(&r, none, 0), 0);
}

static void kernel(void **state)
{
    size_t seen[3] = { 0 };

    (void)state;
    for (int i = 0; i < 1000; i++) {
        float v = fed_random_kernel.unit(NULL);

        assert_true(v >= 0 && v < 1);
        seen[fed_random_kernel.below(NULL, 3)]++;
        assert_int_equal(fed_random_kernel.below(NULL, 1), 0);
    }
    assert_true(seen[0] > 200 && seen[1] > 200 && seen[2] > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_weight),
        cmocka_unit_test(kernel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
