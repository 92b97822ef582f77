/* Tests service/am/check/probe-target.c: a check goes to its container alone. */
#include "service/am/check/probe-target.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static const struct svc_probe_addresses addresses = { "10.1.2.3", "ctr-1.site", "node1" };

static int aim(const char *url, const struct svc_probe_addresses *a, struct svc_probe_target *ret,
               struct sv_error *err)
{
    const struct svc_probe p = { .type = SVC_READY_HTTP, .url = url };

    *err = (struct sv_error){ 0 };
    return svc_probe_aim(&p, a, ret, err);
}

static void to_the_container(void **state)
{
    static const struct {
        const char *in, *out;
        unsigned port;
    } rows[] = {
        { "http://${THIS_HOST}:8080/ready?x=1", "http://10.1.2.3:8080/ready?x=1", 8080 },
        { "http://${THIS_HOST}/", "http://10.1.2.3/", 80 },
        { "https://${THIS_HOST}", "https://10.1.2.3", 443 },
        { "HTTP://10.1.2.3:1/", "HTTP://10.1.2.3:1/", 1 },
        { "http://CTR-1.site:81?a", "http://CTR-1.site:81?a", 81 },
        { "http://node1:82#b", "http://node1:82#b", 82 },
        { "http://${THIS_HOST}:83/${THIS_HOST}", "http://10.1.2.3:83/10.1.2.3", 83 },
    };
    struct svc_probe_target t;
    struct sv_error err;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        if (aim(rows[i].in, &addresses, &t, &err) < 0)
            fail_msg("%s: %s", rows[i].in, err.text);
        assert_string_equal(t.url, rows[i].out);
        assert_string_equal(t.address, "10.1.2.3");
        assert_int_equal(t.port, rows[i].port);
    }
}

static void to_nobody_else(void **state)
{
    static const char *const urls[] = {
        "http://169.254.169.254/latest/meta-data/",
        "http://metadata.google.internal/",
        "http://10.1.2.4/",
        "http://10.1.2.3@10.1.2.4/",
        "http://${THIS_HOST}@10.1.2.4/",
        "http://${THIS_HOST}.evil/",
        "http://evil.${THIS_HOST}/",
        "http://${THIS_HOST}:8080@evil/",
        "http://10.1.2.3:99999/",
        "http://10.1.2.3:0/",
        "http://10.1.2.3:/",
        "http:///x",
        "http://",
        "ftp://${THIS_HOST}/",
        "file:///etc/passwd",
        "http://${THIS_HOST}\\@evil/",
        "http://${THIS_HOST}/a b",
        "http://[::1/",
        "http://[::1]x/",
        "",
    };
    struct svc_probe_target t;
    struct sv_error err;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(urls); i++) {
        if (aim(urls[i], &addresses, &t, &err) != -EPERM)
            fail_msg("taken: %s", urls[i]);
        assert_non_null(strstr(err.text, "readiness check"));
    }
}

static void addresses_of_nodes(void **state)
{
    const struct svc_probe_addresses six = { "fd00::1", "", "node1" }, none = { 0 },
                                     node = { "", "", "node1" }, bad = { "1.2.3.4/x", "", "" };
    const struct svc_probe port = { .type = SVC_READY_PORT, .port = 5432 };
    struct svc_probe_target t;
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(aim("http://${THIS_HOST}:80/", &six, &t, &err), 0);
    assert_string_equal(t.url, "http://[fd00::1]:80/");
    assert_string_equal(t.address, "fd00::1");
    assert_int_equal(aim("http://${THIS_HOST}/", &none, &t, &err), -EADDRNOTAVAIL);
    assert_int_equal(svc_probe_aim(&port, &node, &t, &err), 0);
    assert_string_equal(t.address, "node1");
    assert_int_equal(t.port, 5432);
    assert_int_equal(svc_probe_aim(&port, &bad, &t, &err), -EPERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(to_the_container),
                                        cmocka_unit_test(to_nobody_else),
                                        cmocka_unit_test(addresses_of_nodes) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
