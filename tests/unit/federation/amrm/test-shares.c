/* federation/amrm/shares.c: shares by weight, which always sum, with counts and weights of any
 * size. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "federation/amrm/shares.h"
#include "federation/policy/weights.h"

#define MOST 12

static uint64_t seed;

static uint32_t draw(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33);
}

static float unit(void *userdata)
{
    (void)userdata;
    return (float)(draw() & 0xffffff) / 16777216.0f;
}

static const struct fed_random random_of = { .unit = unit };

static void fixed(void **state)
{
    static const float parts[] = { 0.7f, 0.3f, 0, -1 }, none[] = { 0, -1 };
    int32_t got[4];

    (void)state;
    assert_int_equal(fed_shares(10, parts, 4, &random_of, got), 0);
    assert_int_equal(got[0], 7);
    assert_int_equal(got[1], 3);
    assert_int_equal(got[2] + got[3], 0);
    assert_int_equal(fed_shares(0, parts, 4, &random_of, got), 0);
    assert_int_equal(got[0] + got[1] + got[2] + got[3], 0);
    assert_int_equal(fed_shares(INT32_MAX, parts, 1, &random_of, got), 0);
    assert_int_equal(got[0], INT32_MAX);
    assert_int_equal(fed_shares(1, none, 2, &random_of, got), -ERANGE);
    assert_int_equal(fed_shares(1, none, 0, &random_of, got), -ERANGE);
}

static float odd_weight(void)
{
    static const float ends[] = { 0, -5, FED_WEIGHT_MAX, 1e-38f, 1e-45f, 1 };

    return draw() % 3 ? (float)draw() / 1000 : ends[draw() % SV_ARRAY_LEN(ends)];
}

/* Nobody without weight gets one, and no share is further from its part than the rest of all. */
static void always_sum(void **state)
{
    (void)state;
    for (int round = 0; round < 200000; round++) {
        float weights[MOST], total = 0;
        size_t n = 1 + draw() % MOST;
        int32_t count = (int32_t)(draw() % 2 ? draw() % 100 : draw()), got[MOST];
        int64_t sum = 0;

        for (size_t i = 0; i < n; i++) {
            weights[i] = odd_weight();
            total += weights[i] > 0 ? weights[i] : 0;
        }
        if (fed_shares(count, weights, n, &random_of, got) < 0) {
            assert_false(total > 0);
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            assert_true(got[i] >= 0 && (weights[i] > 0 || got[i] == 0));
            sum += got[i];
        }
        assert_int_equal(sum, count);
        for (size_t i = 0; i < n && count < 1 << 20; i++)
            assert_true(weights[i] <= 0 ||
                        got[i] >= (int32_t)((double)count * weights[i] / total * 0.999) - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed),
        cmocka_unit_test(always_sum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
