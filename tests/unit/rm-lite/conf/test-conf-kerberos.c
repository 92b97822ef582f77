/* rm-lite/conf/conf-kerberos.c and its part of rm-conf.c: the keys of a secure ResourceManager, and
 * what it does not start with. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "rm-lite/conf/conf-unread.h"
#include "rm-lite/conf/rm-conf.h"
#include "wire/sasl/qop.h"

#define RM "yarn.resourcemanager."
#define OWN "selvedge.rm.kerberos."

static char krb5_conf[] = "/tmp/selvedge-rmconf-XXXXXX";

/* A secure configuration with one key more, or another value of one. */
static struct sv_conf *conf_of(const char *key, const char *value)
{
    const char *const all[][2] = { { "hadoop.security.authentication", "kerberos" },
                                   { RM "hostname", "Rm1.example" },
                                   { RM "principal", "rm/_HOST@R" },
                                   { "yarn.nodemanager.principal", "nm/_HOST@R" },
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
    struct rm_conf c;
    char name[SV_LOCAL_NAME_MAX + 1];

    (void)state;
    if (rm_conf_read(conf, &c, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(c.kerberos.own.on);
    assert_string_equal(c.kerberos.own.principal, "rm/rm1.example@R");
    assert_string_equal(c.kerberos.own.keytab, "/etc/krb5.keytab");
    assert_string_equal(c.kerberos.nodes, "nm/_HOST@R");
    assert_null(c.kerberos.own.web_principal);
    assert_null(c.kerberos.own.socket);
    assert_int_equal(c.kerberos.own.qop_mask, IPC_QOP_AUTH);
    assert_int_equal(sv_auth_to_local(c.kerberos.own.rules, "alice@R", 7, name, NULL), 0);
    assert_string_equal(name, "alice");
    assert_false(c.web_put); /* names are claims there */
    assert_true(c.auth.proven_only);
    assert_false(c.web_server.tickets);
    assert_false(c.web_server.tokens);
    assert_false(c.authorization);
    rm_conf_free(&c);
    sv_conf_free(conf);
}

static void test_simple(void **state)
{
    struct sv_conf *conf = conf_of("hadoop.security.authentication", "simple");
    struct rm_conf c;

    (void)state;
    assert_int_equal(rm_conf_read(conf, &c, NULL), 0);
    assert_false(c.kerberos.own.on);
    assert_null(c.kerberos.own.principal);
    assert_null(c.kerberos.nodes);
    assert_true(c.web_put);
    assert_false(c.auth.proven_only);
    rm_conf_free(&c);
    sv_conf_free(conf);
}

static void test_refusals(void **state)
{
    static const char *const bad[][3] = {
        { RM "principal", "", "with Kerberos it says who is this ResourceManager" },
        { RM "principal", "rm/_HOST", "add the realm" },
        { RM "hostname", "10.0.0.1", "by its host name" },
        { RM "keytab", "rm.keytab", "must be an absolute path" },
        { "yarn.nodemanager.principal", "", "who a node must be" },
        { "yarn.nodemanager.principal", "nm@R", "not a service's principal" },
        { OWN "krb5-conf", "/nowhere/krb5.conf", "no Kerberos realm" },
        { OWN "helper", "", "nobody would log in" },
        { "hadoop.security.auth_to_local", "RULE:[1:$1", "hadoop.security.auth_to_local" },
        { "hadoop.security.authentication", "ntlm", "neither simple nor kerberos" },
        { "selvedge.rm.webapp.put.enabled", "true", "only claims" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        struct sv_conf *conf = conf_of(bad[i][0], bad[i][1]);
        struct sv_error err = { 0 };
        struct rm_conf c;

        assert_true(rm_conf_read(conf, &c, &err) < 0);
        if (!strstr(err.text, bad[i][2]))
            fail_msg("%s=%s: \"%s\" lacks \"%s\"", bad[i][0], bad[i][1], err.text, bad[i][2]);
        sv_conf_free(conf);
    }
}

static void test_other_classes(void **state)
{
    static const char *const keys[] = { "hadoop.security.saslproperties.resolver.class",
                                        "hadoop.security.impersonation.provider.class" };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++) {
        struct sv_conf *conf = conf_of(keys[i], "x.Y");
        struct sv_error err = { 0 };

        assert_int_equal(rm_conf_check_refused(conf, &err), -EOPNOTSUPP);
        assert_non_null(strstr(err.text, keys[i]));
        sv_conf_free(conf);
    }
}

static int setup(void **state)
{
    int fd = mkstemp(krb5_conf);

    (void)state;
    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    return fd >= 0 && dprintf(fd, "[libdefaults]\ndefault_realm = R\n") > 0 ? close(fd) : -1;
}

static int teardown(void **state)
{
    (void)state;
    return unlink(krb5_conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_defaults),
                                        cmocka_unit_test(test_simple),
                                        cmocka_unit_test(test_refusals),
                                        cmocka_unit_test(test_other_classes) };

    return cmocka_run_group_tests(tests, setup, teardown);
}
