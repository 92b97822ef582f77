/* Tests logs/vint.c: the bytes that Hadoop's tfile.Utils writes, at each change of form. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "logs/vint.h"

/* Written by Hadoop 3.4.2. */
static const struct {
    int64_t v;
    const char *hex;
} known[] = {
    { 0, "00" },
    { 1, "01" },
    { -1, "ff" },
    { 127, "7f" },
    { 128, "cc80" },
    { -32, "e0" },
    { -33, "cbdf" },
    { -128, "cb80" },
    { -129, "cb7f" },
    { 255, "ccff" },
    { 256, "cd00" },
    { 5119, "dfff" },
    { 5120, "a81400" },
    { -5120, "b800" },
    { -5121, "a7ebff" },
    { 32767, "a87fff" },
    { 32768, "a88000" },
    { -32768, "a78000" },
    { 65535, "a8ffff" },
    { 1048575, "b7ffff" },
    { 1048576, "90100000" },
    { -1048576, "980000" },
    { -1048577, "8fefffff" },
    { 8388607, "907fffff" },
    { 134217727, "97ffffff" },
    { 134217728, "8308000000" },
    { -134217728, "88000000" },
    { -134217729, "83f7ffffff" },
    { 2147483647, "837fffffff" },
    { 2147483648, "840080000000" },
    { -2147483648, "8380000000" },
    { -2147483649, "84ff7fffffff" },
    { 549755813887, "847fffffffff" },
    { 549755813888, "85008000000000" },
    { 140737488355327, "857fffffffffff" },
    { 140737488355328, "8600800000000000" },
    { -140737488355329, "86ff7fffffffffff" },
    { 36028797018963967, "867fffffffffffff" },
    { 36028797018963968, "870080000000000000" },
    { 9223372036854775807, "877fffffffffffffff" },
    { INT64_MIN, "878000000000000000" },
};

static size_t from_hex(const char *hex, uint8_t *ret)
{
    size_t n = strlen(hex) / 2;

    for (size_t i = 0; i < n; i++) {
        char byte[3] = { hex[2 * i], hex[2 * i + 1], 0 };

        ret[i] = (uint8_t)strtoul(byte, NULL, 16);
    }
    return n;
}

static void bytes_of_hadoop(void **state)
{
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(known); i++) {
        uint8_t wanted[LOGS_VINT_MAX], is[LOGS_VINT_MAX];
        size_t n = from_hex(known[i].hex, wanted);

        assert_int_equal(logs_vint_encode(known[i].v, is), n);
        assert_memory_equal(is, wanted, n);
        assert_int_equal(logs_vint_size(wanted[0]), n);
        assert_int_equal(logs_vint_decode(wanted), known[i].v);
    }
}

static void every_length_round_trip(void **state)
{
    uint8_t bytes[LOGS_VINT_MAX];

    (void)state;
    for (int shift = 0; shift < 64; shift++)
        for (int64_t d = -3; d <= 3; d++) {
            int64_t v = (int64_t)((1ull << shift) + (uint64_t)d);
            size_t n = logs_vint_encode(v, bytes);

            assert_int_equal(logs_vint_size(bytes[0]), n);
            assert_int_equal(logs_vint_decode(bytes), v);
            n = logs_vint_encode(~v, bytes);
            assert_int_equal(logs_vint_size(bytes[0]), n);
            assert_int_equal(logs_vint_decode(bytes), ~v);
        }
}

static void malformed_first_bytes(void **state)
{
    (void)state;
    for (int first = -128; first < -125; first++)
        assert_int_equal(logs_vint_size((uint8_t)first), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_hadoop),
        cmocka_unit_test(every_length_round_trip),
        cmocka_unit_test(malformed_first_bytes),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
