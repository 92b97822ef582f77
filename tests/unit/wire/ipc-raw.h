/* Fixture of hostile tests: a peer of the IPC server that sends raw bytes. */
#ifndef SELVEDGE_TESTS_UNIT_WIRE_IPC_RAW_H
#define SELVEDGE_TESTS_UNIT_WIRE_IPC_RAW_H

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "common/buf.h"
#include "common/fd.h"
#include "tests/unit/wire/ipc-peer.h"
#include "wire/frame.h"

#define IPC_SASL_NEGOTIATE HADOOP__COMMON__RPC_SASL_PROTO__SASL_STATE__NEGOTIATE
#define IPC_SASL_INITIATE HADOOP__COMMON__RPC_SASL_PROTO__SASL_STATE__INITIATE
#define IPC_SASL_WRAP HADOOP__COMMON__RPC_SASL_PROTO__SASL_STATE__WRAP

static inline int raw_connect(uint16_t port)
{
    struct sockaddr_in sa = { .sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    return fd;
}

/* Closes by a reset. */
static inline void raw_reset(int fd)
{
    const struct linger now = { .l_onoff = 1 };
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
    sv_close(fd);
}

static inline void raw_send(int fd, const void *p, size_t n)
{
    assert_int_equal(send(fd, p, n, MSG_NOSIGNAL), (ssize_t)n);
}

struct raw_reply {
    uint8_t p[8192];
    size_t n;
    bool eof;
};

/* Reads pending bytes; true when the server has closed. */
static inline bool raw_take(int fd, struct raw_reply *r)
{
    while (!r->eof && r->n < sizeof(r->p)) {
        ssize_t n = recv(fd, r->p + r->n, sizeof(r->p) - r->n, MSG_DONTWAIT);
        if (n > 0)
            r->n += (size_t)n;
        else if (n == 0 || errno != EAGAIN)
            r->eof = true;
        else
            break;
    }
    return r->eof;
}

static inline bool raw_holds(const struct raw_reply *r, const char *text)
{
    return memmem(r->p, r->n, text, strlen(text)) != NULL;
}

/* A connection to the server under test. */
static inline int raw_join(const struct peer_server *s)
{
    return raw_connect(ipc_server_port(s->server));
}

/* Sends the bytes; the server must close, and may answer first. */
static inline struct raw_reply raw_refused(struct peer_server *s, const void *p, size_t n)
{
    struct raw_reply r = { .n = 0 };
    int fd = raw_join(s);
    raw_send(fd, p, n);
    peer_run_until(s, raw_take(fd, &r));
    sv_close(fd);
    peer_run_until(s, ipc_server_connections(s->server) == 0);
    return r;
}

/* A server with handshake limits long enough for a starved machine. */
#define RAW_MS 600000
static const struct ipc_server_config raw_simple
    __attribute__((unused)) = { .allow_simple = true,
                                .limits = { .header_ms = RAW_MS, .handshake_ms = RAW_MS } };

/* ---- Building ---- */

static inline void raw_put(struct sv_buf *b, const void *p, size_t n)
{
    assert_int_equal(sv_buf_put(b, p, n), 0);
}

static inline void raw_put_frame(struct sv_buf *b, int32_t call_id, const ProtobufCMessage *second,
                                 const void *body, size_t n)
{
    Hadoop__Common__RpcRequestHeaderProto h = HADOOP__COMMON__RPC_REQUEST_HEADER_PROTO__INIT;
    h.has_rpckind = h.has_rpcop = 1;
    h.rpckind = HADOOP__COMMON__RPC_KIND_PROTO__RPC_PROTOCOL_BUFFER;
    h.rpcop = HADOOP__COMMON__RPC_REQUEST_HEADER_PROTO__OPERATION_PROTO__RPC_FINAL_PACKET;
    h.callid = call_id;
    assert_int_equal(ipc_frame_put(b, &h.base, second, body, n), 0);
}

/* The connection header and context of SIMPLE. */
static inline void raw_put_hello_as(struct sv_buf *b, const char *name, const char *real)
{
    Hadoop__Common__IpcConnectionContextProto m =
        HADOOP__COMMON__IPC_CONNECTION_CONTEXT_PROTO__INIT;
    Hadoop__Common__UserInformationProto user = HADOOP__COMMON__USER_INFORMATION_PROTO__INIT;
    user.effectiveuser = (char *)(uintptr_t)name;
    user.realuser = (char *)(uintptr_t)real;
    m.userinfo = &user;
    m.protocol = (char *)PEER_PROTOCOL;
    raw_put(b, "hrpc\x09\0\0", 7);
    raw_put_frame(b, IPC_CALL_CONTEXT, &m.base, NULL, 0);
}

static inline void raw_put_hello_of(struct sv_buf *b, const char *name)
{
    raw_put_hello_as(b, name, NULL);
}

static inline void raw_put_hello(struct sv_buf *b)
{
    raw_put_hello_of(b, "mallory");
}

static inline void raw_put_call(struct sv_buf *b, int32_t id, const char *method, const void *body,
                                size_t n)
{
    Hadoop__Common__RequestHeaderProto m = HADOOP__COMMON__REQUEST_HEADER_PROTO__INIT;
    m.methodname = (char *)(uintptr_t)method;
    m.declaringclassprotocolname = (char *)PEER_PROTOCOL;
    m.clientprotocolversion = 1;
    raw_put_frame(b, id, &m.base, body, n);
}

/* A call of one text with a 16-byte client id, as a client sends it that may resend it. */
static inline void raw_put_again(struct sv_buf *b, const char *client_id, int32_t id, int32_t retry,
                                 const char *method, const char *text)
{
    Hadoop__Common__RpcRequestHeaderProto h = HADOOP__COMMON__RPC_REQUEST_HEADER_PROTO__INIT;
    Hadoop__Common__RequestHeaderProto m = HADOOP__COMMON__REQUEST_HEADER_PROTO__INIT;
    echo_message text_message = ECHO_INIT;
    uint8_t body[256];
    h.has_rpckind = h.has_rpcop = h.has_retrycount = 1;
    h.rpckind = HADOOP__COMMON__RPC_KIND_PROTO__RPC_PROTOCOL_BUFFER;
    h.rpcop = HADOOP__COMMON__RPC_REQUEST_HEADER_PROTO__OPERATION_PROTO__RPC_FINAL_PACKET;
    h.callid = id;
    h.retrycount = retry;
    h.clientid.data = (uint8_t *)(uintptr_t)client_id;
    h.clientid.len = strlen(client_id);
    m.methodname = (char *)(uintptr_t)method;
    m.declaringclassprotocolname = (char *)PEER_PROTOCOL;
    m.clientprotocolversion = 1;
    text_message.protocol = (char *)(uintptr_t)text;
    size_t n = protobuf_c_message_pack(&text_message.base, body);
    assert_int_equal(ipc_frame_put(b, &h.base, &m.base, body, n), 0);
}

static inline void raw_put_echo(struct sv_buf *b, int32_t id, const char *method, const char *text)
{
    uint8_t body[256];
    echo_message m = ECHO_INIT;
    m.protocol = (char *)(uintptr_t)text;
    raw_put_call(b, id, method, body, protobuf_c_message_pack(&m.base, body));
}

/* A SASL message; INITIATE names TOKEN. `token` NULL = none. */
static inline void raw_put_sasl(struct sv_buf *b, Hadoop__Common__RpcSaslProto__SaslState state,
                                const void *token, size_t n)
{
    Hadoop__Common__RpcSaslProto m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    Hadoop__Common__RpcSaslProto__SaslAuth auth = HADOOP__COMMON__RPC_SASL_PROTO__SASL_AUTH__INIT,
                                           *auths[] = { &auth };
    auth.method = (char *)"TOKEN";
    auth.mechanism = (char *)"DIGEST-MD5";
    auth.protocol = (char *)"";
    auth.serverid = (char *)"default";
    m.state = state;
    m.n_auths = state == IPC_SASL_INITIATE ? 1 : 0;
    m.auths = auths;
    m.has_token = token != NULL;
    m.token.data = (uint8_t *)(uintptr_t)token;
    m.token.len = n;
    raw_put_frame(b, IPC_CALL_SASL, &m.base, NULL, 0);
}

/* ---- Reading ---- */

struct raw_sasl {
    uint8_t token[4096];
    size_t token_len;
    int state;
};

/* The next answer, which must be a SASL message. */
static inline struct raw_sasl raw_take_sasl(struct peer_server *s, int fd)
{
    struct raw_sasl out = { .state = -1 };
    struct raw_reply r = { .n = 0 };
    const uint8_t *frame, *part;
    size_t len, used, part_len;
    peer_run_until(s, raw_take(fd, &r) ||
                          ipc_frame_next(r.p, r.n, sizeof(r.p), &frame, &len, &used) > 0);
    struct sv_buf b = SV_BUF_VIEW(frame, len);
    struct sv_arena *a = sv_arena_new(0);
    ProtobufCMessage *base = NULL;
    assert_int_equal(ipc_delimited_get(&b, &part, &part_len), 0);
    assert_int_equal(ipc_delimited_get(&b, &part, &part_len), 0);
    assert_int_equal(
        ipc_unpack(a, &hadoop__common__rpc_sasl_proto__descriptor, part, part_len, &base), 0);
    const Hadoop__Common__RpcSaslProto *m = (const void *)base;
    ProtobufCBinaryData token = m->token;
    if (!m->has_token && m->n_auths > 0 && m->auths[0]->has_challenge)
        token = m->auths[0]->challenge;
    assert_true(token.len < sizeof(out.token));
    if (token.len)
        memcpy(out.token, token.data, token.len);
    out.token_len = token.len;
    out.state = (int)m->state;
    sv_arena_free(a);
    return out;
}

#endif
