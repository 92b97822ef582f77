/* common/identity/glob.c: patterns of principals, as Hadoop's GlobPattern. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/identity/glob.h"

static void globs(void **state)
{
    static const struct {
        const char *glob, *text;
        int r;
    } cases[] = {
        { "*", "rm/h@R", 1 },
        { "*", "", 1 },
        { "", "", 1 },
        { "", "a", 0 },
        { "rm/*@R", "rm/h@R", 1 },
        { "rm/*@R", "rm/h@RX", 0 },
        { "rm/*@R", "xrm/h@R", 0 },
        { "rm/*.example@R", "rm/h.example@R", 1 },
        { "rm/*.example@R", "rm/hxexample@R", 0 },
        { "rm/h?@R", "rm/h1@R", 1 },
        { "rm/h?@R", "rm/h@R", 0 },
        { "rm/h?@R", "rm/h12@R", 0 },
        { "{rm,nn}/*@R", "nn/h@R", 1 },
        { "{rm,nn}/*@R", "dn/h@R", 0 },
        { "a{b,{c,d}e}", "ade", 1 },
        { "a{b,{c,d}e}", "ad", 0 },
        { "a,b", "a,b", 1 },
        { "a}b", "a}b", 1 },
        { "h[0-9]", "h7", 1 },
        { "h[0-9]", "hx", 0 },
        { "h[!0-9]", "hx", 1 },
        { "h[!0-9]", "h7", 0 },
        { "h[^0-9]", "hx", 1 },
        { "h!", "h!", 1 },
        { "a.b$c(d)|+^", "a.b$c(d)|+^", 1 },
        { "a.b", "axb", 0 },
        { "\\*", "*", 1 },
        { "\\*", "x", 0 },
        { "\\{a\\}", "{a}", 1 },
        { "[", "a", -EINVAL },
        { "[[a]", "a", -EINVAL },
        { "{a", "a", -EINVAL },
        { "a\\", "a", -EINVAL },
        { "[z-a]", "a", -EINVAL },
        { "**********c", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaca", -E2BIG },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sv_error err = { 0 };

        if (sv_glob_match(cases[i].glob, cases[i].text, &err) != cases[i].r)
            fail_msg("%s, %s: %s", cases[i].glob, cases[i].text, err.text);
    }
}

static void bounds(void **state)
{
    static char glob[SV_GLOB_MAX + 2], text[SV_GLOB_MAX + 2];

    (void)state;
    memset(glob, '.', SV_GLOB_MAX);
    memset(text, '.', SV_GLOB_MAX);
    assert_int_equal(sv_glob_match(glob, text, NULL), 1);
    glob[SV_GLOB_MAX] = '.';
    assert_int_equal(sv_glob_match(glob, text, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(globs), cmocka_unit_test(bounds) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
