/* common/identity/java-regex.c: groups, positions, the work of a decision. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/identity/java-regex.h"

static struct sv_java_regex *regex(const char *text, bool whole)
{
    struct sv_java_regex *x = NULL;
    struct sv_error err = { 0 };

    if (sv_java_regex_new(text, strlen(text), whole, &x, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return x;
}

static void whole_or_found(void **state)
{
    static const struct {
        const char *regex, *text;
        bool whole;
        int r;
    } cases[] = {
        { "a", "a", true, 1 },
        { "a", "ab", true, 0 },
        { "a", "ba", true, 0 },
        { "a", "bab", false, 1 },
        { "a|ab", "ab", true, 1 },
        { "(a|ab)(c|bcd)", "abcd", true, 1 },
        { "", "", true, 1 },
        { "", "a", true, 0 },
        { "", "a", false, 1 },
        { "a$", "ab", false, 0 },
        { "^b", "ab", false, 0 },
        { "a*?", "aaa", true, 1 },
        { "a*+a", "aaa", true, 0 },
        { "(?i)ab", "aB", true, 1 },
        { ".", "\xc3\xb6", true, 1 },
        { "\\w", "\xc3\xb6", true, 0 },
        { "\\d", "\xd9\xa1", true, 0 },
        { "[^a]", "\xe2\x82\xac", true, 1 },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sv_java_regex *x = regex(cases[i].regex, cases[i].whole);
        struct sv_java_work work = { 0 };

        if (sv_java_regex_find(x, cases[i].text, strlen(cases[i].text), 0, &work, NULL) !=
            cases[i].r)
            fail_msg("%s, %s", cases[i].regex, cases[i].text);
        sv_java_regex_free(x);
    }
}

static void groups(void **state)
{
    struct sv_java_regex *x = regex("(a)(b)?(?:c)(d*)", false);
    struct sv_java_work work = { 0 };
    struct sv_java_match m;

    (void)state;
    assert_int_equal(sv_java_regex_groups(x), 3);
    assert_int_equal(sv_java_regex_find(x, "xac", 3, 0, &work, &m), 1);
    assert_int_equal(m.start[0], 1);
    assert_int_equal(m.end[0], 3);
    assert_int_equal(m.start[1], 1);
    assert_true(m.start[2] == SIZE_MAX && m.end[2] == SIZE_MAX);
    assert_int_equal(m.start[3], 3);
    assert_int_equal(m.end[3], 3);
    assert_true(m.start[4] == SIZE_MAX && m.start[9] == SIZE_MAX);
    sv_java_regex_free(x);
}

/* The text before the first position counts for ^, \b and what looks behind. */
static void positions(void **state)
{
    static const struct {
        const char *regex;
        size_t from;
        int r;
        size_t start;
    } cases[] = {
        { "a", 0, 1, 0 }, { "a", 1, 1, 2 },    { "a", 3, 0, 0 },       { "", 4, 1, 4 },
        { "^", 1, 0, 0 }, { "\\Ba", 2, 1, 2 }, { "(?<=b)a", 2, 1, 2 }, { "(?<!b)a", 2, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sv_java_regex *x = regex(cases[i].regex, false);
        struct sv_java_work work = { 0 };
        struct sv_java_match m = { .start = { 0 } };

        if (sv_java_regex_find(x, "abab", 4, cases[i].from, &work, &m) != cases[i].r ||
            m.start[0] != cases[i].start)
            fail_msg("case %zu", i);
        sv_java_regex_free(x);
    }
}

static void only_ascii(void **state)
{
    struct sv_java_regex *x = regex("(?i)k", false);
    struct sv_java_work work = { 0 };

    (void)state;
    assert_int_equal(sv_java_regex_find(x, "K", 1, 0, &work, NULL), 1);
    assert_int_equal(sv_java_regex_find(x, "\xe2\x84\xaa", 3, 0, &work, NULL), -EINVAL);
    sv_java_regex_free(x);
    x = regex("a", false);
    assert_int_equal(sv_java_regex_find(x, "\xff", 1, 0, &work, NULL), -EINVAL);
    sv_java_regex_free(x);
}

/* Used up by one comparison, or by the sum of many, the work stays used up. */
static void work_is_bounded(void **state)
{
    struct sv_java_regex *slow = regex("(?:a|a)*c", true), *quick = regex("a*b", true);
    struct sv_java_work work = { 0 };
    char text[200];
    int r = 0, n = 0;

    (void)state;
    memset(text, 'a', sizeof(text));
    memcpy(text + sizeof(text) - 3, "cba", 3);
    assert_int_equal(sv_java_regex_find(slow, text, sizeof(text), 0, &work, NULL), -E2BIG);
    assert_true(work.steps <= SV_JAVA_REGEX_STEPS + 1);
    work.steps = 0;
    while ((r = sv_java_regex_find(quick, text, sizeof(text), 0, &work, NULL)) == 0)
        assert_true(++n < SV_JAVA_REGEX_STEPS);
    assert_int_equal(r, -E2BIG);
    assert_true(n > 10);
    assert_int_equal(sv_java_regex_find(quick, "b", 1, 0, &work, NULL), -E2BIG);
    sv_java_regex_free(slow);
    sv_java_regex_free(quick);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_or_found),  cmocka_unit_test(groups),
        cmocka_unit_test(positions),       cmocka_unit_test(only_ascii),
        cmocka_unit_test(work_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
