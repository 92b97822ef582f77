/* Tests federation/store/base64url.c against what Java's Base64.getUrlEncoder() writes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "federation/store/base64url.h"

static void test_both_ways(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *text;
    } cases[] = {
        { "", 0, "" },
        { "\x00", 1, "AA==" },
        { "\xfb\xff", 2, "-_8=" },
        { "\xfb\xff\xbf", 3, "-_-_" },
        { "password", 8, "cGFzc3dvcmQ=" },
    };
    struct sv_arena *a = sv_arena_new(0);
    const uint8_t *p;
    size_t n;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        const char *text = cases[i].text;

        assert_string_equal(fed_base64url_encode(a, cases[i].bytes, cases[i].n), text);
        assert_int_equal(fed_base64url_decode(a, text, strlen(text), 100, &p, &n), 0);
        assert_int_equal(n, cases[i].n);
        assert_memory_equal(p, cases[i].bytes, n);
        assert_int_equal(fed_base64url_decode(a, text, strcspn(text, "="), 100, &p, &n), 0);
        assert_int_equal(n, cases[i].n); /* without padding */
    }
    sv_arena_free(a);
}

static void test_refused(void **state)
{
    static const char *const texts[] = { "A", "+/+/", "AA=A", "A===", "AB==", "A A=", "====" };
    struct sv_arena *a = sv_arena_new(0);
    const uint8_t *p;
    size_t n;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(texts); i++)
        if (fed_base64url_decode(a, texts[i], strlen(texts[i]), 100, &p, &n) != -EINVAL)
            fail_msg("%s is accepted", texts[i]);
    assert_int_equal(fed_base64url_decode(a, "AAAA", 4, 2, &p, &n), -EINVAL);
    sv_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
