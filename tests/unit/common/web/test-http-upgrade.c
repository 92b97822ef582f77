/* common/web/http-upgrade.c over a real socket: a WebSocket's handshake, what a handler gets, and
 * that closed connections are no longer counted for their client. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/web/http-share.h"
#include "common/web/http-upgrade.h"

static sd_event *event;
static struct sv_http *http;
static struct sv_error err;
static struct sv_http_upgraded *upgraded;
static int ours, begun, left;
static char early[16];

static void on_begin(struct sv_http_upgraded *u, int fd, const void *data, size_t n, void *userdata)
{
    assert_ptr_equal(userdata, &upgraded);
    assert_true(n < sizeof(early));
    memcpy(early, data, n);
    early[n] = 0;
    upgraded = u;
    ours = fd;
    begun++;
}

static void on_left(void *userdata)
{
    assert_ptr_equal(userdata, &upgraded);
    left++;
}

static int handler(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    const struct sv_http_websocket w = { .begin = on_begin,
                                         .left = on_left,
                                         .userdata = &upgraded,
                                         .subprotocol =
                                             sv_http_offers(req, "ours") ? "ours" : NULL };
    (void)userdata;
    if (!sv_http_wants_websocket(req))
        return 0; /* 404 */
    int r = sv_http_websocket(req, &w, ret);
    return r == -EINVAL ? 0 : strcmp(req->path, "/fails") == 0 ? -EIO : r;
}

static int setup(void **state)
{
    (void)state;
    begun = left = 0;
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

static int dial(void)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(sv_http_port(http)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define VERSION "Sec-WebSocket-Version: 13\r\n"
#define REQUEST " HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"

static void tell(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Receives a whole head, and what comes with it. */
static void head(int fd, char *text, size_t size)
{
    size_t n = 0;
    text[0] = 0;
    while (!strstr(text, "\r\n\r\n")) {
        ssize_t got = recv(fd, text + n, size - n - 1, MSG_DONTWAIT);
        if (got > 0)
            n += (size_t)got;
        else
            assert_true(got < 0 && errno == EAGAIN && sd_event_run(event, 5000000) >= 0);
        text[n] = 0;
    }
}

static void turns(void)
{
    while (sd_event_run(event, 20000) > 0)
        ;
}

static void test_handshake(void **state)
{
    char text[2048], c;
    int fd = dial();
    (void)state;
    tell(fd, "GET /x" REQUEST KEY VERSION "Sec-WebSocket-Protocol: other, ours\r\n\r\nfirst");
    head(fd, text, sizeof(text));
    assert_non_null(strstr(text, "HTTP/1.1 101 "));
    assert_non_null(strstr(text, "\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    assert_non_null(strstr(text, "\r\nSec-WebSocket-Protocol: ours\r\n"));
    assert_non_null(strstr(text, "\r\nUpgrade: websocket\r\n"));
    assert_non_null(strstr(text, "X-Content-Type-Options: nosniff"));
    assert_int_equal(begun, 1);
    if (!*early) /* it came later */
        assert_int_equal(recv(ours, early, sizeof(early) - 1, 0), 5);
    assert_memory_equal(early, "first", 5);
    assert_true(fcntl(ours, F_GETFL) & O_NONBLOCK);
    assert_int_equal(send(ours, "y", 1, MSG_NOSIGNAL), 1);
    assert_int_equal(recv(fd, &c, 1, 0), 1);
    assert_int_equal(c, 'y');
    sv_http_upgraded_close(upgraded);
    turns();
    assert_int_equal(recv(fd, &c, 1, 0), 0);
    assert_int_equal(left, 0);
    (void)close(fd);
}

/* More, one after the other, than a client may have at a time. */
static void test_closed_ones_are_not_counted(void **state)
{
    char text[2048];
    (void)state;
    for (int i = 0; i < (int)HTTP_CONNECTIONS_OF_LOOPBACK + 10; i++) {
        int fd = dial();
        tell(fd, "GET /x" REQUEST KEY VERSION "\r\n");
        head(fd, text, sizeof(text));
        assert_non_null(strstr(text, " 101 "));
        assert_null(strstr(text, "Sec-WebSocket-Protocol"));
        assert_int_equal(begun, i + 1);
        if (i % 2)
            (void)close(fd);
        sv_http_upgraded_close(upgraded);
        turns();
        if (i % 2 == 0)
            (void)close(fd);
    }
}

static void test_refused(void **state)
{
    static const char *const requests[] = {
        "GET /x" REQUEST KEY "\r\n",
        "GET /x" REQUEST KEY "Sec-WebSocket-Version: 8\r\n\r\n",
        "GET /x" REQUEST VERSION "\r\n",
        "GET /x" REQUEST VERSION "Sec-WebSocket-Key: short\r\n\r\n",
        "DELETE /x" REQUEST KEY VERSION "\r\n",
    };
    char text[2048];
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(requests); i++) {
        int fd = dial();
        tell(fd, requests[i]);
        head(fd, text, sizeof(text));
        assert_non_null(strstr(text, " 400 "));
        (void)close(fd);
    }
    assert_int_equal(begun, 0);
    int fd = dial();
    tell(fd, "GET /fails" REQUEST KEY VERSION "\r\n");
    head(fd, text, sizeof(text));
    assert_non_null(strstr(text, " 500 "));
    assert_int_equal(left, 1);
    (void)close(fd);
}

static void test_server_ends(void **state)
{
    char text[2048], c;
    int fd = dial();
    (void)state;
    tell(fd, "GET /x" REQUEST KEY VERSION "\r\n");
    head(fd, text, sizeof(text));
    assert_int_equal(begun, 1);
    sv_http_upgraded_close(upgraded); /* at once before the server's end */
    http = sv_http_free(http);
    assert_int_equal(recv(fd, &c, 1, 0), 0);
    (void)close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_handshake, setup, teardown),
        cmocka_unit_test_setup_teardown(test_closed_ones_are_not_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_server_ends, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
