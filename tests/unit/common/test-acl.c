/* common/acl.c: Hadoop's lists of users and groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/acl.h"

static void users(void **state)
{
    static const struct {
        const char *acl, *user;
        bool allowed;
    } cases[] = {
        { "alice", "alice", true },
        { "alice,bob", "bob", true },
        { "alice,bob staff", "bob", true },
        { "alice,bob staff", "staff", false },
        { " staff", "staff", false },
        { "", "alice", false },
        { " ", "alice", false },
        { "", "", false },
        { " ", "", false },
        { ",,", "", false },
        { "alicex", "alice", false },
        { "alice", "alicex", false },
        { "Alice", "alice", false },
        { "a,,bob", "bob", true },
        { "alice,\tbob", "bob", true },
        { "alice\t,bob", "alice", true },
        { "alice, bob", "bob", false }, /* the first blank ends the users */
        { "alice,", "alice", true },
        { ",alice", "alice", true },
        { "*", "alice", true },
        { " * ", "alice", true },
        { "*", "", false },
        { "* staff", "alice", false },
        { "alice,*", "bob", false },
        { "**", "alice", false },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++)
        if (sv_acl_allows(cases[i].acl, cases[i].user) != cases[i].allowed)
            fail_msg("\"%s\" and \"%s\"", cases[i].acl, cases[i].user);
}

static void groups(void **state)
{
    (void)state;
    assert_true(sv_acl_names_groups("alice staff"));
    assert_true(sv_acl_names_groups(" staff"));
    assert_false(sv_acl_names_groups("alice"));
    assert_false(sv_acl_names_groups("alice "));
    assert_false(sv_acl_names_groups(" "));
    assert_false(sv_acl_names_groups(" * "));
    assert_false(sv_acl_names_groups(""));
}

static void members(void **state)
{
    static char *const mine[] = { "dev", "ops", "staff" };
    static const struct {
        const char *acl;
        bool allowed;
    } cases[] = {
        { "alice ops", true },      { " staff", true },      { "a,b x,dev", true },
        { " x, staff", true },      { " x,\tdev ,y", true }, { "dev", false },
        { "dev,ops,staff", false }, { "alice ", false },     { "", false },
        { "alice op", false },      { "alice opsx", false }, { "alice ,,", false },
        { "alice dev ops", false }, { "alice *", false },    { " Dev", false },
        { "alice  ops,\nx", true }, { "alice,bob", false },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++)
        if (sv_acl_allows_groups(cases[i].acl, mine, SV_ARRAY_LEN(mine)) != cases[i].allowed)
            fail_msg("\"%s\"", cases[i].acl);
    assert_false(sv_acl_allows_groups("alice ops", NULL, 0));
}

static void texts(void **state)
{
    static const struct {
        const char *acl, *text;
    } cases[] = {
        { "*", "*" },       { " *\n", "*" },           { "", " " },
        { " ", " " },       { "ann,bob", "ann,bob " }, { "ann,,bob grp , ops,", "ann,bob grp,ops" },
        { " grp", " grp" }, { "a,* *", "a,* *" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        char *text = sv_acl_text(cases[i].acl);

        assert_non_null(text);
        assert_string_equal(text, cases[i].text);
        free(text);
    }
}

static void longest(void **state)
{
    char *acl = malloc(SV_ACL_MAX + 1);

    (void)state;
    assert_non_null(acl);
    memset(acl, ',', SV_ACL_MAX);
    memcpy(acl + SV_ACL_MAX - 3, "bob", 4);
    assert_true(sv_acl_allows(acl, "bob"));
    assert_false(sv_acl_allows(acl, "alice"));
    free(acl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users), cmocka_unit_test(members), cmocka_unit_test(groups),
        cmocka_unit_test(texts), cmocka_unit_test(longest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
