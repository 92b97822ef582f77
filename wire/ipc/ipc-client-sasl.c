/* Authentication, client side: the connection's first bytes, its context, and SASL. Hostile: the
 * server, which may be an impostor until DIGEST-MD5 has proven that it knows the token's password,
 * or GSSAPI that it has the key of its principal; a client with a token or a principal never talks
 * to a server that does not (CVE-2013-2192). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-client-conn.h"
#include "wire/sasl/digest-exchange.h"
#include "wire/sasl/gssapi.h"

typedef Hadoop__Common__RpcRequestHeaderProto request_header;
typedef Hadoop__Common__RpcSaslProto sasl_message;
typedef Hadoop__Common__RpcSaslProto__SaslAuth sasl_auth;

/* ---- First bytes and context ---- */

Hadoop__Common__RpcRequestHeaderProto ipc_client_header(const struct ipc_client *c, int32_t call_id)
{
    request_header h = HADOOP__COMMON__RPC_REQUEST_HEADER_PROTO__INIT;
    h.has_rpckind = h.has_rpcop = 1;
    h.rpckind = HADOOP__COMMON__RPC_KIND_PROTO__RPC_PROTOCOL_BUFFER;
    h.callid = call_id;
    if (call_id != IPC_CALL_SASL) {
        h.clientid.data = (uint8_t *)(uintptr_t)c->id;
        h.clientid.len = sizeof(c->id);
    }
    return h;
}

static int put_sasl(struct ipc_client *c, const sasl_message *m)
{
    request_header h = ipc_client_header(c, IPC_CALL_SASL);
    return ipc_frame_put(&c->out, &h.base, &m->base, NULL, 0);
}

static int put_context(struct ipc_client *c)
{
    request_header h = ipc_client_header(c, IPC_CALL_CONTEXT);
    Hadoop__Common__IpcConnectionContextProto m =
        HADOOP__COMMON__IPC_CONNECTION_CONTEXT_PROTO__INIT;
    Hadoop__Common__UserInformationProto user = HADOOP__COMMON__USER_INFORMATION_PROTO__INIT;
    user.effectiveuser = c->for_user ? c->for_user : c->user;
    if (c->for_user && !c->kerberos) /* with Kerberos the server knows who we are */
        user.realuser = c->user;
    m.protocol = c->protocol;
    m.userinfo = c->token ? NULL : &user;
    return ipc_frame_put(&c->out, &h.base, &m.base, NULL, 0);
}

bool ipc_client_has_sasl(const struct ipc_client *c)
{
    return c->token || c->kerberos;
}

int ipc_client_put_hello(struct ipc_client *c)
{
    const uint8_t hello[7] = {
        'h', 'r', 'p', 'c', IPC_VERSION, 0, ipc_client_has_sasl(c) ? IPC_AUTH_SASL : IPC_AUTH_NONE
    };
    int r = sv_buf_put(&c->out, hello, sizeof(hello));
    if (r < 0)
        return r;
    if (!ipc_client_has_sasl(c))
        return put_context(c);
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    m.state = IPC_SASL_STATE(NEGOTIATE);
    return put_sasl(c, &m);
}

/* ---- SASL ---- */

static int refuse_for(struct ipc_client *c, int status, const char *text)
{
    struct sv_error err = { 0 };
    sv_error_set(&err, status, "%s", text);
    ipc_client_broken(c, status, NULL, &err);
    return status;
}

static int sasl_refuse(struct ipc_client *c, const char *text)
{
    return refuse_for(c, -EACCES, text);
}

/* Sends the mechanism's answer, the first one with the server's offer. */
static int sasl_send(struct ipc_client *c, const struct sasl_bytes *answer, const sasl_auth *chosen)
{
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    sasl_auth auth = HADOOP__COMMON__RPC_SASL_PROTO__SASL_AUTH__INIT, *auths[] = { &auth };
    if (chosen) {
        auth = *chosen;
        auth.has_challenge = 0;
        m.n_auths = 1;
        m.auths = auths;
    }
    m.state = chosen ? IPC_SASL_STATE(INITIATE) : IPC_SASL_STATE(RESPONSE);
    if (answer) {
        m.has_token = 1;
        m.token.data = (uint8_t *)(uintptr_t)answer->p;
        m.token.len = answer->n;
    }
    int r = put_sasl(c, &m);
    if (r < 0)
        return sasl_refuse(c, "the SASL answer is too large");
    ipc_client_write(c);
    return c->state == CLIENT_SASL ? 0 : -EPIPE;
}

/* Answers a challenge (NULL: none yet). `chosen`: the server's offer, in the first answer. */
static int sasl_reply(struct ipc_client *c, const uint8_t *challenge, size_t n,
                      const sasl_auth *chosen)
{
    struct sv_error err = { 0 };
    struct sasl_bytes answer;
    if (!challenge)
        return sasl_send(c, NULL, chosen);
    int r = ipc_sasl_client_step(c->sasl, challenge, n, &answer, &err);
    if (r < 0)
        return refuse_for(c, r, err.text);
    c->computes = r == SASL_WAIT;
    return c->computes ? 0 : sasl_send(c, &answer, chosen);
}

/* ---- Kerberos ---- */

/* The part of a principal up to one of the marks; "" if there is none. */
static char *part(char *out, const char *from, const char *marks)
{
    snprintf(out, IPC_PRINCIPAL_MAX, "%.*s", (int)strcspn(from, marks), from);
    return out;
}

/* The offer that a server of this principal makes. It does not name the realm: that the server has
 * the key of the full name is proven by the handshake. */
struct offer {
    char protocol[IPC_PRINCIPAL_MAX], server[IPC_PRINCIPAL_MAX];
    sasl_auth auth;
};

static void offer_of(const char *principal, struct offer *ret)
{
    const char *slash = strchr(principal, '/');
    part(ret->protocol, principal, "/@");
    part(ret->server, slash ? slash + 1 : "", "@");
    ret->auth = (sasl_auth)HADOOP__COMMON__RPC_SASL_PROTO__SASL_AUTH__INIT;
    ret->auth.method = (char *)"KERBEROS";
    ret->auth.mechanism = (char *)GSSAPI_MECHANISM;
    ret->auth.protocol = ret->protocol;
    ret->auth.serverid = ret->server;
}

static void on_ready(void *userdata)
{
    struct ipc_client *c = userdata;
    struct sv_error err = { 0 };
    struct sasl_bytes answer;
    struct offer offer;
    ipc_client_ref(c);
    c->computes = false;
    int r = ipc_sasl_client_resume(c->sasl, &answer, &err);
    if (r < 0) {
        refuse_for(c, r, err.text);
    } else {
        offer_of(c->server, &offer);
        bool first = c->initiates;
        c->initiates = false;
        (void)sasl_send(c, &answer, first ? &offer.auth : NULL); /* it has closed, ignoring */
    }
    ipc_client_unref(c);
}

/* Sets c->server, the principal that the server must have. */
static int begin_handshake(struct ipc_client *c, const sasl_auth *found,
                           struct gssapi_handshake **ret, struct sv_error *err)
{
    const struct ipc_kerberos *k = c->kerberos;
    char offered[2 * IPC_PRINCIPAL_MAX]; /* a longer one is no principal, cut or not */
    int r;
    if (!k->recognize) {
        r = k->handshake(k, c->host, c->server, ret);
        return r < 0 ? sv_error_set(err, r,
                                    "the server's Kerberos principal is not configured, or is "
                                    "none")
                     : 0;
    }
    const char *host = found->serverid && *found->serverid ? found->serverid : NULL;
    snprintf(offered, sizeof(offered), "%s%s%s", found->protocol ? found->protocol : "",
             host ? "/" : "", host ? host : "");
    return k->recognize(k, c->host, offered, c->server, ret, err);
}

static int kerberos_start(struct ipc_client *c, const sasl_auth *found)
{
    struct gssapi_handshake *h;
    struct offer wanted;
    struct sasl_bytes none;
    struct sv_error err = { 0 };
    int r = begin_handshake(c, found, &h, &err);
    if (r < 0)
        return refuse_for(c, r == -ENOMEM ? r : -EACCES, err.text);
    r = ipc_gssapi_client_new(h, c->qop_mask, on_ready, c, &c->sasl);
    if (r < 0) {
        ipc_gssapi_handshake_free(h);
        return sasl_refuse(c, "out of memory");
    }
    offer_of(c->server, &wanted);
    if (!sv_streq(found->protocol, wanted.protocol) || !sv_streq(found->serverid, wanted.server)) {
        sv_error_set(&err, -EACCES,
                     "the server's Kerberos principal is %.64s/%.128s, expected is %s",
                     found->protocol ? found->protocol : "", found->serverid ? found->serverid : "",
                     c->server);
        return sasl_refuse(c, err.text);
    }
    c->initiates = true;
    r = ipc_sasl_client_step(c->sasl, NULL, 0, &none, &err);
    c->computes = r == SASL_WAIT;
    return r < 0 ? refuse_for(c, r, err.text) : 0;
}

/* ---- Negotiation ---- */

static const sasl_auth *find_offer(const sasl_message *m, const char *method, const char *mechanism)
{
    for (size_t i = 0; i < m->n_auths; i++)
        if (sv_streq(m->auths[i]->method, method) && sv_streq(m->auths[i]->mechanism, mechanism))
            return m->auths[i];
    return NULL;
}

static int on_negotiate(struct ipc_client *c, const sasl_message *m)
{
    if (c->sasl)
        return sasl_refuse(c, "the server negotiates twice");
    if (c->kerberos) {
        const sasl_auth *offer = find_offer(m, "KERBEROS", GSSAPI_MECHANISM);
        return offer ? kerberos_start(c, offer)
                     : sasl_refuse(c, "the server does not take Kerberos tickets");
    }
    const sasl_auth *found = find_offer(m, "TOKEN", SASL_MECHANISM);
    if (!found)
        return sasl_refuse(c, "the server does not take tokens by " SASL_MECHANISM);
    if (found->serverid && !sv_streq(found->serverid, SASL_SERVER_ID))
        return sasl_refuse(c, "the server has an unknown SASL identity");
    if (ipc_digest_client_new(c->token, c->qop_mask, &c->sasl) < 0)
        return sasl_refuse(c, "out of memory");
    if (found->has_challenge)
        return sasl_reply(c, found->challenge.data, found->challenge.len, found);
    return sasl_reply(c, NULL, 0, found);
}

static int on_success(struct ipc_client *c, const sasl_message *m)
{
    struct sv_error err = { 0 };
    struct sasl_bytes none;
    if (!c->sasl)
        return sasl_refuse(c, c->kerberos
                                  ? "the server wants no ticket; refused, it may be an impostor"
                                  : "the server wants no token; refused, it may be an impostor");
    /* DIGEST-MD5 proves the server by its last message, GSSAPI by those before. */
    if (!ipc_sasl_client_done(c->sasl) &&
        ipc_sasl_client_step(c->sasl, m->token.data, m->token.len, &none, &err) < 0)
        return sasl_refuse(c, err.text);
    if (!ipc_sasl_client_done(c->sasl))
        return sasl_refuse(c, "the server ends the exchange too early");
    c->layer = ipc_sasl_client_take_layer(c->sasl);
    c->sasl = ipc_sasl_client_free(c->sasl);
    int r = put_context(c);
    if (r >= 0)
        r = ipc_client_layer_cover(c);
    if (r < 0)
        return sasl_refuse(c, "out of memory");
    c->state = CLIENT_READY;
    ipc_client_write(c);
    return c->state == CLIENT_READY ? 0 : -EPIPE;
}

int ipc_client_on_sasl(struct ipc_client *c, struct sv_arena *a, const uint8_t *p, size_t n)
{
    ProtobufCMessage *base;
    if (c->state != CLIENT_SASL)
        return sasl_refuse(c, "a SASL message outside of the negotiation");
    if (ipc_unpack(a, &hadoop__common__rpc_sasl_proto__descriptor, p, n, &base) < 0)
        return sasl_refuse(c, "malformed SASL message");
    const sasl_message *m = (const sasl_message *)base;
    switch (m->state) {
    case IPC_SASL_STATE(NEGOTIATE):
        return on_negotiate(c, m);
    case IPC_SASL_STATE(CHALLENGE):
        if (!c->sasl || !m->has_token)
            return sasl_refuse(c, "a challenge out of turn");
        return sasl_reply(c, m->token.len ? m->token.data : (const uint8_t *)"", m->token.len,
                          NULL);
    case IPC_SASL_STATE(SUCCESS):
        return on_success(c, m);
    default:
        return sasl_refuse(c, "an unknown SASL state");
    }
}

/* A server that is killed, or has too many connections, looks the same as Hadoop's, which closes
 * without a word where no rule gives an account to a principal that it has authenticated: only an
 * answer is a refusal. */
const char *ipc_client_ended_words(const struct ipc_client *c, struct sv_error *ret)
{
    if (c->state != CLIENT_SASL || !c->sasl || !ipc_sasl_client_done(c->sasl))
        return "the server closed the connection";
    (void)sv_error_set(ret, -ECONNRESET,
                       "the server closed the connection behind the login of %s, without an "
                       "answer; if it does so each time, maybe no rule of its "
                       "hadoop.security.auth_to_local applies",
                       c->user);
    return ret->text;
}
