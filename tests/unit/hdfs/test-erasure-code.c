/* Tests hdfs/erasure-code.c: every pattern of lost units of HDFS' policies is restored from the
 * units of an encoder of the test's own. Real files: tests/integration/localizer/test-hdfs-peers.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "hdfs/erasure-code.h"
#include "tests/lib/striped.h"

#define LEN 5000 /* more than one piece */

static uint8_t *units[HDFS_UNITS_MAX];

static void make(const struct hdfs_stripes *s)
{
    static uint8_t data[HDFS_UNITS_MAX * LEN];

    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    encode_group(s, data, (size_t)s->data * LEN, units, LEN);
}

static int free_all(void **state)
{
    (void)state;
    free_units(units);
    return 0;
}

/* Restores each data unit that `lost` has from the first of the others. */
static void restore(const struct hdfs_stripes *s, unsigned lost)
{
    struct hdfs_units have = { 0 };
    unsigned n = 0;
    static uint8_t got[LEN];

    for (unsigned u = 0; n < s->data; u++)
        if (!(lost >> u & 1)) {
            have.number[n] = u;
            have.bytes[n++] = units[u];
        }
    for (unsigned u = 0; u < s->data; u++)
        if (lost >> u & 1) {
            assert_int_equal(hdfs_erasure_decode(s, &have, u, got, LEN), 0);
            if (memcmp(got, units[u], LEN) != 0)
                fail_msg("%u and %u units, lost %x: unit %u differs", s->data, s->parity, lost, u);
        }
}

static void every_pattern(unsigned data, unsigned parity, enum hdfs_codec codec)
{
    struct hdfs_stripes s = { codec, data, parity, LEN };

    make(&s);
    for (unsigned lost = 1; lost < 1u << (data + parity); lost++)
        if ((unsigned)__builtin_popcount(lost) <= parity)
            restore(&s, lost);
}

static void test_rs_6_3(void **state)
{
    (void)state;
    every_pattern(6, 3, HDFS_CODEC_RS);
}

static void test_rs_3_2(void **state)
{
    (void)state;
    every_pattern(3, 2, HDFS_CODEC_RS);
}

static void test_rs_10_4(void **state)
{
    (void)state;
    every_pattern(10, 4, HDFS_CODEC_RS);
}

static void test_xor_2_1(void **state)
{
    (void)state;
    every_pattern(2, 1, HDFS_CODEC_XOR);
}

/* RS-3-2 of the bytes 1, 2 and 3, worked out by hand with the inverses of 1, 2 and 3: 1, 142, 244.
 */
static void test_known(void **state)
{
    const struct hdfs_stripes s = { HDFS_CODEC_RS, 3, 2, 1 };
    /* parity 3: 1/(3^0) * 1 + 1/(3^1) * 2 + 1/(3^2) * 3 */
    static const uint8_t second = 2, third = 3, parity = 244 ^ 1 ^ 3;
    struct hdfs_units have = { { 1, 2, 3 }, { &second, &third, &parity } };
    uint8_t got = 0;

    (void)state;
    assert_int_equal(slow_inverse(2), 142);
    assert_int_equal(slow_inverse(3), 244);
    assert_int_equal(hdfs_erasure_decode(&s, &have, 0, &got, 1), 0);
    assert_int_equal(got, 1);
}

static void test_refused(void **state)
{
    struct hdfs_stripes s = { HDFS_REPLICATED, 3, 2, 1 };
    struct hdfs_units have = { { 0, 0, 1 }, { &(uint8_t){ 1 }, &(uint8_t){ 1 }, &(uint8_t){ 1 } } };
    uint8_t got;

    (void)state;
    assert_int_equal(hdfs_erasure_decode(&s, &have, 2, &got, 1), -EINVAL);
    s.codec = HDFS_CODEC_RS;
    assert_int_equal(hdfs_erasure_decode(&s, &have, 2, &got, 1), -EINVAL); /* a unit twice */
    assert_int_equal(hdfs_erasure_decode(&s, &have, 3, &got, 1), -EINVAL);
    s.codec = HDFS_CODEC_XOR;
    assert_int_equal(hdfs_erasure_decode(&s, &have, 2, &got, 1), -EINVAL); /* two parities */
    s.data = HDFS_UNITS_MAX;
    s.codec = HDFS_CODEC_RS;
    assert_int_equal(hdfs_erasure_decode(&s, &have, 0, &got, 1), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_rs_6_3, free_all),
        cmocka_unit_test_teardown(test_rs_3_2, free_all),
        cmocka_unit_test_teardown(test_rs_10_4, free_all),
        cmocka_unit_test_teardown(test_xor_2_1, free_all),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
