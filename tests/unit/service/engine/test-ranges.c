/* Ranges of ports and masks of GPUs, against sets of single numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "service/engine/ranges.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void same(const struct svc_range *got, size_t n, const struct svc_range *expected,
                 size_t n_expected)
{
    assert_int_equal(n, n_expected);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(got[i].first, expected[i].first);
        assert_int_equal(got[i].last, expected[i].last);
    }
}

static void test_vectors(void **state)
{
    struct svc_range mixed[] = { { 8, 9 }, { 1, 3 }, { 4, 5 }, { 20, 10 }, { 2, 2 }, { 30, 30 } };
    static const struct svc_range coalesced[] = { { 1, 5 }, { 8, 9 }, { 30, 30 } };
    static const struct svc_range b[] = { { 3, 8 }, { 30, 40 } };
    static const struct svc_range both[] = { { 3, 5 }, { 8, 8 }, { 30, 30 } };
    static const struct svc_range rest[] = { { 1, 2 }, { 9, 9 } };
    static const struct svc_range sum[] = { { 1, 9 }, { 30, 40 } };
    struct svc_range got[16];

    (void)state;
    same(mixed, svc_ranges_coalesce(mixed, N(mixed)), coalesced, N(coalesced));
    same(got, svc_ranges_intersect(coalesced, 3, b, 2, got), both, N(both));
    same(got, svc_ranges_intersect(b, 2, coalesced, 3, got), both, N(both));
    same(got, svc_ranges_subtract(coalesced, 3, b, 2, got), rest, N(rest));
    same(got, svc_ranges_add(coalesced, 3, b, 2, got), sum, N(sum));
    assert_true(svc_ranges_fit(both, 3, coalesced, 3));
    assert_true(svc_ranges_fit(both, 3, b, 2));
    assert_true(svc_ranges_fit(NULL, 0, b, 2));
    assert_false(svc_ranges_fit(b, 2, coalesced, 3));
    assert_false(svc_ranges_fit(b, 2, NULL, 0));
    assert_int_equal(svc_ranges_count(coalesced, 3), 8);
    assert_int_equal(svc_ranges_count(NULL, 0), 0);
    assert_int_equal(svc_ranges_coalesce(NULL, 0), 0);
}

static uint64_t seed = 1;

static uint64_t rnd(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

static size_t random_list(struct svc_range *list, uint64_t *ret_set)
{
    size_t n = rnd(6);

    *ret_set = 0;
    for (size_t i = 0; i < n; i++) {
        list[i].first = (int32_t)rnd(60);
        list[i].last = list[i].first + (int32_t)rnd(5) - 1;
        for (int32_t k = list[i].first; k <= list[i].last; k++)
            *ret_set |= UINT64_C(1) << k;
    }
    return svc_ranges_coalesce(list, n);
}

static uint64_t set_of(const struct svc_range *list, size_t n)
{
    uint64_t set = 0;

    for (size_t i = 0; i < n; i++) {
        assert_true(list[i].first <= list[i].last);
        if (i)
            assert_true(list[i].first > list[i - 1].last + 1);
        for (int32_t k = list[i].first; k <= list[i].last; k++)
            set |= UINT64_C(1) << k;
    }
    return set;
}

static void test_against_sets(void **state)
{
    (void)state;
    for (int i = 0; i < 50000; i++) {
        struct svc_range a[6], b[6], got[12];
        uint64_t x, y;
        size_t n_a = random_list(a, &x), n_b = random_list(b, &y), n;
        int64_t want = 1 + (int64_t)rnd(6);
        int32_t min = (int32_t)rnd(40);

        assert_true(set_of(a, n_a) == x && set_of(b, n_b) == y);
        assert_true(set_of(got, svc_ranges_intersect(a, n_a, b, n_b, got)) == (x & y));
        assert_true(set_of(got, svc_ranges_subtract(a, n_a, b, n_b, got)) == (x & ~y));
        assert_true(set_of(got, svc_ranges_add(a, n_a, b, n_b, got)) == (x | y));
        assert_int_equal(svc_ranges_fit(a, n_a, b, n_b), !(x & ~y));
        assert_int_equal(svc_ranges_count(a, n_a), __builtin_popcountll(x));
        n = svc_ranges_pick(a, n_a, want, min, rnd(UINT64_MAX), got);
        x &= ~((UINT64_C(1) << min) - 1);
        assert_int_equal(n == 0, __builtin_popcountll(x) < want);
        if (n) {
            assert_int_equal(svc_ranges_count(got, n), want);
            assert_true(!(set_of(got, n) & ~x));
        }
    }
}

static void test_ends(void **state)
{
    static const struct svc_range all[] = { { 0, INT32_MAX } };
    struct svc_range list[] = { { INT32_MAX, INT32_MAX }, { INT32_MAX, INT32_MAX }, { 0, 0 } };
    struct svc_range got[4];

    (void)state;
    assert_int_equal(svc_ranges_coalesce(list, 3), 2);
    assert_int_equal(svc_ranges_subtract(all, 1, list, 2, got), 1);
    assert_int_equal(got[0].first, 1);
    assert_int_equal(got[0].last, INT32_MAX - 1);
    assert_int_equal(svc_ranges_count(all, 1), INT64_C(2147483648));
    assert_int_equal(svc_ranges_add(all, 1, list, 2, got), 1);
    assert_int_equal(svc_ranges_pick(all, 1, 3, INT32_MAX, 0, got), 0);
    assert_int_equal(svc_ranges_pick(all, 1, 1, INT32_MAX, 7, got), 1);
}

static void test_gpus(void **state)
{
    static const struct {
        uint64_t mask;
        int32_t n;
        uint64_t lowest;
    } v[] = {
        { 0xf0, 2, 0x30 }, { 0xf0, 4, 0xf0 },
        { 0xf0, 5, 0 },    { 0, 0, 0 },
        { 0xa5, 3, 0x25 }, { UINT64_C(1) << 63, 1, UINT64_C(1) << 63 },
        { 1, -1, 0 },      { UINT64_MAX, 64, UINT64_MAX },
    };
    static const struct {
        struct svc_gpus a, b, sum, rest;
    } w[] = {
        { { 4, 0xf }, { 2, 0x3 }, { 4, 0xf }, { 2, 0xc } },
        { { 4, 0xf }, { 2, 0x30 }, { 6, 0x3f }, { 4, 0xf } },
        { { 4, 0xf }, { 2, 0 }, { 6, 0xf }, { 2, 0xf } }, /* one of them is not numbered */
        { { 1, 0 }, { 2, 0 }, { 3, 0 }, { 0, 0 } },
    };

    (void)state;
    for (size_t i = 0; i < N(v); i++)
        assert_true(svc_gpus_lowest(v[i].mask, v[i].n) == v[i].lowest);
    for (size_t i = 0; i < N(w); i++) {
        struct svc_gpus sum = svc_gpus_add(w[i].a, w[i].b),
                        rest = svc_gpus_subtract(w[i].a, w[i].b);

        assert_true(sum.n == w[i].sum.n && sum.mask == w[i].sum.mask);
        assert_true(rest.n == w[i].rest.n && rest.mask == w[i].rest.mask);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_against_sets),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_gpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
