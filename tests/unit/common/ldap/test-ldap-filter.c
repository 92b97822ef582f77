/* common/ldap/ldap-filter.c: no user's name says more in a filter than itself. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/ldap/ldap-filter.h"

static const char *put(const char *pattern, const char *value)
{
    static char text[4096];
    struct sv_buf b = SV_BUF_INIT(sizeof(text) - 1);

    assert_int_equal(sv_ldap_filter_put(&b, pattern, value), 0);
    memcpy(text, b.data, b.len);
    text[b.len] = 0;
    sv_buf_free(&b);
    return text;
}

static void test_values(void **state)
{
    static const char *const cases[][2] = {
        { "ann", "(uid=ann)" },
        { "ann.b-c_1@R", "(uid=ann.b-c_1@R)" },
        { "*", "(uid=\\2a)" },
        { "x)(|(uid=*", "(uid=x\\29\\28|\\28uid=\\2a)" },
        { "a\\b", "(uid=a\\5cb)" },
        { "{0}", "(uid={0})" },
        { "a b\n", "(uid=a\\20b\\0a)" },
        { "\xc3\xa4\xff", "(uid=\\c3\\a4\\ff)" },
        { "", "(uid=)" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(put("(uid={0})", cases[i][0]), cases[i][1]);
    assert_string_equal(put("(|(uid={0})(mail={0}@x))", "a*"), "(|(uid=a\\2a)(mail=a\\2a@x))");
    assert_string_equal(put("(a=b)", "x"), "(a=b)");
}

static void test_equals(void **state)
{
    struct sv_buf b = SV_BUF_INIT(64), small = SV_BUF_INIT(10);

    (void)state;
    assert_int_equal(sv_ldap_filter_equals(&b, "member", "cn=a\\,b,dc=x"), 0);
    assert_memory_equal(b.data, "(member=cn=a\\5c,b,dc=x)", b.len);
    sv_buf_free(&b);
    assert_int_equal(sv_ldap_filter_equals(&small, "member", "cn=a"), -EMSGSIZE);
    sv_buf_free(&small);
}

static void test_patterns(void **state)
{
    static const struct {
        const char *text;
        bool valid;
    } cases[] = {
        { "(uid={0})", true },     { "(&(a=b)(uid={0}))", true },
        { "(uid=x)", false },      { "uid={0}", false },
        { "(uid={0}", false },     { "(uid={0}))", false },
        { "(a=b)(c={0})", false }, { "", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(sv_ldap_filter_valid(cases[i].text, true), cases[i].valid);
    assert_true(sv_ldap_filter_valid("(objectClass=group)", false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_equals),
        cmocka_unit_test(test_patterns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
