/* federation/policy/java-text.c: hashes and floats as Java prints them. The order of maps is
 * compared with Java's in test-weights.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "federation/policy/java-text.h"

static void hashes(void **state)
{
    (void)state;
    assert_int_equal(fed_java_hash(""), 0);
    assert_int_equal(fed_java_hash("default"), 1544803905);
    assert_int_equal(fed_java_hash("SC-1"), 2538484);
    assert_int_equal(fed_java_hash("gr\xc3\xb6\xc3\x9f"
                                   "e"),
                     98762257);
    assert_int_equal(fed_java_hash("\xe2\x82\xac"), 8364);         /* a unit */
    assert_int_equal(fed_java_hash("\xf0\x9f\x98\x80"), 1772899);  /* two units */
    assert_int_equal(fed_java_hash("\xc3"), 0xc3);                 /* cut */
    assert_int_equal(fed_java_hash("\xf0\x9f"), 0xf0 * 31 + 0x9f); /* cut */
    assert_int_equal(fed_java_hash("\xff"), 0xff);
}

static void floats(void **state)
{
    static const struct {
        float v;
        const char *text;
    } cases[] = {
        { 0, "0.0" },
        { -0.0f, "-0.0" },
        { 1, "1.0" },
        { 0.1f, "0.1" },
        { 0.3f, "0.3" },
        { 1.0f / 3, "0.33333334" },
        { 12.5f, "12.5" },
        { 100, "100.0" },
        { 1234567, "1234567.0" },
        { 9999999, "9999999.0" },
        { 1e7f, "1.0E7" },
        { 16777216, "1.6777216E7" },
        { 0.001f, "0.001" },
        { 0.00099f, "9.9E-4" },
        { 123.456f, "123.456" },
        { -1, "-1.0" },
        { 1e9f, "1.0E9" },
        { 0.0125f, "0.0125" },
        { 1e-10f, "1.0E-10" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        char text[FED_FLOAT_TEXT];

        fed_java_float(cases[i].v, text);
        assert_string_equal(text, cases[i].text);
    }
}

/* Each text reads as the float that it is of, whatever its bits. */
static void all_floats_read_back(void **state)
{
    uint32_t bits = 12345;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        char text[FED_FLOAT_TEXT], *end;
        float v;

        bits = bits * 1664525 + 1013904223;
        memcpy(&v, &bits, sizeof(v));
        if (!(v - v == 0))
            continue;
        fed_java_float(v, text);
        assert_true(strtof(text, &end) == v && *end == '\0');
    }
}

static void order(void **state)
{
    const char *ids[2000];
    char texts[2000][16];
    size_t at[2000];
    bool seen[2000] = { false };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(ids); i++)
        ids[i] = memcpy(texts[i],
                        (char[]){ (char)('a' + i % 26), (char)('a' + i / 26 % 26),
                                  (char)('a' + i / 676), '\0' },
                        4);
    fed_java_order(ids, 0, at);
    fed_java_order(ids, SV_ARRAY_LEN(ids), at);
    for (size_t i = 0; i < SV_ARRAY_LEN(ids); i++) {
        assert_true(at[i] < SV_ARRAY_LEN(ids) && !seen[at[i]]);
        seen[at[i]] = true;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes),
        cmocka_unit_test(floats),
        cmocka_unit_test(all_floats_read_back),
        cmocka_unit_test(order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
