/* Tests wire/ipc/ipc-serve.c: invalid messages inside a valid frame (HARDENING E57), pings,
 * closing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/wire/ipc-raw.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct hostile_body {
    const char *name;
    const char *bytes;
    size_t n;
};

static void test_E57_bodies(void **state)
{
    (void)state;
    static const struct hostile_body bodies[] = {
        { "missing required", "", 0 },
        { "NUL in a string",
          "\x0a\x03"
          "a\0b",
          5 },
        { "not UTF-8", "\x0a\x02\xc0\x80", 4 },
        { "surrogate", "\x0a\x03\xed\xa0\x80", 5 },
        { "length beyond the end",
          "\x0a\x7f"
          "a",
          3 },
        { "varint of 11 bytes", "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12 },
        { "field 0",
          "\x02\x01"
          "a",
          3 },
        { "group", "\x0b\x0c", 2 },
        { "wrong wire type", "\x08\x01", 2 },
    };
    struct peer_server s;
    peer_server_start(&s, &raw_simple);
    int fd = raw_join(&s);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_hello(&b);
    for (size_t i = 0; i < SV_ARRAY_LEN(bodies); i++)
        raw_put_call(&b, (int32_t)i, "echo", bodies[i].bytes, bodies[i].n);
    raw_put_echo(&b, 99, "echo", "the connection lives");
    raw_send(fd, b.data, b.len);
    struct raw_reply r = { .n = 0 };
    peer_run_until(&s, raw_take(fd, &r) || raw_holds(&r, "the connection lives"));
    assert_false(r.eof);
    assert_int_equal(s.calls, 1);
    sv_close(fd);
    peer_server_stop(&s);
}

/* Errors of the connection itself: each is answered by FATAL or nothing, and closed. */
static void test_E57_frames(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &raw_simple);
    for (int i = 0; i < 8; i++) {
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
        if (i == 0)
            raw_put(&b, "hrpc\x09\0\0", 7); /* a call before the context */
        else
            raw_put_hello(&b);
        switch (i) {
        case 0:
            raw_put_echo(&b, 0, "echo", "x");
            break;
        case 1:
            raw_put(&b, "\0\0\0\1\xff", 5);
            break; /* a truncated header */
        case 2:
            raw_put(&b, "\0\0\0\2\x01\xff", 6);
            break; /* a malformed header */
        case 3:
            raw_put_frame(&b, 5, NULL, NULL, 0);
            break; /* a call of nothing */
        case 4:
            raw_put_frame(&b, -2, NULL, NULL, 0);
            break; /* unknown out of band */
        case 5:
            raw_put_frame(&b, IPC_CALL_SASL, NULL, "\x10\x01", 2);
            break;
        case 6:
            raw_put_frame(&b, IPC_CALL_CONTEXT, NULL, "", 0);
            break; /* a second context */
        case 7: {
            Hadoop__Common__RpcRequestHeaderProto h =
                HADOOP__COMMON__RPC_REQUEST_HEADER_PROTO__INIT;
            uint8_t long_id[65] = { 0 };
            h.callid = 1;
            h.clientid.data = long_id;
            h.clientid.len = sizeof(long_id);
            assert_int_equal(ipc_frame_put(&b, &h.base, NULL, NULL, 0), 0);
            break;
        }
        }
        struct raw_reply r = raw_refused(&s, b.data, b.len);
        if (r.n == 0)
            fail_msg("case %d: closed without an answer", i);
    }
    assert_int_equal(s.calls, 0);
    peer_server_stop(&s);
}

/* One call with the body, over a new connection: the answer contains `wanted`, and the connection
 * stays open. */
static void body_case(struct peer_server *s, const char *method, const struct sv_buf *body,
                      const char *wanted)
{
    _cleanup_buf_ struct sv_buf b = { 0 };
    struct raw_reply r = { .n = 0 };
    int fd = raw_join(s);
    size_t at = 0;
    raw_put_hello(&b);
    raw_put_call(&b, 1, method, body->data, body->len);
    raw_put_echo(&b, 2, "echo", "alive");
    peer_run_until(s, ({
                       ssize_t k = at < b.len ? send(fd, b.data + at, b.len - at,
                                                     MSG_DONTWAIT | MSG_NOSIGNAL)
                                              : 0;
                       at += (size_t)SV_MAX(k, 0);
                       raw_take(fd, &r) || raw_holds(&r, "alive");
                   }));
    assert_false(r.eof);
    if (!raw_holds(&r, wanted))
        fail_msg("%s with %zu bytes: not \"%s\"", method, body->len, wanted);
    sv_close(fd);
    peer_run_until(s, ipc_server_connections(s->server) == 0);
}

/* `depth` messages of field 4 in each other, from the inside out, as
 * SerializedExceptionProto.cause. */
static void put_nested(struct sv_buf *b, int depth)
{
    size_t room = (size_t)depth * 5 + 8, at = room;
    uint8_t *p = malloc(room);
    assert_non_null(p);
    for (int i = 0; i < depth; i++) {
        size_t n = room - at;
        uint8_t len[5];
        size_t k = 0;
        for (; n >= 0x80; n >>= 7)
            len[k++] = (uint8_t)(n | 0x80);
        len[k++] = (uint8_t)n;
        at -= k;
        memcpy(p + at, len, k);
        p[--at] = 4 << 3 | 2;
    }
    raw_put(b, p + at, room - at);
    free(p);
}

static void put_times(struct sv_buf *b, const char *bytes, size_t n, int times)
{
    for (int i = 0; i < times; i++)
        raw_put(b, bytes, n);
}

static void test_E57_amounts(void **state)
{
    (void)state;
    enum { MILLION = 1000000 };
    struct peer_server s;
    static const int refused[] = { 33, 10000, 100000 };
    peer_server_start(&s, &raw_simple);
    for (size_t i = 0; i < SV_ARRAY_LEN(refused) + 1; i++) {
        _cleanup_buf_ struct sv_buf b = { 0 };
        put_nested(&b, i == 0 ? 20 : refused[i - 1]);
        body_case(&s, "nested", &b, i == 0 ? "SerializedExceptionProto" : "RpcServerException");
    }
    static const struct {
        const char *what, *bytes;
        size_t n;
        const char *wanted;
    } cases[] = {
        { "unknown scalars", "\xf8\x07\x01", 3, "" }, { "unknown strings", "\xfa\x07\x01x", 4, "" },
        { "repeated numbers", "\x10\x07", 2, "" },    { "the same string", "\x0a\x01x", 3, "" },
        { "empty packed lists", "\x12\x00", 2, "" },
    };
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        _cleanup_buf_ struct sv_buf b = { 0 };
        raw_put(&b, "\x0a\x01x", 3);
        put_times(&b, cases[i].bytes, cases[i].n, MILLION);
        body_case(&s, "numbers", &b, cases[i].wanted);
    }
    peer_server_stop(&s);
}

static void test_ping_and_close_op(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &raw_simple);
    int fd = raw_join(&s);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_hello(&b);
    raw_put_frame(&b, IPC_CALL_PING, NULL, NULL, 0);
    raw_put_echo(&b, 1, "echo", "after the ping");
    raw_send(fd, b.data, b.len);
    struct raw_reply r = { .n = 0 };
    peer_run_until(&s, raw_take(fd, &r) || raw_holds(&r, "after the ping"));
    Hadoop__Common__RpcRequestHeaderProto h = HADOOP__COMMON__RPC_REQUEST_HEADER_PROTO__INIT;
    h.has_rpcop = 1;
    h.rpcop = HADOOP__COMMON__RPC_REQUEST_HEADER_PROTO__OPERATION_PROTO__RPC_CLOSE_CONNECTION;
    _cleanup_buf_ struct sv_buf c = SV_BUF_INIT(0);
    assert_int_equal(ipc_frame_put(&c, &h.base, NULL, NULL, 0), 0);
    raw_send(fd, c.data, c.len);
    peer_run_until(&s, raw_take(fd, &r));
    sv_close(fd);
    peer_run_until(&s, ipc_server_connections(s.server) == 0);
    peer_server_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_E57_bodies),
        cmocka_unit_test(test_E57_frames),
        cmocka_unit_test(test_E57_amounts),
        cmocka_unit_test(test_ping_and_close_op),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
