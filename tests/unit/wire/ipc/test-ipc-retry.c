/* Tests wire/ipc/ipc-retry.c: a resent call is not run again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/unit/wire/ipc-raw.h"

#define CLIENT "0123456789abcdef"

/* Sends one call over a new connection as `user`; the answer must contain `wanted`. */
static void once(struct peer_server *s, const char *user, const char *client, int32_t id,
                 int32_t retry, const char *method, const char *wanted)
{
    _cleanup_buf_ struct sv_buf b = { 0 };
    struct raw_reply r = { .n = 0 };
    int fd = raw_join(s);
    raw_put_hello_of(&b, user);
    raw_put_again(&b, client, id, retry, method, "x");
    raw_send(fd, b.data, b.len);
    peer_run_until(s, raw_take(fd, &r) || raw_holds(&r, wanted));
    assert_false(r.eof);
    sv_close(fd);
    peer_run_until(s, ipc_server_connections(s->server) == 0);
}

static void test_answer_is_kept(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &raw_simple);
    once(&s, "alice", CLIENT, 7, 0, "count", "run 1");
    once(&s, "alice", CLIENT, 7, 1, "count", "run 1");
    once(&s, "alice", CLIENT, 7, 2, "count", "run 1");
    assert_int_equal(s.calls, 1);
    /* another call, client, user or method does not match */
    once(&s, "alice", CLIENT, 8, 0, "count", "run 2");
    once(&s, "alice", "0123456789abcdeX", 7, 1, "count", "run 3");
    once(&s, "mallory", CLIENT, 7, 1, "count", "run 4");
    once(&s, "alice", CLIENT, 7, 1, "count2", "run 5");
    once(&s, "alice", CLIENT, 7, 3, "count", "run 1");
    /* an id that is no UUID identifies nobody */
    once(&s, "alice", "", 7, 0, "count", "run 6");
    once(&s, "alice", "", 7, 0, "count", "run 7");
    once(&s, "alice", "short", 7, 0, "count", "run 8");
    once(&s, "alice", "short", 7, 0, "count", "run 9");
    /* methods that may run twice do */
    once(&s, "alice", CLIENT, 9, 0, "echo", "x");
    once(&s, "alice", CLIENT, 9, 1, "echo", "x");
    assert_int_equal(s.calls, 11);
    peer_server_stop(&s);
}

static void test_failure_is_not_kept(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &raw_simple);
    once(&s, "alice", CLIENT, 7, 0, "countFail", "failed 1");
    once(&s, "alice", CLIENT, 7, 1, "countFail", "failed 2");
    peer_server_stop(&s);
}

/* The first connection breaks while the call is open: its repetition waits for the same answer. */
static void test_open_call_is_waited_for(void **state)
{
    (void)state;
    struct peer_server s;
    _cleanup_buf_ struct sv_buf b = { 0 };
    struct raw_reply r[2] = { 0 };
    peer_server_start(&s, &raw_simple);
    raw_put_hello(&b);
    raw_put_again(&b, CLIENT, 7, 0, "holdOnce", "kept for you");
    int first = raw_join(&s), again[2];
    raw_send(first, b.data, b.len);
    peer_run_until(&s, s.n_held == 1);
    raw_reset(first);
    peer_run_until(&s, ipc_server_connections(s.server) == 0);
    for (int i = 0; i < 2; i++) {
        again[i] = raw_join(&s);
        raw_put_echo(&b, 100, "echo", "later");
        raw_send(again[i], b.data, b.len);
        peer_run_until(&s, raw_take(again[i], &r[i]) || raw_holds(&r[i], "later"));
        assert_false(raw_holds(&r[i], "kept for you"));
    }
    assert_int_equal(s.n_held, 1);
    peer_release(&s, 0);
    for (int i = 0; i < 2; i++) {
        peer_run_until(&s, raw_take(again[i], &r[i]) || raw_holds(&r[i], "kept for you"));
        assert_false(r[i].eof);
        sv_close(again[i]);
    }
    peer_server_stop(&s);
}

/* The server is freed while a call is open and another waits for its answer. */
static void test_server_freed(void **state)
{
    (void)state;
    struct peer_server s;
    _cleanup_buf_ struct sv_buf b = { 0 };
    struct raw_reply r = { .n = 0 };
    peer_server_start(&s, &raw_simple);
    raw_put_hello(&b);
    raw_put_again(&b, CLIENT, 7, 0, "holdOnce", "never");
    raw_put_again(&b, CLIENT, 7, 1, "holdOnce", "never");
    raw_put_echo(&b, 100, "echo", "both have come");
    int fd = raw_join(&s);
    raw_send(fd, b.data, b.len);
    peer_run_until(&s, raw_take(fd, &r) || raw_holds(&r, "both have come"));
    assert_int_equal(s.n_held, 1);
    s.server = ipc_server_free(s.server);
    peer_release(&s, 0);
    sv_close(fd);
    peer_server_stop(&s);
}

static void test_bounds(void **state)
{
    (void)state;
    struct peer_server s;
    struct ipc_server_config cfg = raw_simple;
    cfg.limits.retry_entries = 4;
    peer_server_start(&s, &cfg);
    for (int i = 0; i < 10; i++)
        once(&s, "alice", CLIENT, i, 0, "count", "run ");
    assert_int_equal(s.calls, 10);
    once(&s, "alice", CLIENT, 9, 1, "count", "run 10"); /* still there */
    once(&s, "alice", CLIENT, 0, 1, "count", "run 11"); /* forgotten */
    peer_server_stop(&s);
    cfg.limits.retry_entries = 0;
    cfg.limits.retry_bytes = 20; /* two answers */
    peer_server_start(&s, &cfg);
    for (int i = 0; i < 4; i++)
        once(&s, "alice", CLIENT, i, 0, "count", "run ");
    once(&s, "alice", CLIENT, 3, 1, "count", "run 4");
    once(&s, "alice", CLIENT, 0, 1, "count", "run 5");
    peer_server_stop(&s);
    cfg.limits.retry_bytes = 0;
    cfg.limits.retry_ms = 20;
    peer_server_start(&s, &cfg);
    once(&s, "alice", CLIENT, 1, 0, "count", "run 1");
    int64_t then = sv_now_ms() + 21;
    once(&s, "alice", CLIENT, 2, 0, "echo", "x");
    peer_run_until(&s, sv_now_ms() > then);
    once(&s, "alice", CLIENT, 1, 1, "count", "run 3"); /* the echo was the second */
    peer_server_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer_is_kept),
        cmocka_unit_test(test_failure_is_not_kept),
        cmocka_unit_test(test_open_call_is_waited_for),
        cmocka_unit_test(test_server_freed),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
