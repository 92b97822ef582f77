/* See token-renewer.h. */
#include "rm-lite/security/token-renewer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "common/str.h"
#include "hdfs/conf.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/submission.h"
#include "rm-lite/security/namenodes.h"
#include "rm-lite/security/system-credentials.h"
#include "rm-lite/security/token-conf.h"
#include "rm-lite/security/token-renewer-internal.h"
#include "rm-lite/security/web-issuers.h"
#include "rm-lite/security/web-tokens.h"
#include "wire/ipc/methods-hdfs.h"

#define TICK_MS 1000

#define FIRST_TOKEN_MS 20000

/* An application that waits for the first token of its user, which is then with the nodes a
 * heartbeat later. */
struct starting {
    UT_hash_handle hh;
    struct app_key {
        int64_t cluster_ts, id;
    } key;
    struct yarn_app_id app;
    bool renewed, got;       /* the tokens that it brought; the new one, or there is none */
    int64_t since_ms, at_ms; /* when it is started; 0: not yet */
};

/* ---- Tokens of a submission ---- */

/* True if the ResourceManager renews it: of a kind that it knows, with a renewer. */
static bool is_managed(const struct yarn_token *t)
{
    struct yarn_delegation_token id;

    if (!sv_streq(t->kind, YARN_KIND_HDFS_DELEGATION) &&
        !sv_streq(t->kind, YARN_KIND_RM_DELEGATION) && !rm_web_issuers_kind(t->kind))
        return false;
    return yarn_delegation_token_decode(t->id, t->id_len, &id, NULL) < 0 || *id.renewer;
}

static void tell_unmanaged(const struct rm_app *app, const struct yarn_token *t)
{
    char kind[128];

    sv_escape(kind, sizeof(kind), t->kind);
    sv_log_debug("%s: its token of kind %s is not renewed: the kind has no renewer here, or the "
                 "token names none",
                 app->id_str, kind);
}

static int tokens_of(struct rm_app *app, struct sv_arena *a, struct yarn_token **ret, size_t *ret_n,
                     bool *ret_hdfs, struct sv_error *err)
{
    const Hadoop__Yarn__ApplicationSubmissionContextProto *ctx = rm_app_context(app);
    const Hadoop__Yarn__ContainerLaunchContextProto *clc = ctx ? ctx->am_container_spec : NULL;
    struct yarn_credentials c = { 0 };
    int r;

    *ret_n = 0;
    *ret_hdfs = false;
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
    for (size_t i = 0; i < c.n_tokens; i++) {
        *ret_hdfs |= sv_streq(c.tokens[i].token.kind, YARN_KIND_HDFS_DELEGATION);
        if (is_managed(&c.tokens[i].token))
            (*ret)[(*ret_n)++] = c.tokens[i].token;
        else
            tell_unmanaged(app, &c.tokens[i].token);
    }
    return 0;
}

/* A job's configuration is read when a token is renewed; here it is refused with the submission. */
static int check_conf(const Hadoop__Yarn__ApplicationSubmissionContextProto *ctx,
                      struct sv_error *err)
{
    const Hadoop__Yarn__ContainerLaunchContextProto *clc = ctx->am_container_spec;
    _cleanup_(sv_conf_freep) struct sv_conf *c = NULL;

    if (!clc || !clc->has_tokens_conf || clc->tokens_conf.len == 0)
        return 0;
    return rm_token_conf_parse(clc->tokens_conf.data, clc->tokens_conf.len, &c, err);
}

static bool cancel_at_end(struct rm_app *app)
{
    const Hadoop__Yarn__ApplicationSubmissionContextProto *ctx = rm_app_context(app);

    return !ctx || !ctx->has_cancel_tokens_when_complete || ctx->cancel_tokens_when_complete;
}

/* ---- Applications that wait for a token of ours ---- */

static struct starting *starting_find(const struct rm_token_renewer *w, struct yarn_app_id id)
{
    const struct app_key key = { id.cluster_ts, id.id };
    struct starting *s = NULL;

    HASH_FIND(hh, w->starting, &key, sizeof(key), s);
    return s;
}

static void starting_drop(struct rm_token_renewer *w, struct yarn_app_id id)
{
    struct starting *s = starting_find(w, id);

    if (!s)
        return;
    HASH_DEL(w->starting, s);
    free(s);
}

/* False: it does not wait. */
static bool starting_add(struct rm_token_renewer *w, struct yarn_app_id id, bool renewed)
{
    struct starting *s = calloc(1, sizeof(*s));

    if (!s || !rm_system_credentials_request(w->system, id, true)) {
        free(s);
        return false;
    }
    s->app = id;
    s->key = (struct app_key){ id.cluster_ts, id.id };
    s->renewed = renewed;
    s->since_ms = sv_now_ms();
    HASH_ADD(hh, w->starting, key, sizeof(s->key), s);
    return true;
}

static void start(struct rm_token_renewer *w, struct yarn_app_id id, const char *why)
{
    struct rm_app *app = rm_app_find(w->rm, id);

    if (app && app->state == RM_APP_ST_NEW) /* not killed meanwhile */
        rm_app_post(app, why ? RM_APP_EV_REJECTED : RM_APP_EV_START, why);
}

/* The nodes have the token when each has had a heartbeat. A NameNode that is away, or has many
 * requests to answer, delays no application for longer than FIRST_TOKEN_MS. */
static void start_in_time(struct rm_token_renewer *w, int64_t now)
{
    struct starting *s, *next;

    HASH_ITER (hh, w->starting, s, next) {
        const struct yarn_app_id id = s->app;

        s->got |= now - s->since_ms >= w->first_token_ms;
        if (!s->renewed || !s->got)
            continue;
        if (!s->at_ms)
            s->at_ms = now + w->rm->conf.heartbeat_ms;
        if (now < s->at_ms)
            continue;
        starting_drop(w, id);
        start(w, id, NULL);
    }
}

static void on_first(void *userdata, struct yarn_app_id id)
{
    struct starting *s = starting_find(userdata, id);

    if (s)
        s->got = true;
}

static void on_received(void *userdata, struct yarn_app_id id, const struct yarn_token *token,
                        int64_t max_ms)
{
    struct rm_token_renewer *w = userdata;
    struct rm_app *app = rm_app_find(w->rm, id);
    struct rm_renewals_app in = { .id = id, .tokens = token, .n_tokens = 1, .recovered = true };
    char text[YARN_ID_TEXT_MAX];
    int r;

    if (!app)
        return;
    in.cancel_at_end = cancel_at_end(app);
    r = rm_renewals_replace(w->renewals, &in, max_ms, sv_wall_ms());
    if (r < 0)
        sv_log_warning("%s: its new HDFS token is not renewed: %s", yarn_app_id_text(id, text),
                       strerror(-r));
    else
        sv_log_info("%s: has a new HDFS token of its user, for its nodes",
                    yarn_app_id_text(id, text));
}

static void on_lost(void *userdata, struct yarn_app_id id, const struct yarn_token *token)
{
    struct rm_token_renewer *w = userdata;

    if (w->system && !w->closing && sv_streq(token->kind, YARN_KIND_HDFS_DELEGATION))
        (void)rm_system_credentials_request(w->system, id, false);
}

static void on_gone(void *userdata, struct yarn_app_id id)
{
    struct rm_token_renewer *w = userdata;

    if (w->system)
        rm_system_credentials_drop(w->system, id);
}

static void on_released(void *userdata, void *kept)
{
    struct rm_token_renewer *w = userdata;

    if (!w->closing)
        rm_namenodes_release(w->namenodes, kept);
}

/* ---- An application ---- */

/* 0 if it waits for a token of its user. */
static int request_first(struct rm_token_renewer *w, const struct rm_app *app, int admitted)
{
    if (!app->recovered)
        return starting_add(w, app->id, admitted > 0) ? 0 : admitted;
    (void)rm_system_credentials_request(w->system, app->id, false);
    return admitted;
}

int rm_token_renewer_admit(struct rm_app *app, struct sv_error *err)
{
    struct rm_token_renewer *w = app->rm->renewer;
    _cleanup_arena_wipe_ struct sv_arena *a = NULL;
    struct rm_renewals_app in = { .id = app->id, .recovered = app->recovered };
    struct yarn_token *tokens = NULL;
    bool hdfs = false;
    int r;

    if (!w)
        return 1;
    a = sv_arena_new(0);
    if (!a)
        return sv_error_errno(err, -ENOMEM, "its tokens");
    r = tokens_of(app, a, &tokens, &in.n_tokens, &hdfs, err);
    if (r >= 0)
        r = check_conf(rm_app_context(app), err);
    if (r < 0)
        return r;
    in.tokens = tokens;
    in.cancel_at_end = cancel_at_end(app);
    r = in.n_tokens ? rm_renewals_add(w->renewals, &in, sv_wall_ms(), err) : 1;
    if (r >= 0 && w->system && !hdfs)
        r = request_first(w, app, r);
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

    struct rm_token_renewer *w = rm->renewer;

    if (!w)
        return;
    starting_drop(w, app->id);
    if (w->system && !rm_renewals_has(w->renewals, app->id))
        rm_system_credentials_drop(w->system, app->id);
    rm_renewals_end(w->renewals, app->id, sv_wall_ms() + removal_ms(rm));
}

void rm_token_renewer_keep_alive(struct rm *rm, struct yarn_app_id app)
{
    if (rm->renewer)
        rm_renewals_keep_alive(rm->renewer->renewals, app, sv_wall_ms() + removal_ms(rm));
}

static void on_admitted(void *userdata, struct yarn_app_id id, const char *why)
{
    struct rm_token_renewer *w = userdata;
    struct starting *s = starting_find(w, id);

    if (s && !why) {
        s->renewed = true;
        return;
    }
    starting_drop(w, id);
    start(w, id, why);
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
    if (w->system)
        rm_system_credentials_tick(w->system);
    start_in_time(w, now);
}

void rm_token_renewer_counts(const struct rm *rm, struct rm_renewals_counts *ret)
{
    *ret = (struct rm_renewals_counts){ 0 };
    if (rm->renewer)
        rm_renewals_counts(rm->renewer->renewals, ret);
}

struct rm_system_credentials *rm_token_renewer_system(const struct rm *rm)
{
    return rm->renewer ? rm->renewer->system : NULL;
}

static int start_system(struct rm_token_renewer *w, const struct hdfs_login *login)
{
    const struct rm_system_credentials_config c = { .rm = w->rm,
                                                    .namenodes = w->namenodes,
                                                    .login = *login,
                                                    .received = on_received,
                                                    .first = on_first,
                                                    .userdata = w };

    if (!w->rm->conf.proxy_user_privileges)
        return 0;
    w->system = rm_system_credentials_new(&c);
    return w->system ? 0 : -ENOMEM;
}

int rm_token_renewer_new(struct rm *rm, const struct rm_token_renewer_config *c,
                         struct sv_error *err)
{
    struct rm_token_renewer *w = calloc(1, sizeof(*w));
    const struct rm_renewals_ops ops = { .renew = rm_token_call_renew,
                                         .cancel = rm_token_call_cancel,
                                         .admitted = on_admitted,
                                         .lost = on_lost,
                                         .gone = on_gone,
                                         .released = on_released,
                                         .userdata = w };
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
    w->first_token_ms = FIRST_TOKEN_MS;
    rm->renewer = w;
    w->renewals = rm_renewals_new(&settings, &ops);
    r = w->renewals ? rm_namenodes_new(rm->xml, &login, &w->namenodes) : -ENOMEM;
    if (r >= 0)
        r = start_system(w, &login);
    if (r >= 0)
        r = rm_web_issuers_new(rm->event, rm->xml, &w->issuers, err);
    if (r >= 0)
        r = rm_web_tokens_new(rm->event, c->web, &w->web);
    if (r >= 0)
        return 0;
    rm_token_renewer_free(rm);
    return sv_error_errno(err, r, "renewal of delegation tokens");
}

void rm_token_renewer_free(struct rm *rm)
{
    struct rm_token_renewer *w = rm->renewer;
    struct starting *s, *next;

    if (!w)
        return;
    w->closing = true;
    w->system = rm_system_credentials_free(w->system);
    w->web = rm_web_tokens_free(w->web); /* ends the open calls */
    w->issuers = rm_web_issuers_free(w->issuers);
    w->namenodes = rm_namenodes_free(w->namenodes); /* as well */
    rm_renewals_free(w->renewals);
    HASH_ITER (hh, w->starting, s, next) {
        HASH_DEL(w->starting, s);
        free(s);
    }
    free(w);
    rm->renewer = NULL;
}
