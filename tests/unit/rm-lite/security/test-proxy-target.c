/* rm-lite/security/proxy-target.c: URLs that a job registers, paths and Locations, and the
 * addresses that the ResourceManager's proxy does not connect to. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/security/proxy-target.h"

static void check_url(const char *tracking, const char *rest, const char *want)
{
    struct sv_error err = { 0 };
    char *url = NULL;
    int r = rm_proxy_url(tracking, rest, &url, &err);

    if (want && r < 0)
        fail_msg("%s %s: %s", tracking, rest, err.text);
    if (want)
        assert_string_equal(url, want);
    else
        assert_int_equal(r, -EINVAL);
    free(url);
}

static void test_urls(void **state)
{
    (void)state;
    check_url("host:4040", "", "http://host:4040/");
    check_url("host:4040", "/", "http://host:4040/");
    check_url("http://host:4040/", "/a/b?x=1&y=%2F", "http://host:4040/a/b?x=1&y=%2F");
    check_url("https://host:4040/ui", "", "https://host:4040/ui");
    check_url("http://host:4040/ui", "/", "http://host:4040/ui");
    check_url("http://host:4040/ui/", "/a%20b/", "http://host:4040/ui/a%20b/");
    check_url("http://host/ui?t=1#top", "/?x=2", "http://host/ui?t=1&x=2");
    check_url("http://[fd00::1]:80/", "/x", "http://[fd00::1]:80/x");
    check_url("http://ok@169.254.169.254/", "/", NULL);
    check_url("http://u:p@host/", "/", NULL);
    check_url("file:///etc/passwd", "/", NULL);
    check_url("gopher://host/", "/", NULL);
    check_url("javascript://host/%0aalert(1)", "/", NULL);
    check_url("http://host/\r\nSet-Cookie: a", "/", NULL);
    check_url("http://host/", "/a b", NULL);
    check_url("http://host:99999/", "/", NULL);
}

static void test_tokens(void **state)
{
    static const char *const t[][2] = {
        { "", "" },
        { "/a/b", "/a/b" },
        { "/a?", "/a?" },
        { "/a?x=1&y=2", "/a?x=1&y=2" },
        { "/a?&&x", "/a?&&x" },
        { "/a?delegation=SECRET", "/a" },
        { "/a?delegation=SECRET&x=1", "/a?x=1" },
        { "/a?x=1&delegation=SECRET", "/a?x=1" },
        { "/a?x=1&delegation=A&y=2&Delegation=B", "/a?x=1&y=2" },
        { "?DELEGATION=SECRET&delegation", "" },
        { "/a?%64el%65gatio%6E=SECRET&x", "/a?x" },
        { "/a?%44ELEGATION=SECRET", "/a" },
        { "/delegation=x?delegations=1&delegatio=2", "/delegation=x?delegations=1&delegatio=2" },
        { "/a?x=delegation=1&%6", "/a?x=delegation=1&%6" },
        { "/a?b?delegation=1", "/a?b?delegation=1" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(t); i++) {
        _cleanup_free_ char *got = rm_proxy_without_tokens(t[i][0]);

        assert_string_equal(got, t[i][1]);
    }
}

static void check_location(const char *location, const char *want)
{
    char *got = rm_proxy_location("http://host:4040/ui", "application_1_0001", location);

    assert_non_null(got);
    assert_string_equal(got, want);
    free(got);
}

static void test_locations(void **state)
{
    (void)state;
    check_location("http://host:4040/ui/jobs/?a=1", "/proxy/application_1_0001/jobs/?a=1");
    check_location("/ui/jobs", "/proxy/application_1_0001/jobs");
    check_location("http://HOST:4040/ui", "/proxy/application_1_0001/");
    check_location("/proxy/application_1_0001/jobs/", "/proxy/application_1_0001/jobs/");
    check_location("/uix", "http://host:4040/uix");
    check_location("http://elsewhere/ui/jobs", "http://elsewhere/ui/jobs");
    check_location("http://host:4041/ui", "http://host:4041/ui");
    check_location("https://host:4040/ui", "https://host:4040/ui");
}

static bool may(const char *text, bool here)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

    if (strchr(text, ':')) {
        assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
        return rm_proxy_may_connect((struct sockaddr *)&v6, here);
    }
    assert_int_equal(inet_pton(AF_INET, text, &v4.sin_addr), 1);
    return rm_proxy_may_connect((struct sockaddr *)&v4, here);
}

static void test_addresses(void **state)
{
    static const char *const never[] = {
        "0.0.0.0",           "0.1.2.3",         "169.254.169.254",    "100.100.100.200",
        "224.0.0.1",         "255.255.255.255", "240.0.0.1",          "::",
        "fe80::1",           "ff02::1",         "fd00:ec2::254",      "::ffff:169.254.169.254",
        "::169.254.169.254", "168.63.129.16",   "192.0.0.192",        "fd00:ec2::23",
        "fd20:ce::254",      "fd00:42::42",     "64:ff9b::a9fe:a9fe", "::ffff:192.0.0.192"
    };
    static const char *const loopback[] = { "127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1",
                                            "64:ff9b::7f00:1" };
    static const char *const others[] = { "10.0.0.1",        "192.168.1.1",    "8.8.8.8",
                                          "100.100.100.201", "fd00:1::1",      "2001:db8::1",
                                          "64:ff9b::a00:1",  "::ffff:10.0.0.1" };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(never); i++)
        assert_false(may(never[i], true));
    for (size_t i = 0; i < SV_ARRAY_LEN(loopback); i++) {
        assert_false(may(loopback[i], false));
        assert_true(may(loopback[i], true));
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(others); i++)
        assert_true(may(others[i], false));
}

static void test_local(void **state)
{
    struct in6_addr a;

    (void)state;
    assert_int_equal(inet_pton(AF_INET6, "::ffff:127.0.0.1", &a), 1);
    assert_true(rm_proxy_is_local(&a));
    assert_int_equal(inet_pton(AF_INET6, "::ffff:192.0.2.1", &a), 1);
    assert_false(rm_proxy_is_local(&a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),      cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_locations), cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_local),
    };

    return cmocka_run_group_tests_name("proxy-target", tests, NULL, NULL);
}
