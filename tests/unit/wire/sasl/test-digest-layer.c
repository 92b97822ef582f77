/* Tests wire/sasl/digest-layer.c, ipc-client-layer.c and qop.c (hadoop.rpc.protection): calls in
 * WRAP messages between client and server, and rejected ones. HARDENING E56 (inner lengths) and F67
 * (forged, lost and repeated messages). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/fd.h"
#include "tests/unit/wire/ipc-peer.h"
#include "tests/unit/wire/ipc-raw.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-conf.h"
#include "wire/sasl/digest-exchange.h"
#include "wire/sasl/qop.h"

/* ---- Client and server ---- */

struct outcome {
    int count, status;
    size_t len;
    char text[SV_ERROR_TEXT_MAX];
};

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct outcome *o = userdata;
    o->count++;
    o->status = r->status;
    o->len = r->response ? strlen(((const echo_message *)r->response)->protocol) : 0;
    snprintf(o->text, sizeof(o->text), "%s",
             r->status < 0 ? err->text : ((const echo_message *)r->response)->protocol);
}

static void call(struct ipc_client *c, const char *method, const char *text, struct outcome *o)
{
    echo_message m = ECHO_INIT;
    m.protocol = (char *)(uintptr_t)text;
    assert_int_equal(ipc_client_call(c, method, &m.base, ECHO_DESCRIPTOR, 0, on_answer, o), 0);
}

static struct ipc_client *client_of(struct peer_server *s, uint32_t qop_mask)
{
    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .port = ipc_server_port(s->server),
                                     .protocol = PEER_PROTOCOL,
                                     .version = 1,
                                     .token = &peer_token,
                                     .qop_mask = qop_mask };
    struct ipc_client *c = NULL;
    assert_int_equal(ipc_client_new(s->event, &cfg, &c, NULL), 0);
    return c;
}

static void both(uint32_t server_mask, uint32_t client_mask, int wanted)
{
    struct peer_server s;
    peer_server_start(
        &s, &(struct ipc_server_config){ .verify_token = peer_verify, .qop_mask = server_mask });
    struct ipc_client *c = client_of(&s, client_mask);
    struct outcome o = { 0 };
    call(c, "whoami", "", &o);
    peer_run_until(&s, o.count);
    assert_int_equal(o.status, wanted);
    if (wanted == 0)
        assert_string_equal(o.text, "appattempt_1_0001_000001/token");
    else
        assert_non_null(strstr(o.text, "hadoop.rpc.protection"));
    ipc_client_free(c);
    peer_server_stop(&s);
}

static void test_qop_negotiation(void **state)
{
    (void)state;
    for (uint32_t server = 1; server <= IPC_QOP_ALL; server++)
        for (uint32_t client = 1; client <= IPC_QOP_ALL; client++)
            both(server, client, server & client ? 0 : -EACCES);
    both(0, IPC_QOP_AUTH, 0);
    both(IPC_QOP_AUTH, 0, 0);
}

/* Large and small, many at once: wraps hold several frames, and frames several wraps. */
static void volume(uint32_t qop, size_t big)
{
    struct peer_server s;
    peer_server_start(&s,
                      &(struct ipc_server_config){ .verify_token = peer_verify, .qop_mask = qop });
    struct ipc_client *c = client_of(&s, qop);
    struct outcome small = { 0 }, large = { 0 }, back = { 0 };
    char *text = calloc(1, big + 1), size[24];
    memset(text, 'x', big);
    snprintf(size, sizeof(size), "%zu", big);
    for (int i = 0; i < 300; i++)
        call(c, "echo", "small", &small);
    call(c, "length", text, &large);
    call(c, "flood", size, &back);
    for (int i = 0; i < 300; i++)
        call(c, "echo", "small", &small);
    peer_run_until(&s, small.count == 600 && large.count && back.count);
    assert_int_equal(small.status, 0);
    assert_string_equal(large.text, size);
    assert_int_equal(back.len, big);
    free(text);
    ipc_client_free(c);
    peer_server_stop(&s);
}

static void test_volume(void **state)
{
    (void)state;
    volume(IPC_QOP_INTEGRITY, 8u << 20);
    volume(IPC_QOP_PRIVACY, 1u << 20);
}

/* ---- A raw peer with the token ---- */

struct member {
    int fd;
    struct sasl_layer *layer;
};

/* Runs SASL step by step, up to the first wrapped packet. */
static struct member join(struct peer_server *s, uint32_t qop)
{
    struct member m = { .fd = raw_connect(ipc_server_port(s->server)) };
    _cleanup_(sasl_client_freep) struct sasl_client *c = NULL;
    _cleanup_buf_ struct sv_buf b = { 0 };
    struct sv_error err = { 0 };
    struct sasl_bytes text;
    raw_put(&b, "hrpc\x09\0\xdf", 7);
    raw_put_sasl(&b, IPC_SASL_NEGOTIATE, NULL, 0);
    raw_send(m.fd, b.data, b.len);
    struct raw_sasl got = raw_take_sasl(s, m.fd);
    assert_int_equal(ipc_digest_client_new(&peer_token, qop, &c), 0);
    assert_int_equal(ipc_sasl_client_step(c, got.token, got.token_len, &text, &err), 0);
    sv_buf_free(&b);
    raw_put_sasl(&b, IPC_SASL_INITIATE, text.p, text.n);
    raw_send(m.fd, b.data, b.len);
    got = raw_take_sasl(s, m.fd);
    assert_int_equal(ipc_sasl_client_step(c, got.token, got.token_len, &text, &err), 0);
    m.layer = ipc_sasl_client_take_layer(c);
    assert_non_null(m.layer);
    return m;
}

static void leave(struct member *m)
{
    m->fd = sv_close(m->fd);
    m->layer = ipc_sasl_layer_free(m->layer);
}

/* Appends the bytes as one WRAP message. */
static void put_wrap(struct sv_buf *b, struct member *m, const void *p, size_t n)
{
    _cleanup_free_ uint8_t *token = malloc(ipc_sasl_layer_size(m->layer, n));
    assert_int_equal(ipc_sasl_layer_wrap(m->layer, p, n, token), 0);
    raw_put_sasl(b, IPC_SASL_WRAP, token, ipc_sasl_layer_size(m->layer, n));
}

static void put_context(struct sv_buf *b)
{
    Hadoop__Common__IpcConnectionContextProto m =
        HADOOP__COMMON__IPC_CONNECTION_CONTEXT_PROTO__INIT;
    m.protocol = (char *)PEER_PROTOCOL;
    raw_put_frame(b, IPC_CALL_CONTEXT, &m.base, NULL, 0);
}

/* Sends the bytes that `make` builds; the server must close after `calls` calls. */
static void attack(uint32_t qop, void (*make)(struct sv_buf *out, struct member *m), int calls)
{
    struct peer_server s;
    peer_server_start(&s,
                      &(struct ipc_server_config){ .verify_token = peer_verify, .qop_mask = qop });
    struct member m = join(&s, qop);
    _cleanup_buf_ struct sv_buf b = { 0 };
    struct raw_reply r = { .n = 0 };
    make(&b, &m);
    raw_send(m.fd, b.data, b.len);
    peer_run_until(&s, raw_take(m.fd, &r));
    assert_int_equal(s.calls, calls);
    leave(&m);
    peer_run_until(&s, ipc_server_connections(s.server) == 0);
    peer_server_stop(&s);
}

#define INNER(name, ...)                                                                           \
    static void name(struct sv_buf *out, struct member *m)                                         \
    {                                                                                              \
        _cleanup_buf_ struct sv_buf b = { 0 };                                                     \
        put_context(&b);                                                                           \
        put_wrap(out, m, b.data, b.len);                                                           \
        sv_buf_free(&b);                                                                           \
        __VA_ARGS__                                                                                \
    }
#define ECHO(id) raw_put_echo(&b, (id), "echo", "x");
#define WRAPPED(...) put_wrap(out, m, __VA_ARGS__);

INNER(minus_one, WRAPPED("\xff\xff\xff\xff", 4))
INNER(huge, WRAPPED("\x7f\xff\xff\xff", 4))
INNER(zero, WRAPPED("\0\0\0\0", 4))
INNER(second_context, put_context(&b); WRAPPED(b.data, b.len))
INNER(sasl_inside, raw_put_sasl(&b, IPC_SASL_WRAP, "x", 1); WRAPPED(b.data, b.len))
INNER(not_wrapped, ECHO(1) raw_put(out, b.data, b.len);)
INNER(other_state, raw_put_sasl(out, IPC_SASL_NEGOTIATE, NULL, 0);)
INNER(no_token, raw_put_sasl(out, IPC_SASL_WRAP, NULL, 0);)
INNER(short_token, raw_put_sasl(out, IPC_SASL_WRAP, "0123456789abcde", 15);)
INNER(forged, ECHO(1) WRAPPED(b.data, b.len) out->data[out->len - 20] ^= 1;)
INNER(forged_number, ECHO(1) WRAPPED(b.data, b.len) out->data[out->len - 1] ^= 1;)
INNER(forged_type, ECHO(1) WRAPPED(b.data, b.len) out->data[out->len - 5] ^= 1;)
INNER(repeated, ECHO(1) size_t at = out->len; WRAPPED(b.data, b.len) size_t n = out->len - at;
      uint8_t copy[512]; memcpy(copy, out->data + at, n); raw_put(out, copy, n);)
INNER(lost, ECHO(1) size_t at = out->len; WRAPPED(b.data, b.len) out->len = at;
      WRAPPED(b.data, b.len))
INNER(after_a_good_one, ECHO(1) ECHO(2) WRAPPED(b.data, b.len) WRAPPED("\xff\xff\xff\xff", 4))

static void test_E56_F67_attacks(void **state)
{
    (void)state;
    static const struct {
        void (*make)(struct sv_buf *out, struct member *m);
        int calls;
    } cases[] = {
        { minus_one, 0 },      { huge, 0 },          { zero, 0 },
        { second_context, 0 }, { sasl_inside, 0 },   { not_wrapped, 0 },
        { other_state, 0 },    { no_token, 0 },      { short_token, 0 },
        { forged, 0 },         { forged_number, 0 }, { forged_type, 0 },
        { repeated, 1 },       { lost, 0 },          { after_a_good_one, 2 },
    };
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        attack(IPC_QOP_INTEGRITY, cases[i].make, cases[i].calls);
        attack(IPC_QOP_PRIVACY, cases[i].make, cases[i].calls);
    }
}

/* One frame split over many wraps, many in one, and an incomplete one. */
static void test_E56_pieces(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .verify_token = peer_verify,
                                                       .qop_mask = IPC_QOP_INTEGRITY,
                                                       .limits.request_ms = 300 });
    struct member m = join(&s, IPC_QOP_INTEGRITY);
    _cleanup_buf_ struct sv_buf plain = { 0 }, out = { 0 };
    put_context(&plain);
    for (int i = 0; i < 20; i++)
        raw_put_echo(&plain, i, "echo", "in pieces");
    for (size_t i = 0; i < plain.len; i++)
        put_wrap(&out, &m, plain.data + i, 1);
    raw_send(m.fd, out.data, out.len);
    peer_run_until(&s, s.calls == 20);
    sv_buf_free(&out);
    sv_buf_free(&plain);
    for (int i = 0; i < 500; i++)
        raw_put_echo(&plain, i, "echo", "together");
    put_wrap(&out, &m, plain.data, plain.len);
    raw_send(m.fd, out.data, out.len);
    peer_run_until(&s, s.calls == 520);
    sv_buf_free(&out);
    struct raw_reply r = { .n = 0 };
    while (!raw_take(m.fd, &r) && r.n == sizeof(r.p))
        r.n = 0;
    /* an announced size of 60000 bytes, then single bytes: the inner frame's deadline applies */
    put_wrap(&out, &m, "\0\0\xea\x60", 4);
    raw_send(m.fd, out.data, out.len);
    int64_t next = 0;
    peer_run_until(&s, ({
        if (sv_now_ms() >= next && ipc_server_connections(s.server)) {
            next = sv_now_ms() + 20;
            sv_buf_free(&out);
            put_wrap(&out, &m, "z", 1);
            (void)!send(m.fd, out.data, out.len, MSG_NOSIGNAL);
        }
        r.n = 0;
        raw_take(m.fd, &r) || ipc_server_connections(s.server) == 0;
    }));
    leave(&m);
    peer_server_stop(&s);
}

/* ---- Configuration values ---- */

static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t mask; /* 0 = refused */
    } cases[] = {
        { "authentication", IPC_QOP_AUTH },
        { "Integrity", IPC_QOP_INTEGRITY },
        { " privacy ", IPC_QOP_PRIVACY },
        { "privacy, integrity,authentication", IPC_QOP_ALL },
        { "", 0 },
        { "privacy,", 0 },
        { ",privacy", 0 },
        { "auth-conf", 0 },
        { "privacy integrity", 0 },
        { "privac", 0 },
    };
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        uint32_t mask = 0;
        struct sv_error err = { 0 };
        int r = ipc_qop_parse(cases[i].text, &mask, &err);
        assert_int_equal(r, cases[i].mask ? 0 : -EINVAL);
        assert_int_equal(mask, cases[i].mask);
        if (r < 0)
            assert_non_null(strstr(err.text, "hadoop.rpc.protection"));
    }
}

static int settings(const char *key, const char *value, struct ipc_server_settings *ret, char *text)
{
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    struct sv_error err = { 0 };
    if (key)
        assert_int_equal(sv_conf_set(conf, key, value), 0);
    int r = ipc_settings_read(conf, ret, &err);
    snprintf(text, SV_ERROR_TEXT_MAX, "%s", r < 0 ? err.text : "");
    return r;
}

static void test_settings(void **state)
{
    (void)state;
    struct ipc_server_settings s;
    char text[SV_ERROR_TEXT_MAX];
    assert_int_equal(settings(NULL, NULL, &s, text), 0);
    assert_int_equal(s.qop_mask, IPC_QOP_AUTH);
    assert_int_equal(s.limits.max_frame, 128 << 20);
    assert_int_equal(s.limits.crowd_idle_ms, 20000);
    assert_int_equal(settings("hadoop.rpc.protection", "integrity,privacy", &s, text), 0);
    assert_int_equal(s.qop_mask, IPC_QOP_INTEGRITY | IPC_QOP_PRIVACY);
    assert_int_equal(settings("ipc.maximum.data.length", "1048576", &s, text), 0);
    assert_int_equal(s.limits.max_frame, 1048576);
    static const char *const bad[][2] = {
        { "hadoop.rpc.protection", "none" },
        { "ipc.maximum.data.length", "999999999999" },
        { "ipc.server.max.connections", "-1" },
        { "selvedge.ipc.max-connections-per-address", "0" },
        { "ipc.server.listen.queue.size", "many" },
    };
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        assert_true(settings(bad[i][0], bad[i][1], &s, text) < 0);
        assert_non_null(strstr(text, bad[i][0]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_qop_negotiation), cmocka_unit_test(test_volume),
        cmocka_unit_test(test_E56_F67_attacks), cmocka_unit_test(test_E56_pieces),
        cmocka_unit_test(test_words),           cmocka_unit_test(test_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
