/* The connection context: who a client is or acts for, and whether it may use the protocol.
 * Hostile: the context, of a peer that may be authenticated. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-conn.h"

static int context_refuse(struct ipc_conn *c, const struct ipc_echo *echo, const char *text)
{
    ipc_conn_fatal(c, echo, IPC_DETAIL(FATAL_INVALID_RPC_HEADER), JAVA_RPC_SERVER_EXCEPTION, "%s",
                   text);
    return 0;
}

static bool name_ok(const char *s)
{
    return s && *s && strlen(s) <= IPC_NAME_MAX;
}

static int simple_user(struct ipc_conn *c, const char *effective, const char *real)
{
    c->user = strdup(effective);
    if (!c->user)
        return -ENOMEM;
    c->peer.user = c->user;
    if (!real)
        return 0;
    c->real_user = strdup(real);
    if (!c->real_user)
        return -ENOMEM;
    c->peer.real_user = c->real_user;
    return 0;
}

static void ready(struct ipc_conn *c)
{
    c->server->counters.authorizations++;
    ipc_conn_set_state(c, CONN_READY);
}

static int may_impersonate(struct ipc_conn *c, struct sv_error *err)
{
    if (!c->real_user || (!c->principal && sv_streq(c->real_user, c->user)))
        return 0;
    if (c->server->cfg.impersonation)
        return c->server->cfg.impersonation(c->server->cfg.auth_userdata, &c->peer, err);
    return sv_error_set(err, -EACCES, "User: %s is not allowed to impersonate %s",
                        c->principal ? c->principal : c->real_user,
                        c->principal ? c->full_user : c->user);
}

/* In Hadoop's order. 0: the connection may go on, waits, or has got its last answer. */
static int authorize(struct ipc_conn *c, const struct ipc_echo *echo)
{
    struct sv_error err = { 0 };
    int r = may_impersonate(c, &err);

    if (r >= 0 && c->server->cfg.authorization)
        r = c->server->cfg.authorization(c->server->cfg.auth_userdata, &c->peer, c->protocol->name,
                                         &err);
    c->asks = r == -EAGAIN;
    if (c->asks)
        return 0;
    if (r < 0)
        return ipc_auth_refuse(c, echo, JAVA_AUTHORIZATION, err.text);
    ready(c);
    return 0;
}

void ipc_context_ask_again(struct ipc_conn *c)
{
    static const struct ipc_echo context = { .call_id = IPC_CALL_CONTEXT, .retry_count = -1 };

    (void)authorize(c, &context); /* always 0 */
    if (!c->asks)
        ipc_server_mark_dirty(c);
}

/* Authorization is for a protocol, so that the context must name one of the table. False: refused.
 */
static bool set_protocol(struct ipc_conn *c, const struct ipc_echo *echo, const char *name)
{
    char text[IPC_NAME_MAX + 40];

    if (!c->server->cfg.authorization)
        return true;
    c->protocol = name ? ipc_protocol_find(c->server, name) : NULL;
    if (c->protocol)
        return true;
    (void)snprintf(text, sizeof(text), "%s%s", name ? "Unknown protocol: " : "Null protocol",
                   name ? name : " not authorized");
    (void)ipc_auth_refuse(c, echo, JAVA_AUTHORIZATION, text); /* always 0 */
    return false;
}

/* -EACCES: the error is for the client; other values: close at once. */
static int set_users(struct ipc_conn *c, const Hadoop__Common__UserInformationProto *info,
                     struct sv_error *err)
{
    const char *effective = info ? info->effectiveuser : NULL;
    const char *real = info ? info->realuser : NULL;
    if ((effective && !name_ok(effective)) || (real && !name_ok(real)))
        return sv_error_set(err, -EACCES, "the connection context has a name that is none");
    if (c->principal)
        return ipc_kerberos_users(c, effective, real, err);
    if (!c->peer.token)
        return effective ? simple_user(c, effective, real)
                         : sv_error_set(err, -EACCES, "the connection context names no user");
    if ((effective && !sv_streq(effective, c->user)) || real)
        return sv_error_set(err, -EACCES,
                            "a connection that is authenticated by a token cannot act for others");
    return 0;
}

int ipc_context_take(struct ipc_conn *c, const struct ipc_echo *echo, struct sv_arena *a,
                     const uint8_t *p, size_t n)
{
    ProtobufCMessage *base;
    if (c->state == CONN_SASL)
        return context_refuse(c, echo, "Connection context sent during SASL negotiation");
    if (c->state != CONN_CONTEXT)
        return context_refuse(c, echo, "Connection context already processed");
    if (ipc_unpack(a, &hadoop__common__ipc_connection_context_proto__descriptor, p, n, &base) < 0)
        return context_refuse(c, echo, "malformed connection context");
    const Hadoop__Common__IpcConnectionContextProto *m = (const void *)base;
    if (m->protocol && !name_ok(m->protocol))
        return context_refuse(c, echo, "the protocol's name is too long");
    struct sv_error err = { 0 };
    int r = set_users(c, m->userinfo, &err);
    if (r == -EACCES)
        return ipc_auth_refuse(c, echo, JAVA_ACCESS_CONTROL, err.text);
    if (r < 0)
        return r;
    return set_protocol(c, echo, m->protocol) ? authorize(c, echo) : 0;
}
