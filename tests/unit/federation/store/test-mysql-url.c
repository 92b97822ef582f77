/* Tests federation/store/mysql-url.c: JDBC's spelling of a database. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "federation/store/mysql-url.h"

static struct fed_mysql_url parsed(const char *text)
{
    struct fed_mysql_url u;
    struct sv_error err;

    if (fed_mysql_url_parse(text, &u, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return u;
}

static void test_forms(void **state)
{
    struct fed_mysql_url u = parsed("jdbc:mysql://db.example.org:3307/FederationStateStore");

    (void)state;
    assert_string_equal(u.host, "db.example.org");
    assert_string_equal(u.database, "FederationStateStore");
    assert_true(u.port == 3307 && u.tls == FED_TLS_NONE && !u.user[0] && !u.password[0]);
    assert_string_equal(u.text, "mysql://db.example.org:3307/FederationStateStore");
    u = parsed("jdbc:mariadb://10.0.0.1/a%20b?");
    assert_true(u.port == 3306);
    assert_string_equal(u.database, "a b");
    u = parsed("jdbc:mysql://[fe80::1]:1/d");
    assert_string_equal(u.host, "fe80::1");
    assert_int_equal(u.port, 1);
    assert_string_equal(parsed("jdbc:mysql://[fe80::1]/d").host, "fe80::1");
}

static void test_parameters(void **state)
{
    struct fed_mysql_url u = parsed("jdbc:mysql://h/d?User=yarn&password=a%26b%3D+c&autoReconnect="
                                    "true&localSocket=/run/mysqld.sock&flag");

    (void)state;
    assert_string_equal(u.user, "yarn");
    assert_string_equal(u.password, "a&b= c");
    assert_string_equal(u.socket, "/run/mysqld.sock");
    assert_int_equal(parsed("jdbc:mysql://h/d?useSSL=false").tls, FED_TLS_NONE);
    assert_int_equal(parsed("jdbc:mysql://h/d?useSSL=true").tls, FED_TLS_ANY);
    assert_int_equal(parsed("jdbc:mysql://h/d?useSSL=true&verifyServerCertificate=true").tls,
                     FED_TLS_VERIFIED);
    assert_int_equal(parsed("jdbc:mysql://h/d?sslMode=REQUIRED").tls, FED_TLS_ANY);
    u = parsed("jdbc:mariadb://h/d?sslMode=verify-full&serverSslCert=/etc/ca.pem");
    assert_int_equal(u.tls, FED_TLS_VERIFIED);
    assert_string_equal(u.ca, "/etc/ca.pem");
}

static void test_refused(void **state)
{
    static const char *const urls[] = {
        "",
        "jdbc:postgresql://h/d",
        "mysql://h/d",
        "jdbc:mysql:loadbalance://h/d",
        "jdbc:mysql://h",
        "jdbc:mysql://h/",
        "jdbc:mysql:///d",
        "jdbc:mysql://h:0/d",
        "jdbc:mysql://h:65536/d",
        "jdbc:mysql://h:x/d",
        "jdbc:mysql://a,b/d",
        "jdbc:mysql://(host=a)/d",
        "jdbc:mysql://user:pass@h/d",
        "jdbc:mysql://[::1/d",
        "jdbc:mysql://[::1]x/d",
        "jdbc:mysql://[::1]x:1/d",
        "jdbc:mysql://h/a/b",
        "jdbc:mysql://h/%zz",
        "jdbc:mysql://h/%00",
        "jdbc:mysql://h/d?password=sesame%",
        "jdbc:mysql://h/d?sslMode=sesame",
    };
    struct fed_mysql_url u;
    struct sv_error err;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(urls); i++) {
        if (fed_mysql_url_parse(urls[i], &u, &err) != -EINVAL)
            fail_msg("%s is accepted", urls[i]);
        assert_null(strstr(err.text, "sesame"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
