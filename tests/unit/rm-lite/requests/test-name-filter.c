/* Tests rm-lite/requests/name-filter.c: what a filter of names takes, what it refuses, and that a
 * look-up is a binary search. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "rm-lite/requests/name-filter.h"

static size_t compared;
int __wrap_strcasecmp(const char *a, const char *b);
int __real_strcasecmp(const char *a, const char *b);

int __wrap_strcasecmp(const char *a, const char *b)
{
    compared++;
    return __real_strcasecmp(a, b);
}

static struct rm_name_filter parse(const char *csv, enum rm_name_case letters)
{
    struct sv_error err = { 0 };
    struct rm_name_filter f;

    assert_int_equal(rm_name_filter_of_text(&f, csv, letters, "users", &err), 0);
    return f;
}

static void test_texts(void **state)
{
    static const struct {
        const char *csv, *name;
        bool any_case, exact;
    } rows[] = {
        { NULL, "ann", true, true },          { "", "ann", true, true },
        { " , ,", "ann", true, true }, /* Hadoop ignores empty members */
        { "ann", "ann", true, true },         { "ann", "Ann", true, false },
        { " bob,\tann ", "ann", true, true }, { "bob,cid", "ann", false, false },
        { "annx,an", "ann", false, false },   { "ann,ann,ANN", "ann", true, true },
        { "z,y,x,ann", "ann", true, true },   { "ann b", "ann", false, false },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        for (int letters = RM_NAMES_EXACT; letters <= RM_NAMES_ANY_CASE; letters++) {
            struct rm_name_filter f = parse(rows[i].csv, (enum rm_name_case)letters);
            bool want = letters == RM_NAMES_EXACT ? rows[i].exact : rows[i].any_case;

            if (rm_name_filter_takes(&f, rows[i].name) != want)
                fail_msg("row %zu, case %d", i, letters);
            rm_name_filter_free(&f);
        }
}

static void test_lists(void **state)
{
    char a[] = "b", b[] = "A", c[] = "";
    char *list[] = { a, b, c };
    struct sv_error err = { 0 };
    struct rm_name_filter f;

    (void)state;
    assert_int_equal(rm_name_filter_of_list(&f, list, 3, RM_NAMES_ANY_CASE, "tags", &err), 0);
    assert_int_equal(f.n, 3);
    assert_true(rm_name_filter_takes(&f, "a") && rm_name_filter_takes(&f, "B"));
    assert_true(rm_name_filter_takes(&f, ""));
    assert_false(rm_name_filter_takes(&f, "c"));
    rm_name_filter_free(&f);
    assert_int_equal(rm_name_filter_of_list(&f, list, 0, RM_NAMES_EXACT, "tags", &err), 0);
    assert_true(rm_name_filter_takes(&f, "anything"));
    rm_name_filter_free(&f);
}

/* "0,1,2…" with n members of `width` digits. */
static char *members(size_t n, int width)
{
    size_t each = (size_t)width + 1;
    char *csv = malloc(n * each + 1);

    assert_non_null(csv);
    for (size_t i = 0; i < n; i++)
        (void)snprintf(csv + i * each, each + 1, "%0*zu,", width, i);
    return csv;
}

static void refused(char *csv)
{
    struct sv_error err = { 0 };
    struct rm_name_filter f;

    assert_int_equal(rm_name_filter_of_text(&f, csv, RM_NAMES_EXACT, "users", &err), -EINVAL);
    assert_string_equal(err.text, "users: more than 1000 members or 131072 bytes; ask in several "
                                  "requests");
    free(csv);
}

static void test_limits(void **state)
{
    struct rm_name_filter f;
    char *csv = members(RM_NAMES_MAX, 100);

    (void)state;
    f = parse(csv, RM_NAMES_EXACT); /* of a tag's largest size */
    assert_int_equal(f.n, RM_NAMES_MAX);
    rm_name_filter_free(&f);
    free(csv);
    refused(members(RM_NAMES_MAX + 1, 4));
    refused(members(100, 2000));
    csv = members(30000, 5); /* commas alone are no members */
    memset(csv, ',', strlen(csv));
    f = parse(csv, RM_NAMES_EXACT);
    assert_int_equal(f.n, 0);
    rm_name_filter_free(&f);
    free(csv);
}

static void test_work(void **state)
{
    char *csv = members(RM_NAMES_MAX, 10), name[16];
    struct rm_name_filter f;

    (void)state;
    compared = 0;
    f = parse(csv, RM_NAMES_ANY_CASE);
    assert_in_range(compared, 1, RM_NAMES_MAX * 11);
    compared = 0;
    for (int i = 0; i < 2 * RM_NAMES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "%010d", i);
        assert_int_equal(rm_name_filter_takes(&f, name), i < RM_NAMES_MAX);
    }
    assert_in_range(compared, 1, 2 * RM_NAMES_MAX * 10);
    rm_name_filter_free(&f);
    free(csv);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
