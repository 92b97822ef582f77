/* Tests common/web/http.c over real sockets, server and client on one event loop. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/str.h"
#include "common/web/http.h"

static sd_event *event;
static struct sv_http *http;
static struct sv_error err;

/* How often /later is answered -EAGAIN. */
static int later;
static int refused; /* requests of /never */
static sd_event_source *again;

static int on_again(sd_event_source *s, void *userdata)
{
    (void)s;
    (void)userdata;
    again = sd_event_source_disable_unref(again);
    sv_http_retry(http);
    return 0;
}

/* Handlers called, and the most of them in one event of the loop; /slow takes 5 ms each time. */
static unsigned calls, calls_of_event, most_of_event;
static size_t big_answer; /* bytes of the answer to /big */

static void count_call(const char *path)
{
    calls++;
    calls_of_event++;
    most_of_event = SV_MAX(most_of_event, calls_of_event);
    if (strcmp(path, "/slow") == 0)
        sv_clock_set_test(sv_now_ms() + 5, 0);
}

static void run_event(void)
{
    calls_of_event = 0;
    assert_true(sd_event_run(event, 5 * 1000000) > 0);
}

static int kept; /* pieces that handlers keep */

static void drop_kept(void *data)
{
    assert_ptr_equal(data, &kept);
    kept--;
}

static void keep(struct sv_http_kept *k)
{
    if (!k->data)
        kept++;
    *k = (struct sv_http_kept){ &kept, drop_kept };
}

static int handler(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    const char *q = sv_http_query(req, "q"), *x = sv_http_header(req, "X-Test");

    assert_ptr_equal(userdata, &http);
    count_call(req->path);
    if (strcmp(req->path, "/fail") == 0) {
        ret->body = strdup("half an answer with secrets");
        return -EIO;
    }
    if (strcmp(req->path, "/later") == 0 && later-- > 0) {
        ret->body = strdup("too early");
        keep(req->kept);
        return sd_event_add_defer(event, &again, on_again, NULL) < 0 ? -EIO : -EAGAIN;
    }
    if (strcmp(req->path, "/never") == 0) {
        refused++;
        keep(req->kept);
        return -EAGAIN;
    }
    if (sv_has_prefix(req->path, "/turn/") || strcmp(req->path, "/slow") == 0) {
        ret->status = 204;
        return 0;
    }
    if (strcmp(req->path, "/big") == 0) {
        ret->status = 200;
        ret->body = calloc(1, big_answer);
        ret->body_len = big_answer;
        return ret->body ? 0 : -ENOMEM;
    }
    if (strcmp(req->path, "/go") == 0) {
        ret->status = 307;
        return sv_asprintf(&ret->location, "/there?%s", q ? q : "");
    }
    if (!sv_has_prefix(req->path, "/echo") && !sv_streq(req->path, "/later"))
        return 0;
    ret->status = 200;
    ret->content_type = "application/json";
    if (sv_asprintf(&ret->body, "%s|%s|%s|%s|%zu:%.*s", req->method, req->path, q ? q : "-",
                    x ? x : "-", req->body_len, (int)SV_MIN(req->body_len, (size_t)20),
                    req->body_len ? (const char *)req->body : "") < 0)
        return -ENOMEM;
    ret->body_len = strlen(ret->body);
    return 0;
}

struct client {
    struct sv_buf out, in;
    bool gone, done; /* gone: the client shuts down its side once all is sent */
};

static int on_client(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    struct client *c = userdata;
    char chunk[65536];
    ssize_t n;

    if (events & EPOLLOUT && !sv_buf_left(&c->out)) {
        (void)sd_event_source_set_io_events(s, EPOLLIN);
        if (c->gone) /* after the server, dispatched first, has read the request */
            (void)shutdown(fd, SHUT_WR);
    }
    if (events & EPOLLOUT && sv_buf_left(&c->out)) {
        n = send(fd, c->out.data + c->out.pos, SV_MIN(sv_buf_left(&c->out), sizeof(chunk)),
                 MSG_NOSIGNAL);
        if (n > 0)
            c->out.pos += (size_t)n;
        else if (errno != EAGAIN)
            c->out.pos = c->out.len; /* rejected before everything was sent */
    }
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
        n = recv(fd, chunk, sizeof(chunk), 0);
        if (n <= 0)
            c->done = n == 0 || errno != EAGAIN;
        else
            assert_int_equal(sv_buf_put(&c->in, chunk, (size_t)n), 0);
    }
    return 0;
}

/* Sends the bytes, runs the loop until the server closes, returns the response. */
static const char *exchange_gone(const void *p, size_t n, bool gone)
{
    static char answer[65536];
    struct client c = { .out = SV_BUF_INIT(0), .in = SV_BUF_INIT(0), .gone = gone };
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(sv_http_port(http)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    _cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sd_event_source *s = NULL;

    assert_int_equal(sv_buf_put(&c.out, p, n), 0);
    assert_true(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno == EINPROGRESS);
    assert_true(sd_event_add_io(event, &s, fd, EPOLLIN | EPOLLOUT, on_client, &c) >= 0);
    assert_true(sd_event_source_set_priority(s, SD_EVENT_PRIORITY_IDLE) >= 0);
    while (!c.done)
        assert_true(sd_event_run(event, 5 * 1000000) > 0); /* 0: nothing happened for 5 s */
    s = sd_event_source_disable_unref(s);
    n = SV_MIN(c.in.len, sizeof(answer) - 1);
    if (n)
        memcpy(answer, c.in.data, n);
    answer[n] = '\0';
    sv_buf_free(&c.out);
    sv_buf_free(&c.in);
    return answer;
}

static const char *exchange(const void *p, size_t n)
{
    return exchange_gone(p, n, false);
}

static const char *ask(const char *request)
{
    return exchange(request, strlen(request));
}

#define END "Host: h\r\nConnection: close\r\n\r\n"

static void has(const char *answer, const char *text)
{
    if (!strstr(answer, text))
        fail_msg("\"%s\" lacks \"%s\"", answer, text);
}

static void test_get(void **state)
{
    const char *a = ask("GET /echo/a%2fb%25?q=1%202&z HTTP/1.1\r\nX-Test: t\r\n" END);

    (void)state;
    has(a, "HTTP/1.1 200 ");
    has(a, "Content-Type: application/json\r\n");
    has(a, "X-Content-Type-Options: nosniff\r\n");
    has(a, "Content-Security-Policy: default-src 'none'; style-src 'self'; form-action 'self'; "
           "base-uri 'none'; frame-ancestors 'none'\r\n");
    has(a, "X-Frame-Options: DENY\r\n");
    has(a, "\r\n\r\nGET|/echo/a/b%|1 2|t|0:");
    has(ask("GET /echo?q HTTP/1.1\r\n" END), "GET|/echo||-|0:");
    has(ask("GET /nothing HTTP/1.1\r\n" END), "HTTP/1.1 404 ");
    a = ask("HEAD /echo HTTP/1.1\r\n" END);
    has(a, "Content-Length: 17\r\n");
    assert_null(strstr(a, "|"));
}

static void test_bodies(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    static char big[128 << 10];

    (void)state;
    has(ask("PUT /echo HTTP/1.1\r\nContent-Length: 5\r\n" END "hello"), "PUT|/echo|-|-|5:hello");
    has(ask("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" END
            "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
        "POST|/echo|-|-|5:abcde");
    memset(big, 'b', sizeof(big));
    assert_int_equal(sv_buf_put_str(&b, "PUT /echo HTTP/1.1\r\nContent-Length: 131072\r\n" END), 0);
    assert_int_equal(sv_buf_put(&b, big, sizeof(big)), 0);
    has(exchange(b.data, b.len), "|131072:bbbbb");
    has(ask("PUT /echo HTTP/1.1\r\nContent-Length: 131073\r\n" END), "HTTP/1.1 413 ");
    b.len = 0;
    assert_int_equal(
        sv_buf_put_str(&b, "PUT /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" END "20001\r\n"),
        0);
    assert_int_equal(sv_buf_put(&b, big, sizeof(big)), 0);
    assert_int_equal(sv_buf_put_str(&b, "x\r\n0\r\n\r\n"), 0);
    has(exchange(b.data, b.len), "HTTP/1.1 413 ");
}

static void test_larger_bodies(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    static char big[200 << 10];

    (void)state;
    sv_http_set_body_max(http, "/echo/large", sizeof(big));
    memset(big, 'b', sizeof(big));
    assert_int_equal(
        sv_buf_put_str(&b, "PUT /echo/large HTTP/1.1\r\nContent-Length: 204800\r\n" END), 0);
    assert_int_equal(sv_buf_put(&b, big, sizeof(big)), 0);
    has(exchange(b.data, b.len), "|204800:bbbbb");
    has(ask("PUT /echo/large HTTP/1.1\r\nContent-Length: 204801\r\n" END),
        "the body is larger than 200 KiB");
    has(ask("PUT /echo/larg HTTP/1.1\r\nContent-Length: 131073\r\n" END),
        "the body is larger than 128 KiB");
    sv_http_set_body_max(http, NULL, 0);
    has(ask("PUT /echo/large HTTP/1.1\r\nContent-Length: 131073\r\n" END), "HTTP/1.1 413 ");
}

static void test_redirect(void **state)
{
    const char *a;

    (void)state;
    has(ask("GET /go?q=x HTTP/1.1\r\n" END), "Location: /there?x\r\n");
    /* header splitting is prevented */
    a = ask("GET /go?q=x%0d%0aSet-Cookie:+a HTTP/1.1\r\n" END);
    assert_null(strstr(a, "Set-Cookie"));
}

/* The handler has to wait for something: it gets the same request again, with its body. */
static void test_again(void **state)
{
    (void)state;
    for (int n = 0; n < 3; n++) {
        later = n;
        has(ask("PUT /later?q=x HTTP/1.1\r\nContent-Length: 4\r\n" END "body"),
            "\r\n\r\nPUT|/later|x|-|4:body");
        assert_int_equal(kept, 0);
    }
}

/* The server ends while requests wait; others are served beside them. */
static void test_waiting_at_the_end(void **state)
{
    static const char never[] = "GET /never HTTP/1.1\r\n" END;
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(sv_http_port(http)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd[3];

    (void)state;
    refused = 0;
    for (size_t i = 0; i < SV_ARRAY_LEN(fd); i++) {
        fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(fd[i], (struct sockaddr *)&to, sizeof(to)), 0);
        assert_int_equal(send(fd[i], never, sizeof(never) - 1, 0), sizeof(never) - 1);
    }
    fd[0] = sv_close(fd[0]);
    while (refused < 3)
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
    has(ask("GET /echo HTTP/1.1\r\n" END), "HTTP/1.1 200 ");
    sv_http_retry(http);
    while (refused < 6)
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
    assert_int_equal(kept, 3);
    http = sv_http_free(http);
    assert_int_equal(kept, 0);
    assert_int_equal(sv_http_new(event, "127.0.0.1", 0, handler, &http, &http, &err), 0);
    fd[1] = sv_close(fd[1]);
    fd[2] = sv_close(fd[2]);
}

/* Hadoop's AuthenticatedURL asks with OPTIONS before its first GET, of any path. */
static void test_options(void **state)
{
    const char *a = ask("OPTIONS /echo?q=1 HTTP/1.1\r\n" END);

    (void)state;
    has(a, "HTTP/1.1 200 ");
    has(a, "Allow: GET, HEAD, PUT, POST, DELETE, OPTIONS\r\n");
    has(a, "Content-Length: 0\r\n");
    has(ask("OPTIONS /nothing HTTP/1.1\r\nContent-Length: 3\r\n" END "abc"), "HTTP/1.1 200 ");
}

static void test_hostile(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    const char *a;

    (void)state;
    a = ask("GET /fail HTTP/1.1\r\n" END);
    has(a, "HTTP/1.1 500 ");
    has(a, "internal error, incident ");
    assert_null(strstr(a, "secrets"));
    has(ask("GET /echo%00/etc HTTP/1.1\r\n" END), "HTTP/1.1 400 ");
    has(ask("GET /echo?q=%00 HTTP/1.1\r\n" END), "HTTP/1.1 400 ");
    has(ask("GET echo HTTP/1.1\r\n" END), "HTTP/1.1 400 ");
    has(ask("GET http://h/echo HTTP/1.1\r\n" END), "HTTP/1.1 400 ");
    has(ask("PATCH /echo HTTP/1.1\r\n" END), "HTTP/1.1 405 ");
    has(ask("OPTIONS * HTTP/1.1\r\n" END), "HTTP/1.1 40");
    has(ask("PUT /echo HTTP/1.1\r\nContent-Length: -1\r\n" END), "HTTP/1.1 4");
    (void)exchange_gone("\0\1\2\3", 4, true);
    (void)exchange_gone("GET / HTTP/9.9\r\n\r\n", 18, true);
    (void)exchange_gone("PUT /echo HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf", 45, true);
    assert_int_equal(sv_buf_put_str(&b, "GET /echo HTTP/1.1\r\nX-Long: "), 0);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(sv_buf_put_u8(&b, 'x'), 0);
    a = exchange(b.data, b.len);
    assert_null(strstr(a, "HTTP/1.1 200"));
    has(ask("GET /echo HTTP/1.1\r\n" END), "HTTP/1.1 200 "); /* the server still works */
}

static void test_listen_errors(void **state)
{
    struct sv_http *second = NULL;

    (void)state;
    assert_int_equal(
        sv_http_new(event, "127.0.0.1", sv_http_port(http), handler, NULL, &second, &err),
        -EADDRINUSE);
    has(err.text, "cannot listen: Address already in use");
    assert_true(sv_http_new(event, "192.0.2.1", 0, handler, NULL, &second, &err) < 0);
    assert_null(second);
    assert_null(sv_http_free(NULL));
}

/* ---- Turns and shares ---- */

/* A blocking connection that has sent `text`. */
static int connect_and_send(const char *text, size_t n)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(sv_http_port(http)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(send(fd, text, n, MSG_NOSIGNAL), (ssize_t)n);
    return fd;
}

static int open_with(const char *text)
{
    return connect_and_send(text, strlen(text));
}

/* Forty requests are ready at once: each is answered, and no event of the loop calls more than 16
 * handlers, or one that takes long. */
static void test_turns(void **state)
{
    static const struct {
        const char *request;
        unsigned most;
    } rows[] = { { "GET /turn/a HTTP/1.1\r\n" END, 16 }, { "GET /slow HTTP/1.1\r\n" END, 1 } };
    char answer[64];
    int fd[40];

    (void)state;
    for (size_t row = 0; row < SV_ARRAY_LEN(rows); row++) {
        for (size_t i = 0; i < SV_ARRAY_LEN(fd); i++)
            fd[i] = open_with(rows[row].request);
        if (rows[row].most == 1)
            sv_clock_set_test(1000000, 0);
        calls = most_of_event = 0;
        while (calls < SV_ARRAY_LEN(fd))
            run_event();
        assert_in_range(most_of_event, 1, rows[row].most);
        for (size_t i = 0; i < SV_ARRAY_LEN(fd); i++) {
            while (recv(fd[i], answer, sizeof(answer), MSG_DONTWAIT | MSG_PEEK) < 0)
                run_event();
            assert_true(recv(fd[i], answer, sizeof(answer), 0) > 12);
            assert_memory_equal(answer, "HTTP/1.1 204", 12);
            fd[i] = sv_close(fd[i]);
        }
        sv_clock_reset();
    }
}

static int on_other(sd_event_source *s, void *userdata)
{
    (void)s;
    *(unsigned *)userdata = calls;
    return 0;
}

/* An event of another source is handled before the second turn. */
static void test_behind_others(void **state)
{
    sd_event_source *other = NULL;
    unsigned calls_before = 0;
    int fd[40];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(fd); i++)
        fd[i] = open_with("GET /turn/a HTTP/1.1\r\n" END);
    calls = 0;
    while (calls == 0)
        run_event();
    assert_true(sd_event_add_defer(event, &other, on_other, &calls_before) >= 0);
    assert_true(sd_event_source_set_priority(other, SD_EVENT_PRIORITY_NORMAL + 20) >= 0);
    while (calls < SV_ARRAY_LEN(fd))
        run_event();
    assert_in_range(calls_before, 1, 16);
    other = sd_event_source_disable_unref(other);
    for (size_t i = 0; i < SV_ARRAY_LEN(fd); i++)
        fd[i] = sv_close(fd[i]);
}

/* A server that ends while requests wait for their turn. */
static void test_ends_with_waiting(void **state)
{
    int fd[40];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(fd); i++)
        fd[i] = open_with("GET /turn/a HTTP/1.1\r\n" END);
    calls = 0;
    while (calls == 0)
        run_event();
    assert_in_range(calls, 1, 16);
    http = sv_http_free(http);
    assert_int_equal(sv_http_new(event, "127.0.0.1", 0, handler, &http, &http, &err), 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(fd); i++)
        fd[i] = sv_close(fd[i]);
}

/* The loopback keeps 192 connections; a further one is closed, and gets in when one has ended. */
static void test_connections_of_a_client(void **state)
{
    static const char half[] = "GET /turn/a HTTP/1.1\r\n";
    int fd[192], late;
    char c;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(fd); i++)
        fd[i] = open_with(half);
    late = open_with(half);
    while (recv(late, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN)
        run_event();
    late = sv_close(late);
    for (size_t i = 0; i < SV_ARRAY_LEN(fd); i++) {
        assert_true(recv(fd[i], &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
        fd[i] = sv_close(fd[i]);
    }
    while (!*ask("GET /echo HTTP/1.1\r\n" END)) /* the server has not seen the end of one */
        ;
}

/* 8 MiB of bodies are held for one client; a further one is refused. */
static void test_bodies_of_a_client(void **state)
{
    static char body[(128 << 10) + 128];
    int head =
        snprintf(body, sizeof(body), "PUT /never HTTP/1.1\r\nContent-Length: 131072\r\n" END);
    int fd[64];

    (void)state;
    refused = 0;
    for (int i = 0; i < 64; i++) {
        fd[i] = open_with("");
        for (size_t n = 0; n < (size_t)head + (128 << 10);) {
            ssize_t sent =
                send(fd[i], body + n, (size_t)head + (128 << 10) - n, MSG_DONTWAIT | MSG_NOSIGNAL);

            n += sent > 0 ? (size_t)sent : 0;
            (void)sd_event_run(event, 0);
        }
    }
    while (refused < 64)
        run_event();
    has(exchange(body, (size_t)head + (128 << 10)), "HTTP/1.1 503 ");
    for (int i = 0; i < 64; i++)
        fd[i] = sv_close(fd[i]);
    http = sv_http_free(http);
    assert_int_equal(sv_http_new(event, "127.0.0.1", 0, handler, &http, &http, &err), 0);
}

/* Answers that nobody reads: 16 MiB are held for one client. */
static void test_answers_of_a_client(void **state)
{
    int fd[4];

    (void)state;
    big_answer = (size_t)6 << 20;
    calls = 0;
    for (size_t i = 0; i < SV_ARRAY_LEN(fd) - 1; i++) {
        fd[i] = open_with("GET /big HTTP/1.1\r\n" END);
        while (calls == i)
            run_event();
    }
    has(ask("GET /big HTTP/1.1\r\n" END), "HTTP/1.1 503 ");
    for (size_t i = 0; i < SV_ARRAY_LEN(fd) - 1; i++)
        fd[i] = sv_close(fd[i]);
}

static int set_up(void **state)
{
    (void)state;
    if (sd_event_new(&event) < 0)
        return -1;
    return sv_http_new(event, "127.0.0.1", 0, handler, &http, &http, &err);
}

static int tear_down(void **state)
{
    (void)state;
    http = sv_http_free(http);
    event = sd_event_unref(event);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_get),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_larger_bodies),
        cmocka_unit_test(test_redirect),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_waiting_at_the_end),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_listen_errors),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_behind_others),
        cmocka_unit_test(test_ends_with_waiting),
        cmocka_unit_test(test_connections_of_a_client),
        cmocka_unit_test(test_bodies_of_a_client),
        cmocka_unit_test(test_answers_of_a_client),
    };

    return cmocka_run_group_tests_name("http", tests, set_up, tear_down);
}
