/* Tests wire/sasl/auth-conf.c: the files of a secure cluster are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "wire/sasl/auth-conf.h"

static int check(const char *value, struct sv_error *err)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    char xml[256];
    snprintf(xml, sizeof(xml),
             "<configuration>\n<property><name>hadoop.security.authentication</name>"
             "<value>%s</value></property></configuration>",
             value);
    assert_int_equal(sv_conf_load_string(c, xml, strlen(xml), "/etc/hadoop/core-site.xml", err), 0);
    return yarn_auth_check(c, err);
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

static void test_others(void **state)
{
    (void)state;
    static const char *const values[] = { "kerberos", "KERBEROS", "token", "simple,kerberos" };
    for (size_t i = 0; i < SV_ARRAY_LEN(values); i++) {
        struct sv_error err = { 0 };
        assert_int_equal(check(values[i], &err), -EOPNOTSUPP);
        assert_non_null(strstr(err.text, "/etc/hadoop/core-site.xml:2: "
                                         "hadoop.security.authentication"));
        assert_non_null(strstr(err.text, values[i]));
        assert_non_null(strstr(err.text, "only simple is supported"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simple),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
