/* Handshake of a connection to the IPC server: the 7-byte header, then SASL. Hostile: all bytes;
 * the peer is unauthenticated. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-conn.h"
#include "wire/sasl/gssapi.h"

typedef Hadoop__Common__RpcSaslProto sasl_message;
typedef Hadoop__Common__RpcSaslProto__SaslAuth sasl_auth;

#define HEADER_LEN 7

static const char http_answer[] =
    "HTTP/1.1 404 Not Found\r\n"
    "Content-type: text/plain\r\n"
    "Connection: close\r\n\r\n"
    "This is a Hadoop IPC port; the web pages are on another one.\r\n";

static const struct ipc_echo echo_auth = { .call_id = IPC_CALL_AUTH_FAILED, .retry_count = -1 };

/* Secure means Kerberos: claimed names are not taken beside it, whatever is configured. */
static bool takes_simple(const struct ipc_server *s)
{
    return s->cfg.allow_simple && !s->cfg.kerberos;
}

static const char *available(const struct ipc_server *s)
{
    if (s->cfg.kerberos)
        return s->cfg.verify_token ? "[TOKEN, KERBEROS]" : "[KERBEROS]";
    if (!s->cfg.verify_token)
        return "[SIMPLE]";
    return s->cfg.allow_simple ? "[TOKEN, SIMPLE]" : "[TOKEN]";
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
    } else if (!takes_simple(c->server)) {
        c->server->counters.authentications_failed++;
        ipc_conn_fatal(c, &echo_auth, IPC_DETAIL(FATAL_UNAUTHORIZED), JAVA_ACCESS_CONTROL,
                       "SIMPLE authentication is not enabled.  Available:%s", available(c->server));
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

/* ---- Offers ---- */

struct offers {
    sasl_auth all[3], *list[3];
    size_t n;
};

static void offer(struct offers *o, const char *method, const char *mechanism, const char *protocol,
                  const char *server)
{
    sasl_auth *a = &o->all[o->n];
    *a = (sasl_auth)HADOOP__COMMON__RPC_SASL_PROTO__SASL_AUTH__INIT;
    a->method = (char *)(uintptr_t)method;
    a->mechanism = (char *)(uintptr_t)mechanism;
    a->protocol = (char *)(uintptr_t)protocol;
    a->serverid = (char *)(uintptr_t)server;
    o->list[o->n++] = a;
}

/* In Hadoop's order; TOKEN is the first. None where nothing but SIMPLE is taken. */
static void offers_of(const struct ipc_server *s, struct offers *ret)
{
    ret->n = 0;
    if (s->cfg.verify_token)
        offer(ret, "TOKEN", SASL_MECHANISM, "", SASL_SERVER_ID);
    if (s->cfg.kerberos)
        offer(ret, "KERBEROS", GSSAPI_MECHANISM, s->service, s->service_host);
    if (takes_simple(s) && ret->n > 0)
        offer(ret, "SIMPLE", "", NULL, NULL);
}

/* True if the client takes one as it was made, without the challenge. */
static bool is_offered(const struct offers *o, const sasl_auth *a)
{
    for (size_t i = 0; i < o->n; i++)
        if (sv_streq(a->method, o->all[i].method) && sv_streq(a->mechanism, o->all[i].mechanism) &&
            sv_streq(a->protocol, o->all[i].protocol) &&
            sv_streq(a->serverid, o->all[i].serverid) && !a->has_challenge)
            return true;
    return false;
}

static int token_begin(struct ipc_conn *c)
{
    if (c->sasl)
        return 0;
    return ipc_digest_server_new(c->server->cfg.verify_token, c->server->cfg.auth_userdata,
                                 c->server->cfg.qop_mask, &c->sasl);
}

static int on_negotiate(struct ipc_conn *c, const struct ipc_echo *echo)
{
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    struct offers o;
    if (c->negotiated || c->initiated)
        return ipc_auth_refuse(c, echo, JAVA_ACCESS_CONTROL,
                               "Client already attempted negotiation");
    c->negotiated = true;
    offers_of(c->server, &o);
    if (o.n == 0 && takes_simple(c->server)) { /* Hadoop's clients then continue */
        m.state = IPC_SASL_STATE(SUCCESS);
        ipc_conn_set_state(c, CONN_CONTEXT);
        return sasl_answer(c, echo, &m);
    }
    if (c->server->cfg.verify_token) {
        int r = token_begin(c);
        if (r < 0)
            return r;
        o.all[0].has_challenge = 1;
        o.all[0].challenge = message_of(ipc_sasl_server_challenge(c->sasl));
    }
    m.state = IPC_SASL_STATE(NEGOTIATE);
    m.n_auths = o.n;
    m.auths = o.list;
    return sasl_answer(c, echo, &m);
}

/* ---- The exchange ---- */

static int token_peer(struct ipc_conn *c)
{
    size_t len;
    const uint8_t *id = ipc_sasl_server_token_id(c->sasl, &len);
    c->user = strdup(ipc_sasl_server_user(c->sasl));
    c->token_id = malloc(len + 1);
    if (!c->user || !c->token_id)
        return -ENOMEM;
    memcpy(c->token_id, id, len);
    c->peer.token = true;
    c->peer.user = c->user;
    c->peer.token_id = c->token_id;
    c->peer.token_id_len = len;
    return 0;
}

static int succeeded(struct ipc_conn *c, const struct ipc_echo *echo, struct sasl_bytes answer)
{
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    struct sv_error err = { 0 };
    int r = c->kerberos ? ipc_kerberos_peer(c, &err) : token_peer(c);
    if (r == -EACCES)
        return ipc_auth_refuse(c, echo, JAVA_ACCESS_CONTROL, err.text);
    if (r >= 0 && c->kerberos)
        r = ipc_address_authenticated(c);
    if (r < 0)
        return r;
    c->server->counters.authentications++;
    ipc_unproved_end(c);
    m.state = IPC_SASL_STATE(SUCCESS);
    m.has_token = answer.n > 0;
    m.token = message_of(answer);
    r = sasl_answer(c, echo, &m); /* the last unwrapped answer */
    c->layer = ipc_sasl_server_take_layer(c->sasl);
    c->sasl = ipc_sasl_server_free(c->sasl);
    ipc_conn_set_state(c, CONN_CONTEXT);
    return r;
}

/* The result of a step, or that there is none yet. */
static int stepped(struct ipc_conn *c, const struct ipc_echo *echo, int r, struct sasl_bytes answer,
                   const char *java_class, const struct sv_error *err)
{
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    c->computes = r == SASL_WAIT;
    if (c->computes)
        return 0;
    c->step_memory = 0;
    if (r < 0)
        return ipc_auth_refuse(c, echo, java_class, err->text);
    if (ipc_sasl_server_done(c->sasl))
        return succeeded(c, echo, answer);
    m.state = IPC_SASL_STATE(CHALLENGE);
    m.has_token = 1;
    m.token = message_of(answer);
    return sasl_answer(c, echo, &m);
}

static void verifying(struct ipc_conn *c, bool begins)
{
    c->server->verifying = begins ? c : NULL;
}

const struct ipc_peer *ipc_server_verifying(const struct ipc_server *s)
{
    return s->verifying ? &s->verifying->peer : NULL;
}

/* The step that the connection waits for is computed. A connection that closes meanwhile frees its
 * exchange, which then does not call this. */
static void on_ready(void *userdata)
{
    static const struct ipc_echo echo = { .call_id = IPC_CALL_SASL, .retry_count = -1 };
    struct ipc_conn *c = userdata;
    struct sv_error err = { 0 };
    struct sasl_bytes answer = { 0 };
    const char *java_class = NULL;
    ipc_conn_ref(c);
    verifying(c, true);
    int r = ipc_sasl_server_resume(c->sasl, &answer, &java_class, &err);
    verifying(c, false);
    if (stepped(c, &echo, r, answer, java_class, &err) < 0)
        ipc_conn_close(c);
    ipc_server_mark_dirty(c); /* it answers, and goes on with what was held back */
    ipc_conn_unref(c);
}

void ipc_auth_ask_again(struct ipc_conn *c)
{
    if (c->state == CONN_SASL && c->computes && !c->kerberos)
        on_ready(c);
}

static int on_response(struct ipc_conn *c, const struct ipc_echo *echo, const sasl_message *m)
{
    struct sv_error err = { 0 };
    const char *java_class = NULL;
    struct sasl_bytes answer = { 0 };
    if (!c->sasl)
        return ipc_auth_refuse(c, echo, JAVA_SASL_EXCEPTION, "the exchange has not begun");
    if (!m->has_token)
        return ipc_auth_refuse(c, echo, JAVA_SASL_EXCEPTION, "Client did not send a token");
    c->initiated = true;
    c->step_memory = m->token.len;
    verifying(c, true);
    int r = ipc_sasl_server_step(c->sasl, m->token.data, m->token.len, &answer, &java_class, &err);
    verifying(c, false);
    return stepped(c, echo, r, answer, java_class, &err);
}

static int token_initiate(struct ipc_conn *c, const struct ipc_echo *echo, const sasl_message *m)
{
    int r = token_begin(c);
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

static int kerberos_initiate(struct ipc_conn *c, const struct ipc_echo *echo, const sasl_message *m)
{
    c->sasl = ipc_sasl_server_free(c->sasl); /* for TOKEN, whose challenge was in the offer */
    c->kerberos = true;
    if (ipc_kerberos_begin(c, on_ready) < 0)
        return ipc_auth_refuse(c, echo, JAVA_RETRIABLE,
                               GSSAPI_MECHANISM ": this service cannot take tickets now");
    return on_response(c, echo, m);
}

static int on_initiate(struct ipc_conn *c, const struct ipc_echo *echo, const sasl_message *m)
{
    struct offers o;
    if (m->n_auths != 1)
        return ipc_auth_refuse(c, echo, JAVA_SASL_EXCEPTION, "Client mechanism is malformed");
    if (c->initiated)
        return ipc_auth_refuse(c, echo, JAVA_SASL_EXCEPTION, "the exchange has begun already");
    const sasl_auth *a = m->auths[0];
    offers_of(c->server, &o);
    if (!is_offered(&o, a)) {
        if (!c->negotiated)
            return on_negotiate(c, echo); /* a guess: answer with the offered methods */
        char text[160];
        snprintf(text, sizeof(text), "%.32s authentication is not enabled.  Available:%s",
                 a->method, available(c->server));
        return ipc_auth_refuse(c, echo, JAVA_ACCESS_CONTROL, text);
    }
    c->initiated = true;
    if (sv_streq(a->method, "KERBEROS"))
        return kerberos_initiate(c, echo, m);
    if (sv_streq(a->method, "TOKEN"))
        return token_initiate(c, echo, m);
    c->sasl = ipc_sasl_server_free(c->sasl);
    ipc_conn_set_state(c, CONN_CONTEXT);
    return 0; /* Hadoop's clients do not wait for an answer to SIMPLE */
}

int ipc_auth_sasl(struct ipc_conn *c, const struct ipc_echo *echo, struct sv_arena *a,
                  const uint8_t *p, size_t n)
{
    ProtobufCMessage *base;
    if (c->state != CONN_SASL) {
        ipc_conn_fatal(c, echo, IPC_DETAIL(FATAL_INVALID_RPC_HEADER),
                       c->peer.token || c->principal ? JAVA_SASL_EXCEPTION
                                                     : JAVA_RPC_SERVER_EXCEPTION,
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
