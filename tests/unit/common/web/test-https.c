/* Tests common/web/https.c: clients of OpenSSL on loopback, the HTTP server on the loop behind the
 * thread. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/web/http-listen.h"
#include "common/web/http-share.h"
#include "common/web/http.h"
#include "common/web/https.h"
#include "tests/lib/tls-keys.h"

#define TURN_US 10000
#define TURNS 3000 /* 30 s: the limit of a wait for a condition */
#define BIG ((size_t)3 << 20)

static char dir[] = "/tmp/test-https-XXXXXX", path[64];
static sd_event *event;
static struct sv_http *http;
static struct sv_https *https;
static SSL_CTX *ctx;
static struct sv_error err;
static bool from_loopback;

static int handler(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    const struct sockaddr_in *from = (const struct sockaddr_in *)sv_http_peer(req);
    bool big = strcmp(req->path, "/big") == 0;

    (void)userdata;
    from_loopback =
        from && from->sin_family == AF_INET && ntohl(from->sin_addr.s_addr) == INADDR_LOOPBACK;
    ret->status = 200;
    ret->body_len = big ? BIG : 5;
    ret->body = malloc(ret->body_len);
    if (!ret->body)
        return -ENOMEM;
    if (big)
        for (size_t i = 0; i < BIG; i++)
            ret->body[i] = (char)(i % 251);
    else
        memcpy(ret->body, "hello", 5);
    return 0;
}

static void run_loop(void)
{
    assert_true(sd_event_run(event, TURN_US) >= 0);
}

static int connect_to(void)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(sv_http_port(http)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

/* An HTTPS client until its handshake has ended; NULL: it failed. */
static SSL *open_client(void)
{
    SSL *c = SSL_new(ctx);
    int r = 0;

    assert_int_equal(SSL_set_fd(c, connect_to()), 1);
    for (int i = 0; i < TURNS && (r = SSL_connect(c)) != 1; i++) {
        int why = SSL_get_error(c, r);

        if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE)
            break;
        run_loop();
    }
    return c;
}

static void close_client(SSL *c)
{
    int fd = SSL_get_fd(c);

    SSL_free(c);
    (void)sv_close(fd);
}

/* Reads to the end of the connection, or to `want` bytes. */
static size_t get(SSL *c, const char *request, char *to, size_t want)
{
    size_t n = 0;

    assert_int_equal(SSL_write(c, request, (int)strlen(request)), (int)strlen(request));
    for (int i = 0; i < TURNS && n < want;) {
        int r = SSL_read(c, to + n, (int)(want - n));

        if (r > 0) {
            n += (size_t)r;
            continue;
        }
        if (SSL_get_error(c, r) != SSL_ERROR_WANT_READ)
            break;
        run_loop();
        i++;
    }
    return n;
}

static long serial_of(SSL *c)
{
    X509 *cert = SSL_get1_peer_certificate(c);
    long serial = cert ? ASN1_INTEGER_get(X509_get0_serialNumber(cert)) : -1;

    X509_free(cert);
    return serial;
}

static void test_requests(void **state)
{
    static const char request[] = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
    char answer[4096] = "";
    SSL *c = open_client();

    (void)state;
    for (int i = 0; i < 3; i++) { /* on one connection */
        size_t n = 0;

        memset(answer, 0, sizeof(answer));
        assert_int_equal(SSL_write(c, request, sizeof(request) - 1), sizeof(request) - 1);
        for (int k = 0; k < TURNS && !strstr(answer, "\r\n\r\nhello"); k++) {
            int r = SSL_read(c, answer + n, (int)(sizeof(answer) - 1 - n));

            n += r > 0 ? (size_t)r : 0;
            run_loop();
        }
        assert_non_null(strstr(answer, "\r\n\r\nhello"));
        assert_ptr_equal(strstr(answer, "HTTP/1.1 200"), answer);
    }
    assert_true(from_loopback);
    close_client(c);
}

static void test_big_answer(void **state)
{
    static char answer[BIG + 4096];
    SSL *c = open_client();
    size_t n =
        get(c, "GET /big HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", answer, sizeof(answer));
    const char *body = memmem(answer, n, "\r\n\r\n", 4);

    (void)state;
    assert_non_null(body);
    body += 4;
    assert_int_equal(n - (size_t)(body - answer), BIG);
    for (size_t i = 0; i < BIG; i++)
        if (body[i] != (char)(i % 251))
            fail_msg("byte %zu differs", i);
    close_client(c);
}

/* Text without TLS ends the connection, and the server lives on. */
static void test_plain_text(void **state)
{
    int fd = connect_to();
    char byte[64];
    ssize_t n = -1;

    (void)state;
    assert_int_equal(send(fd, "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
    for (int i = 0; i < TURNS && n != 0; i++) {
        n = recv(fd, byte, sizeof(byte), 0); /* an alert, then the end */
        if (n < 0 && errno != EAGAIN)
            break;
        run_loop();
    }
    assert_true(n == 0 || errno == ECONNRESET);
    (void)sv_close(fd);
    test_requests(state);
}

static void test_new_keys(void **state)
{
    SSL *old = open_client();
    long serial = 1;

    (void)state;
    assert_int_equal(serial_of(old), 1);
    write_keys(path, 2);
    for (int i = 0; i < TURNS && serial != 2; i++) {
        SSL *c = open_client();

        serial = serial_of(c);
        close_client(c);
    }
    assert_int_equal(serial, 2);
    close_client(old);
}

/* One client has no more connections than with HTTP, handshakes or not. */
static void test_share(void **state)
{
    int fds[HTTP_CONNECTIONS_OF_LOOPBACK + 1];
    size_t closed = 0;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(fds); i++)
        fds[i] = connect_to();
    for (int i = 0; i < TURNS && closed == 0; i++) {
        for (size_t k = 0; k < SV_ARRAY_LEN(fds); k++) {
            char byte;
            ssize_t n = recv(fds[k], &byte, 1, 0);

            closed += n == 0 || (n < 0 && errno != EAGAIN);
        }
        run_loop();
    }
    assert_int_equal(closed, 1);
    for (size_t i = 0; i < SV_ARRAY_LEN(fds); i++)
        (void)sv_close(fds[i]);
    test_requests(state); /* once the thread has seen that they are gone */
}

static int set_up(void **state)
{
    uint16_t port = 0;
    int fd;

    (void)state;
    if (!mkdtemp(dir))
        return -1;
    (void)snprintf(path, sizeof(path), "%s/keys.pem", dir);
    write_keys(path, 1);
    ctx = SSL_CTX_new(TLS_client_method());
    fd = http_listen("127.0.0.1", 0, &err);
    if (!ctx || sd_event_new(&event) < 0 || fd < 0 || http_listen_port(fd, &port, &err) < 0 ||
        sv_http_new_fed(event, port, NULL, handler, NULL, &http, &err) < 0)
        return -1;
    return sv_https_new(event, fd, keys_of(path), http, &https, &err);
}

static int tear_down(void **state)
{
    (void)state;
    https = sv_https_free(https);
    http = sv_http_free(http);
    event = sd_event_unref(event);
    SSL_CTX_free(ctx);
    return unlink(path) < 0 || rmdir(dir) < 0 ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),   cmocka_unit_test(test_big_answer),
        cmocka_unit_test(test_plain_text), cmocka_unit_test(test_share),
        cmocka_unit_test(test_new_keys),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
