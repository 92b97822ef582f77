/* The IPC server and client against peers that break the protocol, stall, or want its memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "common/fd.h"
#include "tests/unit/ipc-peer.h"
#include "wire/frame.h"

/* ---- A raw peer ---- */

static int raw_connect(const struct peer_server *s)
{
    struct sockaddr_in sa = { .sin_family = AF_INET, .sin_port = htons(ipc_server_port(s->server)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof sa), 0);
    return fd;
}

static void raw_send(int fd, const void *p, size_t n)
{
    assert_int_equal(send(fd, p, n, MSG_NOSIGNAL), (ssize_t)n);
}

struct reply {
    uint8_t p[8192];
    size_t n;
    bool eof;
};

/* Takes what has come; true when the server has closed. */
static bool raw_take(int fd, struct reply *r)
{
    while (!r->eof && r->n < sizeof r->p) {
        ssize_t n = recv(fd, r->p + r->n, sizeof r->p - r->n, MSG_DONTWAIT);
        if (n > 0)
            r->n += (size_t)n;
        else if (n == 0 || errno != EAGAIN)
            r->eof = true;
        else
            break;
    }
    return r->eof;
}

static bool holds(const struct reply *r, const char *text)
{
    return memmem(r->p, r->n, text, strlen(text)) != NULL;
}

/* Sends the bytes; the server must close, and may say something before. */
static struct reply raw_refused(struct peer_server *s, const void *p, size_t n)
{
    struct reply r = { .n = 0 };
    int fd = raw_connect(s);
    raw_send(fd, p, n);
    peer_run_until(s, raw_take(fd, &r));
    sv_close(fd);
    peer_run_until(s, ipc_server_connections(s->server) == 0);
    return r;
}

/* ---- Building frames ---- */

static void put(struct sv_buf *b, const void *p, size_t n)
{
    assert_int_equal(sv_buf_put(b, p, n), 0);
}

static void put_frame(struct sv_buf *b, int32_t call_id, const ProtobufCMessage *second,
                      const void *body, size_t n)
{
    Hadoop__Common__RpcRequestHeaderProto h = HADOOP__COMMON__RPC_REQUEST_HEADER_PROTO__INIT;
    h.has_rpckind = 1;
    h.rpckind = HADOOP__COMMON__RPC_KIND_PROTO__RPC_PROTOCOL_BUFFER;
    h.callid = call_id;
    assert_int_equal(ipc_frame_put(b, &h.base, second, body, n), 0);
}

static void put_hello(struct sv_buf *b)
{
    Hadoop__Common__IpcConnectionContextProto m = HADOOP__COMMON__IPC_CONNECTION_CONTEXT_PROTO__INIT;
    Hadoop__Common__UserInformationProto user = HADOOP__COMMON__USER_INFORMATION_PROTO__INIT;
    user.effectiveuser = (char *)"mallory";
    m.userinfo = &user;
    m.protocol = (char *)PEER_PROTOCOL;
    put(b, "hrpc\x09\0\0", 7);
    put_frame(b, IPC_CALL_CONTEXT, &m.base, NULL, 0);
}

static void put_call(struct sv_buf *b, int32_t id, const char *method, const void *body, size_t n)
{
    Hadoop__Common__RequestHeaderProto m = HADOOP__COMMON__REQUEST_HEADER_PROTO__INIT;
    m.methodname = (char *)(uintptr_t)method;
    m.declaringclassprotocolname = (char *)PEER_PROTOCOL;
    m.clientprotocolversion = 1;
    put_frame(b, id, &m.base, body, n);
}

static void put_echo(struct sv_buf *b, int32_t id, const char *method, const char *text)
{
    uint8_t body[256];
    echo_message m = ECHO_INIT;
    m.protocol = (char *)(uintptr_t)text;
    put_call(b, id, method, body, protobuf_c_message_pack(&m.base, body));
}

static const struct ipc_server_config simple = { .allow_simple = true };

/* ---- Headers ---- */

static void test_headers(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *answer; /* what the answer holds; NULL = nothing is answered */
    } cases[] = {
        { "GET / HTTP/1.1\r\n\r\n", 18, "HTTP/1.1 404 Not Found" },
        { "hrpx", 4, NULL },
        { "x", 1, NULL },
        { "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11, NULL }, /* TLS ClientHello */
        { "hrpc\x02\0\0", 7, NULL },
        { "hrpc\x08\0\0", 7, "Server IPC version 9 cannot communicate with client version 8" },
        { "hrpc\x0a\0\0", 7, "Server IPC version 9 cannot communicate with client version 10" },
        { "hrpc\xff\0\0", 7, "RPC$VersionMismatch" },
        { "hrpc\x09\0\x50", 7, "Unknown auth protocol: 80" },
        { "hrpc\x09\xff\x51", 7, "Unknown auth protocol: 81" },
    };
    struct peer_server s;
    peer_server_start(&s, &simple);
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct reply r = raw_refused(&s, cases[i].bytes, cases[i].n);
        if (cases[i].answer && !holds(&r, cases[i].answer))
            fail_msg("case %zu: %zu bytes, not the answer wanted", i, r.n);
        if (!cases[i].answer)
            assert_int_equal(r.n, 0);
    }
    peer_server_stop(&s);
}

/* Every byte in a segment of its own. */
static void test_one_byte_writes(void **state)
{
    (void)state;
    struct peer_server s;
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    struct reply r = { .n = 0 };
    peer_server_start(&s, &simple);
    put_hello(&b);
    put_echo(&b, 1, "echo", "byte by byte");
    int fd = raw_connect(&s);
    for (size_t i = 0; i < b.len; i++) {
        raw_send(fd, b.data + i, 1);
        assert_true(sd_event_run(s.event, 1000) >= 0);
    }
    peer_run_until(&s, raw_take(fd, &r) || holds(&r, "byte by byte"));
    assert_false(r.eof);
    sv_close(fd);
    peer_server_stop(&s);
}

/* ---- Lengths ---- */

static void test_lengths(void **state)
{
    (void)state;
    static const char *const lengths[] = { "\x00\x00\x00\x00", "\xff\xff\xff\xff", "\x7f\xff\xff\xff",
                                           "\x80\x00\x00\x00", "\x00\x01\x00\x01" };
    struct peer_server s;
    peer_server_start(&s, &simple);
    for (size_t i = 0; i < SV_ARRAY_LEN(lengths); i++) { /* before authentication: 64 KiB */
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
        put(&b, "hrpc\x09\0\0", 7);
        put(&b, lengths[i], 4);
        struct reply r = raw_refused(&s, b.data, b.len);
        assert_true(holds(&r, "before authentication"));
    }
    for (size_t i = 0; i < 4; i++) { /* after it: 128 MiB */
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
        put_hello(&b);
        put(&b, lengths[i], 4);
        struct reply r = raw_refused(&s, b.data, b.len);
        assert_true(holds(&r, "ipc.maximum.data.length"));
    }
    peer_server_stop(&s);
}

/* A thousand connections that announce the largest frame and send nothing cost no memory. */
static void test_claims_cost_nothing(void **state)
{
    (void)state;
    enum { N = 1000 };
    struct peer_server s;
    int fd[N];
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    peer_server_start(&s, &simple);
    put_hello(&b);
    put(&b, "\x07\xff\xff\xff", 4);
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < N; i++) {
        fd[i] = raw_connect(&s);
        raw_send(fd[i], b.data, b.len);
    }
    peer_run_until(&s, ipc_server_connections(s.server) == N);
    struct reply r = { .n = 0 };
    struct peer_server *sp = &s;
    int probe = raw_connect(sp);
    _cleanup_buf_ struct sv_buf c = SV_BUF_INIT(0);
    put_hello(&c);
    put_echo(&c, 1, "echo", "alive");
    raw_send(probe, c.data, c.len);
    peer_run_until(&s, raw_take(probe, &r) || holds(&r, "alive"));
    size_t each = (mallinfo2().uordblks - before) / N;
    print_message("    %zu bytes of heap for each connection\n", each);
    assert_in_range(each, 0, 2048); /* a sanitizer's heap is not counted */
    for (int i = 0; i < N; i++)
        sv_close(fd[i]);
    sv_close(probe);
    peer_run_until(&s, ipc_server_connections(s.server) == 0);
    peer_server_stop(&s);
}

/* ---- Messages ---- */

struct hostile_body {
    const char *name;
    const char *bytes;
    size_t n;
};

static void test_bodies(void **state)
{
    (void)state;
    static const struct hostile_body bodies[] = {
        { "missing required", "", 0 },
        { "NUL in a string", "\x0a\x03" "a\0b", 5 },
        { "not UTF-8", "\x0a\x02\xc0\x80", 4 },
        { "surrogate", "\x0a\x03\xed\xa0\x80", 5 },
        { "length beyond the end", "\x0a\x7f" "a", 3 },
        { "varint of 11 bytes", "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12 },
        { "field 0", "\x02\x01" "a", 3 },
        { "group", "\x0b\x0c", 2 },
        { "wrong wire type", "\x08\x01", 2 },
    };
    struct peer_server s;
    peer_server_start(&s, &simple);
    int fd = raw_connect(&s);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    put_hello(&b);
    for (size_t i = 0; i < SV_ARRAY_LEN(bodies); i++)
        put_call(&b, (int32_t)i, "echo", bodies[i].bytes, bodies[i].n);
    put_echo(&b, 99, "echo", "the connection lives");
    raw_send(fd, b.data, b.len);
    struct reply r = { .n = 0 };
    peer_run_until(&s, raw_take(fd, &r) || holds(&r, "the connection lives"));
    assert_false(r.eof);
    assert_int_equal(s.calls, 1);
    sv_close(fd);
    peer_server_stop(&s);
}

/* What breaks the connection itself: each is answered by FATAL or nothing, and closed. */
static void test_frames(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &simple);
    for (int i = 0; i < 8; i++) {
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
        if (i == 0)
            put(&b, "hrpc\x09\0\0", 7); /* a call before the context */
        else
            put_hello(&b);
        switch (i) {
        case 0: put_echo(&b, 0, "echo", "x"); break;
        case 1: put(&b, "\0\0\0\1\xff", 5); break;         /* a header that is cut */
        case 2: put(&b, "\0\0\0\2\x01\xff", 6); break;     /* a header that is no message */
        case 3: put_frame(&b, 5, NULL, NULL, 0); break;    /* a call of nothing */
        case 4: put_frame(&b, -2, NULL, NULL, 0); break;   /* unknown out of band */
        case 5: put_frame(&b, IPC_CALL_SASL, NULL, "\x10\x01", 2); break;
        case 6: put_frame(&b, IPC_CALL_CONTEXT, NULL, "", 0); break; /* a second context */
        case 7: {
            Hadoop__Common__RpcRequestHeaderProto h = HADOOP__COMMON__RPC_REQUEST_HEADER_PROTO__INIT;
            uint8_t long_id[65] = { 0 };
            h.callid = 1;
            h.clientid.data = long_id;
            h.clientid.len = sizeof long_id;
            assert_int_equal(ipc_frame_put(&b, &h.base, NULL, NULL, 0), 0);
            break;
        }
        }
        struct reply r = raw_refused(&s, b.data, b.len);
        if (r.n == 0)
            fail_msg("case %d: closed without an answer", i);
    }
    assert_int_equal(s.calls, 0);
    peer_server_stop(&s);
}

static void test_ping_and_close_op(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &simple);
    int fd = raw_connect(&s);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    put_hello(&b);
    put_frame(&b, IPC_CALL_PING, NULL, NULL, 0);
    put_echo(&b, 1, "echo", "after the ping");
    raw_send(fd, b.data, b.len);
    struct reply r = { .n = 0 };
    peer_run_until(&s, raw_take(fd, &r) || holds(&r, "after the ping"));
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

/* The client shuts its writing side: what it asked for is still answered. */
static void test_half_close(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &simple);
    int fd = raw_connect(&s);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    put_hello(&b);
    put_echo(&b, 1, "hold", "late");
    raw_send(fd, b.data, b.len);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    peer_run_until(&s, s.n_held == 1);
    peer_release(&s, 0);
    struct reply r = { .n = 0 };
    peer_run_until(&s, raw_take(fd, &r));
    assert_true(holds(&r, "late"));
    sv_close(fd);
    peer_server_stop(&s);
}

/* ---- Pace ---- */

static void test_deadlines(void **state)
{
    (void)state;
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true, .limits = { .header_ms = 30, .handshake_ms = 60,
                                     .request_ms = 60, .idle_ms = 60, .write_ms = 60 } };
    peer_server_start(&s, &cfg);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    put_hello(&b);
    size_t hello = b.len;
    put_echo(&b, 1, "echo", "x");
    /* nothing; half a header; a header; half a context; a context; half a call; all but a byte */
    const size_t stops[] = { 0, 3, 7, hello - 1, hello, hello + 2, hello + 9, b.len - 1 };
    for (size_t i = 0; i < SV_ARRAY_LEN(stops); i++) {
        struct reply r = { .n = 0 };
        int fd = raw_connect(&s);
        raw_send(fd, b.data, stops[i]);
        peer_run_until(&s, ipc_server_connections(s.server) == 1);
        peer_run_until(&s, raw_take(fd, &r));
        sv_close(fd);
        peer_run_until(&s, ipc_server_connections(s.server) == 0);
    }
    assert_int_equal(s.calls, 0);
    peer_server_stop(&s);
}

/* A byte now and then does not keep an incomplete request alive. */
static void test_trickle(void **state)
{
    (void)state;
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true,
                                     .limits = { .request_ms = 100, .idle_ms = 60000 } };
    peer_server_start(&s, &cfg);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    put_hello(&b);
    put(&b, "\0\0\x40\0", 4);
    int fd = raw_connect(&s);
    raw_send(fd, b.data, b.len);
    struct reply r = { .n = 0 };
    int64_t next = 0, sent = 0;
    peer_run_until(&s, ({
                       if (sv_now_ms() >= next) {
                           next = sv_now_ms() + 5;
                           sent += send(fd, "x", 1, MSG_NOSIGNAL) == 1;
                       }
                       raw_take(fd, &r);
                   }));
    assert_in_range(sent, 2, 1000);
    sv_close(fd);
    peer_server_stop(&s);
}

/* Calls without end and no answer read: reading pauses, memory stays bounded, then it is cut off. */
static void test_unread_answers(void **state)
{
    (void)state;
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true,
                                     .limits = { .max_outq_per_conn = 1 << 20, .write_ms = 200 } };
    peer_server_start(&s, &cfg);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    put_hello(&b);
    for (int i = 0; i < 400; i++)
        put_echo(&b, i, "flood", "65536");
    int fd = raw_connect(&s);
    raw_send(fd, b.data, b.len);
    peer_run_until(&s, ipc_server_connections(s.server) == 1);
    peer_run_until(&s, ipc_server_connections(s.server) == 0);
    print_message("    %d of 400 calls were run\n", s.calls);
    assert_in_range(s.calls, 16, 399);
    sv_close(fd);
    peer_server_stop(&s);
}

/* The same with a peer that reads late: nothing is lost. */
static void test_late_reader(void **state)
{
    (void)state;
    enum { N = 400, EACH = 65536 };
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true, .limits = { .max_outq_per_conn = 1 << 20 } };
    peer_server_start(&s, &cfg);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    put_hello(&b);
    for (int i = 0; i < N; i++)
        put_echo(&b, i, "flood", "65536");
    int fd = raw_connect(&s), paused = 0;
    raw_send(fd, b.data, b.len);
    peer_run_until(&s, s.calls > 16 && (paused = s.calls));
    size_t total = 0;
    char sink[65536];
    peer_run_until(&s, ({
                       ssize_t n;
                       while ((n = recv(fd, sink, sizeof sink, MSG_DONTWAIT)) > 0)
                           total += (size_t)n;
                       total > (size_t)N * EACH;
                   }));
    assert_int_equal(s.calls, N);
    assert_true(paused < N);
    sv_close(fd);
    peer_server_stop(&s);
}

static void test_inflight_bound(void **state)
{
    (void)state;
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true, .limits = { .max_inflight_per_conn = 4 } };
    peer_server_start(&s, &cfg);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    put_hello(&b);
    for (int i = 0; i < 10; i++)
        put_echo(&b, i, "hold", "kept");
    int fd = raw_connect(&s);
    raw_send(fd, b.data, b.len);
    peer_run_until(&s, s.n_held == 4);
    for (size_t i = 0; i < 10; i++) { /* answered one by one, the others follow */
        peer_run_until(&s, s.n_held > i);
        assert_in_range(s.n_held - i, 1, 4);
        peer_release(&s, i);
    }
    sv_close(fd);
    peer_server_stop(&s);
}

/* ---- Numbers ---- */

static void test_connection_limits(void **state)
{
    (void)state;
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true,
                                     .limits = { .max_connections = 6, .max_preauth = 2 } };
    peer_server_start(&s, &cfg);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    put_hello(&b);
    put_echo(&b, 1, "echo", "in");
    int in[4], silent[3];
    struct reply r = { .n = 0 };
    for (int i = 0; i < 4; i++) {
        in[i] = raw_connect(&s);
        raw_send(in[i], b.data, b.len);
        r.n = 0;
        peer_run_until(&s, raw_take(in[i], &r) || holds(&r, "in"));
    }
    for (int i = 0; i < 2; i++)
        silent[i] = raw_connect(&s);
    peer_run_until(&s, ipc_server_connections(s.server) == 6);
    silent[2] = raw_connect(&s); /* the seventh */
    peer_run_until(&s, raw_take(silent[2], &r));
    sv_close(in[0]);
    peer_run_until(&s, ipc_server_connections(s.server) == 5);
    sv_close(silent[2]);
    silent[2] = raw_connect(&s); /* the third that has not said who it is: the first one goes */
    r = (struct reply){ .n = 0 };
    peer_run_until(&s, raw_take(silent[0], &r));
    assert_int_equal(ipc_server_connections(s.server), 5);
    for (int i = 0; i < 3; i++) {
        sv_close(silent[i]);
        sv_close(in[i + 1]);
    }
    peer_server_stop(&s);
}

/* Frames that are never finished: together they may not take more than the server's memory. */
static void test_memory_of_all(void **state)
{
    (void)state;
    enum { N = 20, EACH = 1 << 20 };
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true, .limits = { .max_memory = 8 << 20 } };
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    int fd[N];
    peer_server_start(&s, &cfg);
    put_hello(&b);
    put(&b, "\x07\xff\xff\xff", 4);
    _cleanup_free_ char *filler = calloc(1, EACH);
    size_t at[N] = { 0 };
    for (int i = 0; i < N; i++) {
        fd[i] = raw_connect(&s);
        raw_send(fd[i], b.data, b.len);
    }
    peer_run_until(&s, ipc_server_connections(s.server) == N);
    peer_run_until(&s, ({ /* all that the server takes or does not refuse */
                       int open = 0;
                       for (int i = 0; i < N; i++) {
                           ssize_t n = send(fd[i], filler, EACH - at[i], MSG_DONTWAIT | MSG_NOSIGNAL);
                           at[i] = n < 0 && errno != EAGAIN ? EACH : at[i] + (size_t)SV_MAX(n, 0);
                           open += at[i] < EACH;
                       }
                       open == 0 && ipc_server_connections(s.server) <= 12;
                   }));
    assert_in_range(ipc_server_connections(s.server), 3, 12);
    struct reply r = { .n = 0 };
    _cleanup_buf_ struct sv_buf c = SV_BUF_INIT(0);
    put_hello(&c);
    put_echo(&c, 1, "echo", "others are served");
    int probe = raw_connect(&s);
    raw_send(probe, c.data, c.len);
    peer_run_until(&s, raw_take(probe, &r) || holds(&r, "others are served"));
    assert_false(r.eof);
    sv_close(probe);
    for (int i = 0; i < N; i++)
        sv_close(fd[i]);
    peer_run_until(&s, ipc_server_connections(s.server) == 0);
    peer_server_stop(&s);
}

/* No descriptors left: accepting pauses without spinning, and goes on when there are some. */
static void test_descriptors_exhausted(void **state)
{
    (void)state;
    struct peer_server s;
    struct rlimit old, tight;
    int filler[64], n = 0;
    peer_server_start(&s, &simple);
    int one = raw_connect(&s), two = raw_connect(&s);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    tight = old;
    tight.rlim_cur = 64;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    while (n < 64 && (filler[n] = dup(one)) >= 0)
        n++;
    int64_t end = sv_now_ms() + 100;
    int turns = 0;
    while (sv_now_ms() < end) {
        assert_true(sd_event_run(s.event, 10000) >= 0);
        turns++;
    }
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

/* ---- SASL on the wire ---- */

static void test_sasl_frames(void **state)
{
    (void)state;
    static const struct {
        const char *bytes; /* an RpcSaslProto */
        size_t n;
        const char *answer;
    } cases[] = {
        { "\x10\x00", 2, "SaslException" },                     /* SUCCESS from a client */
        { "\x10\x05", 2, "SaslException" },                     /* WRAP */
        { "\x10\x63", 2, "SaslException" },                     /* an unknown state */
        { "\x10\x04\x1a\x01x", 5, "SaslException" },            /* RESPONSE before NEGOTIATE */
        { "\x10\x02", 2, "malformed" },                         /* INITIATE without a mechanism */
        { "\x10\x02\x22\x0a\x0a\x06SIMPLE\x12\x00", 14, "Available:[TOKEN]" },
        { "\x10\x02\x22\x12\x0a\x08KERBEROS\x12\x06GSSAPI", 22, "Available:[TOKEN]" },
        { "\x10\x02\x1a\x03" "a=b\x22\x13\x0a\x05TOKEN\x12\x0a" "DIGEST-MD5", 28, "format violation" },
        { "\x10", 1, "malformed" },
    };
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .verify_token = peer_verify });
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
        put(&b, "hrpc\x09\0\xdf", 7);
        put_frame(&b, IPC_CALL_SASL, NULL, cases[i].bytes, cases[i].n);
        struct reply r = raw_refused(&s, b.data, b.len);
        if (!holds(&r, cases[i].answer))
            fail_msg("case %zu: %zu bytes, not the answer wanted", i, r.n);
    }
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0); /* a call, a context instead of SASL */
    put(&b, "hrpc\x09\0\xdf", 7);
    put_echo(&b, 1, "echo", "x");
    struct reply r = raw_refused(&s, b.data, b.len);
    assert_true(holds(&r, "not established"));
    b.len = 7;
    put_frame(&b, IPC_CALL_CONTEXT, NULL, "", 0);
    r = raw_refused(&s, b.data, b.len);
    assert_true(holds(&r, "during SASL"));
    b.len = 7;
    put_frame(&b, IPC_CALL_SASL, NULL, "\x10\x01", 2); /* NEGOTIATE twice */
    put_frame(&b, IPC_CALL_SASL, NULL, "\x10\x01", 2);
    r = raw_refused(&s, b.data, b.len);
    assert_true(holds(&r, "already attempted"));
    assert_int_equal(s.calls, 0);
    peer_server_stop(&s);
}

/* ---- A hostile server ---- */

struct fake {
    const void *bytes;
    size_t n;
    int fd, conn;
};

static int on_fake(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    (void)src, (void)revents;
    struct fake *f = userdata;
    f->conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
    assert_true(f->conn >= 0);
    raw_send(f->conn, f->bytes, f->n);
    (void)shutdown(f->conn, SHUT_WR);
    return 0;
}

struct outcome {
    int count, status;
    char text[SV_ERROR_TEXT_MAX];
};

static void on_outcome(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct outcome *o = userdata;
    o->count++;
    o->status = r->status;
    snprintf(o->text, sizeof o->text, "%s", r->status < 0 ? err->text : "");
}

static void test_hostile_server(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        bool token;
    } cases[] = {
        { "", 0, false },
        { "HTTP/1.1 400 Bad Request\r\n", 26, false },
        { "\xff\xff\xff\xff", 4, false },
        { "\0\0\0\0", 4, false },
        { "\x7f\xff\xff\xff", 4, false },
        { "\0\0\0\1\xff", 5, false },
        { "\0\0\0\2\1\xff", 6, false },
        { "\0\0\0\5\4\x08\1\x10\0", 9, false },       /* success of another call */
        { "\0\0\0\5\4\x08\1\x10\x09", 9, false },
        { "\0\0\0\x0c\x08\x08\xdf\xff\xff\xff\x0f\x10\0\2\x10\0", 15, false },
        { "\0\0\0\x0b\x08\x08\xdf\xff\xff\xff\x0f\x10\0\2\x10\0", 16, true },
        { "\0\0\0\x05\4\x08\1\x10\0", 9, true },           /* an answer before SASL */
    };
    sd_event *event;
    assert_true(sd_event_new(&event) >= 0);
    struct peer_server s = { .event = event };
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct fake f = { cases[i].bytes, cases[i].n, -1, -1 };
        struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t len = sizeof sa;
        f.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(f.fd, (struct sockaddr *)&sa, sizeof sa), 0);
        assert_int_equal(listen(f.fd, 8), 0);
        assert_int_equal(getsockname(f.fd, (struct sockaddr *)&sa, &len), 0);
        sd_event_source *io = NULL;
        assert_true(sd_event_add_io(event, &io, f.fd, EPOLLIN, on_fake, &f) >= 0);
        struct ipc_client_config cfg = { .host = "127.0.0.1", .port = ntohs(sa.sin_port), .version = 1,
                                         .protocol = PEER_PROTOCOL, .user = "a",
                                         .token = cases[i].token ? &peer_token : NULL };
        struct ipc_client *c;
        struct outcome o = { .count = 0 };
        echo_message m = ECHO_INIT;
        m.protocol = (char *)"x";
        assert_int_equal(ipc_client_new(event, &cfg, &c, NULL), 0);
        assert_int_equal(ipc_client_call(c, "echo", &m.base, ECHO_DESCRIPTOR, 0, on_outcome, &o), 0);
        peer_run_until(&s, o.count);
        if (o.status >= 0 || !o.text[0])
            fail_msg("case %zu: status %d", i, o.status);
        assert_int_equal(o.count, 1);
        ipc_client_free(c);
        sd_event_source_disable_unref(io);
        sv_close(f.fd);
        sv_close(f.conn);
    }
    sd_event_unref(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_one_byte_writes),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_claims_cost_nothing),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_ping_and_close_op),
        cmocka_unit_test(test_half_close),
        cmocka_unit_test(test_deadlines),
        cmocka_unit_test(test_trickle),
        cmocka_unit_test(test_unread_answers),
        cmocka_unit_test(test_late_reader),
        cmocka_unit_test(test_inflight_bound),
        cmocka_unit_test(test_connection_limits),
        cmocka_unit_test(test_memory_of_all),
        cmocka_unit_test(test_descriptors_exhausted),
        cmocka_unit_test(test_sasl_frames),
        cmocka_unit_test(test_hostile_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
