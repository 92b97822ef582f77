/* Tests hdfs/striped-layout.c against a walk byte by byte, and lengths that HDFS has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "hdfs/striped-layout.h"

#define MIB (UINT64_C(1) << 20)

/* As StripedBlockUtil.getInternalBlockLength has them. */
static void test_lengths(void **state)
{
    static const struct {
        unsigned data;
        uint64_t length;
        unsigned unit;
        uint64_t expected;
    } t[] = {
        { 6, 1, 0, 1 },
        { 6, 1, 1, 0 },
        { 6, 1, 6, 1 },
        { 6, 1, 8, 1 },
        { 6, 6 * MIB, 5, MIB },
        { 6, 6 * MIB, 8, MIB },
        { 6, 6 * MIB - 1, 5, MIB - 1 },
        { 6, 6 * MIB - 1, 6, MIB },
        { 6, 6 * MIB + 1, 0, MIB + 1 },
        { 6, 6 * MIB + 1, 1, MIB },
        { 6, 6 * MIB + 1, 7, MIB + 1 },
        { 3, 5 * MIB + 7, 0, 2 * MIB },
        { 3, 5 * MIB + 7, 1, 2 * MIB },
        { 3, 5 * MIB + 7, 2, MIB + 7 },
        { 3, 5 * MIB + 7, 4, 2 * MIB },
        { 10, UINT64_C(1) << 46, 13, (((UINT64_C(1) << 46) / (10 * MIB)) + 1) * MIB },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(t); i++) {
        struct hdfs_stripes s = { HDFS_CODEC_RS, t[i].data, 4, (uint32_t)MIB };
        uint64_t n = hdfs_stripes_unit_length(&s, t[i].length, t[i].unit);

        if (n != t[i].expected)
            fail_msg("row %zu: %llu", i, (unsigned long long)n);
    }
}

/* Each byte of a group is in one place, and parts are what lies between two offsets. */
static void test_places(void **state)
{
    const struct hdfs_stripes s = { HDFS_CODEC_RS, 3, 2, 4 };
    const uint64_t length = 41;

    (void)state;
    for (uint64_t from = 0; from < length; from++) {
        uint64_t counted[3] = { 0 };

        for (uint64_t at = from; at < length; at++) {
            uint64_t offset, left;
            unsigned unit = hdfs_stripes_find(&s, at, &offset, &left);
            struct hdfs_part p = hdfs_stripes_part(&s, unit, from, at + 1);

            assert_int_equal(unit, at / 4 % 3);
            assert_int_equal(offset, at / 12 * 4 + at % 4);
            assert_int_equal(left, 4 - at % 4);
            counted[unit]++;
            assert_int_equal(p.until, offset + 1);
            assert_int_equal(p.until - p.from, counted[unit]);
        }
        for (unsigned u = 0; u < 3; u++) {
            struct hdfs_part p = hdfs_stripes_part(&s, u, from, length);

            assert_int_equal(p.until, hdfs_stripes_unit_length(&s, length, u));
            assert_int_equal(p.until - p.from, counted[u]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
