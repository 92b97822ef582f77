/* conf-kerberos.c: the keys of a secure cluster, and what a node does not start with. */
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

#include "tests/unit/nodemanager/conf/conf-fixture.h"
#include "wire/sasl/qop.h"

#define OWN "selvedge.nodemanager.kerberos."

static char krb5_conf[64], krb5_key[128];

static void put_krb5_conf(const char *text)
{
    FILE *f = fopen(krb5_conf, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* A secure node; further keys take the place of these. */
#define SECURE(...)                                                                                \
    ((char *const[]){ (char *)(uintptr_t) "yarn.nodemanager.hostname=LocalHost",                   \
                      (char *)(uintptr_t) "hadoop.security.authentication=kerberos",               \
                      (char *)(uintptr_t) "yarn.nodemanager.principal=nm/_HOST@R",                 \
                      (char *)(uintptr_t) "yarn.resourcemanager.principal=rm/_HOST@R", krb5_key,   \
                      __VA_ARGS__, NULL })
#define KEY(text) ((char *)(uintptr_t)(text))

static void simple(void **state)
{
    struct nm_conf c;

    (void)state;
    expect_ok(SET(KEY("yarn.nodemanager.principal=nm/_HOST@R"), KEY(OWN "krb5-conf=/nowhere"),
                  KEY("ipc.client.fallback-to-simple-auth-allowed=true")),
              &c);
    assert_false(c.kerberos.own.on);
    assert_true(c.limit_users);
    assert_null(c.kerberos.own.principal);
    assert_null(c.kerberos.own.rules);
    nm_conf_free(&c);
}

static void defaults(void **state)
{
    char name[SV_LOCAL_NAME_MAX + 1];
    struct nm_conf c;
    struct nm_conf_kerberos *k = &c.kerberos;

    (void)state;
    put_krb5_conf("[libdefaults]\ndefault_realm = R\n");
    expect_ok(SECURE(NULL), &c);
    assert_true(k->own.on);
    assert_false(c.limit_users); /* each container as its submitter */
    assert_string_equal(k->own.principal, "nm/localhost@R");
    assert_string_equal(k->own.own_host, "LocalHost");
    assert_string_equal(k->own.keytab, "/etc/krb5.keytab");
    assert_string_equal(k->rm_principal, "rm/_HOST@R");
    assert_null(k->rm_pattern);
    assert_null(k->namenode_principal);
    assert_null(k->namenode_pattern);
    assert_null(k->own.web_principal);
    assert_null(k->own.web_keytab);
    assert_null(k->own.socket);
    assert_string_equal(k->own.realm, "R");
    assert_string_equal(k->own.krb5_conf, krb5_conf);
    assert_true(*k->own.helper == '/' && strstr(k->own.helper, "/selvedge-gss"));
    assert_int_equal(k->own.qop_mask, IPC_QOP_AUTH);
    assert_int_equal(sv_auth_to_local(k->own.rules, "rm/h@R", 6, name, NULL), 0);
    assert_string_equal(name, "rm");
    assert_int_equal(sv_auth_to_local(k->own.rules, "alice@S", 7, name, NULL), -EACCES);
    nm_conf_free(&c);
    assert_false(k->own.on);
    assert_null(k->own.rules);
}

static void all_keys(void **state)
{
    char name[SV_LOCAL_NAME_MAX + 1];
    struct nm_conf c;
    struct nm_conf_kerberos *k = &c.kerberos;

    (void)state;
    expect_ok(
        SECURE(KEY("hadoop.security.authentication=KERBEROS"),
               KEY("yarn.nodemanager.principal=yarn"), KEY("yarn.nodemanager.keytab=/k/nm"),
               KEY("yarn.resourcemanager.principal.pattern=rm/*@R"),
               KEY("dfs.namenode.kerberos.principal=nn/_HOST@S"),
               KEY("dfs.namenode.kerberos.principal.pattern=nn/{a,b}@S"),
               KEY("yarn.nodemanager.webapp.spnego-principal=HTTP/_HOST@R"),
               KEY("yarn.nodemanager.webapp.spnego-keytab-file=/k/http"),
               KEY("hadoop.rpc.protection=privacy,integrity"), KEY(OWN "socket=/run/s"),
               KEY(OWN "helper=/opt/gss"),
               KEY("hadoop.security.auth_to_local=RULE:[1:$1@$0](.*@S)s/@.*/_s/ DEFAULT"),
               KEY("yarn.nodemanager.linux-container-executor.nonsecure-mode.limit-users=true")),
        &c);
    assert_string_equal(k->own.principal, "yarn@R");
    assert_string_equal(k->own.keytab, "/k/nm");
    assert_string_equal(k->rm_pattern, "rm/*@R");
    assert_string_equal(k->namenode_principal, "nn/_HOST@S");
    assert_string_equal(k->namenode_pattern, "nn/{a,b}@S");
    assert_string_equal(k->own.web_principal, "HTTP/localhost@R");
    assert_string_equal(k->own.web_keytab, "/k/http");
    assert_int_equal(k->own.qop_mask, IPC_QOP_PRIVACY | IPC_QOP_INTEGRITY);
    assert_string_equal(k->own.socket, "/run/s");
    assert_string_equal(k->own.helper, "/opt/gss");
    assert_int_equal(sv_auth_to_local(k->own.rules, "alice@S", 7, name, NULL), 0);
    assert_string_equal(name, "alice_s");
    assert_false(c.limit_users);
    nm_conf_free(&c);
    expect_ok(SECURE(KEY("yarn.nodemanager.webapp.spnego-principal=*"),
                     KEY("yarn.resourcemanager.principal="),
                     KEY("yarn.resourcemanager.principal.pattern=*")),
              &c);
    assert_string_equal(k->own.web_principal, "*");
    assert_null(k->rm_principal);
    nm_conf_free(&c);
}

static void refusals(void **state)
{
    static const char *const bad[][2] = {
        { "yarn.nodemanager.principal=", "yarn.nodemanager.principal: not set" },
        { "yarn.nodemanager.principal=a/b/c@R", "more than two components" },
        { "yarn.nodemanager.principal=nm/_HOST", "add the realm" },
        { "yarn.nodemanager.principal=nm/_HOST@", "empty realm" },
        { "yarn.nodemanager.hostname=10.0.0.1", "by its host name" },
        { "yarn.nodemanager.webapp.spnego-principal=HTTP/_HOST", "spnego-principal" },
        { "yarn.resourcemanager.principal=", "yarn.resourcemanager.principal: not set" },
        { "yarn.resourcemanager.principal=rm@R", "not a service's principal" },
        { "yarn.resourcemanager.principal=rm/_HOST", "not a service's principal" },
        { "yarn.resourcemanager.principal=/h@R", "yarn.resourcemanager.principal: " },
        { "yarn.resourcemanager.principal.pattern=rm/[@R", "principal.pattern: " },
        { "dfs.namenode.kerberos.principal=nn@R", "dfs.namenode.kerberos.principal" },
        { "dfs.namenode.kerberos.principal.pattern={", "dfs.namenode.kerberos.principal.pattern" },
        { "yarn.nodemanager.keytab=nm.keytab", "keytab: must be an absolute path" },
        { "yarn.nodemanager.keytab=", "no key to log in with" },
        { "yarn.nodemanager.webapp.spnego-keytab-file=x", "must be an absolute path" },
        { OWN "helper=selvedge-gss", "helper: must be an absolute path" },
        { OWN "helper=", "nobody would log in" },
        { OWN "socket=run", "socket: must be an absolute path" },
        { OWN "krb5-conf=", "krb5-conf: empty" },
        { OWN "krb5-conf=/nowhere/krb5.conf", "no Kerberos realm: /nowhere/krb5.conf" },
        { "hadoop.security.auth_to_local=RULE:[1:$1", "hadoop.security.auth_to_local" },
        { "hadoop.security.auth_to_local.mechanism=heimdal", "mechanism" },
        { "hadoop.rpc.protection=none", "hadoop.rpc.protection" },
        { "ipc.client.fallback-to-simple-auth-allowed=true",
          "ipc.client.fallback-to-simple-auth-allowed is \"true\"" },
        { "hadoop.security.saslproperties.resolver.class=x.Y",
          "hadoop.security.saslproperties.resolver.class is \"x.Y\"" },
    };
    char longest[400];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        expect_refused(SECURE(KEY(bad[i][0])), bad[i][1]);
    (void)snprintf(longest, sizeof(longest), "yarn.nodemanager.principal=nm/%0300d@R", 0);
    expect_refused(SECURE(longest), "longer than 255 bytes");
    put_krb5_conf("[libdefaults]\nrdns = false\n");
    expect_refused(SECURE(NULL), "[libdefaults] has no default_realm");
    put_krb5_conf("[libdefaults]\ndefault_realm = R\n");
}

/* Classes and mechanisms that are what this node does by itself. */
static void hadoops_own_words(void **state)
{
    struct nm_conf c;

    (void)state;
    expect_ok(SECURE(KEY("hadoop.security.saslproperties.resolver.class="
                         "org.apache.hadoop.security.SaslPropertiesResolver"),
                     KEY("hadoop.security.sasl.mechanism=DIGEST-MD5")),
              &c);
    assert_true(c.kerberos.own.on);
    nm_conf_free(&c);
}

static int setup(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    (void)snprintf(krb5_conf, sizeof(krb5_conf), "%s/krb5.conf", dir);
    (void)snprintf(krb5_key, sizeof(krb5_key), OWN "krb5-conf=%s", krb5_conf);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(krb5_conf);
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(simple), cmocka_unit_test(defaults),
                                        cmocka_unit_test(all_keys), cmocka_unit_test(refusals),
                                        cmocka_unit_test(hadoops_own_words) };

    return cmocka_run_group_tests(tests, setup, teardown);
}
