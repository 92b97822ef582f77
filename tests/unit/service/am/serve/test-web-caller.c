/* Tests service/am/serve/web-caller.c: the proxy's cookie, claims, redirects. */
#include "service/am/serve/web-caller.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static struct {
    const char *cookie, *origin, *claim, *address;
} from;

/* A request without a connection. */
const char *__wrap_sv_http_header(const struct sv_http_request *req, const char *key);
const char *__wrap_sv_http_query(const struct sv_http_request *req, const char *key);
const struct sockaddr *__wrap_sv_http_peer(const struct sv_http_request *req);

const char *__wrap_sv_http_header(const struct sv_http_request *req, const char *key)
{
    (void)req;
    return strcmp(key, "Cookie") == 0   ? from.cookie
           : strcmp(key, "Origin") == 0 ? from.origin
                                        : NULL;
}

const char *__wrap_sv_http_query(const struct sv_http_request *req, const char *key)
{
    (void)req;
    return strcmp(key, "user.name") == 0 ? from.claim : NULL;
}

const struct sockaddr *__wrap_sv_http_peer(const struct sv_http_request *req)
{
    static struct sockaddr_in sa;

    (void)req;
    sa = (struct sockaddr_in){ .sin_family = AF_INET };
    assert_int_equal(inet_pton(AF_INET, from.address, &sa.sin_addr), 1);
    return (struct sockaddr *)&sa;
}

static int ask(const struct svc_proxies *p, const char *method, char user[SV_AUTH_USER_MAX],
               struct sv_http_response *ret)
{
    const struct sv_http_request req = { .method = method, .path = "/x", .uri = "/x?y" };

    *ret = (struct sv_http_response){ 0 };
    return svc_web_caller(p, &req, ret, user);
}

static void drop(struct sv_http_response *r)
{
    free(r->body);
    free(r->location);
}

static struct svc_proxies proxies(const char *authentication)
{
    struct sv_conf *conf = sv_conf_new();
    struct svc_proxies p;

    assert_int_equal(sv_conf_set(conf, "yarn.resourcemanager.webapp.address", "10.0.0.1:8088"), 0);
    assert_int_equal(sv_conf_set(conf, "yarn.resourcemanager.address", "10.0.0.2:8032"), 0);
    assert_int_equal(sv_conf_set(conf, "hadoop.security.authentication", authentication), 0);
    assert_int_equal(svc_proxies_read(conf, "/proxy/application_1_0001", &p, NULL), 0);
    sv_conf_free(conf);
    return p;
}

static void by_the_proxy(void **state)
{
    static const struct {
        const char *cookie, *user;
    } rows[] = {
        { "proxy-user=alice", "alice" },
        { "a=b; proxy-user=alice; c=d", "alice" },
        { "xproxy-user=mallory; proxy-user=alice", "alice" },
    };
    const struct svc_proxies p = proxies("kerberos");
    char user[SV_AUTH_USER_MAX];
    struct sv_http_response r;

    (void)state;
    assert_int_equal(p.n, 1);
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        from.cookie = rows[i].cookie;
        from.origin = from.claim = NULL;
        from.address = "10.0.0.1";
        assert_int_equal(ask(&p, "GET", user, &r), 0);
        assert_string_equal(user, rows[i].user);
    }
}

static void others_are_redirected(void **state)
{
    const struct svc_proxies p = proxies("kerberos");
    char user[SV_AUTH_USER_MAX];
    struct sv_http_response r;

    (void)state;
    from.cookie = "proxy-user=alice"; /* not of the proxy: worth nothing */
    from.claim = "alice";
    from.origin = NULL;
    from.address = "10.0.0.9";
    assert_int_equal(ask(&p, "GET", user, &r), SV_HTTP_REFUSED);
    assert_int_equal(r.status, 302);
    assert_string_equal(r.location, "http://10.0.0.1:8088/proxy/application_1_0001/x?y");
    drop(&r);
    assert_int_equal(ask(&p, "PUT", user, &r), SV_HTTP_REFUSED);
    assert_int_equal(r.status, 403);
    drop(&r);
}

static void claims_without_kerberos(void **state)
{
    const struct svc_proxies p = proxies("simple");
    char user[SV_AUTH_USER_MAX];
    struct sv_http_response r;

    (void)state;
    from.cookie = from.origin = NULL;
    from.claim = "bob";
    from.address = "10.0.0.9";
    assert_int_equal(ask(&p, "PUT", user, &r), 0);
    assert_string_equal(user, "bob");
    from.address = "10.0.0.1"; /* the proxy's cookie is that of its static user */
    from.cookie = "proxy-user=dr.who";
    assert_int_equal(ask(&p, "GET", user, &r), 0);
    assert_string_equal(user, "bob");
    from.address = "10.0.0.9";
    from.cookie = NULL;
    from.claim = "bob, alice";
    assert_int_equal(ask(&p, "PUT", user, &r), SV_HTTP_REFUSED);
    drop(&r);
    from.claim = NULL;
    assert_int_equal(ask(&p, "GET", user, &r), SV_HTTP_REFUSED);
    assert_int_equal(r.status, 302);
    drop(&r);
}

static void pages_of_others(void **state)
{
    const struct svc_proxies p = proxies("simple");
    char user[SV_AUTH_USER_MAX];
    struct sv_http_response r;

    (void)state;
    from.cookie = "proxy-user=alice";
    from.origin = "http://evil";
    from.claim = NULL;
    from.address = "10.0.0.1";
    assert_int_equal(ask(&p, "POST", user, &r), SV_HTTP_REFUSED);
    assert_int_equal(r.status, 403);
    drop(&r);
    assert_int_equal(ask(&p, "GET", user, &r), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(by_the_proxy),
                                        cmocka_unit_test(others_are_redirected),
                                        cmocka_unit_test(claims_without_kerberos),
                                        cmocka_unit_test(pages_of_others) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
