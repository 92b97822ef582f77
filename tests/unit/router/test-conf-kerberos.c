/* router/conf-kerberos.c and its part of router-conf.c: the keys of a Router with Kerberos, and
 * what it does not start with. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/str.h"
#include "router/router-conf.h"

#define ROUTER "yarn.router."
#define OWN "selvedge.router.kerberos."

static char krb5_conf[] = "/tmp/selvedge-rtrconf-XXXXXX";

/* A secure configuration with one key more, or another value of one. */
static struct sv_conf *conf_of(const char *key, const char *value)
{
    const char *const all[][2] = { { "hadoop.security.authentication", "kerberos" },
                                   { ROUTER "kerberos.principal", "router/_HOST@R" },
                                   { ROUTER "kerberos.principal.hostname", "Router1.example" },
                                   { "yarn.resourcemanager.principal", "rm/_HOST@R" },
                                   { OWN "krb5-conf", krb5_conf },
                                   { key, value } };
    struct sv_conf *c = sv_conf_new();

    assert_non_null(c);
    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++)
        if (all[i][0])
            assert_int_equal(sv_conf_set(c, all[i][0], all[i][1]), 0);
    return c;
}

static void test_defaults(void **state)
{
    struct sv_conf *conf = conf_of(NULL, NULL);
    struct sv_error err = { 0 };
    struct rtr_conf c;

    (void)state;
    if (rtr_conf_read(conf, &c, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(c.kerberos.own.on);
    assert_string_equal(c.kerberos.own.principal, "router/router1.example@R");
    assert_string_equal(c.kerberos.account, "router");
    assert_string_equal(c.kerberos.own.keytab, "/etc/krb5.keytab");
    assert_string_equal(c.kerberos.members, "rm/_HOST@R");
    assert_null(c.kerberos.members_pattern);
    assert_null(c.kerberos.own.socket);
    assert_null(c.kerberos.own.web_principal);
    rtr_conf_clear(&c);
    sv_conf_free(conf);
}

/* A pattern is enough, and the account is that of the rules. */
static void test_pattern(void **state)
{
    struct sv_conf *conf = conf_of("yarn.resourcemanager.principal.pattern", "rm/*@R");
    struct rtr_conf c;

    (void)state;
    assert_int_equal(sv_conf_set(conf, "yarn.resourcemanager.principal", ""), 0);
    assert_int_equal(sv_conf_set(conf, "hadoop.security.auth_to_local",
                                 "RULE:[2:$1@$0](router@R)s/.*/yarn/ DEFAULT"),
                     0);
    assert_int_equal(rtr_conf_read(conf, &c, NULL), 0);
    assert_string_equal(c.kerberos.members_pattern, "rm/*@R");
    assert_string_equal(c.kerberos.account, "yarn");
    rtr_conf_clear(&c);
    sv_conf_free(conf);
}

static void test_simple(void **state)
{
    struct sv_conf *conf = conf_of("hadoop.security.authentication", "simple");
    struct rtr_conf c;

    (void)state;
    assert_int_equal(rtr_conf_read(conf, &c, NULL), 0);
    assert_false(c.kerberos.own.on);
    assert_null(c.kerberos.own_host);
    rtr_conf_clear(&c);
    sv_conf_free(conf);
}

static void refused(const char *key, const char *value, int code, const char *words)
{
    struct sv_conf *conf = conf_of(key, value);
    struct sv_error err = { 0 };
    struct rtr_conf c;

    assert_int_equal(rtr_conf_read(conf, &c, &err), code);
    if (!strstr(err.text, words))
        fail_msg("%s=%s: %s", key, value, err.text);
    sv_conf_free(conf);
}

static void test_refusals(void **state)
{
    (void)state;
    refused(ROUTER "kerberos.principal", "", -EINVAL, "who is this Router");
    refused(ROUTER "kerberos.principal", "router/_HOST", -EINVAL, "add the realm");
    refused(ROUTER "keytab.file", "router.keytab", -EINVAL, "absolute path");
    refused(ROUTER "keytab.file", "", -EINVAL, "no key to log in with");
    refused("yarn.resourcemanager.principal", "", -EINVAL, "who a member's ResourceManager must");
    refused("yarn.resourcemanager.principal", "rm@R", -EINVAL, "not a service's principal");
    refused("yarn.resourcemanager.principal.pattern", "[", -EINVAL, "principal.pattern");
    refused("hadoop.security.auth_to_local", "RULE:[1:$1]", -EINVAL, "has no account");
    refused(OWN "krb5-conf", "/nowhere", -ENOENT, "Kerberos realm");
    refused(OWN "helper", "", -EINVAL, "nobody would log in");
}

static int up(void **state)
{
    static const char text[] = "[libdefaults]\n default_realm = R\n";
    int fd = mkstemp(krb5_conf);

    (void)state;
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        return -1;
    return close(fd);
}

static int down(void **state)
{
    (void)state;
    return unlink(krb5_conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_defaults),
                                        cmocka_unit_test(test_pattern),
                                        cmocka_unit_test(test_simple),
                                        cmocka_unit_test(test_refusals) };

    return cmocka_run_group_tests(tests, up, down);
}
