/* GET without libcurl, against a server of the test: what it sends, and when it closes. */
#include "client/http/plain-get.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmocka.h>

#define OK "HTTP/1.1 200 OK\r\n"
#define MAX 64

struct test {
    sd_event *event;
    struct cli_plain *list;
    int fd, connection; /* the server's */
    char address[32];
    const char *answer; /* NULL: none */
    size_t size;
    bool stays; /* the server keeps the connection */
    char request[512];
    int status, calls;
    char body[MAX + 1], why[128];
};

static int on_request(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct test *t = userdata;
    ssize_t n = read(fd, t->request, sizeof(t->request) - 1);

    (void)revents;
    assert_true(n > 0);
    t->request[n] = '\0';
    assert_int_equal(write(fd, t->answer, t->size), t->size);
    assert_true(sd_event_source_set_enabled(s, SD_EVENT_OFF) >= 0);
    if (!t->stays)
        shutdown(fd, SHUT_WR);
    return 0;
}

static int on_accept(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct test *t = userdata;

    (void)s;
    (void)revents;
    t->connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
    assert_true(t->connection >= 0);
    if (t->answer)
        assert_true(sd_event_add_io(t->event, NULL, t->connection, EPOLLIN, on_request, t) >= 0);
    return 0;
}

static void on_answer(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct test *t = userdata;

    t->calls++;
    t->status = status;
    assert_true(len <= MAX && !body[len]);
    assert_true((status < 0) == (why != NULL));
    snprintf(t->body, sizeof(t->body), "%s", body);
    snprintf(t->why, sizeof(t->why), "%s", why ? why : "");
    sd_event_exit(t->event, 0);
}

static void begin(struct test *t)
{
    struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(sa);

    assert_true(sd_event_new(&t->event) >= 0);
    t->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(t->fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    assert_int_equal(listen(t->fd, 5), 0);
    assert_int_equal(getsockname(t->fd, (struct sockaddr *)&sa, &len), 0);
    snprintf(t->address, sizeof(t->address), "127.0.0.1:%d", ntohs(sa.sin_port));
    assert_true(sd_event_add_io(t->event, NULL, t->fd, EPOLLIN, on_accept, t) >= 0);
}

static void end(struct test *t)
{
    cli_plain_cancel(&t->list);
    assert_null(t->list);
    sd_event_unref(t->event);
    close(t->fd);
    if (t->connection)
        close(t->connection);
}

static void get(struct test *t, long ms)
{
    assert_int_equal(
        cli_plain_get(&t->list, t->event, t->address, "/path?q", MAX, ms, on_answer, t), 0);
    assert_int_equal(t->calls, 0); /* only from the loop */
    assert_true(sd_event_loop(t->event) >= 0);
    assert_int_equal(t->calls, 1);
    assert_null(t->list);
    end(t);
}

static void answered(const char *answer, bool stays, int status, const char *body)
{
    struct test t = { .answer = answer, .size = strlen(answer), .stays = stays };
    char line[64];

    begin(&t);
    snprintf(line, sizeof(line), "GET /path?q HTTP/1.0\r\nHost: %s\r\n", t.address);
    get(&t, 60000);
    assert_int_equal(t.status, status);
    assert_string_equal(t.body, body);
    assert_memory_equal(t.request, line, strlen(line));
}

static void test_answers(void **state)
{
    (void)state;
    answered(OK "\r\n{}", false, 200, "{}");
    answered(OK "Content-Length: 2\r\n\r\n{}", true, 200, "{}");
    answered(OK "Content-Length: 2\r\n\r\n{} and more", true, 200, "{}");
    answered("HTTP/1.0 503\r\nContent-Length: 0\r\n\r\n", true, 503, "");
}

static void test_truncated(void **state)
{
    char text[1000] = OK "\r\n", body[MAX + 1] = "";

    (void)state;
    memset(text + strlen(text), 'x', 500);
    memset(body, 'x', MAX);
    answered(text, true, 200, body);
}

static void test_not_whole(void **state)
{
    (void)state;
    answered("", false, -EIO, "");
    answered("HTTP/1.1 200", false, -EIO, "");
    answered(OK "Content-Length: 3\r\n\r\n{}", false, -EIO, "");
    answered("220 mail\r\n", true, -EIO, "");
}

static void test_no_answer(void **state)
{
    struct test silent = { 0 }, absent = { 0 };

    (void)state;
    begin(&silent);
    get(&silent, 1);
    assert_int_equal(silent.status, -ETIMEDOUT);
    begin(&absent);
    close(absent.fd); /* nobody listens */
    absent.fd = dup(STDERR_FILENO);
    get(&absent, 60000);
    assert_int_equal(absent.status, -ECONNREFUSED);
    assert_non_null(strstr(absent.why, absent.address));
}

static void test_canceled(void **state)
{
    struct test t = { 0 };

    (void)state;
    begin(&t);
    assert_int_equal(cli_plain_get(&t.list, t.event, t.address, "/", MAX, 60000, on_answer, &t), 0);
    end(&t);
    assert_int_equal(t.status, -ECANCELED);
    assert_int_equal(t.calls, 1);
}

static void test_addresses(void **state)
{
    static const char *const wrong[] = {
        "", ":1", "host", "host:", "host:0", "host:65536", "host:x"
    };
    struct cli_plain *list = NULL;
    sd_event *event = NULL;

    (void)state;
    assert_true(sd_event_new(&event) >= 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_true(cli_plain_get(&list, event, wrong[i], "/", MAX, 1, on_answer, NULL) < 0);
    assert_null(list);
    sd_event_unref(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),   cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_not_whole), cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_canceled),  cmocka_unit_test(test_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
