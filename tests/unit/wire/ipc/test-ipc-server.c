/* Tests wire/ipc/ipc-server.c and ipc-call.c: IPC client ↔ server in one loop on loopback. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/free-port.h"
#include "tests/unit/wire/ipc-peer.h"
#include "wire/ipc/ipc-conn.h"

/* ---- Calls and answers ---- */

struct answer {
    int count;
    int status;
    bool sent;
    char text[1200];
    char class[160];
    char echo[256];
};

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct answer *a = userdata;
    a->count++;
    a->status = r->status;
    a->sent = r->sent;
    snprintf(a->text, sizeof(a->text), "%s", r->status < 0 ? err->text : "");
    snprintf(a->class, sizeof(a->class), "%s", r->java_class ? r->java_class : "");
    if (r->response)
        snprintf(a->echo, sizeof(a->echo), "%s", ((const echo_message *)r->response)->protocol);
}

static void call(struct ipc_client *c, const char *method, const char *text, struct answer *a)
{
    echo_message m = ECHO_INIT;
    m.protocol = (char *)(uintptr_t)text;
    assert_int_equal(ipc_client_call(c, method, &m.base, ECHO_DESCRIPTOR, 0, on_answer, a), 0);
}

static void test_simple(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    struct ipc_client *c = peer_client(&s, NULL, 0);
    struct answer a = { 0 }, b = { 0 };
    call(c, "echo", "hello", &a);
    call(c, "whoami", "", &b);
    peer_run_until(&s, b.count && a.count);
    assert_int_equal(a.status, 0);
    assert_string_equal(a.echo, "hello");
    assert_string_equal(b.echo, "alice");
    assert_int_equal(ipc_server_connections(s.server), 1);
    ipc_client_free(c);
    peer_server_stop(&s);
}

static void test_token(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .verify_token = peer_verify });
    struct ipc_client *c = peer_client(&s, &peer_token, 0);
    struct answer a = { 0 };
    call(c, "whoami", "", &a);
    peer_run_until(&s, a.count);
    assert_int_equal(a.status, 0);
    assert_string_equal(a.echo, "appattempt_1_0001_000001/token");
    ipc_client_free(c);
    peer_server_stop(&s);
}

static void test_token_bad(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .verify_token = peer_verify });
    struct yarn_token t = peer_token;
    t.password = (const uint8_t *)"wrong";
    t.password_len = 5;
    struct ipc_client *c = peer_client(&s, &t, 0);
    struct answer a = { 0 };
    call(c, "whoami", "", &a);
    peer_run_until(&s, a.count);
    assert_int_equal(a.status, -EREMOTEIO);
    assert_string_equal(a.class, "javax.security.sasl.SaslException");
    assert_false(a.sent);
    ipc_client_free(c);

    t = peer_token;
    t.id = (const uint8_t *)"nobody";
    t.id_len = 6;
    c = peer_client(&s, &t, 0);
    call(c, "whoami", "", &a);
    peer_run_until(&s, a.count == 2);
    assert_int_equal(a.status, -EREMOTEIO);
    assert_string_equal(a.class, JAVA_INVALID_TOKEN);
    assert_non_null(strstr(a.text, "no such token"));
    ipc_client_free(c);
    peer_server_stop(&s);
}

static void test_simple_refused(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .verify_token = peer_verify });
    struct ipc_client *c = peer_client(&s, NULL, 0);
    struct answer a = { 0 };
    call(c, "echo", "x", &a);
    peer_run_until(&s, a.count);
    assert_int_equal(a.status, -EREMOTEIO);
    assert_string_equal(a.class, JAVA_ACCESS_CONTROL);
    assert_non_null(strstr(a.text, "SIMPLE authentication is not enabled.  Available:[TOKEN]"));
    ipc_client_free(c);
    peer_server_stop(&s);
}

/* No call is sent to a server that does not know the password, or requires none. */
static void test_token_impostor(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    struct ipc_client *c = peer_client(&s, &peer_token, 0);
    struct answer a = { 0 };
    call(c, "echo", "secret", &a);
    peer_run_until(&s, a.count);
    assert_int_equal(a.status, -EACCES);
    assert_false(a.sent);
    assert_int_equal(s.calls, 0);
    ipc_client_free(c);
    peer_server_stop(&s);
}

static void test_both_offered(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(
        &s, &(struct ipc_server_config){ .verify_token = peer_verify, .allow_simple = true });
    struct ipc_client *t = peer_client(&s, &peer_token, 0), *c = peer_client(&s, NULL, 0);
    struct answer a = { 0 }, b = { 0 };
    call(t, "whoami", "", &a);
    call(c, "whoami", "", &b);
    peer_run_until(&s, a.count && b.count);
    assert_string_equal(a.echo, "appattempt_1_0001_000001/token");
    assert_string_equal(b.echo, "alice");
    ipc_client_free(t);
    ipc_client_free(c);
    peer_server_stop(&s);
}

static void test_errors(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    struct ipc_client *c = peer_client(&s, NULL, 0);
    struct answer a = { 0 };
    call(c, "fail", "boom", &a);
    peer_run_until(&s, a.count == 1);
    assert_int_equal(a.status, -EREMOTEIO);
    assert_string_equal(a.class, JAVA_YARN_EXCEPTION);
    assert_non_null(strstr(a.text, "boom"));
    assert_true(a.sent);
    call(c, "nothing", "", &a);
    peer_run_until(&s, a.count == 2);
    assert_string_equal(a.class, "org.apache.hadoop.ipc.RpcNoSuchMethodException");
    call(c, "absent", "", &a);
    peer_run_until(&s, a.count == 3);
    assert_string_equal(a.class, "org.apache.hadoop.ipc.RpcNoSuchMethodException");
    call(c, "echo", "still here", &a);
    peer_run_until(&s, a.count == 4);
    assert_string_equal(a.echo, "still here");
    ipc_client_free(c);

    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .port = ipc_server_port(s.server),
                                     .protocol = "no.such.Protocol",
                                     .version = 1,
                                     .user = "a" };
    struct ipc_client *other;
    assert_int_equal(ipc_client_new(s.event, &cfg, &other, NULL), 0);
    call(other, "echo", "", &a);
    peer_run_until(&s, a.count == 5);
    assert_string_equal(a.class, "org.apache.hadoop.ipc.RpcNoSuchProtocolException");
    ipc_client_free(other);
    cfg.protocol = PEER_PROTOCOL;
    cfg.version = 2;
    assert_int_equal(ipc_client_new(s.event, &cfg, &other, NULL), 0);
    call(other, "echo", "", &a);
    peer_run_until(&s, a.count == 6);
    assert_string_equal(a.class, "org.apache.hadoop.ipc.RPC$VersionMismatch");
    ipc_client_free(other);
    peer_server_stop(&s);
}

static void test_protocol_meta(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    struct ipc_client_config cfg = { .host = "localhost",
                                     .port = ipc_server_port(s.server),
                                     .protocol = "org.apache.hadoop.ipc.ProtocolMetaInfoPB",
                                     .version = 1,
                                     .user = "a" };
    struct ipc_client *c;
    assert_int_equal(ipc_client_new(s.event, &cfg, &c, NULL), 0);
    Hadoop__Common__GetProtocolVersionsRequestProto m = ECHO_INIT;
    m.protocol = (char *)PEER_PROTOCOL;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    ProtobufCMessage *ret;
    assert_int_equal(
        ipc_client_call_sync(c, "getProtocolVersions", &m.base,
                             &hadoop__common__get_protocol_versions_response_proto__descriptor, a,
                             &ret, NULL, NULL),
        0);
    Hadoop__Common__GetProtocolVersionsResponseProto *v = (void *)ret;
    assert_int_equal(v->n_protocolversions, 1);
    assert_string_equal(v->protocolversions[0]->rpckind, "RPC_PROTOCOL_BUFFER");
    assert_int_equal(v->protocolversions[0]->versions[0], 1);
    ipc_client_free(c);
    peer_server_stop(&s);
}

/* Late answers in another order. */
static void test_out_of_order(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    struct ipc_client *c = peer_client(&s, NULL, 0);
    struct answer a = { 0 }, b = { 0 }, e = { 0 };
    call(c, "hold", "one", &a);
    call(c, "hold", "two", &b);
    call(c, "echo", "three", &e);
    peer_run_until(&s, e.count);
    assert_int_equal(s.n_held, 2);
    assert_int_equal(a.count + b.count, 0);
    peer_release(&s, 1);
    peer_run_until(&s, b.count);
    assert_string_equal(b.echo, "two");
    peer_release(&s, 0);
    peer_run_until(&s, a.count);
    assert_string_equal(a.echo, "one");
    ipc_client_free(c);
    peer_server_stop(&s);
}

/* A call held by its handler outlives its connection and its server. */
static void test_call_outlives(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    struct ipc_client *c = peer_client(&s, NULL, 0);
    struct answer a = { 0 }, b = { 0 };
    call(c, "hold", "one", &a);
    call(c, "hold", "two", &b);
    peer_run_until(&s, s.n_held == 2);
    ipc_client_free(c);
    assert_int_equal(a.status, -ECANCELED);
    assert_true(a.sent);
    peer_run_until(&s, ipc_server_connections(s.server) <= 1);
    peer_release(&s, 0);
    s.server = ipc_server_free(s.server);
    assert_string_equal(ipc_call_peer(s.held[1])->user, "alice");
    peer_release(&s, 1);
    peer_server_stop(&s);
}

#define MANY 10000

static void count_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)err;
    if (r->status == 0)
        ++*(int *)userdata;
}

static void test_pipelined(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    struct ipc_client *c = peer_client(&s, NULL, 0);
    echo_message m = ECHO_INIT;
    int n = 0;
    m.protocol = (char *)"pipelined";
    for (int i = 0; i < MANY; i++)
        assert_int_equal(ipc_client_call(c, "echo", &m.base, ECHO_DESCRIPTOR, 0, count_answer, &n),
                         0);
    peer_run_until(&s, n == MANY);
    assert_int_equal(s.calls, MANY);
    ipc_client_free(c);
    peer_server_stop(&s);
}

static void test_large(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    struct ipc_client *c = peer_client(&s, NULL, 0);
    size_t n = 5u << 20;
    char *text = malloc(n + 1);
    memset(text, 'x', n);
    text[n] = 0;
    struct answer a = { 0 };
    call(c, "length", text, &a);
    peer_run_until(&s, a.count);
    assert_int_equal(a.status, 0);
    assert_string_equal(a.echo, "5242880");
    free(text);
    ipc_client_free(c);
    peer_server_stop(&s);
}

static void test_timeout(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    struct ipc_client *c = peer_client(&s, NULL, 50);
    struct answer a = { 0 }, b = { 0 };
    call(c, "hold", "one", &a);
    peer_run_until(&s, a.count);
    assert_int_equal(a.status, -ETIMEDOUT);
    assert_true(a.sent);
    assert_non_null(strstr(a.text, "hold"));
    peer_release(&s, 0); /* late and harmless */
    call(c, "echo", "again", &b);
    peer_run_until(&s, b.count);
    assert_int_equal(b.status, 0);
    assert_int_equal(a.count, 1);
    ipc_client_free(c);
    peer_server_stop(&s);
}

static void test_refused(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    struct ipc_client *c = peer_client(&s, NULL, 0);
    s.server = ipc_server_free(s.server); /* the port is free now */
    struct answer a = { 0 };
    call(c, "echo", "x", &a);
    peer_run_until(&s, a.count);
    assert_int_equal(a.status, -ECONNREFUSED);
    assert_false(a.sent);
    ipc_client_free(c);
    peer_server_stop(&s);
}

/* The server stops with a call open, restarts on the same port, and is used again. */
static void test_reconnect(void **state)
{
    (void)state;
    struct peer_server s;
    const uint16_t port = free_port();
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true, .port = port });
    struct ipc_client *c = peer_client(&s, NULL, 0);
    struct answer a = { 0 }, b = { 0 }, d = { 0 };
    call(c, "echo", "x", &a);
    peer_run_until(&s, a.count);
    call(c, "hold", "lost", &b);
    peer_run_until(&s, s.n_held == 1);
    s.server = ipc_server_free(s.server);
    peer_run_until(&s, b.count);
    assert_int_equal(b.status, -ECONNRESET);
    assert_true(b.sent);
    peer_release(&s, 0);
    peer_server_listen(&s, &(struct ipc_server_config){ .allow_simple = true, .port = port });
    call(c, "echo", "back", &d);
    peer_run_until(&s, d.count);
    assert_int_equal(d.status, 0);
    assert_string_equal(d.echo, "back");
    ipc_client_free(c);
    peer_server_stop(&s);
}

static struct ipc_client *suicidal;

static void free_client(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)r, (void)err;
    ++*(int *)userdata;
    suicidal = ipc_client_free(suicidal);
}

static void test_free_inside_callback(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    echo_message m = ECHO_INIT;
    int n = 0;
    m.protocol = (char *)"x";
    suicidal = peer_client(&s, NULL, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            ipc_client_call(suicidal, "echo", &m.base, ECHO_DESCRIPTOR, 0, free_client, &n), 0);
    peer_run_until(&s, n == 3);
    assert_null(suicidal);
    peer_server_stop(&s);
}

static void test_free_server_inside_handler(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    struct ipc_client *c = peer_client(&s, NULL, 0);
    struct answer a = { 0 }, b = { 0 };
    call(c, "stop", "", &a);
    call(c, "echo", "", &b);
    peer_run_until(&s, a.count && b.count);
    assert_int_equal(a.status, -ECONNRESET);
    assert_null(s.server);
    ipc_client_free(c);
    peer_server_stop(&s);
}

/* ---- Gathering ---- */

static bool gathers(const struct peer_server *s)
{
    int on;
    assert_true(sd_event_source_get_enabled(s->server->io, &on) >= 0);
    return on == SD_EVENT_OFF;
}

/* Calls, one after the other, until the server gathers. */
static void gather_start(struct peer_server *s, struct ipc_client *c, struct answer *a)
{
    while (!gathers(s)) {
        int before = a->count;
        call(c, "echo", "often", a);
        peer_run_until(s, a->count > before);
        assert_int_equal(a->status, 0);
    }
}

static void test_gather(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true, .gather_us = 50000 });
    struct ipc_client *c = peer_client(&s, NULL, 0), *other = peer_client(&s, NULL, 0);
    struct answer a = { 0 }, b = { 0 };
    gather_start(&s, c, &a);
    call(c, "echo", "first", &a);
    call(other, "echo", "second", &b);
    peer_run_until(&s, b.count && strcmp(a.echo, "first") == 0);
    assert_string_equal(b.echo, "second");
    peer_run_until(&s, !gathers(&s)); /* as nobody calls any more */
    call(c, "echo", "later", &a);
    peer_run_until(&s, strcmp(a.echo, "later") == 0);
    gather_start(&s, other, &b);
    ipc_client_free(c);
    ipc_client_free(other);
    peer_server_stop(&s);
}

static void test_free_server_while_gathering(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true, .gather_us = 50000 });
    struct ipc_client *c = peer_client(&s, NULL, 0);
    struct answer a = { 0 }, b = { 0 };
    gather_start(&s, c, &a);
    call(c, "stop", "", &b);
    peer_run_until(&s, b.count);
    assert_int_equal(b.status, -ECONNRESET);
    assert_null(s.server);
    ipc_client_free(c);
    peer_server_stop(&s);
}

/* ---- Clients ---- */

static void test_client_idle_and_name(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    struct ipc_client_config cfg = { .host = "no-such-host.invalid",
                                     .port = 1,
                                     .user = "a",
                                     .protocol = PEER_PROTOCOL,
                                     .version = 1,
                                     .connect_ms = 50 };
    struct ipc_client *c;
    struct answer a = { 0 };
    assert_int_equal(ipc_client_new(s.event, &cfg, &c, NULL), 0);
    call(c, "echo", "", &a);
    peer_run_until(&s, a.count);
    assert_true(a.status == -EHOSTUNREACH || a.status == -ETIMEDOUT); /* a resolver may be slow */
    assert_false(a.sent);
    ipc_client_free(c);

    cfg.host = "localhost";
    cfg.port = ipc_server_port(s.server);
    cfg.connect_ms = 0;
    cfg.idle_ms = 30;
    assert_int_equal(ipc_client_new(s.event, &cfg, &c, NULL), 0);
    call(c, "echo", "", &a);
    peer_run_until(&s, a.count == 2);
    assert_int_equal(a.status, 0);
    peer_run_until(&s, ipc_server_connections(s.server) == 0);
    call(c, "echo", "", &a);
    peer_run_until(&s, a.count == 3);
    assert_int_equal(a.status, 0);
    ipc_client_free(c);
    peer_server_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simple),
        cmocka_unit_test(test_token),
        cmocka_unit_test(test_token_bad),
        cmocka_unit_test(test_simple_refused),
        cmocka_unit_test(test_token_impostor),
        cmocka_unit_test(test_both_offered),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_protocol_meta),
        cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_call_outlives),
        cmocka_unit_test(test_pipelined),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_reconnect),
        cmocka_unit_test(test_free_inside_callback),
        cmocka_unit_test(test_free_server_inside_handler),
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_free_server_while_gathering),
        cmocka_unit_test(test_client_idle_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
