/* Tests logs/java-utf.c: Java's modified UTF-8, both ways. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "logs/java-utf.h"

static const struct {
    const char *text, *bytes; /* written by Hadoop 3.4.2's JVM, without the length */
    const char *back;         /* as read again */
} cases[] = {
    { "", "", "" },
    { "syslog", "syslog", "syslog" },
    { "a b", "a b", "a b" },
    { "\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac" },
    { "\xf0\x9f\x90\x98", "\xed\xa0\xbd\xed\xb0\x98", "\xf0\x9f\x90\x98" },
    { "x\xff\xc3", "x\xef\xbf\xbd\xef\xbf\xbd", "x\xef\xbf\xbd\xef\xbf\xbd" },
    { "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd" },
    { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
      "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
};

static void strings_of_java(void **state)
{
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1024);
        size_t n = strlen(cases[i].bytes);
        char back[64];

        assert_int_equal(logs_utf_put(&b, cases[i].text), 0);
        assert_int_equal(b.len, 2 + n);
        assert_int_equal(b.data[0] << 8 | b.data[1], n);
        assert_memory_equal(b.data + 2, cases[i].bytes, n);
        logs_utf_text(b.data + 2, n, back);
        assert_string_equal(back, cases[i].back);
    }
}

static void malformed_bytes_are_readable(void **state)
{
    static const uint8_t bytes[] = { 'a', 0xc0, 0x80, 0xed, 0xa0, 0xbd, 'b', 0xff, 0xe2, 0x82 };
    char text[sizeof(bytes) + 1];

    (void)state;
    logs_utf_text(bytes, sizeof(bytes), text);
    assert_string_equal(text, "a??b???");
}

static void too_long_a_string(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    static char text[LOGS_UTF_MAX + 2];

    (void)state;
    memset(text, 'x', LOGS_UTF_MAX);
    assert_int_equal(logs_utf_put(&b, text), 0);
    text[LOGS_UTF_MAX] = 'x';
    assert_int_equal(logs_utf_put(&b, text), -EMSGSIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_of_java),
        cmocka_unit_test(malformed_bytes_are_readable),
        cmocka_unit_test(too_long_a_string),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
