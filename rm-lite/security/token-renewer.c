/* See token-renewer.h. */
#include "rm-lite/security/token-renewer.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "hdfs/conf.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/submission.h"
#include "rm-lite/security/delegation.h"
#include "rm-lite/security/namenodes.h"
#include "wire/ipc/methods-hdfs.h"

#define TICK_MS 1000

struct rm_token_renewer {
    struct rm *rm;
    struct rm_renewals *renewals;
    struct rm_namenodes *namenodes;
    int64_t ticked_ms;
    bool closing; /* no call begins any more */
};

/* ---- Tokens of a submission ---- */

/* True if the ResourceManager renews it: of a kind that it knows, with a renewer. */
static bool is_managed(const struct yarn_token *t)
{
    struct yarn_delegation_token id;

    if (!sv_streq(t->kind, YARN_KIND_HDFS_DELEGATION) &&
        !sv_streq(t->kind, YARN_KIND_RM_DELEGATION))
        return false;
    return yarn_delegation_token_decode(t->id, t->id_len, &id, NULL) < 0 || *id.renewer;
}

static int tokens_of(struct rm_app *app, struct sv_arena *a, struct yarn_token **ret, size_t *ret_n,
                     struct sv_error *err)
{
    const Hadoop__Yarn__ApplicationSubmissionContextProto *ctx = rm_app_context(app);
    const Hadoop__Yarn__ContainerLaunchContextProto *clc = ctx ? ctx->am_container_spec : NULL;
    struct yarn_credentials c = { 0 };
    int r;

    *ret_n = 0;
    if (!ctx)
        return sv_error_errno(err, -ENOMEM, "its tokens");
    if (!clc || !clc->has_tokens || clc->tokens.len == 0)
        return 0;
    r = yarn_credentials_parse(clc->tokens.data, clc->tokens.len, a, &c, err);
    if (r < 0)
        return r;
    *ret = sv_newn(a, struct yarn_token, SV_MAX(c.n_tokens, (size_t)1));
    if (!*ret)
        return sv_error_errno(err, -ENOMEM, "its tokens");
    for (size_t i = 0; i < c.n_tokens; i++)
        if (is_managed(&c.tokens[i].token))
            (*ret)[(*ret_n)++] = c.tokens[i].token;
    return 0;
}

int rm_token_renewer_admit(struct rm_app *app, struct sv_error *err)
{
    struct rm_token_renewer *w = app->rm->renewer;
    _cleanup_arena_wipe_ struct sv_arena *a = NULL;
    struct rm_renewals_app in = { .id = app->id, .recovered = app->recovered };
    const Hadoop__Yarn__ApplicationSubmissionContextProto *ctx;
    struct yarn_token *tokens = NULL;
    int r;

    if (!w)
        return 1;
    a = sv_arena_new(0);
    if (!a)
        return sv_error_errno(err, -ENOMEM, "its tokens");
    r = tokens_of(app, a, &tokens, &in.n_tokens, err);
    if (r < 0)
        return r;
    ctx = rm_app_context(app);
    in.tokens = tokens;
    in.cancel_at_end = !ctx->has_cancel_tokens_when_complete || ctx->cancel_tokens_when_complete;
    r = in.n_tokens ? rm_renewals_add(w->renewals, &in, sv_wall_ms(), err) : 1;
    if (r >= 0 && in.n_tokens)
        rm_renewals_tick(w->renewals, sv_wall_ms());
    return r;
}

/* Logs are written with the job's tokens, after its end. */
static int64_t removal_ms(const struct rm *rm)
{
    return rm->conf.log_aggregation ? rm->conf.token_removal_ms : 0;
}

void rm_token_renewer_end(struct rm_app *app)
{
    struct rm *rm = app->rm;

    if (rm->renewer)
        rm_renewals_end(rm->renewer->renewals, app->id, sv_wall_ms() + removal_ms(rm));
}

void rm_token_renewer_keep_alive(struct rm *rm, struct yarn_app_id app)
{
    if (rm->renewer)
        rm_renewals_keep_alive(rm->renewer->renewals, app, sv_wall_ms() + removal_ms(rm));
}

static void on_admitted(void *userdata, struct yarn_app_id id, const char *why)
{
    struct rm_token_renewer *w = userdata;
    struct rm_app *app = rm_app_find(w->rm, id);

    if (app && app->state == RM_APP_ST_NEW) /* not killed meanwhile */
        rm_app_post(app, why ? RM_APP_EV_REJECTED : RM_APP_EV_START, why);
}

/* ---- Calls ---- */

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

static int call_namenode(struct rm_token_renewer *w, struct rm_renewal *t, const char *method,
                         ProtobufCMessage *request, Hadoop__Common__TokenProto **slot,
                         const ProtobufCMessageDescriptor *response, ipc_done done,
                         struct sv_error *err)
{
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(0);
    struct ipc_proxy *proxy = NULL;
    int r = rm_namenodes_find(w->namenodes, rm_renewal_token(t)->service, &proxy, err);

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
    const struct rm_token_caller self = { w->rm->login_user,
                                          w->rm->conf.kerberos.own.principal ?: "" };
    int r = rm_delegation_renew(w->rm, rm_renewal_token(t), &self, &expires, &class, &err);

    rm_renewal_renewed(t, r < 0 ? -EACCES : 0, expires, err.text, sv_wall_ms());
}

static void on_renew(void *userdata, struct rm_renewal *t)
{
    struct rm_token_renewer *w = userdata;
    Hadoop__Common__RenewDelegationTokenRequestProto q =
        HADOOP__COMMON__RENEW_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    struct sv_error err = { 0 };
    int r;

    if (w->closing)
        return;
    if (sv_streq(rm_renewal_token(t)->kind, YARN_KIND_RM_DELEGATION)) {
        renew_own(w, t);
        return;
    }
    r = call_namenode(w, t, "renewDelegationToken", &q.base, &q.token,
                      &hadoop__common__renew_delegation_token_response_proto__descriptor,
                      on_renewed, &err);
    if (r < 0)
        rm_renewal_renewed(t, r == -ENOMEM ? -EAGAIN : r, 0, err.text, sv_wall_ms());
}

static void cancel_own(struct rm_token_renewer *w, struct rm_renewal *t)
{
    const struct yarn_token *token = rm_renewal_token(t);
    struct yarn_delegation_token id;
    const char *class = NULL;
    struct sv_error err = { 0 };
    int r = yarn_delegation_token_decode(token->id, token->id_len, &id, &err);

    if (r >= 0)
        r = rm_delegation_cancel(w->rm, token, &(struct rm_token_caller){ id.renewer, id.renewer },
                                 &class, &err);
    if (r < 0)
        sv_log_debug("delegation token: not cancelled: %s", err.text);
    rm_renewal_cancelled(t);
}

static void on_cancel(void *userdata, struct rm_renewal *t)
{
    struct rm_token_renewer *w = userdata;
    Hadoop__Common__CancelDelegationTokenRequestProto q =
        HADOOP__COMMON__CANCEL_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    struct sv_error err = { 0 };
    int r;

    if (w->closing)
        return;
    if (sv_streq(rm_renewal_token(t)->kind, YARN_KIND_RM_DELEGATION)) {
        cancel_own(w, t);
        return;
    }
    r = call_namenode(w, t, "cancelDelegationToken", &q.base, &q.token,
                      &hadoop__common__cancel_delegation_token_response_proto__descriptor,
                      on_cancelled, &err);
    if (r < 0) {
        sv_log_debug("delegation token: not cancelled: %s", err.text);
        rm_renewal_cancelled(t);
    }
}

/* ---- Its life ---- */

void rm_token_renewer_tick(struct rm *rm)
{
    struct rm_token_renewer *w = rm->renewer;
    int64_t now = sv_now_ms();

    if (!w || (w->ticked_ms && now - w->ticked_ms < TICK_MS))
        return;
    w->ticked_ms = now;
    rm_renewals_tick(w->renewals, sv_wall_ms());
}

void rm_token_renewer_counts(const struct rm *rm, struct rm_renewals_counts *ret)
{
    *ret = (struct rm_renewals_counts){ 0 };
    if (rm->renewer)
        rm_renewals_counts(rm->renewer->renewals, ret);
}

int rm_token_renewer_new(struct rm *rm, const struct rm_token_renewer_config *c,
                         struct sv_error *err)
{
    struct rm_token_renewer *w = calloc(1, sizeof(*w));
    const struct rm_renewals_ops ops = { on_renew, on_cancel, on_admitted, w };
    const struct rm_renewals_settings settings = { .tries = (int)rm->conf.token_renew_tries,
                                                   .always_cancel = rm->conf.tokens_always_cancel };
    const struct hdfs_login login = { .event = rm->event,
                                      .kerberos = c->namenode,
                                      .qop_mask = c->qop_mask };
    int r;

    if (!w)
        return sv_error_errno(err, -ENOMEM, "renewal of delegation tokens");
    r = hdfs_conf_load(rm->xml, err); /* hdfs-site.xml names NameNodes */
    if (r < 0) {
        free(w);
        return r;
    }
    w->rm = rm;
    rm->renewer = w;
    w->renewals = rm_renewals_new(&settings, &ops);
    r = w->renewals ? rm_namenodes_new(rm->xml, &login, &w->namenodes) : -ENOMEM;
    if (r >= 0)
        return 0;
    rm_token_renewer_free(rm);
    return sv_error_errno(err, r, "renewal of delegation tokens");
}

void rm_token_renewer_free(struct rm *rm)
{
    struct rm_token_renewer *w = rm->renewer;

    if (!w)
        return;
    w->closing = true;
    w->namenodes = rm_namenodes_free(w->namenodes); /* ends the open calls */
    rm_renewals_free(w->renewals);
    free(w);
    rm->renewer = NULL;
}
