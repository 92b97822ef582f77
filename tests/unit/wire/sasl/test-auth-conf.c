/* Tests wire/sasl/auth-conf.c: the files of a secure cluster are refused by programs without
 * Kerberos, and what is no method by all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "wire/sasl/auth-conf.h"

static int load(struct sv_conf *c, const char *value, struct sv_error *err)
{
    char xml[256];
    snprintf(xml, sizeof(xml),
             "<configuration>\n<property><name>hadoop.security.authentication</name>"
             "<value>%s</value></property></configuration>",
             value);
    return sv_conf_load_string(c, xml, strlen(xml), "/etc/hadoop/core-site.xml", err);
}

static int check(const char *value, struct sv_error *err)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    assert_int_equal(load(c, value, err), 0);
    return yarn_auth_check(c, err);
}

/* 1: kerberos. */
static int kerberos(const char *value, struct sv_error *err)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    bool on;
    assert_int_equal(load(c, value, err), 0);
    int r = yarn_auth_kerberos(c, &on, err);
    return r < 0 ? r : on;
}

static void test_simple(void **state)
{
    (void)state;
    _cleanup_(sv_conf_freep) struct sv_conf *unset = sv_conf_new();
    struct sv_error err = { 0 };
    assert_int_equal(yarn_auth_check(unset, &err), 0);
    assert_int_equal(check("simple", &err), 0);
    assert_int_equal(check("SIMPLE", &err), 0);
}

static void test_kerberos(void **state)
{
    (void)state;
    static const char *const values[] = { "kerberos", "KERBEROS", "Kerberos" };
    struct sv_error none = { 0 };
    for (size_t i = 0; i < SV_ARRAY_LEN(values); i++) {
        struct sv_error err = { 0 };
        assert_int_equal(check(values[i], &err), -EOPNOTSUPP);
        assert_non_null(strstr(err.text, "/etc/hadoop/core-site.xml:2: "
                                         "hadoop.security.authentication"));
        assert_non_null(strstr(err.text, values[i]));
        assert_non_null(strstr(err.text, "only simple is supported"));
        assert_int_equal(kerberos(values[i], &none), 1);
    }
    assert_int_equal(kerberos("simple", &none), 0);
    assert_int_equal(none.code, 0);
}

static void test_others(void **state)
{
    (void)state;
    static const char *const values[] = { "token", "simple,kerberos", "kerberos_ssl", "none" };
    for (size_t i = 0; i < SV_ARRAY_LEN(values); i++) {
        struct sv_error err = { 0 }, other = { 0 };
        assert_int_equal(check(values[i], &err), -EINVAL);
        assert_int_equal(kerberos(values[i], &other), -EINVAL);
        assert_string_equal(err.text, other.text);
        assert_non_null(strstr(err.text, "/etc/hadoop/core-site.xml:2: "
                                         "hadoop.security.authentication"));
        assert_non_null(strstr(err.text, values[i]));
        assert_non_null(strstr(err.text, "neither simple nor kerberos"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simple),
        cmocka_unit_test(test_kerberos),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
