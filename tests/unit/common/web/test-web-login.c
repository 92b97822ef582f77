/* Tests common/web/web-login.c and, with it, web-auth.c: keys of a daemon with a gate. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/str.h"
#include "common/web/web-auth.h"
#include "common/web/web-login.h"

#define AUTH "hadoop.http.authentication."

static struct sv_conf *conf;
static struct sv_web_login login;
static struct sv_web_auth auth;
static struct sv_error err;
static char file[64];

static int drop(void **state)
{
    (void)state;
    sv_web_login_free(&login);
    sv_web_auth_free(&auth);
    conf = sv_conf_free(conf);
    return 0;
}

/* Pairs of key and value, NULL at the end. */
static int read_with(const char *const *pairs)
{
    int r;

    (void)drop(NULL);
    auth = (struct sv_web_auth){ 0 };
    err = (struct sv_error){ 0 };
    conf = sv_conf_new();
    assert_non_null(conf);
    for (; *pairs; pairs += 2)
        assert_int_equal(sv_conf_set(conf, pairs[0], pairs[1]), 0);
    r = sv_web_login_read(conf, &login, &err);
    return r < 0 ? r : sv_web_auth_read(conf, &login, &auth, &err);
}
#define READ(...) read_with((const char *const[]){ __VA_ARGS__, NULL })

static void defaults(void **state)
{
    char secret[32];

    (void)state;
    assert_int_equal(READ("x", ""), 0);
    assert_int_equal(login.validity_ms, 36000000);
    assert_null(login.domain);
    assert_false(login.persistent);
    assert_true(login.anonymous);
    assert_null(login.principal);
    assert_string_equal(auth.auth_type, "simple");
    assert_true(auth.own_secret);
    assert_int_equal(auth.secret_len, sizeof(secret));
    memcpy(secret, auth.secret, sizeof(secret));
    assert_int_equal(READ("x", ""), 0);
    assert_memory_not_equal(auth.secret, secret, sizeof(secret)); /* each time another */
}

static void values(void **state)
{
    (void)state;
    assert_int_equal(READ(AUTH "type", "kerberos", AUTH "token.validity", "60",
                          AUTH "cookie.domain", "a-1.example", AUTH "cookie.persistent", "true",
                          AUTH "simple.anonymous.allowed", "false", AUTH "kerberos.principal",
                          "HTTP/_HOST@R", AUTH "kerberos.keytab", "/k",
                          AUTH "kerberos.endpoint.whitelist", "/metrics, /jmx"),
                     0);
    assert_int_equal(login.validity_ms, 60000);
    assert_string_equal(login.domain, "a-1.example");
    assert_true(login.persistent);
    assert_false(login.anonymous);
    assert_string_equal(login.principal, "HTTP/_HOST@R");
    assert_string_equal(login.keytab, "/k");
    assert_string_equal(login.open_paths[1], "/jmx");
    assert_null(login.open_paths[2]);
}

static void refused(void **state)
{
    static const struct {
        const char *key, *value, *words;
    } t[] = {
        { AUTH "type", "ldap", "type=ldap: this version knows simple and kerberos" },
        { AUTH "type", "org.example.Handler", "org.example.Handler" },
        { AUTH "token.validity", "0", "token.validity" },
        { AUTH "token.validity", "soon", "token.validity" },
        { AUTH "cookie.domain", "a;b", "not a name of a domain" },
        { AUTH "cookie.domain", "a\nb", "not a name of a domain" },
        { AUTH "signer.secret.provider", "zookeeper", "knows file and random" },
        { AUTH "kerberos.endpoint.whitelist", "/a,metrics", "begins with /" },
        { AUTH "kerberos.name.rules", "DEFAULT", "set hadoop.security.auth_to_local" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(t); i++) {
        assert_true(READ(t[i].key, t[i].value) < 0);
        if (!strstr(err.text, t[i].words))
            fail_msg("%s=%s: %s", t[i].key, t[i].value, err.text);
    }
}

static void put_secret(const char *text, mode_t mode)
{
    int fd = open(file, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    sv_close(fd);
}

/* A file that cannot be used ends the start, unless everybody may see everything by any name. */
static void secrets(void **state)
{
    static const struct {
        const char *text;
        mode_t mode;
    } bad[] = { { "secret", 0604 }, { "secret", 0602 }, { "", 0600 } };

    (void)state;
    snprintf(file, sizeof(file), "/tmp/test-web-login-%d", getpid());
    put_secret("secret\n", 0640);
    assert_int_equal(READ(AUTH "signature.secret.file", file), 0);
    assert_int_equal(auth.secret_len, 7);
    assert_memory_equal(auth.secret, "secret\n", 7);
    assert_false(auth.own_secret);
    assert_int_equal(
        READ(AUTH "signature.secret.file", file, AUTH "signer.secret.provider", "random"), 0);
    assert_true(auth.own_secret);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        put_secret(bad[i].text, bad[i].mode);
        assert_int_equal(READ(AUTH "signature.secret.file", file), 0);
        assert_true(auth.own_secret);
        assert_int_equal(auth.secret_len, 32);
        assert_true(READ(AUTH "signature.secret.file", file, "yarn.acl.enable", "true") < 0);
        assert_non_null(strstr(err.text, file));
        assert_true(READ(AUTH "signature.secret.file", file, AUTH "type", "kerberos") < 0);
        assert_non_null(strstr(err.text, file));
    }
    assert_int_equal(unlink(file), 0);
    assert_true(READ(AUTH "signature.secret.file", file, AUTH "type", "kerberos") < 0);
    assert_int_equal(READ(AUTH "signature.secret.file", file), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(defaults, drop),
        cmocka_unit_test_teardown(values, drop),
        cmocka_unit_test_teardown(refused, drop),
        cmocka_unit_test_teardown(secrets, drop),
    };

    return cmocka_run_group_tests_name("web-login", tests, NULL, NULL);
}
