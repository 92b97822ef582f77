/* Authentication, client side: the connection's first bytes, its context, and SASL. Hostile: the
 * server, which may be an impostor until DIGEST-MD5 has proven that it knows the token's password;
 * a client with a token never talks to a server that does not (CVE-2013-2192). */
#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-client-conn.h"
#include "wire/sasl/digest-exchange.h"

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
    user.effectiveuser = c->user;
    m.protocol = c->protocol;
    m.userinfo = c->token ? NULL : &user;
    return ipc_frame_put(&c->out, &h.base, &m.base, NULL, 0);
}

int ipc_client_put_hello(struct ipc_client *c)
{
    const uint8_t hello[7] = {
        'h', 'r', 'p', 'c', IPC_VERSION, 0, c->token ? IPC_AUTH_SASL : IPC_AUTH_NONE
    };
    int r = sv_buf_put(&c->out, hello, sizeof(hello));
    if (r < 0)
        return r;
    if (!c->token)
        return put_context(c);
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    m.state = IPC_SASL_STATE(NEGOTIATE);
    return put_sasl(c, &m);
}

/* ---- SASL ---- */

static int sasl_refuse(struct ipc_client *c, const char *text)
{
    struct sv_error err = { 0 };
    sv_error_set(&err, -EACCES, "%s", text);
    ipc_client_broken(c, -EACCES, NULL, &err);
    return -EACCES;
}

/* Answers a challenge (NULL: none yet). `chosen`: the server's offer, in the first answer. */
static int sasl_reply(struct ipc_client *c, const uint8_t *challenge, size_t n,
                      const sasl_auth *chosen)
{
    struct sv_error err = { 0 };
    struct sasl_bytes answer;
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    sasl_auth auth = HADOOP__COMMON__RPC_SASL_PROTO__SASL_AUTH__INIT, *auths[] = { &auth };
    if (chosen) {
        auth = *chosen;
        auth.has_challenge = 0;
        m.n_auths = 1;
        m.auths = auths;
    }
    m.state = chosen ? IPC_SASL_STATE(INITIATE) : IPC_SASL_STATE(RESPONSE);
    if (challenge) {
        if (ipc_sasl_client_step(c->sasl, challenge, n, &answer, &err) < 0)
            return sasl_refuse(c, err.text);
        m.has_token = 1;
        m.token.data = (uint8_t *)(uintptr_t)answer.p;
        m.token.len = answer.n;
    }
    int r = put_sasl(c, &m);
    if (r < 0)
        return sasl_refuse(c, "the SASL answer is too large");
    ipc_client_write(c);
    return c->state == CLIENT_SASL ? 0 : -EPIPE;
}

static int on_negotiate(struct ipc_client *c, const sasl_message *m)
{
    const sasl_auth *found = NULL;
    if (c->sasl)
        return sasl_refuse(c, "the server negotiates twice");
    for (size_t i = 0; i < m->n_auths && !found; i++)
        if (sv_streq(m->auths[i]->method, "TOKEN") &&
            sv_streq(m->auths[i]->mechanism, SASL_MECHANISM))
            found = m->auths[i];
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
        return sasl_refuse(c, "the server wants no token; refused, it may be an impostor");
    if (ipc_sasl_client_step(c->sasl, m->token.data, m->token.len, &none, &err) < 0)
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
        return sasl_reply(c, m->token.data, m->token.len, NULL);
    case IPC_SASL_STATE(SUCCESS):
        return on_success(c, m);
    default:
        return sasl_refuse(c, "an unknown SASL state");
    }
}
