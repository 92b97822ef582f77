/* Fixture of the IPC server's Kerberos tests: a server that takes tickets of fake-kerberos.h, and a
 * client that sends what a test wants. */
#ifndef SELVEDGE_TESTS_UNIT_WIRE_IPC_KERBEROS_H
#define SELVEDGE_TESTS_UNIT_WIRE_IPC_KERBEROS_H

#include "tests/unit/wire/fake-kerberos.h"
#include "tests/unit/wire/ipc-raw.h"

typedef Hadoop__Common__RpcSaslProto sasl_message;
typedef Hadoop__Common__RpcSaslProto__SaslAuth sasl_auth;
#define STATE(x) HADOOP__COMMON__RPC_SASL_PROTO__SASL_STATE__##x

#define AP_REQ "AP-REQ alice@R"

static inline void start(struct peer_server *s, const struct ipc_server_config *more)
{
    struct ipc_server_config cfg = *more;

    cfg.kerberos = &krb_acceptor;
    cfg.limits.header_ms = cfg.limits.header_ms ? cfg.limits.header_ms : RAW_MS;
    cfg.limits.patience_ms = cfg.limits.patience_ms ? cfg.limits.patience_ms : 20;
    cfg.limits.handshake_ms = cfg.limits.handshake_ms ? cfg.limits.handshake_ms : RAW_MS;
    peer_server_start(s, &cfg);
    krb_start(s->event);
}

static inline void stop(struct peer_server *s)
{
    peer_server_stop(s);
    assert_int_equal(krb.alive, 0);
}

static inline void turns(struct peer_server *s)
{
    for (int i = 0; i < 20; i++)
        assert_true(sd_event_run(s->event, 1000) >= 0);
}

/* ---- Messages ---- */

static inline sasl_auth auth_of(const char *method, const char *mechanism, const char *protocol,
                                const char *id)
{
    sasl_auth a = HADOOP__COMMON__RPC_SASL_PROTO__SASL_AUTH__INIT;

    a.method = (char *)(uintptr_t)method;
    a.mechanism = (char *)(uintptr_t)mechanism;
    a.protocol = (char *)(uintptr_t)protocol;
    a.serverid = (char *)(uintptr_t)id;
    return a;
}

/* `auth`: NULL = none; `times` of them. `token`: NULL = none. */
static inline void put_message(struct sv_buf *b, int sasl_state, sasl_auth *auth, size_t times,
                               const void *token, size_t n)
{
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    sasl_auth *auths[2] = { auth, auth };

    m.state = (Hadoop__Common__RpcSaslProto__SaslState)sasl_state;
    m.n_auths = auth ? times : 0;
    m.auths = auths;
    m.has_token = token != NULL;
    m.token = (ProtobufCBinaryData){ .len = n, .data = (uint8_t *)(uintptr_t)token };
    raw_put_frame(b, IPC_CALL_SASL, &m.base, NULL, 0);
}

static inline void put_header(struct sv_buf *b)
{
    b->len = 0;
    raw_put(b, "hrpc\x09\0\xdf", 7);
}

static inline void put_initiate(struct sv_buf *b, const void *token, size_t n)
{
    sasl_auth a = auth_of("KERBEROS", GSSAPI_MECHANISM, "nm", "here");

    put_message(b, STATE(INITIATE), &a, 1, token, n);
}

static inline size_t frames(const struct raw_reply *r)
{
    size_t n = 0, at = 0, len, used;
    const uint8_t *frame;

    for (; ipc_frame_next(r->p + at, r->n - at, sizeof(r->p), &frame, &len, &used) > 0; n++)
        at += used;
    return n;
}

static inline bool take_frames(int fd, struct raw_reply *r, size_t wanted)
{
    return raw_take(fd, r) || frames(r) >= wanted;
}

/* The server's next message, in the arena. */
static inline const sasl_message *take(struct peer_server *s, int fd, struct sv_arena *a)
{
    struct raw_reply r = { 0 };
    ProtobufCMessage *m = NULL;
    const uint8_t *part;
    size_t len;

    peer_run_until(s, take_frames(fd, &r, 1));
    struct sv_buf b = SV_BUF_VIEW(r.p + 4, r.n - 4);
    assert_int_equal(ipc_delimited_get(&b, &part, &len), 0);
    assert_int_equal(ipc_delimited_get(&b, &part, &len), 0);
    assert_int_equal(ipc_unpack(a, &hadoop__common__rpc_sasl_proto__descriptor, part, len, &m), 0);
    return (const sasl_message *)m;
}

/* ---- Logins ---- */

/* Begins a login that the helper has taken, with this token. */
static inline int begin_as(struct peer_server *s, const char *token)
{
    _cleanup_buf_ struct sv_buf b = { 0 };
    int fd = raw_join(s), before = krb.steps;

    put_header(&b);
    put_initiate(&b, token, strlen(token));
    raw_send(fd, b.data, b.len);
    peer_run_until(s, krb.steps > before);
    return fd;
}

static inline int begin(struct peer_server *s)
{
    return begin_as(s, AP_REQ);
}

/* A whole login but its last message. */
static inline int login_begin(struct peer_server *s, const char *token)
{
    struct sv_arena *a = sv_arena_new(0);
    _cleanup_buf_ struct sv_buf b = { 0 };
    const sasl_message *m;
    int fd = begin_as(s, token);

    m = take(s, fd, a);
    assert_int_equal(m->state, STATE(CHALLENGE));
    assert_int_equal(m->token.len, 6);
    put_message(&b, STATE(RESPONSE), NULL, 0, "", 0);
    raw_send(fd, b.data, b.len);
    m = take(s, fd, a);
    assert_int_equal(m->state, STATE(CHALLENGE));
    assert_int_equal(m->token.len, KRB_HEAD + 4);
    sv_arena_free(a);
    return fd;
}

static inline void send_choice(int fd, const char *choice)
{
    _cleanup_buf_ struct sv_buf b = { 0 };

    put_message(&b, STATE(RESPONSE), NULL, 0, choice, KRB_HEAD + 4);
    raw_send(fd, b.data, b.len);
}

/* A whole login; the context is to follow. */
static inline int login_as(struct peer_server *s, const char *token, const char *choice)
{
    struct sv_arena *a = sv_arena_new(0);
    int fd = login_begin(s, token);

    send_choice(fd, choice);
    const sasl_message *m = take(s, fd, a);
    assert_int_equal(m->state, STATE(SUCCESS));
    assert_false(m->has_token);
    sv_arena_free(a);
    return fd;
}

static inline int login(struct peer_server *s, const char *choice)
{
    return login_as(s, AP_REQ, choice);
}

#define CHOOSE_AUTH "s\0\0\0\0\1\0\0\0"
#define CHOOSE_PRIVACY "s\0\0\0\0\4\1\0\0"

#endif
