/* See token-calls.h. Requests are hostile. In a secure cluster a token is no way to a token. */
#include "router/token-calls.h"

#include <errno.h>
#include <stdio.h>

#include "common/address.h"
#include "common/str.h"
#include "proto/security.pb-c.h"
#include "router/call.h"
#include "router/tokens.h"

#define DESCRIPTOR(name) (&hadoop__common__##name##_delegation_token_response_proto__descriptor)

/* ---- Life ---- */

static bool is_of(const uint8_t *id, size_t id_len, void *userdata)
{
    struct yarn_delegation_token what;

    return yarn_delegation_token_decode(id, id_len, &what, NULL) >= 0 &&
           what.sequence == *(const int32_t *)userdata;
}

/* Those who wait for another token are left alone. */
static void on_known(int32_t sequence, void *userdata)
{
    struct router *r = userdata;

    if (r->server)
        ipc_server_ask_again_token(r->server, is_of, &sequence);
}

int rtr_token_calls_start(struct router *r, struct sv_error *err)
{
    const struct rtr_conf_kerberos *k = &r->conf.kerberos;

    r->tokens = rtr_tokens_new(&(struct rtr_tokens_config){
        .event = r->event,
        .store = r->store,
        .conf = &r->conf.tokens,
        .rules = k->own.rules,
        .self = k->own.on ? k->own.principal : r->user,
        .known = on_known,
        .userdata = r,
    });
    return r->tokens ? 0 : sv_error_errno(err, -ENOMEM, "delegation tokens");
}

void rtr_token_calls_stop(struct router *r)
{
    r->tokens = rtr_tokens_free(r->tokens);
}

int rtr_token_verify(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                     size_t *ret_password_len, char ret_user[256], const char **ret_class,
                     struct sv_error *err, void *userdata)
{
    const struct router *r = userdata;
    const struct ipc_peer *peer = ipc_server_verifying(r->server);
    const struct sockaddr_in6 at = { .sin6_family = AF_INET6,
                                     .sin6_addr = peer ? peer->ip : in6addr_any };
    const struct in6_addr from = sv_address_client((const struct sockaddr *)&at);

    return rtr_tokens_verify(r->tokens, &from, id, id_len, ret_password, ret_password_len, ret_user,
                             ret_class, err);
}

/* ---- Calls ---- */

/* Hadoop's clients rebuild the exception that a YarnException's text names. */
static void refuse(struct rtr_call *x, const char *class, const char *text)
{
    rtr_call_fail(x, JAVA_YARN_EXCEPTION, "%s: %s", class, text);
}

/* False after the call was answered. */
static bool went_well(struct rtr_call *x, const struct rtr_token_answer *a)
{
    if (a->status == -EAGAIN)
        rtr_call_fail(x, a->java_class, "%s", a->text);
    else if (a->status < 0)
        refuse(x, a->java_class, a->text);
    return a->status >= 0;
}

static void on_issued(const struct rtr_token_answer *a, void *userdata)
{
    struct rtr_call *x = userdata;
    Hadoop__Common__GetDelegationTokenResponseProto resp =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_RESPONSE_PROTO__INIT;

    if (!went_well(x, a))
        return;
    resp.token = yarn_token_to(ipc_call_arena(x->call), a->token);
    if (resp.token)
        rtr_call_reply(x, &resp.base);
    else /* nobody has the token: it expires */
        rtr_call_no_memory(x);
}

static void on_renewed(const struct rtr_token_answer *a, void *userdata)
{
    struct rtr_call *x = userdata;
    Hadoop__Common__RenewDelegationTokenResponseProto resp =
        HADOOP__COMMON__RENEW_DELEGATION_TOKEN_RESPONSE_PROTO__INIT;

    if (!went_well(x, a))
        return;
    resp.newexpirytime = (uint64_t)a->expires_ms;
    rtr_call_reply(x, &resp.base);
}

static void on_cancelled(const struct rtr_token_answer *a, void *userdata)
{
    struct rtr_call *x = userdata;
    const Hadoop__Common__CancelDelegationTokenResponseProto resp =
        HADOOP__COMMON__CANCEL_DELEGATION_TOKEN_RESPONSE_PROTO__INIT;

    if (went_well(x, a))
        rtr_call_reply(x, &resp.base);
}

static const struct ipc_peer *peer_of(const struct rtr_call *x)
{
    return ipc_call_peer(x->call);
}

static struct yarn_token_caller caller_of(const struct rtr_call *x)
{
    return (struct yarn_token_caller){ x->user, peer_of(x)->full_user ?: x->user };
}

/* The full name of a proxy user, or NULL. */
static const char *real_user_of(const struct rtr_call *x)
{
    const struct ipc_peer *peer = peer_of(x);

    return peer->real_user && peer->principal ? peer->principal : peer->real_user;
}

/* False after the call was answered. */
static bool has_ticket(struct rtr_call *x, const char *done_to_it)
{
    char text[96];

    if (!x->r->secure || !peer_of(x)->token)
        return true;
    (void)snprintf(text, sizeof(text),
                   "Delegation Token can be %s only with kerberos authentication", done_to_it);
    refuse(x, JAVA_IO_EXCEPTION, text);
    return false;
}

/* False after the call was answered. */
static bool token_of(struct rtr_call *x, const Hadoop__Common__TokenProto *m,
                     struct yarn_token *ret)
{
    char text[128];

    if (yarn_token_from(m, ipc_call_arena(x->call), ret) < 0)
        refuse(x, JAVA_INVALID_TOKEN, "the request's token is incomplete");
    else if (sv_streq(ret->kind, YARN_KIND_RM_DELEGATION))
        return true;
    else {
        (void)snprintf(text, sizeof(text), "%.64s is not a token of the ResourceManager",
                       ret->kind);
        refuse(x, JAVA_INVALID_TOKEN, text);
    }
    return false;
}

void rtr_on_getDelegationToken(struct ipc_call *call, const ProtobufCMessage *request,
                               void *userdata)
{
    const Hadoop__Common__GetDelegationTokenRequestProto *q = (const void *)request;
    struct rtr_call *x =
        rtr_call_new(userdata, call, request, "getDelegationToken", DESCRIPTOR(get));

    if (x && has_ticket(x, "issued"))
        rtr_tokens_issue(x->r->tokens, caller_of(x).full_name, q->renewer, real_user_of(x),
                         on_issued, x);
}

void rtr_on_renewDelegationToken(struct ipc_call *call, const ProtobufCMessage *request,
                                 void *userdata)
{
    const Hadoop__Common__RenewDelegationTokenRequestProto *q = (const void *)request;
    struct rtr_call *x =
        rtr_call_new(userdata, call, request, "renewDelegationToken", DESCRIPTOR(renew));
    struct yarn_token t;

    if (!x)
        return;
    const struct yarn_token_caller who = caller_of(x);
    if (has_ticket(x, "renewed") && token_of(x, q->token, &t))
        rtr_tokens_renew(x->r->tokens, &t, &who, on_renewed, x);
}

void rtr_on_cancelDelegationToken(struct ipc_call *call, const ProtobufCMessage *request,
                                  void *userdata)
{
    const Hadoop__Common__CancelDelegationTokenRequestProto *q = (const void *)request;
    struct rtr_call *x =
        rtr_call_new(userdata, call, request, "cancelDelegationToken", DESCRIPTOR(cancel));
    struct yarn_token t;

    if (!x)
        return;
    const struct yarn_token_caller who = caller_of(x);
    if (has_ticket(x, "cancelled") && token_of(x, q->token, &t))
        rtr_tokens_cancel(x->r->tokens, &t, &who, on_cancelled, x);
}
