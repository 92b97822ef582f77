/* common/ldap/ldap-conf.c: Hadoop's keys of LdapGroupsMapping; a password that others can read, and
 * what this version does not read, are refused by name. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/ldap/ldap-conf.h"
#include "common/ldap/ldap-groups.h"

#define L "hadoop.security.group.mapping.ldap."
#define ON                                                                                         \
    {                                                                                              \
        "hadoop.security.group.mapping", SV_LDAP_MAPPING                                           \
    }
#define URL                                                                                        \
    {                                                                                              \
        L "url", "ldap://one.example:389, ldaps://two.example"                                     \
    }

typedef const char *pair[2];

static char file[64];

static int read_keys(const pair *keys, size_t n, struct sv_ldap_conf *ret, struct sv_error *err)
{
    struct sv_conf *c = sv_conf_new();
    int r;

    for (size_t i = 0; i < n; i++)
        assert_int_equal(sv_conf_set(c, keys[i][0], keys[i][1]), 0);
    r = sv_ldap_conf_read(c, ret, err);
    sv_conf_free(c);
    return r;
}

static void write_password(const char *text, mode_t mode)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void test_defaults(void **state)
{
    static const pair keys[] = { ON, URL, { L "base", "dc=x" }, { L "groupbase", "ou=g,dc=x" } };
    struct sv_ldap_conf c;
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(read_keys(keys, 4, &c, &err), 0);
    assert_true(c.on);
    assert_string_equal(c.urls[0], "ldap://one.example:389");
    assert_string_equal(c.urls[1], "ldaps://two.example");
    assert_string_equal(c.user_base, "dc=x");
    assert_string_equal(c.group_base, "ou=g,dc=x");
    assert_string_equal(c.user_filter, "(&(objectClass=user)(sAMAccountName={0}))");
    assert_string_equal(c.password, "");
    assert_false(c.posix);
    assert_int_equal(c.attempts, 3);
    assert_int_equal(c.connect_ms, 60000);
    sv_ldap_conf_free(&c);
    assert_int_equal(read_keys(keys, 0, &c, &err), 0); /* the machine's groups */
    assert_false(c.on);
}

static void test_password(void **state)
{
    const pair keys[] = { ON, URL, { L "bind.user", "cn=rm" }, { L "bind.password.file", file } };
    struct sv_ldap_conf c;
    struct sv_error err = { 0 };

    (void)state;
    write_password("secret\n", 0400);
    assert_int_equal(read_keys(keys, 4, &c, &err), 0);
    assert_string_equal(c.password, "secret");
    sv_ldap_conf_free(&c);
    write_password("secret", 0440);
    assert_int_equal(read_keys(keys, 4, &c, &err), -EACCES);
    assert_non_null(strstr(err.text, "chmod 0400"));
    assert_null(strstr(err.text, "secret"));
    write_password("\n", 0600);
    assert_int_equal(read_keys(keys, 4, &c, &err), -EINVAL);
    unlink(file);
    assert_int_equal(read_keys(keys, 4, &c, &err), -ENOENT);
    assert_int_equal(read_keys(keys, 3, &c, &err), -EINVAL); /* no file */
}

static void test_refused(void **state)
{
    static const struct {
        pair key;
        int r;
        const char *words;
    } cases[] = {
        { { L "url", "" }, -EINVAL, "url is not set" },
        { { L "url", "http://x" }, -EINVAL, "not ldap://HOST" },
        { { L "bind.password", "x" }, -EOPNOTSUPP, "bind.password.file" },
        { { L "bind.password.alias", "x" }, -EOPNOTSUPP, "credential providers" },
        { { L "bind.users", "a,b" }, -EOPNOTSUPP, "bind.user" },
        { { L "ssl.truststore", "/x.jks" }, -EOPNOTSUPP, "ca-certificates" },
        { { L "ssl.keystore", "/x.jks" }, -EOPNOTSUPP, "are not shown" },
        { { L "bind.users.alias", "a" }, -EOPNOTSUPP, "bind.user" },
        { { L "group.search.filter.pattern", "cn" }, -EOPNOTSUPP, "search.filter.group" },
        { { L "ctx.factory.class", "x.Factory" }, -EOPNOTSUPP, "a class of Java's" },
        { { L "ctx.factory.class", "com.sun.jndi.ldap.LdapCtxFactory" }, 0, "" },
        { { L "search.filter.user", "(uid=ann)" }, -EINVAL, "with {0}" },
        { { L "search.filter.group", "cn=x" }, -EINVAL, "not a filter" },
        { { L "search.attr.member", "a)(b" }, -EINVAL, "name of an attribute" },
        { { L "search.attr.group.name", "" }, -EINVAL, "empty" },
        { { L "search.group.hierarchy.levels", "11" }, -EINVAL, "levels" },
        { { L "num.attempts", "0" }, -EINVAL, "attempts" },
    };
    struct sv_ldap_conf c;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const pair keys[] = { ON, URL, { cases[i].key[0], cases[i].key[1] } };
        struct sv_error err = { 0 };
        int r = read_keys(keys, 3, &c, &err);

        if (r != cases[i].r || !strstr(err.text, cases[i].words))
            fail_msg("%s: %d: %s", cases[i].key[0], r, err.text);
        if (r >= 0)
            sv_ldap_conf_free(&c);
    }
}

static void test_ssl_and_posix(void **state)
{
    static const pair keys[] = {
        ON,
        URL,
        { L "ssl", "true" },
        { L "search.filter.user", "(&(objectClass=posixAccount)(uid={0}))" },
        { L "search.filter.group", "(objectClass=posixGroup)" },
    };
    struct sv_ldap_conf c;
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(read_keys(keys, 5, &c, &err), 0);
    assert_string_equal(c.urls[0], "ldaps://one.example:389");
    assert_true(c.posix);
    sv_ldap_conf_free(&c);
}

/* Without servers nothing waits, and the reason is there. */
static void test_source(void **state)
{
    static const pair keys[] = { ON,
                                 { L "url", "ldap://127.0.0.1:1,ldap://127.0.0.1:2" },
                                 { L "num.attempts.before.failover", "1" } };
    struct sv_conf *c = sv_conf_new();
    struct sv_groups_source s;
    struct sv_error err = { 0 };
    char why[SV_GROUPS_WHY_MAX] = "";

    (void)state;
    assert_int_equal(sv_ldap_groups_source(c, &s, &err), 0);
    assert_null(s.names);
    sv_groups_source_unref(&s);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(sv_conf_set(c, keys[i][0], keys[i][1]), 0);
    if (sv_ldap_groups_source(c, &s, &err) < 0) {
        assert_non_null(strstr(err.text, "install libldap"));
    } else {
        assert_null(s.names(s.data, "ann", why, sizeof(why)));
        assert_non_null(strstr(why, "ldap://127.0.0.1:"));
        sv_groups_source_unref(&s);
    }
    sv_conf_free(c);
}

static int setup(void **state)
{
    (void)state;
    snprintf(file, sizeof(file), "/tmp/test-ldap-conf-%d", (int)getpid());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(file);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_password),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_ssl_and_posix),
        cmocka_unit_test(test_source),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
