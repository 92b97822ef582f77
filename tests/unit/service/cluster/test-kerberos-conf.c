/* Tests service/cluster/kerberos-conf.c: who the server is, and what it refuses to start with. */
#include "service/cluster/kerberos-conf.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* after these */
#include <cmocka.h>

#include "common/str.h"

static char krb5_conf[] = "/tmp/selvedge-krb5-XXXXXX";

static int set_up(void **state)
{
    static const char text[] = "[libdefaults]\ndefault_realm = SITE.TEST\n";
    int fd = mkstemp(krb5_conf);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    return close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(krb5_conf);
}

struct pair {
    const char *name, *value; /* NULL: unset */
};

static const struct pair good[] = {
    { "hadoop.security.authentication", "kerberos" },
    { "selvedge.services.kerberos.krb5-conf", krb5_conf },
    { "yarn.resourcemanager.principal", "rm/_HOST@SITE.TEST" },
    { "yarn.resourcemanager.keytab", "/etc/rm.keytab" },
    { "dfs.namenode.kerberos.principal", "nn/_HOST@SITE.TEST" },
    { "hadoop.http.authentication.type", "kerberos" },
    { "hadoop.http.authentication.kerberos.principal", "HTTP/_HOST@SITE.TEST" },
    { "hadoop.http.authentication.kerberos.keytab", "/etc/http.keytab" },
};

/* Reads the good keys with `n` others in their place. */
static int read_with(const struct pair *others, size_t n, struct svc_kerberos_conf *ret,
                     struct sv_error *err)
{
    static struct sv_conf *conf; /* texts of the last one live on */
    int r;

    sv_conf_free(conf);
    conf = sv_conf_new();
    assert_non_null(conf);
    for (size_t i = 0; i < SV_ARRAY_LEN(good); i++) {
        const struct pair *p = &good[i];

        for (size_t k = 0; k < n; k++)
            if (sv_streq(others[k].name, p->name))
                p = &others[k];
        if (p->value)
            assert_int_equal(sv_conf_set(conf, p->name, p->value), 0);
    }
    for (size_t k = 0; k < n; k++)
        if (others[k].value)
            assert_int_equal(sv_conf_set(conf, others[k].name, others[k].value), 0);
    *err = (struct sv_error){ 0 };
    r = svc_kerberos_conf_read(conf, ret, err);
    return r;
}

static void test_without(void **state)
{
    static const struct pair simple[] = { { "hadoop.security.authentication", "simple" } };
    struct svc_kerberos_conf k;
    struct sv_error err;

    (void)state;
    assert_int_equal(read_with(simple, 1, &k, &err), 0);
    assert_false(k.on);
    svc_kerberos_conf_free(&k);
}

static void test_apaches_keys(void **state)
{
    struct svc_kerberos_conf k;
    struct sv_error err;
    char own[300];

    (void)state;
    if (read_with(NULL, 0, &k, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(k.on);
    (void)snprintf(own, sizeof(own), "rm/%s@SITE.TEST", k.host);
    assert_string_equal(k.principal, own);
    assert_string_equal(k.keytab, "/etc/rm.keytab");
    (void)snprintf(own, sizeof(own), "HTTP/%s@SITE.TEST", k.host);
    assert_string_equal(k.web_principal, own);
    assert_string_equal(k.rm_principal, "rm/_HOST@SITE.TEST"); /* of each connection */
    assert_string_equal(k.realm, "SITE.TEST");
    assert_non_null(k.rules);
    svc_kerberos_conf_free(&k);
}

static void test_own_keys(void **state)
{
    static const struct pair own[] = {
        { "selvedge.services.kerberos.principal", "services/h1.site" },
        { "selvedge.services.kerberos.keytab", "/etc/own.keytab" },
        { "hadoop.http.authentication.kerberos.principal", "*" },
    };
    struct svc_kerberos_conf k;
    struct sv_error err;

    (void)state;
    if (read_with(own, SV_ARRAY_LEN(own), &k, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(k.principal, "services/h1.site@SITE.TEST");
    assert_string_equal(k.keytab, "/etc/own.keytab");
    assert_string_equal(k.web_principal, "*");
    svc_kerberos_conf_free(&k);
}

static void test_refused(void **state)
{
    static const struct {
        struct pair one;
        const char *words;
    } bad[] = {
        { { "hadoop.http.authentication.type", "simple" }, "must have proved who they are" },
        { { "hadoop.http.authentication.type", NULL }, "must have proved who they are" },
        { { "hadoop.http.authentication.kerberos.principal", NULL }, "who this web server is" },
        { { "hadoop.http.authentication.kerberos.principal", "rm/h@SITE.TEST" }, "HTTP/" },
        { { "hadoop.http.authentication.kerberos.keytab", "http.keytab" }, "path of its key" },
        { { "yarn.resourcemanager.principal", NULL }, "yarn.resourcemanager.principal" },
        { { "yarn.resourcemanager.keytab", "rm.keytab" }, "absolute path" },
        { { "selvedge.services.kerberos.principal", "services/_HOST" }, "add the realm" },
        { { "selvedge.services.kerberos.principal", "a/b/c@R" }, "principal" },
        { { "selvedge.services.kerberos.krb5-conf", "/nonexistent/krb5.conf" }, "krb5.conf" },
        { { "hadoop.security.auth_to_local", "RULE:[" }, "auth_to_local" },
        { { "hadoop.security.authentication", "token" }, "authentication" },
    };
    struct svc_kerberos_conf k;
    struct sv_error err;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        assert_true(read_with(&bad[i].one, 1, &k, &err) < 0);
        if (!strstr(err.text, bad[i].words))
            fail_msg("\"%s\" is not in: %s", bad[i].words, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without),
        cmocka_unit_test(test_apaches_keys),
        cmocka_unit_test(test_own_keys),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
