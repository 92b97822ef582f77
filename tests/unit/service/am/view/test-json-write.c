/* Tests service/am/view/json-write.c: jansson reads what it writes. */
#include "service/am/view/json-write.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static json_t *read_text(const char *text)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 16);

    assert_int_equal(sv_buf_put_u8(&b, '['), 0);
    assert_int_equal(svc_json_text(&b, text), 0);
    assert_int_equal(sv_buf_put_u8(&b, ']'), 0);
    return json_loadb((char *)b.data, b.len, 0, NULL);
}

static void every_byte(void **state)
{
    char text[257];
    json_t *j;

    (void)state;
    for (int i = 0; i < 127; i++)
        text[i] = (char)(i + 1);
    text[127] = '\0';
    j = read_text(text);
    assert_string_equal(json_string_value(json_array_get(j, 0)), text);
    json_decref(j);
}

static void characters(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { NULL, "" },
        { "h\xc3\xa9", "h\xc3\xa9" },
        { "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
        { "a\xff"
          "b",
          "a\xef\xbf\xbd"
          "b" },
        { "\xc3", "\xef\xbf\xbd" },
        { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* half of a pair */
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        json_t *j = read_text(rows[i].in);

        assert_string_equal(json_string_value(json_array_get(j, 0)), rows[i].out);
        json_decref(j);
    }
}

static void members(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 16);

    (void)state;
    assert_int_equal(svc_json_member(&b, "a", "x\"y"), 0);
    assert_int_equal(svc_json_member(&b, "none", ""), 0);
    assert_int_equal(svc_json_member(&b, "none", NULL), 0);
    assert_int_equal(svc_json_number(&b, "n", INT64_MIN), 0);
    assert_int_equal(sv_buf_put_u8(&b, 0), 0);
    assert_string_equal((char *)b.data, ",\"a\":\"x\\\"y\",\"n\":-9223372036854775808");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_byte), cmocka_unit_test(characters),
                                        cmocka_unit_test(members) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
