/* Tests wire/ipc/ipc-server.c: limits on connections, addresses, memory, descriptors. HARDENING
 * E58, E60. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/wire/ipc-raw.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void test_E58_connection_limits(void **state)
{
    (void)state;
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true,
                                     .limits = { .max_connections = 6, .max_preauth = 2 } };
    peer_server_start(&s, &cfg);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_hello(&b);
    raw_put_echo(&b, 1, "echo", "in");
    int in[4], silent[3];
    struct raw_reply r = { .n = 0 };
    for (int i = 0; i < 4; i++) {
        in[i] = raw_join(&s);
        raw_send(in[i], b.data, b.len);
        r.n = 0;
        peer_run_until(&s, raw_take(in[i], &r) || raw_holds(&r, "in"));
    }
    for (int i = 0; i < 2; i++)
        silent[i] = raw_join(&s);
    peer_run_until(&s, ipc_server_connections(s.server) == 6);
    silent[2] = raw_join(&s); /* the seventh, and the third unauthenticated one */
    r = (struct raw_reply){ .n = 0 };
    peer_run_until(&s, raw_take(in[0], &r)); /* the idlest */
    sv_close(in[0]);
    r = (struct raw_reply){ .n = 0 };
    peer_run_until(&s, raw_take(silent[0], &r));
    assert_int_equal(ipc_server_connections(s.server), 5);
    for (int i = 0; i < 3; i++) {
        sv_close(silent[i]);
        sv_close(in[i + 1]);
    }
    peer_server_stop(&s);
}

/* Incomplete frames: together they are bounded by the server's memory limit. */
static void test_E58_memory_of_all(void **state)
{
    (void)state;
    enum { N = 20, EACH = 1 << 20 };
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true, .limits = { .max_memory = 8 << 20 } };
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    int fd[N];
    peer_server_start(&s, &cfg);
    raw_put_hello(&b);
    raw_put(&b, "\x07\xff\xff\xff", 4);
    _cleanup_free_ char *filler = calloc(1, EACH);
    size_t at[N] = { 0 };
    for (int i = 0; i < N; i++) {
        fd[i] = raw_join(&s);
        raw_send(fd[i], b.data, b.len);
    }
    peer_run_until(&s, ipc_server_connections(s.server) == N);
    peer_run_until(&s, ({ /* as much as the server accepts */
                          int open = 0;
                          for (int i = 0; i < N; i++) {
                              ssize_t n =
                                  send(fd[i], filler, EACH - at[i], MSG_DONTWAIT | MSG_NOSIGNAL);
                              at[i] =
                                  n < 0 && errno != EAGAIN ? EACH : at[i] + (size_t)SV_MAX(n, 0);
                              open += at[i] < EACH;
                          }
                          open == 0 && ipc_server_connections(s.server) <= 12;
    }));
    assert_in_range(ipc_server_connections(s.server), 3, 12);
    struct raw_reply r = { .n = 0 };
    _cleanup_buf_ struct sv_buf c = SV_BUF_INIT(0);
    raw_put_hello(&c);
    raw_put_echo(&c, 1, "echo", "others are served");
    int probe = raw_join(&s);
    raw_send(probe, c.data, c.len);
    peer_run_until(&s, raw_take(probe, &r) || raw_holds(&r, "others are served"));
    assert_false(r.eof);
    sv_close(probe);
    for (int i = 0; i < N; i++)
        sv_close(fd[i]);
    peer_run_until(&s, ipc_server_connections(s.server) == 0);
    peer_server_stop(&s);
}

/* A child that was forked for something else has the connections' sockets until it calls exec. */
static void test_fork(void **state)
{
    (void)state;
    struct peer_server s;
    int hold[2];
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    assert_int_equal(pipe(hold), 0);
    int fd = raw_join(&s);
    peer_run_until(&s, ipc_server_connections(s.server) == 1);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char c;
        close(hold[1]);
        _exit(read(hold[0], &c, 1) != 0);
    }
    raw_send(fd, "GET / HTTP/1.1\r\n", 16);
    peer_run_until(&s, ipc_server_connections(s.server) == 0);
    raw_send(fd, "more", 4); /* arrives at the socket that the child keeps open */
    for (int i = 0; i < 20; i++)
        assert_true(sd_event_run(s.event, 1000) >= 0);
    sv_close(fd);
    for (int i = 0; i < 20; i++)
        assert_true(sd_event_run(s.event, 1000) >= 0);
    close(hold[0]);
    close(hold[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    peer_server_stop(&s);
}

/* No descriptors left: accepting pauses without spinning, and resumes when some are free. */
static void test_E60_descriptors_exhausted(void **state)
{
    (void)state;
    struct peer_server s;
    struct rlimit old, tight;
    int filler[64], n = 0;
    peer_server_start(&s, &raw_simple);
    int one = raw_join(&s), two = raw_join(&s);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    tight = old;
    tight.rlim_cur = 64;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    while (n < 64 && (filler[n] = dup(one)) >= 0)
        n++;
    int64_t end = sv_now_ms() + 100;
    int turns = 0;
    do {
        assert_true(sd_event_run(s.event, 10000) >= 0);
        turns++;
    } while (sv_now_ms() < end);
    assert_in_range(turns, 1, 40);
    assert_int_equal(ipc_server_connections(s.server), 0);
    while (n > 0)
        sv_close(filler[--n]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    peer_run_until(&s, ipc_server_connections(s.server) == 2);
    sv_close(one);
    sv_close(two);
    peer_server_stop(&s);
}

/* Above the idle threshold idle connections are closed sooner, until below it. */
static void test_crowd(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){
                              .allow_simple = true,
                              .limits = { .crowd = 2, .crowd_idle_ms = 50, .idle_ms = 60000 } });
    _cleanup_buf_ struct sv_buf b = { 0 };
    int fd[4];
    raw_put_hello(&b);
    for (int i = 0; i < 4; i++) {
        fd[i] = raw_join(&s);
        raw_send(fd[i], b.data, b.len);
    }
    peer_run_until(&s, ipc_server_connections(s.server) == 4);
    peer_run_until(&s, ipc_server_connections(s.server) == 2);
    for (int i = 0; i < 5; i++)
        assert_true(sd_event_run(s.event, 20000) >= 0);
    assert_int_equal(ipc_server_connections(s.server), 2);
    for (int i = 0; i < 4; i++)
        sv_close(fd[i]);
    peer_server_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_E58_connection_limits),     cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_E58_memory_of_all),         cmocka_unit_test(test_fork),
        cmocka_unit_test(test_E60_descriptors_exhausted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
