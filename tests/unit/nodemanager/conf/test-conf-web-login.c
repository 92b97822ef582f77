/* Tests nm_conf_web_login_read() of conf-web.c: whose ticket the web server takes, in a secure
 * cluster and in another. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/conf/conf-parts.h"
#include "nodemanager/conf/conf.h"

#define AUTH "hadoop.http.authentication."
#define KERBEROS AUTH "type", "kerberos"

static struct nm_conf c;
static struct sv_error err;

static int drop(void **state)
{
    (void)state;
    sv_web_auth_free(&c.web.auth);
    sv_web_login_free(&c.web.login);
    free(c.web.principal);
    c.web.principal = NULL;
    c.conf = sv_conf_free(c.conf);
    return 0;
}

/* With what nm_conf_kerberos_read() has found, and pairs of key and value, NULL at the end. */
static int read_with(const struct nm_conf_kerberos *kerberos, const char *const *pairs)
{
    (void)drop(NULL);
    c = (struct nm_conf){ .conf = sv_conf_new(), .kerberos = *kerberos };
    err = (struct sv_error){ 0 };
    assert_non_null(c.conf);
    for (; *pairs; pairs += 2)
        assert_int_equal(sv_conf_set(c.conf, pairs[0], pairs[1]), 0);
    return nm_conf_web_login_read(&c, &err);
}
#define READ(k, ...) read_with(k, (const char *const[]){ __VA_ARGS__, NULL })

static const struct nm_conf_kerberos simple = { .own.on = false };
static const struct nm_conf_kerberos secure = {
    .own = { .on = true, .own_host = "node1.a", .realm = "R" }
};
static const struct nm_conf_kerberos own_keys = { .own = { .on = true,
                                                           .own_host = "node1.a",
                                                           .realm = "R",
                                                           .web_principal = "HTTP/node1.a@R",
                                                           .web_keytab = "/own" } };
static const struct nm_conf_kerberos socket = {
    .own = { .on = true, .own_host = "node1.a", .realm = "R", .socket = "/run/s" }
};

static void principals(void **state)
{
    static const struct {
        const char *configured, *wanted;
    } t[] = {
        { "HTTP/_HOST@R", "HTTP/node1.a@R" },
        { "HTTP/other@Q", "HTTP/other@Q" },
        { "HTTP/other", "HTTP/other@R" },
        { "*", "*" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(t); i++) {
        assert_int_equal(READ(&secure, KERBEROS, AUTH "kerberos.principal", t[i].configured,
                              AUTH "kerberos.keytab", "/k"),
                         0);
        assert_string_equal(c.kerberos.own.web_principal, t[i].wanted);
        assert_string_equal(c.kerberos.own.web_keytab, "/k");
        assert_true(c.web.tickets);
    }
    /* The NodeManager's own come first. */
    assert_int_equal(READ(&own_keys, KERBEROS, AUTH "kerberos.principal", "HTTP/other@R",
                          AUTH "kerberos.keytab", "/k"),
                     0);
    assert_string_equal(c.kerberos.own.web_principal, "HTTP/node1.a@R");
    assert_string_equal(c.kerberos.own.web_keytab, "/own");
    /* A helper of systemd's has its keytab from its unit. */
    assert_int_equal(READ(&socket, KERBEROS, AUTH "kerberos.principal", "HTTP/_HOST@R"), 0);
    assert_null(c.kerberos.own.web_keytab);
}

static void refused(void **state)
{
    static const struct {
        const char *principal, *keytab, *words;
    } t[] = {
        { "", "/k", "spnego-principal" },
        { "HTTP/_HOST@R", "", "spnego-keytab-file" },
        { "HTTP/_HOST@R", "k", "not an absolute path" },
        { "HTTP/_HOST", "/k", "HTTP/_HOST@REALM alone" },
        { "nm/_HOST@R", "/k", "nm/node1.a@R" },
        { "HTTP@R", "/k", "begins with HTTP/" },
        { "a/b/c@R", "/k", "kerberos.principal" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(t); i++) {
        assert_int_equal(READ(&secure, KERBEROS, AUTH "kerberos.principal", t[i].principal,
                              AUTH "kerberos.keytab", t[i].keytab),
                         -EINVAL);
        if (!strstr(err.text, t[i].words))
            fail_msg("%s: %s", t[i].principal, err.text);
    }
}

/* Without Kerberos in the cluster only other daemons' cookies are left; with it and an open web
 * server there is no key for it. */
static void others(void **state)
{
    (void)state;
    assert_int_equal(READ(&simple, KERBEROS), -EINVAL);
    assert_non_null(strstr(err.text, "signature.secret.file"));
    assert_int_equal(READ(&simple, "x", ""), 0);
    assert_false(c.web.tickets);
    assert_int_equal(READ(&own_keys, "x", ""), 0);
    assert_false(c.web.tickets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(principals, drop),
        cmocka_unit_test_teardown(refused, drop),
        cmocka_unit_test_teardown(others, drop),
    };

    return cmocka_run_group_tests_name("conf-web-login", tests, NULL, NULL);
}
