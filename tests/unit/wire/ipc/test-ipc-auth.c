/* Tests wire/ipc/ipc-auth.c: the handshake of a connection to the IPC server, and claimed frame
 * sizes. HARDENING E54, E55, E61. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/wire/ipc-raw.h"
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static void test_E54_headers(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *answer; /* contained in the answer; NULL = no answer */
    } cases[] = {
        { "GET / HTTP/1.1\r\n\r\n", 18, "HTTP/1.1 404 Not Found" },
        { "hrpx", 4, NULL },
        { "x", 1, NULL },
        { "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11, NULL }, /* TLS ClientHello */
        { "hrpc\x00\0\0", 7, NULL },
        { "hrpc\x01\0\0", 7, NULL },
        { "hrpc\x02\0\0", 7, "client version 2" },
        { "hrpc\x03\0\0", 7, "client version 3" },
        { "hrpc\x08\0\0", 7, "Server IPC version 9 cannot communicate with client version 8" },
        { "hrpc\x0a\0\0", 7, "Server IPC version 9 cannot communicate with client version 10" },
        { "hrpc\x7f\0\0", 7, "RPC$VersionMismatch" },
        { "hrpc\xff\0\0", 7, NULL },
        { "hrpc\x09\0\x50", 7, "Unknown auth protocol: 80" },
        { "hrpc\x09\xff\x51", 7, "Unknown auth protocol: 81" },
    };
    struct peer_server s;
    peer_server_start(&s, &raw_simple);
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct raw_reply r = raw_refused(&s, cases[i].bytes, cases[i].n);
        if (cases[i].answer && !raw_holds(&r, cases[i].answer))
            fail_msg("case %zu: %zu bytes, not the answer wanted", i, r.n);
        if (!cases[i].answer)
            assert_int_equal(r.n, 0);
    }
    peer_server_stop(&s);
}

/* Every byte in a separate segment. */
static void test_E54_one_byte_writes(void **state)
{
    (void)state;
    struct peer_server s;
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    struct raw_reply r = { .n = 0 };
    peer_server_start(&s, &raw_simple);
    raw_put_hello(&b);
    raw_put_echo(&b, 1, "echo", "byte by byte");
    int fd = raw_join(&s);
    for (size_t i = 0; i < b.len; i++) {
        raw_send(fd, b.data + i, 1);
        assert_true(sd_event_run(s.event, 1000) >= 0);
    }
    peer_run_until(&s, raw_take(fd, &r) || raw_holds(&r, "byte by byte"));
    assert_false(r.eof);
    sv_close(fd);
    peer_server_stop(&s);
}

static void test_E55_lengths(void **state)
{
    (void)state;
    static const char *const lengths[] = { "\x00\x00\x00\x00", "\xff\xff\xff\xff",
                                           "\x7f\xff\xff\xff", "\x80\x00\x00\x00",
                                           "\x00\x01\x00\x01" };
    struct peer_server s;
    peer_server_start(&s, &raw_simple);
    for (size_t i = 0; i < SV_ARRAY_LEN(lengths); i++) { /* before authentication: 64 KiB */
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
        raw_put(&b, "hrpc\x09\0\0", 7);
        raw_put(&b, lengths[i], 4);
        struct raw_reply r = raw_refused(&s, b.data, b.len);
        assert_true(raw_holds(&r, "before authentication"));
    }
    for (size_t i = 0; i < 4; i++) { /* after it: 128 MiB */
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
        raw_put_hello(&b);
        raw_put(&b, lengths[i], 4);
        struct raw_reply r = raw_refused(&s, b.data, b.len);
        assert_true(raw_holds(&r, "ipc.maximum.data.length"));
    }
    peer_server_stop(&s);
}

/* A thousand connections that announce the largest frame and send nothing take no memory. */
static void test_E55_claims_cost_nothing(void **state)
{
    (void)state;
    enum { N = 1000 };
    struct peer_server s;
    int fd[N];
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    struct ipc_server_config cfg = raw_simple;
    cfg.limits.max_per_address = N + 1;
    peer_server_start(&s, &cfg);
    raw_put_hello(&b);
    raw_put(&b, "\x07\xff\xff\xff", 4);
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < N; i++) {
        fd[i] = raw_join(&s);
        raw_send(fd[i], b.data, b.len);
    }
    peer_run_until(&s, ipc_server_connections(s.server) == N);
    struct raw_reply r = { .n = 0 };
    struct peer_server *sp = &s;
    int probe = raw_join(sp);
    _cleanup_buf_ struct sv_buf c = SV_BUF_INIT(0);
    raw_put_hello(&c);
    raw_put_echo(&c, 1, "echo", "alive");
    raw_send(probe, c.data, c.len);
    peer_run_until(&s, raw_take(probe, &r) || raw_holds(&r, "alive"));
    size_t each = (mallinfo2().uordblks - before) / N;
    print_message("    %zu bytes of heap for each connection\n", each);
    assert_in_range(each, 0, 2048); /* a sanitizer's heap is not counted */
    for (int i = 0; i < N; i++)
        sv_close(fd[i]);
    sv_close(probe);
    peer_run_until(&s, ipc_server_connections(s.server) == 0);
    peer_server_stop(&s);
}

/* Unauthenticated: 10000 connections, half of which send nothing, half the front of an endless 64
 * KiB frame. Memory is proportional to connections and sent bytes, not to announced sizes. */
static void test_E55_unfinished_by_10000(void **state)
{
    (void)state;
    enum { PER_CONN = 1024, SENT = 4000 };
    struct rlimit old, wide;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    wide = old;
    wide.rlim_cur = SV_MIN(old.rlim_max, (rlim_t)20400);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &wide), 0);
    size_t n = SV_MIN((size_t)10000, (size_t)(wide.rlim_cur - 100) / 2);
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true,
                                     .limits = { .max_connections = n,
                                                 .max_per_address = n,
                                                 .max_preauth = n,
                                                 .header_ms = RAW_MS,
                                                 .handshake_ms = RAW_MS } };
    _cleanup_free_ int *fd = calloc(n, sizeof(*fd));
    _cleanup_buf_ struct sv_buf b = { 0 };
    _cleanup_free_ uint8_t *filler = calloc(1, SENT);
    raw_put(&b, "hrpc\x09\0\0\0\1\0\0", 11);
    raw_put(&b, filler, SENT - b.len);
    peer_server_start(&s, &cfg);
    size_t before = mallinfo2().uordblks;
    for (size_t i = 0; i < n; i++) {
        fd[i] = raw_join(&s);
        if (i % 2)
            raw_send(fd[i], b.data, b.len);
        if (i % 256 == 255)
            peer_run_until(&s, ipc_server_connections(s.server) == i + 1);
    }
    peer_run_until(&s, ipc_server_connections(s.server) == n);
    for (int i = 0; i < 200; i++) /* everything sent is read */
        assert_true(sd_event_run(s.event, 0) >= 0);
    size_t grown = mallinfo2().uordblks - before;
    print_message("    %zu connections: %zu bytes each\n", n, grown / n);
    assert_in_range(grown, 0,
                    n * PER_CONN + n / 2 * SENT * 2); /* a sanitizer's heap is not counted */
    for (size_t i = 0; i < n; i++)
        raw_reset(fd[i]);
    peer_run_until(&s, ipc_server_connections(s.server) == 0);
    peer_server_stop(&s);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

/* A server that requires tokens rejects SIMPLE by the header alone. */
static void test_E61_simple_is_refused_first(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .verify_token = peer_verify });
    struct raw_reply r = raw_refused(&s, "hrpc\x09\0\0", 7);
    assert_true(raw_holds(&r, "SIMPLE authentication is not enabled.  Available:[TOKEN]"));
    assert_true(raw_holds(&r, JAVA_ACCESS_CONTROL));
    _cleanup_buf_ struct sv_buf b = { 0 };
    raw_put_hello(&b);
    raw_put_echo(&b, 1, "echo", "x");
    r = raw_refused(&s, b.data, b.len);
    assert_false(raw_holds(&r, "mallory"));
    assert_int_equal(s.calls, 0);
    peer_server_stop(&s);
}

/* Answers as the test says; counts how often it is asked. */
static struct {
    int answer, asked;
} proxies;

static int impersonation(void *userdata, const struct ipc_peer *peer, struct sv_error *err)
{
    (void)userdata;
    assert_string_equal(peer->user, "ann");
    assert_string_equal(peer->real_user, "hive");
    proxies.asked++;
    return proxies.answer == -EACCES ? sv_error_set(err, -EACCES, "hive is not ann")
                                     : proxies.answer;
}

/* A user who acts for another: admitted, refused, or kept until it is known; calls that came with
 * the context wait with it. A server without proxy users refuses. */
static void test_impersonation(void **state)
{
    static const struct {
        int first, then;
        const char *answer;
        bool refused;
    } cases[] = {
        { 0, 0, "hive as ann", false },
        { -EACCES, 0, "hive is not ann", true },
        { -EAGAIN, 0, "hive as ann", false },
        { -EAGAIN, -EACCES, "hive is not ann", true },
    };
    struct peer_server s;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
        struct raw_reply r = { 0 };
        int fd;

        peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true,
                                                           .impersonation = impersonation });
        proxies.answer = cases[i].first;
        proxies.asked = 0;
        raw_put_hello_as(&b, "ann", "hive");
        raw_put_echo(&b, 1, "echo", "counted");
        raw_put_echo(&b, 2, "whoami", "");
        fd = raw_join(&s);
        raw_send(fd, b.data, b.len);
        if (cases[i].first == -EAGAIN) {
            peer_run_until(&s, proxies.asked == 1);
            for (int turn = 0; turn < 20; turn++) /* the call waits */
                assert_true(sd_event_run(s.event, 1000) >= 0);
            ipc_server_ask_again(s.server);
            assert_int_equal(proxies.asked, 2);
            assert_int_equal(s.calls, 0);
            proxies.answer = cases[i].then;
            ipc_server_ask_again(s.server);
        }
        peer_run_until(&s, raw_take(fd, &r) || raw_holds(&r, cases[i].answer));
        assert_true(raw_holds(&r, cases[i].answer));
        assert_int_equal(raw_holds(&r, JAVA_AUTHORIZATION), cases[i].refused);
        assert_int_equal(s.calls, cases[i].refused ? 0 : 1);
        sv_close(fd);
        peer_server_stop(&s);
    }
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true });
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_hello_as(&b, "ann", "hive");
    struct raw_reply r = raw_refused(&s, b.data, b.len);
    assert_true(raw_holds(&r, "User: hive is not allowed to impersonate ann"));
    peer_server_stop(&s);
}

/* ---- Service authorization ---- */

static struct {
    int answer, asked;
} services;

static int authorization(void *userdata, const struct ipc_peer *peer, const char *protocol,
                         struct sv_error *err)
{
    (void)userdata;
    assert_string_equal(protocol, PEER_PROTOCOL);
    services.asked++;
    return services.answer == -EACCES ? sv_error_set(err, -EACCES, "%s may not", peer->user)
                                      : services.answer;
}

static void put_hello_for(struct sv_buf *b, const char *protocol, const char *real)
{
    Hadoop__Common__IpcConnectionContextProto m =
        HADOOP__COMMON__IPC_CONNECTION_CONTEXT_PROTO__INIT;
    Hadoop__Common__UserInformationProto user = HADOOP__COMMON__USER_INFORMATION_PROTO__INIT;

    user.effectiveuser = (char *)"ann";
    user.realuser = (char *)(uintptr_t)real;
    m.userinfo = &user;
    m.protocol = (char *)(uintptr_t)protocol;
    raw_put(b, "hrpc\x09\0\0", 7);
    raw_put_frame(b, IPC_CALL_CONTEXT, &m.base, NULL, 0);
}

/* Where a peer acts for another, that is decided first, as in Hadoop. */
static void test_service_authorization(void **state)
{
    static const struct {
        int proxy, first, then;
        const char *real, *answer;
        int asked;
        bool refused;
    } cases[] = {
        { 0, 0, 0, NULL, "ann", 1, false },
        { 0, -EACCES, 0, NULL, "ann may not", 1, true },
        { 0, -EAGAIN, 0, NULL, "ann", 2, false },
        { 0, -EAGAIN, -EACCES, NULL, "ann may not", 2, true },
        { 0, -EACCES, 0, "hive", "ann may not", 1, true },
        { -EACCES, 0, 0, "hive", "hive is not ann", 0, true },
    };
    struct peer_server s;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
        struct raw_reply r = { 0 };
        int fd;

        peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true,
                                                           .impersonation = impersonation,
                                                           .authorization = authorization });
        proxies.answer = cases[i].proxy;
        services.answer = cases[i].first;
        services.asked = 0;
        put_hello_for(&b, PEER_PROTOCOL, cases[i].real);
        raw_put_echo(&b, 1, "echo", "counted");
        raw_put_echo(&b, 2, "whoami", "");
        fd = raw_join(&s);
        raw_send(fd, b.data, b.len);
        if (cases[i].first == -EAGAIN) {
            peer_run_until(&s, services.asked == 1);
            for (int turn = 0; turn < 20; turn++) /* the call waits */
                assert_true(sd_event_run(s.event, 1000) >= 0);
            assert_int_equal(s.calls, 0);
            services.answer = cases[i].then;
            ipc_server_ask_again(s.server);
        }
        peer_run_until(&s, raw_take(fd, &r) || raw_holds(&r, cases[i].answer));
        assert_true(raw_holds(&r, cases[i].answer));
        assert_int_equal(raw_holds(&r, JAVA_AUTHORIZATION), cases[i].refused);
        assert_int_equal(services.asked, cases[i].asked);
        assert_int_equal(s.calls, cases[i].refused ? 0 : 1);
        sv_close(fd);
        peer_server_stop(&s);
    }
}

static void put_call_of(struct sv_buf *b, int32_t id, const char *protocol, const char *method,
                        const char *text)
{
    Hadoop__Common__RequestHeaderProto m = HADOOP__COMMON__REQUEST_HEADER_PROTO__INIT;
    echo_message body = ECHO_INIT;
    uint8_t packed[256];

    m.methodname = (char *)(uintptr_t)method;
    m.declaringclassprotocolname = (char *)(uintptr_t)protocol;
    m.clientprotocolversion = 1;
    body.protocol = (char *)(uintptr_t)text;
    raw_put_frame(b, id, &m.base, packed, protobuf_c_message_pack(&body.base, packed));
}

static void test_unnamed_protocol(void **state)
{
    static const struct {
        const char *protocol, *answer;
    } cases[] = {
        { NULL, "Null protocol not authorized" },
        { "org.example.OtherPB", "Unknown protocol: org.example.OtherPB" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
        struct peer_server s;
        struct raw_reply r;

        peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true,
                                                           .authorization = authorization });
        services.asked = 0;
        put_hello_for(&b, cases[i].protocol, NULL);
        raw_put_echo(&b, 1, "echo", "x");
        r = raw_refused(&s, b.data, b.len);
        assert_true(raw_holds(&r, cases[i].answer));
        assert_true(raw_holds(&r, JAVA_AUTHORIZATION));
        assert_int_equal(services.asked, 0);
        assert_int_equal(s.calls, 0);
        peer_server_stop(&s);
    }
}

/* A connection is for the protocol that its context names: calls of the server's others are refused
 * and leave it open, also behind one with the same header; those about versions are answered. */
static void test_other_protocol(void **state)
{
    static const struct ipc_protocol second = { "org.example.SecondPB", 1, peer_methods,
                                                SV_ARRAY_LEN(peer_methods) };
    static const struct ipc_protocol *const both[] = { &peer_protocol, &second, NULL };
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    struct raw_reply r = { 0 };
    struct peer_server s;
    int fd;

    (void)state;
    peer_server_start(&s, &(struct ipc_server_config){ .allow_simple = true,
                                                       .protocols = both,
                                                       .authorization = authorization });
    services.answer = 0;
    put_hello_for(&b, PEER_PROTOCOL, NULL);
    put_call_of(&b, 1, "org.example.SecondPB", "echo", "first");
    put_call_of(&b, 2, "org.example.SecondPB", "echo", "second");
    put_call_of(&b, 3, "org.apache.hadoop.ipc.ProtocolMetaInfoPB", "getProtocolVersions",
                PEER_PROTOCOL);
    raw_put_echo(&b, 4, "echo", "third");
    fd = raw_join(&s);
    raw_send(fd, b.data, b.len);
    peer_run_until(&s, raw_take(fd, &r) || raw_holds(&r, "third"));
    assert_true(raw_holds(&r, "Protocol org.example.SecondPB: this connection is authorized for "
                              "protocol " PEER_PROTOCOL " alone"));
    assert_true(raw_holds(&r, "RPC_PROTOCOL_BUFFER"));
    assert_false(raw_holds(&r, "first"));
    assert_false(raw_holds(&r, "second"));
    assert_false(r.eof);
    assert_int_equal(s.calls, 1);
    sv_close(fd);
    peer_server_stop(&s);
}

static void test_sasl_frames(void **state)
{
    (void)state;
    static const struct {
        const char *bytes; /* an RpcSaslProto */
        size_t n;
        const char *answer;
        bool offered; /* a first guess is answered with the offer, a second is rejected */
    } cases[] = {
        { "\x10\x00", 2, "SaslException" },          /* SUCCESS from a client */
        { "\x10\x05", 2, "SaslException" },          /* WRAP */
        { "\x10\x63", 2, "SaslException" },          /* an unknown state */
        { "\x10\x04\x1a\x01x", 5, "SaslException" }, /* RESPONSE before NEGOTIATE */
        { "\x10\x02", 2, "malformed" },              /* INITIATE without a mechanism */
        { "\x10\x02\x22\x0a\x0a\x06SIMPLE\x12\x00", 14, "Available:[TOKEN]", true },
        { "\x10\x02\x22\x12\x0a\x08KERBEROS\x12\x06GSSAPI", 22, "Available:[TOKEN]", true },
        { "\x10\x02\x1a\x03"
          "a=b\x22\x1e\x0a\x05TOKEN\x12\x0a"
          "DIGEST-MD5\x1a\x00\x22\x07"
          "default",
          39, "format violation" },
        { "\x10\x02\x1a\x03"
          "a=b\x22\x13\x0a\x05TOKEN\x12\x0a"
          "DIGEST-MD5",
          28, "TOKEN authentication is not enabled.  Available:[TOKEN]", true },
        { "\x10", 1, "malformed" },
    };
    struct peer_server s;
    peer_server_start(&s, &(struct ipc_server_config){ .verify_token = peer_verify });
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
        raw_put(&b, "hrpc\x09\0\xdf", 7);
        for (int times = cases[i].offered ? 2 : 1; times > 0; times--)
            raw_put_frame(&b, IPC_CALL_SASL, NULL, cases[i].bytes, cases[i].n);
        struct raw_reply r = raw_refused(&s, b.data, b.len);
        if (!raw_holds(&r, cases[i].answer))
            fail_msg("case %zu: %zu bytes, not the answer wanted", i, r.n);
    }
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0); /* a call, a context instead of SASL */
    raw_put(&b, "hrpc\x09\0\xdf", 7);
    raw_put_echo(&b, 1, "echo", "x");
    struct raw_reply r = raw_refused(&s, b.data, b.len);
    assert_true(raw_holds(&r, "not established"));
    b.len = 7;
    raw_put_frame(&b, IPC_CALL_CONTEXT, NULL, "", 0);
    r = raw_refused(&s, b.data, b.len);
    assert_true(raw_holds(&r, "during SASL"));
    b.len = 7;
    raw_put_frame(&b, IPC_CALL_SASL, NULL, "\x10\x01", 2); /* NEGOTIATE twice */
    raw_put_frame(&b, IPC_CALL_SASL, NULL, "\x10\x01", 2);
    r = raw_refused(&s, b.data, b.len);
    assert_true(raw_holds(&r, "already attempted"));
    assert_int_equal(s.calls, 0);
    peer_server_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_E54_headers),
        cmocka_unit_test(test_E54_one_byte_writes),
        cmocka_unit_test(test_E55_lengths),
        cmocka_unit_test(test_E55_claims_cost_nothing),
        cmocka_unit_test(test_E55_unfinished_by_10000),
        cmocka_unit_test(test_E61_simple_is_refused_first),
        cmocka_unit_test(test_impersonation),
        cmocka_unit_test(test_service_authorization),
        cmocka_unit_test(test_unnamed_protocol),
        cmocka_unit_test(test_other_protocol),
        cmocka_unit_test(test_sasl_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
