/* rm-lite/conf/conf-web.c and its part of rm-conf.c: TLS, tickets, filters, and which changes over
 * HTTP are allowed to whom. */
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
#include "rm-lite/conf/rm-conf.h"

#define RM "yarn.resourcemanager."
#define AUTH "hadoop.http.authentication."
#define KERBEROS                                                                                   \
    {                                                                                              \
        "hadoop.security.authentication", "kerberos"                                               \
    }
#define TICKETS                                                                                    \
    {                                                                                              \
        AUTH "type", "kerberos"                                                                    \
    }
#define SPNEGO                                                                                     \
    {                                                                                              \
        RM "webapp.spnego-principal", "HTTP/_HOST@R"                                               \
    }
#define KEYTAB                                                                                     \
    {                                                                                              \
        RM "webapp.spnego-keytab-file", "/http.keytab"                                             \
    }
#define ACLS                                                                                       \
    {                                                                                              \
        "yarn.acl.enable", "true"                                                                  \
    }

static char krb5_conf[] = "/tmp/selvedge-rmweb-XXXXXX";
static struct rm_conf c;
static struct sv_conf *conf;
static struct sv_error err;

typedef const char *const pair[2];

static int read_pairs(pair *pairs, size_t n)
{
    pair own[] = { { RM "hostname", "Rm1.example" },
                   { RM "principal", "rm/_HOST@R" },
                   { "yarn.nodemanager.principal", "nm/_HOST@R" },
                   { "selvedge.rm.kerberos.krb5-conf", krb5_conf } };

    conf = sv_conf_new();
    assert_non_null(conf);
    err = (struct sv_error){ 0 };
    for (size_t i = 0; i < SV_ARRAY_LEN(own); i++)
        assert_int_equal(sv_conf_set(conf, own[i][0], own[i][1]), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(sv_conf_set(conf, pairs[i][0], pairs[i][1]), 0);
    return rm_conf_read(conf, &c, &err);
}
#define READ(...)                                                                                  \
    read_pairs((pair[]){ __VA_ARGS__ }, sizeof((pair[]){ __VA_ARGS__ }) / sizeof(pair))

static void drop(void)
{
    rm_conf_free(&c);
    conf = sv_conf_free(conf);
}

static void check_read(int r)
{
    if (r < 0)
        fail_msg("%s", err.text);
}

static void test_port(void **state)
{
    (void)state;
    check_read(READ({ "x", "y" }));
    assert_false(c.web_server.https);
    assert_int_equal(c.web.port, 8088);
    assert_string_equal(c.web_server.filters.frame, "DENY");
    assert_false(c.web_server.filters.csrf || c.web_server.filters.cors);
    drop();
    check_read(READ({ "yarn.http.policy", "HTTPS_ONLY" }));
    assert_true(c.web_server.https);
    assert_string_equal(c.web.host, "Rm1.example");
    assert_int_equal(c.web.port, 8090);
    drop();
    check_read(
        READ({ "yarn.http.policy", "HTTPS_ONLY" }, { RM "webapp.https.address", "other:1234" }));
    assert_string_equal(c.web.host, "other");
    assert_int_equal(c.web.port, 1234);
    drop();
    check_read(
        READ({ "yarn.http.policy", "HTTP_AND_HTTPS" }, { RM "webapp.rest-csrf.enabled", "true" }));
    assert_false(c.web_server.https);
    assert_true(c.web_server.filters.csrf);
    drop();
}

static void test_tickets(void **state)
{
    (void)state;
    check_read(READ(KERBEROS, TICKETS, SPNEGO, KEYTAB, ACLS,
                    { "hadoop.http.filter.initializers",
                      "org.apache.hadoop.security.authentication.server."
                      "ProxyUserAuthenticationFilterInitializer,org.apache.hadoop.yarn.server."
                      "security.http.RMAuthenticationFilterInitializer" }));
    assert_true(c.web_server.tickets);
    assert_true(c.web_server.tokens);
    assert_true(c.web_put); /* callers are proven, with access lists, too */
    assert_string_equal(c.kerberos.own.web_principal, "HTTP/rm1.example@R");
    assert_string_equal(c.kerberos.own.web_keytab, "/http.keytab");
    drop();
    check_read(READ(KERBEROS, TICKETS, { AUTH "kerberos.principal", "HTTP/_HOST@R" },
                    { AUTH "kerberos.keytab", "/all.keytab" },
                    { RM "webapp.delegation-token-auth-filter.enabled", "false" },
                    { "selvedge.rm.webapp.put.enabled", "false" }));
    assert_false(c.web_server.tokens);
    assert_false(c.web_put);
    assert_string_equal(c.kerberos.own.web_principal, "HTTP/rm1.example@R");
    assert_string_equal(c.kerberos.own.web_keytab, "/all.keytab");
    drop();
}

/* Without Kerberos names are claims, which proxy users may act for, as in Hadoop. */
static void test_names(void **state)
{
    (void)state;
    check_read(READ({ "x", "y" }));
    assert_false(c.web_server.tickets);
    assert_true(c.web_server.tokens);
    assert_true(c.web_put);
    assert_true(c.auth.own_secret);
    drop();
    check_read(READ(ACLS));
    assert_false(c.web_put);
    drop();
    check_read(READ(KERBEROS)); /* the web server is open, and reads alone */
    assert_false(c.web_server.tokens);
    assert_false(c.web_put);
    assert_true(c.auth.proven_only);
    drop();
}

static void check_refused(int r, const char *words)
{
    assert_true(r < 0);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" lacks \"%s\"", err.text, words);
    conf = sv_conf_free(conf);
}

static void test_refusals(void **state)
{
    (void)state;
    check_refused(READ(KERBEROS, TICKETS), RM "webapp.spnego-principal, such as");
    check_refused(READ(KERBEROS, TICKETS, SPNEGO), RM "webapp.spnego-keytab-file, or");
    check_refused(READ(KERBEROS, TICKETS, KEYTAB, { RM "webapp.spnego-principal", "rm/_HOST@R" }),
                  "begins with HTTP/");
    check_refused(READ(KERBEROS, TICKETS, SPNEGO, { RM "webapp.spnego-keytab-file", "k" }),
                  "must be an absolute path");
    check_refused(READ(TICKETS), "this daemon has no tickets");
    check_refused(READ({ AUTH "type", "x.Y" }), "knows simple and kerberos");
    check_refused(READ({ "yarn.http.policy", "HTTPS" }), "yarn.http.policy");
    check_refused(READ({ "hadoop.http.filter.initializers", "x.Y" }), "the class x.Y is not known");
    check_refused(READ({ RM "webapp.xfs-filter.xframe-options", "MAYBE" }), "none of DENY");
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
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_port), cmocka_unit_test(test_tickets),
                                        cmocka_unit_test(test_names),
                                        cmocka_unit_test(test_refusals) };

    return cmocka_run_group_tests(tests, setup, teardown);
}
