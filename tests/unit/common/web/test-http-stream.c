/* common/web/http-stream.c over a real socket: an answer that comes later and in pieces, a client
 * that reads slowly or leaves, a server that ends meanwhile. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/web/http-stream.h"

static sd_event *event;
static struct sv_http *http;
static struct sv_error err;
static struct sv_http_stream *stream;
static int drained, gone;

static void on_drained(void *userdata)
{
    assert_ptr_equal(userdata, &stream);
    drained++;
}

static void on_gone(void *userdata)
{
    assert_ptr_equal(userdata, &stream);
    gone++;
    stream = NULL;
}

static int handler(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    static const struct sv_http_stream_events events = { on_drained, on_gone };

    (void)ret;
    (void)userdata;
    if (strcmp(req->path, "/now") == 0) {
        struct sv_http_stream *now = sv_http_stream_new(req, &events, NULL);

        sv_http_stream_text(now, 200, "text/plain", "at once");
        stream = now; /* for ask() alone */
        return SV_HTTP_LATER;
    }
    assert_string_equal(req->uri, "/a%20b?c=%2F");
    assert_int_equal(sv_http_peer(req)->sa_family, AF_INET);
    stream = sv_http_stream_new(req, &events, &stream);
    assert_non_null(stream);
    return SV_HTTP_LATER;
}

static int setup(void **state)
{
    (void)state;
    stream = NULL;
    drained = gone = 0;
    if (sd_event_new(&event) < 0)
        return -1;
    return sv_http_new(event, "127.0.0.1", 0, handler, NULL, &http, &err);
}

static int teardown(void **state)
{
    (void)state;
    http = sv_http_free(http);
    event = sd_event_unref(event);
    return 0;
}

/* Sends a request and runs the loop until the handler has it. */
static int ask_path(const char *method, const char *path)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(sv_http_port(http)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char text[256];

    (void)snprintf(text, sizeof(text), "%s %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
                   method, path);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    while (!stream)
        assert_true(sd_event_run(event, 5 * 1000000) > 0);
    return fd;
}

static int ask(const char *method)
{
    return ask_path(method, "/a%20b?c=%2F");
}

/* Receives until the server closes; *ret_len bytes. */
static char *receive(int fd, size_t *ret_len)
{
    size_t cap = 8 << 20, n = 0;
    char *text = malloc(cap);

    assert_non_null(text);
    for (;;) {
        ssize_t got = recv(fd, text + n, cap - n - 1, MSG_DONTWAIT);

        if (got == 0 || (got < 0 && errno == ECONNRESET))
            break;
        if (got > 0) {
            n += (size_t)got;
            continue;
        }
        assert_int_equal(errno, EAGAIN);
        (void)sd_event_run(event, 100000);
    }
    text[n] = 0;
    if (ret_len)
        *ret_len = n;
    close(fd);
    return text;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%.300s\" lacks \"%s\"", text, part);
}

static void test_pieces(void **state)
{
    int fd = ask("GET");
    char *text;

    (void)state;
    assert_int_equal(sv_http_stream_header(stream, "X-One", "1"), 0);
    assert_int_equal(sv_http_stream_header(stream, "X-Split", "1\r\nSet-Cookie: a"), 0);
    assert_int_equal(sv_http_stream_put(stream, "early ", 6), 0);
    sv_http_stream_begin(stream, 207, -1);
    assert_true(sv_http_stream_begun(stream));
    for (int i = 0; i < 20; i++)
        (void)sd_event_run(event, 1000);
    assert_int_equal(sv_http_stream_put(stream, "late", 4), 0);
    sv_http_stream_end(stream, true);
    text = receive(fd, NULL);
    has(text, "HTTP/1.1 207 ");
    has(text, "X-One: 1\r\n");
    assert_null(strstr(text, "Set-Cookie"));
    has(text, "early ");
    has(text, "late");
    free(text);
    assert_int_equal(gone, 0);
}

/* More than the buffer: refused pieces, and word when there is room. */
static void test_slow_client(void **state)
{
    static char piece[64 << 10];
    const size_t total = 64 * sizeof(piece);
    size_t put = 0, len = 0, got = 0;
    int fd = ask("GET");
    char *text;

    (void)state;
    memset(piece, 'x', sizeof(piece));
    sv_http_stream_begin(stream, 200, (int64_t)total);
    while (put < total) {
        if (sv_http_stream_put(stream, piece, sizeof(piece)) == 0) {
            put += sizeof(piece);
            continue;
        }
        for (int before = drained; drained == before;) {
            static char sink[64 << 10];
            ssize_t n = recv(fd, sink, sizeof(sink), MSG_DONTWAIT);

            got += n > 0 ? (size_t)n : 0;
            (void)sd_event_run(event, 1000);
        }
    }
    sv_http_stream_end(stream, true);
    text = receive(fd, &len);
    free(text);
    assert_true(got + len > total);
    assert_true(drained > 0);
}

static void test_cut(void **state)
{
    int fd = ask("GET");
    char *text;

    (void)state;
    sv_http_stream_begin(stream, 200, 10);
    assert_int_equal(sv_http_stream_put(stream, "half", 4), 0);
    sv_http_stream_end(stream, false);
    text = receive(fd, NULL);
    has(text, "Content-Length: 10\r\n");
    free(text);
    stream = NULL;
    fd = ask("GET");
    sv_http_stream_end(stream, false);
    text = receive(fd, NULL);
    assert_null(strstr(text, "200"));
    free(text);
}

/* Only what the client has room for is taken from a buffer; the rest stays in it. */
static void test_flush(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    size_t n = HTTP_STREAM_MAX + 100000;
    int fd = ask("GET"), r = -EAGAIN;
    char *text;

    (void)state;
    assert_int_equal(sv_buf_reserve(&b, n), 0);
    memset(b.data, 'x', n);
    b.len = n;
    assert_int_equal(sv_http_stream_flush(stream, &b), -EAGAIN);
    assert_in_range(sv_buf_left(&b), 1, n - HTTP_STREAM_MAX / 2);
    sv_http_stream_begin(stream, 200, (int64_t)n);
    for (size_t got = 0; r == -EAGAIN; r = sv_http_stream_flush(stream, &b)) {
        char part[65536];
        ssize_t k;

        assert_true(sd_event_run(event, 10000) >= 0);
        k = recv(fd, part, sizeof(part), MSG_DONTWAIT);
        got += k > 0 ? (size_t)k : 0;
        assert_true(got < 2 * n);
    }
    assert_int_equal(r, 0);
    assert_int_equal(b.len, 0);
    sv_http_stream_end(stream, true);
    text = receive(fd, NULL);
    free(text);
}

static void test_text_and_head(void **state)
{
    int fd = ask("GET");
    char *text;

    (void)state;
    sv_http_stream_text(stream, 502, "text/plain", "no answer\n");
    text = receive(fd, NULL);
    has(text, "HTTP/1.1 502 ");
    has(text, "\r\n\r\nno answer\n");
    has(text, "X-Content-Type-Options: nosniff\r\n"); /* as answers at once: test-http.c */
    has(text, "Content-Security-Policy: default-src 'none'; ");
    has(text, "X-Frame-Options: DENY\r\n");
    has(text, "Referrer-Policy: same-origin\r\n");
    free(text);
    stream = NULL;
    fd = ask("HEAD");
    sv_http_stream_begin(stream, 200, 77);
    sv_http_stream_end(stream, true);
    text = receive(fd, NULL);
    has(text, "Content-Length: 77\r\n");
    free(text);
}

static void test_answer_at_once(void **state)
{
    char *text = receive(ask_path("GET", "/now"), NULL);

    (void)state;
    has(text, "\r\n\r\nat once");
    free(text);
    assert_int_equal(gone, 0);
}

static void test_client_leaves(void **state)
{
    static char piece[200 << 10];
    int fd = ask("GET");

    (void)state;
    sv_http_stream_begin(stream, 200, -1);
    close(fd);
    while (!gone) {
        if (stream)
            (void)!sv_http_stream_put(stream, piece, sizeof(piece));
        (void)sd_event_run(event, 1000);
    }
    assert_null(stream);
}

static void test_server_ends(void **state)
{
    int fd = ask("GET");

    (void)state;
    http = sv_http_free(http); /* with a suspended connection */
    assert_int_equal(gone, 1);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pieces, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slow_client, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(test_flush, setup, teardown),
        cmocka_unit_test_setup_teardown(test_text_and_head, setup, teardown),
        cmocka_unit_test_setup_teardown(test_answer_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_client_leaves, setup, teardown),
        cmocka_unit_test_setup_teardown(test_server_ends, setup, teardown),
    };

    return cmocka_run_group_tests_name("http-stream", tests, NULL, NULL);
}
