/* Tests common/utf8.c: what is a character, where a text may be cut, what is replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/utf8.h"

static void characters(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        uint32_t c;
    } rows[] = {
        { "a", 1, 'a' },
        { "\xc3\xa4", 2, 0xe4 },
        { "\xe2\x82\xac", 3, 0x20ac },
        { "\xf0\x9f\x98\x80", 4, 0x1f600 },
        { "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
        { "\x80", 0, 0 },             /* no first byte */
        { "\xc3", 0, 0 },             /* cut */
        { "\xc3(", 0, 0 },            /* no second byte */
        { "\xc0\x80", 0, 0 },         /* longer than needed */
        { "\xed\xa0\x80", 0, 0 },     /* a surrogate */
        { "\xf4\x90\x80\x80", 0, 0 }, /* beyond the last */
        { "\xff", 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        uint32_t c = 0;

        assert_int_equal(sv_utf8_at(rows[i].bytes, strlen(rows[i].bytes), &c), rows[i].len);
        assert_int_equal(c, rows[i].c);
    }
}

static void cuts(void **state)
{
    (void)state;
    assert_int_equal(sv_utf8_cut("abc", 5), 3);
    assert_int_equal(sv_utf8_cut("abc", 3), 3);
    assert_int_equal(sv_utf8_cut("abc", 2), 2);
    assert_int_equal(sv_utf8_cut("a\xe2\x82\xac", 3), 1);
    assert_int_equal(sv_utf8_cut("a\xe2\x82\xac", 4), 4);
    assert_int_equal(sv_utf8_cut("\xe2\x82\xac", 2), 0);
}

static void copies(void **state)
{
    char text[8];

    (void)state;
    assert_int_equal(sv_utf8_copy(text, sizeof(text), "abcdefghij", 10), 7);
    assert_string_equal(text, "abcdefg");
    assert_int_equal(sv_utf8_copy(text, sizeof(text), "abcdef\xc3\xa4", 8), 6);
    assert_string_equal(text, "abcdef");
    assert_int_equal(sv_utf8_copy(text, sizeof(text), "a\0b\xff", 4), 3); /* no room for the last */
    assert_string_equal(text, "a" SV_UTF8_REPLACEMENT "b");
    assert_int_equal(sv_utf8_copy(text, sizeof(text), "", 0), 0);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(characters), cmocka_unit_test(cuts),
                                        cmocka_unit_test(copies) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
