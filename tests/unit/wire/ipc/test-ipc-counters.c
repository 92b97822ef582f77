/* Tests the counters of wire/ipc/ipc-server.c, which dashboards read as RpcActivityForPort. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/wire/ipc-peer.h"

struct answer {
    int count;
    int status;
};

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct answer *a = userdata;
    (void)err;
    a->count++;
    a->status = r->status;
}

static void call(struct ipc_client *c, const char *method, const char *text, struct answer *a)
{
    echo_message m = ECHO_INIT;
    m.protocol = (char *)(uintptr_t)text;
    assert_int_equal(ipc_client_call(c, method, &m.base, ECHO_DESCRIPTOR, 0, on_answer, a), 0);
}

/* Every kind of call, connection and refusal counts once. */
static void test_counters(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(
        &s, &(struct ipc_server_config){ .verify_token = peer_verify, .allow_simple = true });
    const struct sv_rpc_counters *n = ipc_server_counters(s.server);
    struct ipc_client *by_token = peer_client(&s, &peer_token, 0),
                      *simple = peer_client(&s, NULL, 0);
    struct answer a = { 0 };
    call(by_token, "echo", "hello", &a);
    call(simple, "fail", "no", &a);
    peer_run_until(&s, a.count == 2);
    assert_int_equal(n->queue.n, 2);
    assert_int_equal(n->processing.n, 2);
    assert_int_equal(n->errors, 1);
    assert_int_equal(n->authentications, 1);
    assert_int_equal(n->authorizations, 2);
    assert_int_equal(n->authentications_failed + n->authorizations_failed + n->dropped, 0);
    assert_in_range(n->received_bytes, 200, 4000);
    assert_in_range(n->sent_bytes, 100, 4000);

    call(by_token, "hold", "one", &a);
    peer_run_until(&s, s.n_held == 1);
    assert_int_equal(ipc_server_open_calls(s.server), 1);
    peer_release(&s, 0);
    peer_run_until(&s, a.count == 3);
    assert_int_equal(ipc_server_open_calls(s.server), 0);
    assert_int_equal(n->queue.n, 3);
    assert_int_equal(n->processing.n, 3);
    ipc_client_free(simple);
    ipc_client_free(by_token);

    struct yarn_token t = peer_token;
    t.password = (const uint8_t *)"wrong";
    t.password_len = 5;
    by_token = peer_client(&s, &t, 0);
    a.count = 0;
    call(by_token, "echo", "", &a);
    peer_run_until(&s, a.count);
    assert_int_equal(n->authentications, 1);
    assert_int_equal(n->authentications_failed, 1);
    ipc_client_free(by_token);
    peer_server_stop(&s);
}

/* An open call whose connection gives way to another one is not the server's any more. */
static void test_counters_of_a_closed_connection(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(
        &s, &(struct ipc_server_config){ .allow_simple = true, .limits.max_per_address = 1 });
    struct ipc_client *first = peer_client(&s, NULL, 0), *second = peer_client(&s, NULL, 0);
    struct answer a = { 0 }, b = { 0 };
    call(first, "hold", "", &a);
    peer_run_until(&s, s.n_held == 1);
    call(second, "echo", "", &b);
    peer_run_until(&s, b.count);
    assert_int_equal(ipc_server_open_calls(s.server), 0);
    assert_int_equal(ipc_server_counters(s.server)->dropped, 1);
    peer_release(&s, 0);
    assert_int_equal(ipc_server_open_calls(s.server), 0);
    assert_int_equal(ipc_server_counters(s.server)->processing.n, 1);
    ipc_client_free(first);
    ipc_client_free(second);
    peer_server_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_counters_of_a_closed_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
