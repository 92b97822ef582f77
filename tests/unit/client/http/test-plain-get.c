/* Tests client/http/plain-get.c against a server of the test, with names looked up on a thread:
 * answers in parts, URLs that it leaves to libcurl, and the end of a request before its answer.
 * Answers are tested in test-plain-answer and test-fetch. */
#include "client/http/plain-get.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "wire/ipc/resolve.h"

static struct {
    sd_event *event;
    struct cli_plain_get *get;
    int fd, connection; /* the server's; -1: none */
    char url[64];
    bool looks_up; /* no address counts as one */
    int status, calls;
    char body[64];
} t;

bool __real_ipc_resolve_numeric(const char *host, uint16_t port, struct ipc_addresses *ret);
bool __wrap_ipc_resolve_numeric(const char *host, uint16_t port, struct ipc_addresses *ret);
bool __wrap_ipc_resolve_numeric(const char *host, uint16_t port, struct ipc_addresses *ret)
{
    return !t.looks_up && __real_ipc_resolve_numeric(host, port, ret);
}

int __real_sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
                                      uint64_t usec, uint64_t accuracy,
                                      sd_event_time_handler_t handler, void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
                                      uint64_t usec, uint64_t accuracy,
                                      sd_event_time_handler_t handler, void *userdata);
/* A machine that is busy for a second is no slow server. */
int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
                                      uint64_t usec, uint64_t accuracy,
                                      sd_event_time_handler_t handler, void *userdata)
{
    return __real_sd_event_add_time_relative(e, ret, clock, 100 * usec, accuracy, handler,
                                             userdata);
}

/* Frees the request, as its owner may. */
static void on_done(int status, const char *body, size_t len, void *userdata)
{
    assert_ptr_equal(userdata, &t);
    t.get = cli_plain_get_free(t.get);
    t.calls++;
    t.status = status;
    assert_int_equal(body[len], '\0');
    (void)snprintf(t.body, sizeof(t.body), "%s", body);
}

static int set_up(void **state)
{
    struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(sa);

    (void)state;
    memset(&t, 0, sizeof(t));
    t.connection = -1;
    assert_true(sd_event_new(&t.event) >= 0);
    t.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(t.fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    assert_int_equal(listen(t.fd, 5), 0);
    assert_int_equal(getsockname(t.fd, (struct sockaddr *)&sa, &len), 0);
    (void)snprintf(t.url, sizeof(t.url), "http://127.0.0.1:%d/a?b", ntohs(sa.sin_port));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    t.get = cli_plain_get_free(t.get);
    sd_event_unref(t.event);
    close(t.fd);
    if (t.connection >= 0)
        close(t.connection);
    return 0;
}

static void begin(void)
{
    assert_int_equal(cli_plain_get(t.event, t.url, "Accept: x", 60, on_done, &t, &t.get), 0);
    assert_int_equal(t.calls, 0); /* only from the loop */
}

/* The loop runs until the request is there. */
static void take_request(void)
{
    static const char head[] = "GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:";
    char text[256];
    ssize_t n;

    do {
        assert_true(sd_event_run(t.event, UINT64_MAX) >= 0);
        if (t.connection < 0)
            t.connection = accept4(t.fd, NULL, NULL, SOCK_CLOEXEC);
        n = recv(t.connection, text, sizeof(text) - 1, MSG_DONTWAIT);
    } while (n < 0 && errno == EAGAIN);
    assert_true(n > 0);
    text[n] = '\0';
    assert_memory_equal(text, head, strlen(head));
    assert_non_null(strstr(text, "\r\nAccept: x\r\nConnection: close\r\n\r\n"));
}

static void reply(const char *text)
{
    assert_int_equal(send(t.connection, text, strlen(text), MSG_NOSIGNAL), strlen(text));
    assert_true(sd_event_run(t.event, UINT64_MAX) >= 0);
}

static void test_looked_up(void **state)
{
    (void)state;
    t.looks_up = true;
    begin();
    take_request();
    reply("HTTP/1.1 200 OK\r\nContent-");
    reply("Length: 4\r\n\r\nab");
    assert_int_equal(t.calls, 0);
    reply("cd");
    assert_int_equal(t.calls, 1);
    assert_int_equal(t.status, 200);
    assert_string_equal(t.body, "abcd");
}

static void test_gives_up(void **state)
{
    (void)state;
    begin();
    take_request();
    reply("HTTP/1.1 200 OK\r\n\r\n");
    assert_int_equal(t.status, -EPROTO);
    assert_int_equal(t.calls, 1);
}

static void test_closed(void **state)
{
    (void)state;
    begin();
    take_request();
    assert_int_equal(shutdown(t.connection, SHUT_WR), 0);
    while (t.calls == 0)
        assert_true(sd_event_run(t.event, UINT64_MAX) >= 0);
    assert_int_equal(t.status, -ECONNRESET);
}

/* Before the look-up has ended, and before the answer. */
static void test_freed(void **state)
{
    (void)state;
    t.looks_up = true;
    begin();
    t.get = cli_plain_get_free(t.get);
    t.looks_up = false;
    begin();
    take_request();
    t.get = cli_plain_get_free(t.get);
    assert_true(sd_event_run(t.event, 0) >= 0);
    assert_int_equal(t.calls, 0);
}

static void test_urls(void **state)
{
    static const char *const urls[] = {
        "https://host:1/",    "http://host/",
        "http://host:1",      "http://host:0/",
        "http://host:65536/", "http://host:x/",
        "http://:1/",         "http://u@host:1/",
        "http://host:1/a b",  "http://host:1/\r",
        "HTTP://host:1/",     "http://host:000001/",
        "file:///x:1/",       "",
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(urls); i++)
        assert_int_equal(cli_plain_get(t.event, urls[i], "A: x", 60, on_done, &t, &t.get), -EINVAL);
    assert_null(t.get);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_looked_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gives_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_freed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_urls, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
