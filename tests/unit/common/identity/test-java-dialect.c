/* common/identity/java-dialect.c, with what java-regex.c makes of it: expressions that Java and
 * PCRE2 read alike are taken, others refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/identity/java-dialect.h"
#include "common/identity/java-regex.h"

static void taken(void **state)
{
    static const char *const cases[] = {
        "",
        "a",
        "a|b",
        "(a|b)*c",
        ".*@EXAMPLE\\.COM",
        "^a$",
        "[a-z]",
        "[^a-z0-9_]",
        "[a-]",
        "[\\w.-]",
        "[\\]\\[]",
        "[a^]",
        "a{2}",
        "a{2,}",
        "a{2,3}",
        "a{2,3}?",
        "a*+",
        "(?:a)+?",
        "(?=a)b",
        "(?!a)b",
        "(?<=a)b",
        "(?<!a)b",
        "(?>a)b",
        "(?i)a",
        "(?i:a)b",
        "\\d+\\D",
        "\\x41",
        "\\t\\n\\e",
        "\\Aa\\z",
        "\\ba\\B",
        "\\$\\{\\}",
        "}",
        "]",
        "a|",
        "\xc3\xb6+",
        "[&]",
        "(a)(b)(c)(d)(e)(f)(g)(h)(i)",
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sv_java_regex *x = NULL;
        struct sv_error err = { 0 };

        if (sv_java_regex_new(cases[i], strlen(cases[i]), true, &x, &err) < 0)
            fail_msg("%s: %s", cases[i], err.text);
        sv_java_regex_free(x);
    }
}

static void refused(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "*a", "at byte 1" },
        { "a**", "at byte 3" },
        { "a{2}{3}", "at byte 5" },
        { "a*?+", "at byte 4" },
        { "(*ACCEPT)", "verb" },
        { "(+a)", "nothing to repeat" },
        { "a|*", "at byte 3" },
        { "^*", "nothing to repeat" },
        { "\\b+", "nothing to repeat" },
        { "(?i)*", "nothing to repeat" },
        { "{", "at byte 1" },
        { "a{", "at byte 2" },
        { "a{}", "at byte 2" },
        { "a{,3}", "at byte 2" },
        { "a{3", "at byte 2" },
        { "a{x}", "at byte 2" },
        { "a{1,2,3}", "at byte 2" },
        { "a{1000}", "999" },
        { "a{3,2}", "at byte" },
        { "a\\", "ends in a backslash" },
        { "\\1", "back references" },
        { "(a)\\1", "back references" },
        { "\\0101", "octal" },
        { "\\Qa\\E", "escape" },
        { "\\K", "escape" },
        { "\\C", "escape" },
        { "\\R", "escape" },
        { "\\X", "escape" },
        { "\\G", "escape" },
        { "\\h", "escape" },
        { "\\v", "escape" },
        { "\\N", "escape" },
        { "\\p{L}", "escape" },
        { "\\u0041", "escape" },
        { "\\cA", "escape" },
        { "\\x4", "escape" },
        { "\\x{41}", "escape" },
        { "\\\xc3\xb6", "not ASCII" },
        { "[", "without its ]" },
        { "[a", "without its ]" },
        { "[]", "begins with ]" },
        { "[]a]", "begins with ]" },
        { "[^]a]", "begins with ]" },
        { "[a[b]]", "union" },
        { "[[:alpha:]]", "union" },
        { "[a&&b]", "intersection" },
        { "[\\b]", "escape" },
        { "[\\d-z]", "begins with a class" },
        { "[a-\\d]", "ends with a class" },
        { "[z-a]", "at byte" },
        { "(?<n>a)", "of the groups" },
        { "(?P<n>a)", "of the groups" },
        { "(?R)", "of the groups" },
        { "(?1)", "of the groups" },
        { "(?C1)", "of the groups" },
        { "(?#x)", "of the groups" },
        { "(?x)a b", "of the groups" },
        { "(?s).", "of the groups" },
        { "(?-i)a", "of the groups" },
        { "(?|a)", "of the groups" },
        { "(?(1)a)", "of the groups" },
        { "(?", "of the groups" },
        { "(a", "at byte" },
        { "a)", "at byte" },
        { "(?<=a*)b", "at byte" },
        { "(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)", "more than 9 groups" },
        { "\xff", "at byte" },
        { "((((((((((((((((((((((((((((((((((a))))))))))))))))))))))))))))))))))", "at byte" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sv_java_regex *x = NULL;
        struct sv_error err = { 0 };

        if (sv_java_regex_new(cases[i].text, strlen(cases[i].text), true, &x, &err) != -EINVAL)
            fail_msg("taken: %s", cases[i].text);
        if (!strstr(err.text, cases[i].words))
            fail_msg("%s: \"%s\" has no \"%s\"", cases[i].text, err.text, cases[i].words);
    }
}

static void ascii_only(void **state)
{
    static const struct {
        const char *text;
        bool ascii_only;
    } cases[] = { { "a", false },  { "(?i)a", true },     { "(?i:a)", true }, { "\\ba", true },
                  { "\\B", true }, { "[\\w]\\d", false }, { "\\Aa", false },  { "\\\\b", false } };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sv_java_dialect d;

        assert_int_equal(sv_java_dialect_check(cases[i].text, strlen(cases[i].text), &d, NULL), 0);
        assert_int_equal(d.ascii_only, cases[i].ascii_only);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken),
        cmocka_unit_test(refused),
        cmocka_unit_test(ascii_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
