/* Tests common/tls/relay.c: a client of OpenSSL on one socket, the relayed server on the other,
 * both driven by hand. */
#include <errno.h>
#include <openssl/ssl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/tls/relay.h"
#include "tests/lib/tls-keys.h"

#define TURNS 100000 /* more than any case needs */

static char dir[] = "/tmp/test-relay-XXXXXX", path[64];
static struct sv_tls *keys;
static SSL_CTX *ctx;

struct pair {
    struct sv_tls_relay *relay;
    SSL *client;
    int fd, server; /* the client's socket; -1: no handshake yet */
};

static struct pair begin(void)
{
    struct pair p = { .server = -1 };
    int sockets[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets),
                     0);
    assert_int_equal(sv_tls_relay_new(keys, sockets[0], &p.relay), 0);
    p.fd = sockets[1];
    p.client = SSL_new(ctx);
    assert_int_equal(SSL_set_fd(p.client, p.fd), 1);
    SSL_set_connect_state(p.client);
    return p;
}

static void finish(struct pair *p)
{
    (void)sv_tls_relay_free(p->relay);
    SSL_free(p->client);
    (void)sv_close(p->fd);
    (void)sv_close(p->server);
}

static int step(struct pair *p)
{
    const char *why = NULL;
    int fd = -1, r = sv_tls_relay_step(p->relay, &fd, &why);

    if (r == 1)
        p->server = fd;
    if (r == -EPROTO)
        assert_non_null(why);
    return r;
}

static void shake(struct pair *p)
{
    int done = 0;

    for (int i = 0; i < TURNS && (done != 1 || p->server < 0); i++) {
        done = done == 1 ? 1 : SSL_do_handshake(p->client);
        assert_true(step(p) >= 0);
    }
    assert_int_equal(done, 1);
    assert_true(p->server >= 0);
}

static void test_both_directions(void **state)
{
    struct pair p = begin();
    char got[64];
    ssize_t n = -1;
    int r = 0;

    (void)state;
    shake(&p);
    assert_int_equal(SSL_write(p.client, "GET /", 5), 5);
    for (int i = 0; i < TURNS && n < 0; i++) {
        assert_int_equal(step(&p), 0);
        n = recv(p.server, got, sizeof(got), 0);
    }
    assert_int_equal(n, 5);
    assert_memory_equal(got, "GET /", 5);
    assert_int_equal(send(p.server, "answer", 6, 0), 6);
    for (int i = 0; i < TURNS && r <= 0; i++) {
        assert_int_equal(step(&p), 0);
        r = SSL_read(p.client, got, sizeof(got));
    }
    assert_int_equal(r, 6);
    assert_memory_equal(got, "answer", 6);
    finish(&p);
}

/* The client ends its request: the server sees the end, and may still answer. */
static void test_half_closed(void **state)
{
    struct pair p = begin();
    char got[64];
    ssize_t n = -1;
    int r = 0;

    (void)state;
    shake(&p);
    assert_int_equal(SSL_write(p.client, "last", 4), 4);
    assert_true(SSL_shutdown(p.client) >= 0);
    for (int i = 0; i < TURNS && n != 0; i++) {
        assert_int_equal(step(&p), 0);
        n = recv(p.server, got, sizeof(got), 0);
    }
    assert_int_equal(n, 0);
    assert_int_equal(send(p.server, "bye", 3, 0), 3);
    for (int i = 0; i < TURNS && r <= 0; i++) {
        assert_int_equal(step(&p), 0);
        r = SSL_read(p.client, got, sizeof(got));
    }
    assert_int_equal(r, 3);
    finish(&p);
}

/* The server leaves before a slow client has its answer: all of it still arrives, and a client is
 * late that reads nothing for a minute. */
static void test_slow_client(void **state)
{
    struct pair p = begin();
    static uint8_t answer[64 << 10], got[sizeof(answer)];
    size_t sent = 0, had = 0;
    int r = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(answer); i++)
        answer[i] = (uint8_t)(i * 7 >> 3);
    shake(&p);
    assert_true(sv_tls_relay_deadline(p.relay) == INT64_MAX);
    while (sent < sizeof(answer)) {
        ssize_t n = send(p.server, answer + sent, sizeof(answer) - sent, 0);

        if (n < 0)
            break;
        sent += (size_t)n;
    }
    assert_true(sent > 0);
    (void)sv_close(p.server);
    p.server = -1;
    sv_tls_relay_hung_up(p.relay, SV_TLS_SERVER);
    for (int i = 0; i < TURNS && (r = step(&p)) == 0; i++) {
        int n;

        if (sv_tls_relay_deadline(p.relay) != INT64_MAX)
            assert_true(sv_tls_relay_deadline(p.relay) <= sv_now_ms() + 60000);
        n = SSL_read(p.client, got + had, (int)(sizeof(got) - had));
        had += n > 0 ? (size_t)n : 0;
    }
    assert_int_equal(r, -ECONNRESET);
    for (int n = 1; n > 0 && had<sent; had += n> 0 ? (size_t)n : 0)
        n = SSL_read(p.client, got + had, (int)(sizeof(got) - had));
    assert_int_equal(had, sent);
    assert_memory_equal(got, answer, sent);
    finish(&p);
}

static void test_no_handshake(void **state)
{
    struct pair p = begin();
    uint32_t events = 0;
    int r = 0;

    (void)state;
    assert_int_equal(sv_tls_relay_fd(p.relay, SV_TLS_SERVER, &events), -1);
    assert_true(sv_tls_relay_fd(p.relay, SV_TLS_CLIENT, &events) >= 0);
    assert_int_equal(events, EPOLLIN);
    assert_true(sv_tls_relay_deadline(p.relay) <= sv_now_ms() + 10000);
    assert_int_equal(step(&p), 0);
    assert_int_equal(send(p.fd, "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
    for (int i = 0; i < TURNS && r == 0; i++)
        r = step(&p);
    assert_int_equal(r, -EPROTO);
    finish(&p);
}

/* A client that vanishes ends the relay, and the server has nothing to wait for. */
static void test_gone_client(void **state)
{
    struct pair p = begin();

    (void)state;
    shake(&p);
    sv_tls_relay_hung_up(p.relay, SV_TLS_CLIENT);
    assert_int_equal(step(&p), -ECONNRESET);
    finish(&p);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    (void)snprintf(path, sizeof(path), "%s/keys.pem", dir);
    write_keys(path, 1);
    keys = keys_of(path);
    ctx = SSL_CTX_new(TLS_client_method());
    return ctx ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    SSL_CTX_free(ctx);
    keys = sv_tls_free(keys);
    return unlink(path) < 0 || rmdir(dir) < 0 ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_directions), cmocka_unit_test(test_half_closed),
        cmocka_unit_test(test_slow_client),     cmocka_unit_test(test_no_handshake),
        cmocka_unit_test(test_gone_client),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
