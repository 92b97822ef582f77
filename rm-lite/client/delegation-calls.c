/* getDelegationToken, renewDelegationToken, cancelDelegationToken; see delegation-calls.h. Requests
 * are hostile. Each answer waits until the change is stored. */
#include "rm-lite/client/delegation-calls.h"

#include <errno.h>

#include "common/str.h"
#include "proto/security.pb-c.h"
#include "rm-lite/core/audit.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/requests/client-call.h"
#include "rm-lite/security/delegation.h"
#include "rm-lite/store/store.h"

static struct rm_audit audit_of(struct ipc_call *call, const char *operation)
{
    return (struct rm_audit){ .user = rm_client_user(call),
                              .ip = ipc_call_peer(call)->address,
                              .operation = operation,
                              .target = "ClientRMService" };
}

/* Hadoop's clients rebuild the exception that a YarnException's text names. */
static void fail(struct ipc_call *call, const char *operation, const char *class,
                 const struct sv_error *err)
{
    struct rm_audit audit = audit_of(call, operation);

    audit.description = err->text;
    rm_audit_fail(&audit);
    ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%s: %s", class, err->text);
}

static void done(struct ipc_call *call, struct rm *rm, const char *operation,
                 const ProtobufCMessage *response, struct sv_arena **arena)
{
    struct rm_audit audit = audit_of(call, operation);

    rm_audit_ok(&audit);
    rm_store_reply(rm, call, response, *arena);
    *arena = NULL;
}

/* False after the call was answered. */
static bool token_of(struct ipc_call *call, struct sv_arena *a, const char *operation,
                     const Hadoop__Common__TokenProto *m, struct yarn_token *ret)
{
    struct sv_error err = { 0 };

    if (yarn_token_from(m, a, ret) < 0)
        (void)sv_error_set(&err, -EBADMSG, "the request's token is incomplete");
    else if (!sv_streq(ret->kind, YARN_KIND_RM_DELEGATION))
        (void)sv_error_set(&err, -EBADMSG, "%.64s is not a token of the ResourceManager",
                           ret->kind);
    else
        return true;
    fail(call, operation, JAVA_INVALID_TOKEN, &err);
    return false;
}

static struct yarn_token_caller caller_of(struct ipc_call *call)
{
    const char *full = ipc_call_peer(call)->full_user;

    return (struct yarn_token_caller){ rm_client_user(call), full ?: rm_client_user(call) };
}

/* The full name of a proxy user, or NULL. */
static const char *real_user_of(struct ipc_call *call)
{
    const struct ipc_peer *peer = ipc_call_peer(call);

    return peer->real_user && peer->principal ? peer->principal : peer->real_user;
}

/* False after the call was answered: in a secure cluster a token is no way to a token. */
static bool has_ticket(const struct rm *rm, struct ipc_call *call, const char *operation,
                       const char *done_to_it)
{
    struct sv_error err = { 0 };

    if (!rm->conf.kerberos.own.on || !ipc_call_peer(call)->token)
        return true;
    (void)sv_error_set(&err, -EACCES,
                       "Delegation Token can be %s only with kerberos authentication", done_to_it);
    fail(call, operation, JAVA_IO_EXCEPTION, &err);
    return false;
}

void rm_on_getDelegationToken(struct ipc_call *call, const ProtobufCMessage *request,
                              void *userdata)
{
    static const char operation[] = "Get Delegation Token";
    struct rm *rm = userdata;
    const Hadoop__Common__GetDelegationTokenRequestProto *q = (const void *)request;
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    Hadoop__Common__GetDelegationTokenResponseProto *resp =
        a ? sv_new(a, Hadoop__Common__GetDelegationTokenResponseProto) : NULL;
    const char *class;
    struct sv_error err = { 0 };
    struct yarn_token t;

    if (!resp) {
        rm_answer_no_memory(call);
        return;
    }
    hadoop__common__get_delegation_token_response_proto__init(resp);
    if (!has_ticket(rm, call, operation, "issued"))
        return;
    if (rm_delegation_issue(rm, a, caller_of(call).full_name, q->renewer, real_user_of(call), &t,
                            &class, &err) < 0) {
        fail(call, operation, class, &err);
        return;
    }
    resp->token = yarn_token_to(a, &t);
    if (!resp->token) { /* nobody has the token: it expires */
        rm_answer_no_memory(call);
        return;
    }
    done(call, rm, operation, &resp->base, &a);
}

void rm_on_renewDelegationToken(struct ipc_call *call, const ProtobufCMessage *request,
                                void *userdata)
{
    static const char operation[] = "Renew Delegation Token";
    struct rm *rm = userdata;
    const Hadoop__Common__RenewDelegationTokenRequestProto *q = (const void *)request;
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    Hadoop__Common__RenewDelegationTokenResponseProto *resp =
        a ? sv_new(a, Hadoop__Common__RenewDelegationTokenResponseProto) : NULL;
    const char *class;
    struct sv_error err = { 0 };
    struct yarn_token t;
    int64_t expires;

    if (!resp) {
        rm_answer_no_memory(call);
        return;
    }
    hadoop__common__renew_delegation_token_response_proto__init(resp);
    const struct yarn_token_caller who = caller_of(call);
    if (!has_ticket(rm, call, operation, "renewed") || !token_of(call, a, operation, q->token, &t))
        return;
    if (rm_delegation_renew(rm, &t, &who, &expires, &class, &err) < 0) {
        fail(call, operation, class, &err);
        return;
    }
    resp->newexpirytime = (uint64_t)expires;
    done(call, rm, operation, &resp->base, &a);
}

void rm_on_cancelDelegationToken(struct ipc_call *call, const ProtobufCMessage *request,
                                 void *userdata)
{
    static const char operation[] = "Cancel Delegation Token";
    struct rm *rm = userdata;
    const Hadoop__Common__CancelDelegationTokenRequestProto *q = (const void *)request;
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    Hadoop__Common__CancelDelegationTokenResponseProto *resp =
        a ? sv_new(a, Hadoop__Common__CancelDelegationTokenResponseProto) : NULL;
    const char *class;
    struct sv_error err = { 0 };
    struct yarn_token t;

    if (!resp) {
        rm_answer_no_memory(call);
        return;
    }
    hadoop__common__cancel_delegation_token_response_proto__init(resp);
    const struct yarn_token_caller who = caller_of(call);
    if (!has_ticket(rm, call, operation, "cancelled") ||
        !token_of(call, a, operation, q->token, &t))
        return;
    if (rm_delegation_cancel(rm, &t, &who, &class, &err) < 0) {
        fail(call, operation, class, &err);
        return;
    }
    done(call, rm, operation, &resp->base, &a);
}
