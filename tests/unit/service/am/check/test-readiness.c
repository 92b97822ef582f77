/* Tests service/am/check/readiness.c with probe-http.c and probe-port.c: real servers on loopback.
 */
#include "service/am/check/readiness.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
/* after the three above */
#include <cmocka.h>

#include "common/fd.h"
#include "common/web/http.h"
#include "wire/ipc/resolve.h"

#define PATIENCE_US (20 * 1000000ull)
#define CONTAINERS 200

struct result {
    bool known, ready;
    char why[256];
    unsigned reports;
};
struct world {
    sd_event *event;
    struct svc_checks *checks;
    struct sv_http *http;
    unsigned status; /* of the server's answers */
    size_t asked, most_open;
    struct result results[CONTAINERS];
};

static struct yarn_container_id id(int64_t n)
{
    return (struct yarn_container_id){ { { 1, 1 }, 1 }, n };
}

static void on_report(struct yarn_container_id container, bool ready, const char *why,
                      void *userdata)
{
    struct world *w = userdata;
    struct result *r = &w->results[container.id];

    r->known = true;
    r->ready = ready;
    r->reports++;
    (void)snprintf(r->why, sizeof(r->why), "%s", why);
}

static int on_request(const struct sv_http_request *req, struct sv_http_response *ret,
                      void *userdata)
{
    struct world *w = userdata;

    assert_string_equal(req->path, "/ready");
    w->asked++;
    w->most_open = SV_MAX(w->most_open, svc_checks_open(w->checks));
    ret->status = w->status;
    if (w->status == 302)
        ret->location = strdup("http://169.254.169.254/");
    return 0;
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    const struct svc_checks_config cfg = {
        .interval_ms = 200, .http = true, .report = on_report, .userdata = w
    };
    struct sv_error err = { 0 };

    assert_int_equal(sd_event_new(&w->event), 0);
    assert_int_equal(svc_checks_new(w->event, &cfg, &w->checks, &err), 0);
    assert_int_equal(sv_http_new(w->event, "127.0.0.1", 0, on_request, w, &w->http, &err), 0);
    w->status = 200;
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    svc_checks_free(w->checks);
    sv_http_free(w->http);
    sd_event_unref(w->event);
    free(w);
    return 0;
}

static void add(struct world *w, int64_t n, enum svc_readiness_type type, uint16_t port,
                const char *ip)
{
    const struct svc_probe_addresses a = { ip, "", "node.invalid" };
    char url[64];
    const struct svc_probe p = { .type = type,
                                 .url = url,
                                 .port = port,
                                 .timeout_ms = 10000,
                                 .min_success = 200,
                                 .max_success = 299 };

    (void)snprintf(url, sizeof(url), "http://${THIS_HOST}:%u/ready", port);
    assert_int_equal(svc_checks_add(w->checks, id(n), &p, &a), 0);
}

/* Runs the loop until the container's last result is this one. */
static void await(struct world *w, int64_t n, bool ready)
{
    const struct result *r = &w->results[n];

    while (!r->known || r->ready != ready)
        if (sd_event_run(w->event, PATIENCE_US) == 0)
            fail_msg("container %lld: no result", (long long)n);
}

static void without_a_check(void **state)
{
    struct world *w = *state;
    struct svc_probe_addresses a = { "", "", "n1" };

    add(w, 1, SVC_READY_DEFAULT, 0, "");
    add(w, 2, SVC_READY_NONE, 0, NULL);
    add(w, 3, SVC_READY_DEFAULT, 0, "10.0.0.1");
    await(w, 2, true);
    await(w, 3, true);
    assert_false(w->results[1].known); /* its node has not told an address */
    assert_int_equal(svc_checks_address(w->checks, id(1), &a), 0);
    a.ip = "10.0.0.2";
    assert_int_equal(svc_checks_address(w->checks, id(1), &a), 0);
    await(w, 1, true);
    assert_int_equal(w->results[1].reports, 1);
}

static void http_statuses(void **state)
{
    struct world *w = *state;

    w->status = 503;
    add(w, 1, SVC_READY_HTTP, sv_http_port(w->http), "127.0.0.1");
    await(w, 1, false);
    assert_non_null(strstr(w->results[1].why, "status 503, not 200 to 299"));
    w->status = 204;
    await(w, 1, true);
    w->status = 302; /* is not followed */
    await(w, 1, false);
    assert_non_null(strstr(w->results[1].why, "status 302"));
    assert_int_equal(w->results[1].reports, 3);
}

/* The process of before may answer for a while. */
static void delayed(void **state)
{
    struct world *w = *state;

    add(w, 1, SVC_READY_HTTP, sv_http_port(w->http), "127.0.0.1");
    svc_checks_delay(w->checks, id(1), 1000000);
    svc_checks_delay(w->checks, id(2), 0);     /* unknown */
    while (sd_event_run(w->event, 100000) > 0) /* longer than first checks are spread */
        ;
    assert_int_equal(w->asked, 0);
    svc_checks_delay(w->checks, id(1), 0);
    await(w, 1, true);
}

static void other_hosts(void **state)
{
    struct world *w = *state;
    const struct svc_probe_addresses a = { "127.0.0.1", "", "" },
                                     meta = { "169.254.169.254", "", "" };
    struct svc_probe p = { .type = SVC_READY_HTTP,
                           .url = "http://169.254.169.254/latest/",
                           .timeout_ms = 10000,
                           .min_success = 200,
                           .max_success = 299 };

    assert_int_equal(svc_checks_add(w->checks, id(1), &p, &a), 0);
    await(w, 1, false);
    assert_non_null(strstr(w->results[1].why, "not the container's host"));
    assert_int_equal(svc_checks_add(w->checks, id(2), &p, &meta), 0); /* a node's lie */
    await(w, 2, false);
    assert_non_null(strstr(w->results[2].why, strerror(EPERM)));
    p = (struct svc_probe){ .type = SVC_READY_PORT, .port = 80, .timeout_ms = 10000 };
    assert_int_equal(svc_checks_add(w->checks, id(3), &p, &meta), 0);
    await(w, 3, false);
    assert_non_null(strstr(w->results[3].why, strerror(EPERM)));
}

static void ports(void **state)
{
    struct world *w = *state;
    struct ipc_addresses any;
    struct sockaddr_storage bound;
    socklen_t len = sizeof(bound);
    _cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    uint16_t port;

    assert_true(ipc_resolve_numeric("127.0.0.1", 0, &any));
    assert_int_equal(bind(fd, (struct sockaddr *)&any.sa[0], any.len[0]), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&bound, &len), 0);
    port = ntohs(((struct sockaddr_in *)&bound)->sin_port);
    add(w, 1, SVC_READY_PORT, port, "127.0.0.1");
    await(w, 1, false);
    assert_non_null(strstr(w->results[1].why, strerror(ECONNREFUSED)));
    assert_int_equal(listen(fd, 16), 0);
    await(w, 1, true);
    svc_checks_remove(w->checks, id(1));
    assert_int_equal(svc_checks_open(w->checks), 0);
}

/* Many containers: a bounded number of requests is open, and each gets its result. */
static void many(void **state)
{
    struct world *w = *state;

    for (int64_t n = 0; n < CONTAINERS; n++)
        add(w, n, SVC_READY_HTTP, sv_http_port(w->http), "127.0.0.1");
    for (int64_t n = 0; n < CONTAINERS; n++)
        await(w, n, true);
    assert_true(w->most_open <= SVC_CHECKS_OPEN);
    assert_true(w->most_open > 1);
    for (int64_t n = 0; n < CONTAINERS; n++)
        svc_checks_remove(w->checks, id(n));
    assert_int_equal(svc_checks_open(w->checks), 0);
}

static void address_comes_later(void **state)
{
    struct world *w = *state;
    const struct svc_probe_addresses a = { "127.0.0.1", "c1", "node.invalid" };

    add(w, 1, SVC_READY_HTTP, sv_http_port(w->http), ""); /* the node's name has no address */
    await(w, 1, false);
    assert_int_equal(svc_checks_address(w->checks, id(1), &a), 0);
    await(w, 1, true);
    assert_int_equal(svc_checks_address(w->checks, id(2), &a), 0); /* has no checks */
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(without_a_check),     TEST(http_statuses), TEST(other_hosts), TEST(ports), TEST(many),
        TEST(address_comes_later), TEST(delayed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
