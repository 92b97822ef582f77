/* Handshake of a connection to the IPC server: the 7-byte header, then SASL. Hostile: all bytes; the
 * peer is unauthenticated. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-conn.h"

typedef Hadoop__Common__RpcSaslProto sasl_message;
typedef Hadoop__Common__RpcSaslProto__SaslAuth sasl_auth;

#define HEADER_LEN 7

static const char http_answer[] =
    "HTTP/1.1 404 Not Found\r\n"
    "Content-type: text/plain\r\n"
    "Connection: close\r\n\r\n"
    "This is a Hadoop IPC port; the web pages are on another one.\r\n";

static const struct ipc_echo echo_auth = { .call_id = IPC_CALL_AUTH_FAILED, .retry_count = -1 };

static const char *available(const struct ipc_conn *c)
{
    if (!c->server->cfg.verify_token)
        return "[SIMPLE]";
    return c->server->cfg.allow_simple ? "[TOKEN, SIMPLE]" : "[TOKEN]";
}

/* ---- Connection header ---- */

/* Clients of IPC 3 to 8 expect int callId, int status, then class and text as Writable strings;
 * those of IPC 2 (Hadoop 0.18) an int callId and a boolean "error" before them. */
static int version_answer_old(struct ipc_conn *c, int version, const char *text)
{
    static const char class[] = JAVA_RPC_VERSION_MISMATCH;
    int r = sv_buf_put_u32(&c->out, version == 2 ? 0 : UINT32_MAX);
    if (r >= 0)
        r = version == 2 ? sv_buf_put_u8(&c->out, 1) : sv_buf_put_u32(&c->out, UINT32_MAX);
    if (r >= 0)
        r = sv_buf_put_u32(&c->out, sizeof(class) - 1);
    if (r >= 0)
        r = sv_buf_put_str(&c->out, class);
    if (r >= 0)
        r = sv_buf_put_u32(&c->out, (uint32_t)strlen(text));
    if (r >= 0)
        r = sv_buf_put_str(&c->out, text);
    if (r >= 0)
        ipc_conn_finish(c);
    return r;
}

/* The version is a signed byte in Java: values from 128 on are too old for any answer. */
static int version_refuse(struct ipc_conn *c, int8_t version)
{
    char text[96];
    snprintf(text, sizeof(text), "Server IPC version %d cannot communicate with client version %d",
             IPC_VERSION, version);
    if (version < 2)
        return -EPROTO;
    if (version < IPC_VERSION)
        return version_answer_old(c, version, text);
    ipc_conn_fatal(c, &echo_auth, IPC_DETAIL(FATAL_VERSION_MISMATCH), JAVA_RPC_VERSION_MISMATCH,
                   "%s", text);
    return 0;
}

static int auth_begin(struct ipc_conn *c, uint8_t auth)
{
    if (auth == IPC_AUTH_SASL) {
        ipc_conn_set_state(c, CONN_SASL);
    } else if (auth != IPC_AUTH_NONE) {
        ipc_conn_fatal(c, &echo_auth, IPC_DETAIL(FATAL_UNAUTHORIZED), JAVA_IPC_EXCEPTION,
                       "Unknown auth protocol: %d", (int8_t)auth);
    } else if (!c->server->cfg.allow_simple) {
        c->server->counters.authentications_failed++;
        ipc_conn_fatal(c, &echo_auth, IPC_DETAIL(FATAL_UNAUTHORIZED), JAVA_ACCESS_CONTROL,
                       "SIMPLE authentication is not enabled.  Available:%s", available(c));
    } else {
        ipc_conn_set_state(c, CONN_CONTEXT);
    }
    return 0;
}

int ipc_auth_header(struct ipc_conn *c, const uint8_t *p, size_t n, size_t *ret_used)
{
    size_t four = SV_MIN(n, (size_t)4);
    if (memcmp(p, "GET ", four) == 0) {
        if (four < 4)
            return 0;
        int r = sv_buf_put_str(&c->out, http_answer);
        if (r >= 0)
            ipc_conn_finish(c);
        *ret_used = n;
        return r;
    }
    if (memcmp(p, "hrpc", four) != 0)
        return -EPROTO;
    if (n >= 5 && p[4] != IPC_VERSION) {
        *ret_used = n;
        return version_refuse(c, (int8_t)p[4]);
    }
    if (n < HEADER_LEN)
        return 0;
    *ret_used = HEADER_LEN;
    return auth_begin(c, p[6]);
}

/* ---- SASL ---- */

static int sasl_answer(struct ipc_conn *c, const struct ipc_echo *echo, sasl_message *m)
{
    return ipc_answer_success(c, echo, &m->base);
}

int ipc_auth_refuse(struct ipc_conn *c, const struct ipc_echo *echo, const char *java_class,
                    const char *text)
{
    struct sv_rpc_counters *n = &c->server->counters;
    if (c->state == CONN_CONTEXT)
        n->authorizations_failed++;
    else
        n->authentications_failed++;
    ipc_conn_fatal(c, echo, IPC_DETAIL(FATAL_UNAUTHORIZED), java_class, "%s", text);
    return 0;
}

static ProtobufCBinaryData message_of(struct sasl_bytes b)
{
    return (ProtobufCBinaryData){ .len = b.n, .data = (uint8_t *)(uintptr_t)b.p };
}

static int sasl_start(struct ipc_conn *c)
{
    if (c->sasl)
        return 0;
    return ipc_digest_server_new(c->server->cfg.verify_token, c->server->cfg.userdata,
                                 c->server->cfg.qop_mask, &c->sasl);
}

static int on_negotiate(struct ipc_conn *c, const struct ipc_echo *echo)
{
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    sasl_auth token = HADOOP__COMMON__RPC_SASL_PROTO__SASL_AUTH__INIT;
    sasl_auth simple = HADOOP__COMMON__RPC_SASL_PROTO__SASL_AUTH__INIT;
    sasl_auth *auths[2];
    if (c->negotiated)
        return ipc_auth_refuse(c, echo, JAVA_ACCESS_CONTROL, "Client already attempted negotiation");
    c->negotiated = true;
    if (!c->server->cfg.verify_token) { /* nothing to negotiate: Hadoop's clients then continue */
        m.state = IPC_SASL_STATE(SUCCESS);
        ipc_conn_set_state(c, CONN_CONTEXT);
        return sasl_answer(c, echo, &m);
    }
    int r = sasl_start(c);
    if (r < 0)
        return r;
    m.state = IPC_SASL_STATE(NEGOTIATE);
    m.auths = auths;
    token.method = (char *)"TOKEN";
    token.mechanism = (char *)SASL_MECHANISM;
    token.protocol = (char *)"";
    token.serverid = (char *)SASL_SERVER_ID;
    token.has_challenge = 1;
    token.challenge = message_of(ipc_sasl_server_challenge(c->sasl));
    auths[m.n_auths++] = &token;
    if (c->server->cfg.allow_simple) {
        simple.method = (char *)"SIMPLE";
        simple.mechanism = (char *)"";
        auths[m.n_auths++] = &simple;
    }
    return sasl_answer(c, echo, &m);
}

static int sasl_succeeded(struct ipc_conn *c, const struct ipc_echo *echo, struct sasl_bytes answer)
{
    size_t len;
    const uint8_t *id = ipc_sasl_server_token_id(c->sasl, &len);
    c->user = strdup(ipc_sasl_server_user(c->sasl));
    c->token_id = malloc(len + 1);
    if (!c->user || !c->token_id)
        return -ENOMEM;
    memcpy(c->token_id, id, len);
    c->server->counters.authentications++;
    c->peer.token = true;
    c->peer.user = c->user;
    c->peer.token_id = c->token_id;
    c->peer.token_id_len = len;
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    m.state = IPC_SASL_STATE(SUCCESS);
    m.has_token = 1;
    m.token = message_of(answer);
    int r = sasl_answer(c, echo, &m); /* the last unwrapped answer */
    c->layer = ipc_sasl_server_take_layer(c->sasl);
    c->sasl = ipc_sasl_server_free(c->sasl);
    ipc_conn_set_state(c, CONN_CONTEXT);
    return r;
}

static int on_response(struct ipc_conn *c, const struct ipc_echo *echo, const sasl_message *m)
{
    struct sv_error err = { 0 };
    const char *java_class = NULL;
    struct sasl_bytes answer;
    if (!c->sasl)
        return ipc_auth_refuse(c, echo, JAVA_SASL_EXCEPTION, "the exchange has not begun");
    int r = ipc_sasl_server_step(c->sasl, m->token.data, m->token.len, &answer, &java_class, &err);
    if (r < 0)
        return ipc_auth_refuse(c, echo, java_class, err.text);
    return sasl_succeeded(c, echo, answer);
}

static int on_initiate(struct ipc_conn *c, const struct ipc_echo *echo, const sasl_message *m)
{
    if (m->n_auths != 1)
        return ipc_auth_refuse(c, echo, JAVA_SASL_EXCEPTION, "Client mechanism is malformed");
    const sasl_auth *a = m->auths[0];
    if (sv_streq(a->method, "SIMPLE") && c->server->cfg.allow_simple &&
        c->server->cfg.verify_token) {
        c->sasl = ipc_sasl_server_free(c->sasl);
        ipc_conn_set_state(c, CONN_CONTEXT);
        return 0; /* Hadoop's clients do not wait for an answer here */
    }
    if (!sv_streq(a->method, "TOKEN") || !sv_streq(a->mechanism, SASL_MECHANISM) ||
        !c->server->cfg.verify_token) {
        if (!c->negotiated)
            return on_negotiate(c, echo); /* a guess: answer with the offered methods */
        char text[160];
        snprintf(text, sizeof(text), "%.32s authentication is not enabled.  Available:%s",
                 a->method, available(c));
        return ipc_auth_refuse(c, echo, JAVA_ACCESS_CONTROL, text);
    }
    int r = sasl_start(c);
    if (r < 0)
        return r;
    if (m->has_token && m->token.len > 0)
        return on_response(c, echo, m);
    sasl_message out = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    out.state = IPC_SASL_STATE(CHALLENGE);
    out.has_token = 1;
    out.token = message_of(ipc_sasl_server_challenge(c->sasl));
    return sasl_answer(c, echo, &out);
}

int ipc_auth_sasl(struct ipc_conn *c, const struct ipc_echo *echo, struct sv_arena *a,
                  const uint8_t *p, size_t n)
{
    ProtobufCMessage *base;
    if (c->state != CONN_SASL) {
        ipc_conn_fatal(c, echo, IPC_DETAIL(FATAL_INVALID_RPC_HEADER),
                       c->peer.token ? JAVA_SASL_EXCEPTION : JAVA_RPC_SERVER_EXCEPTION,
                       "Negotiation is already complete");
        return 0;
    }
    if (ipc_unpack(a, &hadoop__common__rpc_sasl_proto__descriptor, p, n, &base) < 0) {
        ipc_conn_fatal(c, echo, IPC_DETAIL(FATAL_DESERIALIZING_REQUEST), JAVA_SASL_EXCEPTION,
                       "malformed SASL message");
        return 0;
    }
    const sasl_message *m = (const sasl_message *)base;
    switch (m->state) {
    case IPC_SASL_STATE(NEGOTIATE):
        return on_negotiate(c, echo);
    case IPC_SASL_STATE(INITIATE):
        return on_initiate(c, echo, m);
    case IPC_SASL_STATE(RESPONSE):
        return on_response(c, echo, m);
    default:
        return ipc_auth_refuse(c, echo, JAVA_SASL_EXCEPTION, "Client sent unsupported state");
    }
}

/* The token is the arena's copy, so it may be decrypted in place. */
int ipc_auth_wrapped(struct ipc_conn *c, const struct ipc_echo *echo, struct sv_arena *a,
                     const uint8_t *p, size_t n)
{
    ProtobufCMessage *base;
    uint8_t *plain;
    size_t len;
    if (ipc_unpack(a, &hadoop__common__rpc_sasl_proto__descriptor, p, n, &base) < 0)
        return -EPROTO;
    const sasl_message *m = (const sasl_message *)base;
    if (m->state != IPC_SASL_STATE(WRAP) || !m->has_token) {
        ipc_conn_fatal(c, echo, IPC_DETAIL(FATAL_INVALID_RPC_HEADER), JAVA_SASL_EXCEPTION,
                       "Negotiation is already complete");
        return 0;
    }
    int r = ipc_sasl_layer_unwrap(c->layer, m->token.data, m->token.len, &plain, &len);
    return r < 0 ? r : ipc_conn_unwrapped(c, plain, len);
}
