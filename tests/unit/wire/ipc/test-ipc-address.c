/* Tests wire/ipc/ipc-address.c: which connection gives way when an address or the server has too
 * many. The server listens on [::], so that 127.0.0.1 and ::1 are two addresses of clients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/wire/ipc-raw.h"
#include "wire/ipc/ipc-conn.h"
#include <stdio.h>

#define IDLE_MS 600000

static void server_start(struct peer_server *s, size_t all, size_t per_address)
{
    peer_server_start(s, &(struct ipc_server_config){ .host = "::",
                                                      .allow_simple = true,
                                                      .limits = { .max_connections = all,
                                                                  .max_per_address = per_address,
                                                                  .header_ms = IDLE_MS,
                                                                  .handshake_ms = IDLE_MS,
                                                                  .idle_ms = IDLE_MS } });
}

static int join_v4(const struct peer_server *s, const char *from)
{
    struct sockaddr_in own = { .sin_family = AF_INET }, to = { .sin_family = AF_INET };
    to.sin_port = htons(ipc_server_port(s->server));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(inet_pton(AF_INET, from, &own.sin_addr), 1);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(own)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static int join_v6(const struct peer_server *s)
{
    struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    to.sin6_port = htons(ipc_server_port(s->server));
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static void send_hello(int fd)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_hello(&b);
    raw_send(fd, b.data, b.len);
}

static void send_call(int fd, const char *method, const char *text)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_echo(&b, 1, method, text);
    raw_send(fd, b.data, b.len);
}

static void send_ping(struct peer_server *s, int fd)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_frame(&b, IPC_CALL_PING, NULL, NULL, 0);
    raw_send(fd, b.data, b.len);
    for (int i = 0; i < 5; i++)
        assert_true(sd_event_run(s->event, 10000) >= 0);
}

/* The connection makes a call and has its answer. */
static void served(struct peer_server *s, int fd)
{
    struct raw_reply r = { .n = 0 };
    send_call(fd, "echo", "an answer");
    peer_run_until(s, raw_take(fd, &r) || raw_holds(&r, "an answer"));
    assert_false(r.eof);
}

static void closed(struct peer_server *s, int fd)
{
    struct raw_reply r = { .n = 0 };
    peer_run_until(s, raw_take(fd, &r));
}

static void test_pings_are_no_activity(void **state)
{
    (void)state;
    struct peer_server s;
    int fd[4];
    server_start(&s, 100, 3);
    for (int i = 0; i < 3; i++) {
        fd[i] = join_v4(&s, "127.0.0.1");
        send_hello(fd[i]);
        served(&s, fd[i]);
    }
    served(&s, fd[0]);    /* the second is the idlest now … */
    send_ping(&s, fd[1]); /* … and stays so */
    fd[3] = join_v4(&s, "127.0.0.1");
    closed(&s, fd[1]);
    send_hello(fd[3]);
    served(&s, fd[3]);
    served(&s, fd[0]);
    served(&s, fd[2]);
    assert_int_equal(ipc_server_connections(s.server), 3);
    for (int i = 0; i < 4; i++)
        sv_close(fd[i]);
    peer_server_stop(&s);
}

static void test_open_calls_stay(void **state)
{
    (void)state;
    struct peer_server s;
    int fd[3];
    server_start(&s, 100, 2);
    for (int i = 0; i < 2; i++) {
        fd[i] = join_v4(&s, "127.0.0.1");
        send_hello(fd[i]);
        served(&s, fd[i]);
    }
    send_call(fd[0], "hold", "later");
    peer_run_until(&s, s.n_held == 1);
    served(&s, fd[1]); /* later than the call that is open */
    fd[2] = join_v4(&s, "127.0.0.1");
    closed(&s, fd[1]);
    peer_release(&s, 0);
    struct raw_reply r = { .n = 0 };
    peer_run_until(&s, raw_take(fd[0], &r) || raw_holds(&r, "later"));
    assert_false(r.eof);
    for (int i = 0; i < 3; i++)
        sv_close(fd[i]);
    peer_server_stop(&s);
}

/* One container with any number of connections and source addresses of 127.0.0.0/8: 256 are kept,
 * and others are served. */
static void test_default_limit(void **state)
{
    (void)state;
    enum { N = 600 };
    struct peer_server s;
    int fd[N];
    char from[16];
    server_start(&s, 10000, 0);
    int other = join_v6(&s);
    send_hello(other);
    served(&s, other);
    for (int i = 0; i < N; i++) {
        snprintf(from, sizeof(from), "127.0.%d.%d", i % 7, 1 + i % 5);
        fd[i] = join_v4(&s, from);
        send_hello(fd[i]);
        if (i % 64 == 63 || i == N - 1) /* who has sent its context is not in a login any more */
            peer_run_until(&s, ipc_server_counters(s.server)->authorizations == 2 + (uint64_t)i);
    }
    closed(&s, fd[N - 257]);
    assert_int_equal(ipc_server_connections(s.server), 257);
    served(&s, other);
    int late = join_v4(&s, "127.0.0.1");
    send_hello(late);
    served(&s, late);
    for (int i = 0; i < N; i++)
        sv_close(fd[i]);
    sv_close(late);
    sv_close(other);
    peer_server_stop(&s);
}

/* A full server: the fullest address gives way, and not to one that has as many. */
static void test_full_server(void **state)
{
    (void)state;
    struct peer_server s;
    int one[3], six[4];
    server_start(&s, 4, 4);
    six[0] = join_v6(&s);
    send_hello(six[0]);
    served(&s, six[0]); /* the idlest of all */
    for (int i = 0; i < 3; i++) {
        one[i] = join_v4(&s, "127.0.0.1");
        send_hello(one[i]);
        served(&s, one[i]);
    }
    served(&s, one[0]);
    six[1] = join_v6(&s);
    send_hello(six[1]);
    closed(&s, one[1]);
    served(&s, six[0]);
    served(&s, six[1]);
    six[2] = join_v6(&s); /* two each: its own address gives way */
    closed(&s, six[0]);
    served(&s, one[0]);
    served(&s, one[2]);
    assert_int_equal(ipc_server_connections(s.server), 4);
    for (int i = 0; i < 3; i++)
        sv_close(one[i]);
    for (int i = 0; i < 3; i++)
        sv_close(six[i]);
    peer_server_stop(&s);
}

/* A full server whose connections are of as many addresses: the newcomer is refused. */
static void test_full_of_addresses(void **state)
{
    (void)state;
    struct peer_server s;
    server_start(&s, 1, 4);
    int one = join_v4(&s, "127.0.0.1");
    send_hello(one);
    served(&s, one);
    int six = join_v6(&s);
    closed(&s, six);
    served(&s, one);
    sv_close(one);
    sv_close(six);
    peer_server_stop(&s);
}

/* ---- IPv6 networks, with addresses that no test can have ---- */

static struct sockaddr_storage six_of(unsigned network, unsigned host)
{
    struct sockaddr_in6 a = { .sin6_family = AF_INET6 };
    struct sockaddr_storage ret = { 0 };
    char text[INET6_ADDRSTRLEN];
    snprintf(text, sizeof(text), "2001:db8:0:%x::%x", network, host);
    assert_int_equal(inet_pton(AF_INET6, text, &a.sin6_addr), 1);
    memcpy(&ret, &a, sizeof(a));
    return ret;
}

/* 0, or -EUSERS; closes the one that gives way. */
static int join_from(struct ipc_server *s, struct sockaddr_storage sa, struct ipc_conn *c)
{
    struct ipc_conn *gives;
    int r = ipc_address_room(s, &sa, &gives);
    if (r < 0)
        return r;
    if (gives) {
        ipc_address_leave(s, gives);
        s->n_conns--;
    }
    struct ipc_address *a = ipc_address_get(s, &sa);
    assert_non_null(a);
    ipc_address_join(a, c);
    s->n_conns++;
    return 0;
}

static void test_networks(void **state)
{
    (void)state;
    enum { ALL = 100, MANY = 80 };
    struct ipc_server s = { .limits = { .max_connections = ALL, .max_per_address = 10 } };
    static struct ipc_conn conns[MANY], late[3], other[ALL / 2];
    for (unsigned i = 0; i < MANY; i++) /* one machine with a network of addresses: half */
        assert_int_equal(join_from(&s, six_of(1, 1 + i), &conns[i]), i < ALL / 2 ? 0 : -EUSERS);
    assert_int_equal(s.n_conns, ALL / 2);
    for (unsigned i = 0; i < ALL / 2; i++) /* others have the rest */
        assert_int_equal(join_from(&s, six_of(2 + i, 1), &other[i]), 0);
    assert_int_equal(s.n_conns, ALL);
    for (unsigned i = 0; i < ALL / 2; i++) {
        ipc_address_leave(&s, &other[i]);
        s.n_conns--;
    }
    for (unsigned i = 0; i < 10; i++) /* one address of a full network with ten: it gives way */
        ipc_address_leave(&s, &conns[i]);
    s.n_conns -= 10;
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(join_from(&s, six_of(1, 1000), &conns[i]), 0);
    assert_int_equal(join_from(&s, six_of(1, 2000), &late[0]), 0);
    assert_null(conns[0].from);
    assert_non_null(conns[20].from);
    assert_int_equal(s.n_conns, ALL / 2);
    for (unsigned i = 1; i < ALL / 2; i++)
        ipc_address_leave(&s, &conns[i]);
    ipc_address_leave(&s, &late[0]);
    assert_null(s.addresses);
    assert_null(s.networks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pings_are_no_activity), cmocka_unit_test(test_open_calls_stay),
        cmocka_unit_test(test_default_limit),         cmocka_unit_test(test_full_server),
        cmocka_unit_test(test_full_of_addresses),     cmocka_unit_test(test_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
