/* service/api/uri.c: parts are split before they are decoded; bad escapes, NULs, empty parts and
 * too many of anything are refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "service/api/uri.h"

static void test_parts_and_pairs(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const char *values[4];
    struct svc_uri u;

    (void)state;
    assert_int_equal(svc_uri_parse(a, "/v1/a%2Fb/%c3%a4/?x=1&y&x=a+b%26&&z=", &u), 0);
    assert_int_equal(u.n_parts, 3);
    assert_string_equal(u.parts[1], "a/b");
    assert_string_equal(u.parts[2], "\xc3\xa4");
    assert_int_equal(u.n_pairs, 4);
    assert_string_equal(svc_uri_value(&u, "x"), "1");
    assert_string_equal(svc_uri_value(&u, "y"), "");
    assert_null(svc_uri_value(&u, "w"));
    assert_int_equal(svc_uri_values(&u, "x", values, SV_ARRAY_LEN(values)), 2);
    assert_string_equal(values[1], "a b&");
    assert_int_equal(svc_uri_values(&u, "x", values, 1), 1);
    assert_int_equal(svc_uri_parse(a, "/", &u), 0);
    assert_int_equal(u.n_parts, 0);
}

static void test_refused(void **state)
{
    static const char *const bad[] = {
        "",     "a",        "/a//b", "//a",     "/%",
        "/%2",  "/%2g",     "/%00",  "/a%0",    "/a?b=%",
        "/a?%", "/a?b=%00", "/%-1",  "/a?%zz=", "/1/2/3/4/5/6/7/8/9"
    };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    char many[4096] = "/?";
    struct svc_uri u;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(svc_uri_parse(a, bad[i], &u), -EINVAL);
    for (int i = 0; i <= SVC_URI_PAIRS_MAX; i++)
        (void)snprintf(many + strlen(many), sizeof(many) - strlen(many), "a=%d&", i);
    assert_int_equal(svc_uri_parse(a, many, &u), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_parts_and_pairs),
                                        cmocka_unit_test(test_refused) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
