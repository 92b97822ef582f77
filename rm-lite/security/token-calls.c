/* Renewing and cancelling a token: at its NameNode, at a web server, here for one of our own, or in
 * a federation's state store.
 * Hostile: services of tokens, and what NameNodes answer. */
#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "hdfs/namenode-proxy.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/submission.h"
#include "rm-lite/security/delegation.h"
#include "rm-lite/security/namenodes.h"
#include "rm-lite/security/router-tokens.h"
#include "rm-lite/security/system-credentials.h"
#include "rm-lite/security/token-conf.h"
#include "rm-lite/security/token-renewer-internal.h"
#include "rm-lite/security/web-issuers.h"
#include "rm-lite/security/web-tokens.h"
#include "wire/ipc/methods-hdfs.h"

/* Worth a retry: nobody has said no. */
static int status_of(const struct ipc_result *r)
{
    const enum ipc_failure f = ipc_failure_of(r);

    return ipc_failure_is_absence(f) || f == IPC_FAILURE_LOCAL ? -EAGAIN : r->status;
}

static void on_renewed(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct rm_renewal *t = userdata;
    const Hadoop__Common__RenewDelegationTokenResponseProto *m = (const void *)r->response;
    struct rm_token_renewer *w = rm_renewal_userdata(t);
    int64_t expires = 0;

    SV_DISPATCH_BATCH(w->rm->dispatcher);
    if (m)
        expires = (int64_t)SV_MIN(m->newexpirytime, (uint64_t)INT64_MAX);
    rm_renewal_renewed(t, r->status == 0 ? 0 : status_of(r), expires, r->status ? err->text : NULL,
                       sv_wall_ms());
}

static void on_cancelled(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)err;
    if (r->status != -ECANCELED)
        sv_log_debug("delegation token: cancelled: %d", r->status);
    rm_renewal_cancelled(userdata);
}

/* The configuration that an application sent with the token. NULL: none. */
static struct sv_conf *conf_of_job(struct rm_token_renewer *w, const struct rm_renewal *t)
{
    const Hadoop__Yarn__ApplicationSubmissionContextProto *ctx;
    struct sv_conf *c = NULL;
    struct yarn_app_id id;
    struct rm_app *app = rm_renewal_app(t, &id) ? rm_app_find(w->rm, id) : NULL;

    ctx = app ? rm_app_context(app) : NULL;
    if (!ctx || !ctx->am_container_spec || !ctx->am_container_spec->has_tokens_conf)
        return NULL;
    /* It was checked with the submission; without memory there is none, ignoring. */
    (void)!rm_token_conf_parse(ctx->am_container_spec->tokens_conf.data,
                               ctx->am_container_spec->tokens_conf.len, &c, NULL);
    return c;
}

/* Found once: the application and its configuration may have gone when the token is cancelled. */
static int namenode_of(struct rm_token_renewer *w, struct rm_renewal *t, struct ipc_proxy **ret,
                       struct sv_error *err)
{
    _cleanup_(sv_conf_freep) struct sv_conf *job = NULL;
    struct rm_namenode *n = rm_renewal_kept(t);
    int r = 0;

    if (!n) {
        job = conf_of_job(w, t);
        r = rm_namenodes_find(w->namenodes, rm_renewal_token(t)->service, job, &n, err);
        if (r < 0)
            return r;
        rm_renewal_keep(t, n);
    }
    *ret = rm_namenode_proxy(n);
    return 0;
}

static int call_namenode(struct rm_token_renewer *w, struct rm_renewal *t, const char *method,
                         ProtobufCMessage *request, Hadoop__Common__TokenProto **slot,
                         const ProtobufCMessageDescriptor *response, ipc_done done,
                         struct sv_error *err)
{
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(0);
    struct ipc_proxy *proxy = NULL;
    int r = namenode_of(w, t, &proxy, err);

    if (r < 0)
        return r;
    *slot = a ? yarn_token_to(a, rm_renewal_token(t)) : NULL;
    if (!*slot)
        return sv_error_errno(err, -ENOMEM, "the call");
    r = ipc_proxy_call(proxy, method, request, response, HDFS_TOKEN_CALL_MS, done, t, NULL);
    return r < 0 ? sv_error_errno(err, r, "the call") : 0;
}

/* Ours: no call, and stored as after a client's. */
static void renew_own(struct rm_token_renewer *w, struct rm_renewal *t)
{
    const char *class = NULL;
    struct sv_error err = { 0 };
    int64_t expires = 0;
    const struct yarn_token_caller self = { w->rm->login_user,
                                            w->rm->conf.kerberos.own.principal ?: "" };
    int r = rm_delegation_renew(w->rm, rm_renewal_token(t), &self, &expires, &class, &err);

    rm_renewal_renewed(t, r < 0 ? -EACCES : 0, expires, err.text, sv_wall_ms());
}

/* ---- Over HTTP ---- */

static void on_web_renewed(const struct rm_web_result *r, void *userdata)
{
    struct rm_renewal *t = userdata;
    struct rm_token_renewer *w = rm_renewal_userdata(t);

    SV_DISPATCH_BATCH(w->rm->dispatcher);
    rm_renewal_renewed(t, r->status, r->expires_ms, r->why, sv_wall_ms());
}

static void on_web_cancelled(const struct rm_web_result *r, void *userdata)
{
    if (r->status < 0 && r->status != -ECANCELED)
        sv_log_debug("delegation token: not cancelled: %s", r->why);
    rm_renewal_cancelled(userdata);
}

static int call_web(struct rm_token_renewer *w, struct rm_renewal *t, bool cancel,
                    struct sv_error *err)
{
    const struct yarn_token *token = rm_renewal_token(t);
    struct rm_web_issuer at;
    int r = rm_web_issuers_find(w->issuers, token->kind, token->service, &at, err);

    if (r < 0)
        return r;
    return rm_web_tokens_call(w->web, &at, token, cancel,
                              cancel ? on_web_cancelled : on_web_renewed, t, err);
}

/* ---- Renewing ---- */

/* A token that cannot be renewed for much longer is replaced: each application that has it gets one
 * of its own user. It is renewed nevertheless, for as long as they have it. */
static void replace_in_time(struct rm_token_renewer *w, const struct rm_renewal *t)
{
    const struct yarn_token *token = rm_renewal_token(t);
    const int64_t expires = rm_renewal_expires(t);
    struct yarn_delegation_token id;
    struct yarn_app_id app;

    if (!w->system || expires == 0 || !sv_streq(token->kind, YARN_KIND_HDFS_DELEGATION) ||
        yarn_delegation_token_decode(token->id, token->id_len, &id, NULL) < 0 ||
        id.max_ms - expires >= w->rm->conf.credentials_left_ms)
        return;
    for (size_t i = 0; rm_renewal_next_app(t, i, &app); i++)
        (void)rm_system_credentials_request(w->system, app, false);
}

void rm_token_call_renew(void *userdata, struct rm_renewal *t)
{
    struct rm_token_renewer *w = userdata;
    Hadoop__Common__RenewDelegationTokenRequestProto q =
        HADOOP__COMMON__RENEW_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    struct sv_error err = { 0 };
    int r;

    if (w->closing)
        return;
    if (sv_streq(rm_renewal_token(t)->kind, YARN_KIND_RM_DELEGATION)) {
        if (rm_router_token(w->rm, rm_renewal_token(t)))
            rm_router_token_renew(w, t);
        else
            renew_own(w, t);
        return;
    }
    replace_in_time(w, t);
    if (rm_web_issuers_kind(rm_renewal_token(t)->kind))
        r = call_web(w, t, false, &err);
    else
        r = call_namenode(w, t, "renewDelegationToken", &q.base, &q.token,
                          &hadoop__common__renew_delegation_token_response_proto__descriptor,
                          on_renewed, &err);
    if (r < 0)
        rm_renewal_renewed(t, r == -ENOMEM || r == -EBUSY ? -EAGAIN : r, 0, err.text, sv_wall_ms());
}

static void cancel_own(struct rm_token_renewer *w, struct rm_renewal *t)
{
    const struct yarn_token *token = rm_renewal_token(t);
    struct yarn_delegation_token id;
    const char *class = NULL;
    struct sv_error err = { 0 };
    int r = yarn_delegation_token_decode(token->id, token->id_len, &id, &err);

    if (r >= 0)
        r = rm_delegation_cancel(
            w->rm, token, &(struct yarn_token_caller){ id.renewer, id.renewer }, &class, &err);
    if (r < 0)
        sv_log_debug("delegation token: not cancelled: %s", err.text);
    rm_renewal_cancelled(t);
}

void rm_token_call_cancel(void *userdata, struct rm_renewal *t)
{
    struct rm_token_renewer *w = userdata;
    Hadoop__Common__CancelDelegationTokenRequestProto q =
        HADOOP__COMMON__CANCEL_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    struct sv_error err = { 0 };
    int r;

    if (w->closing)
        return;
    if (sv_streq(rm_renewal_token(t)->kind, YARN_KIND_RM_DELEGATION)) {
        if (rm_router_token(w->rm, rm_renewal_token(t)))
            rm_router_token_cancel(w, t);
        else
            cancel_own(w, t);
        return;
    }
    if (rm_web_issuers_kind(rm_renewal_token(t)->kind))
        r = call_web(w, t, true, &err);
    else
        r = call_namenode(w, t, "cancelDelegationToken", &q.base, &q.token,
                          &hadoop__common__cancel_delegation_token_response_proto__descriptor,
                          on_cancelled, &err);
    if (r < 0) {
        sv_log_debug("delegation token: not cancelled: %s", err.text);
        rm_renewal_cancelled(t);
    }
}
