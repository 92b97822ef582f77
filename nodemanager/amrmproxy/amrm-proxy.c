/* See amrm-proxy.h. Hostile: launch contexts, whose credentials anybody with a container's token
 * writes; the store's records, which a disk may have damaged. */
#include "nodemanager/amrmproxy/amrm-proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "gss/daemon.h"
#include "nodemanager/amrmproxy/attempt.h"
#include "nodemanager/amrmproxy/home.h"
#include "nodemanager/amrmproxy/interceptors.h"
#include "nodemanager/amrmproxy/keys.h"
#include "nodemanager/amrmproxy/master-token.h"
#include "nodemanager/conf/conf-address.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/context.h"
#include "nodemanager/store/state-store.h"
#include "wire/ipc/ipc-conf.h"

#define RM_PRINCIPAL "yarn.resourcemanager.principal"
#define APPLICATION_MASTER 1 /* ContainerTypeProto */

struct master { /* of an application on this node */
    UT_hash_handle hh;
    char app[YARN_ID_TEXT_MAX];
    struct nm_amrm_pipeline *pipeline;
    bool stopping;
};

struct nm_amrm {
    struct nm_context *ctx;
    struct nm_amrm_env env;
    struct ipc_proxy_config own_rm;
    struct sgss_service kerberos;
    const struct nm_amrm_interceptor *interceptor;
    void *shared;
    bool opened;               /* .open has run */
    struct nm_amrm_home *home; /* NULL: no federation */
    struct nm_amrm_keys *keys;
    struct master *masters;
    struct nm_amrm_counters counters;
};

/* ---- Pipelines ---- */

static struct master *find_app(const struct nm_amrm *p, struct yarn_app_id app)
{
    char text[YARN_ID_TEXT_MAX];
    struct master *m = NULL;

    HASH_FIND_STR(p->masters, yarn_app_id_text(app, text), m);
    return m;
}

static bool is_of(const struct master *m, struct yarn_attempt_id id)
{
    const struct yarn_attempt_id own = nm_amrm_pipeline_attempt(m->pipeline)->id;

    return yarn_app_id_cmp(own.app, id.app) == 0 && own.attempt == id.attempt;
}

static void forget(struct nm_amrm *p, struct master *m)
{
    HASH_DEL(p->masters, m);
    nm_amrm_pipeline_free(m->pipeline);
    free(m);
}

static void on_ended(struct nm_amrm_pipeline *pipeline, void *userdata)
{
    struct nm_amrm *p = userdata;
    struct master *m = find_app(p, nm_amrm_pipeline_attempt(pipeline)->id.app);

    if (m && m->pipeline == pipeline)
        forget(p, m);
}

struct beginning {
    struct yarn_attempt_id id;
    const char *user;
    const struct yarn_token *token;
    const struct nm_amrm_record *records;
    size_t n_records;
    enum nm_amrm_recovery from;
};

static int begin(struct nm_amrm *p, const struct beginning *b, struct master **ret,
                 struct sv_error *err)
{
    const struct nm_amrm_pipeline_config config = { .env = &p->env,
                                                    .interceptor = p->interceptor,
                                                    .shared = p->shared,
                                                    .attempt = b->id,
                                                    .user = b->user,
                                                    .rm_token = b->token,
                                                    .records = b->records,
                                                    .n_records = b->n_records,
                                                    .from = b->from,
                                                    .ended = on_ended,
                                                    .userdata = p };
    struct master *m = calloc(1, sizeof(*m));
    int r;

    if (!m)
        return sv_error_errno(err, -ENOMEM, "AMRMProxy");
    yarn_app_id_text(b->id.app, m->app);
    r = nm_amrm_pipeline_new(&config, &m->pipeline, err);
    if (r < 0) {
        free(m);
        return r;
    }
    HASH_ADD_STR(p->masters, app, m);
    *ret = m;
    return 0;
}

static void stop(struct master *m)
{
    if (m->stopping)
        return;
    m->stopping = true;
    nm_amrm_pipeline_stop(m->pipeline);
}

void nm_amrm_app_stopped(struct nm_amrm *p, struct yarn_app_id app)
{
    struct master *m = p ? find_app(p, app) : NULL;

    if (m)
        stop(m);
}

struct nm_amrm_pipeline *nm_amrm_find(struct nm_amrm *p, struct yarn_attempt_id id)
{
    const struct master *m = find_app(p, id.app);

    return m && !m->stopping && is_of(m, id) ? m->pipeline : NULL;
}

/* ---- Records ---- */

struct reading { /* records of one attempt, for its interceptor */
    struct sv_arena *arena;
    char attempt[YARN_ID_TEXT_MAX];
    const char *user, *token;
    struct nm_amrm_record records[NM_AMRM_RECORDS_MAX];
    size_t n;
};

static int read_record(struct reading *x, const struct nm_stored_amrm *r)
{
    uint8_t *data = sv_arena_alloc(x->arena, r->len + 1); /* a text ends */
    const char *name = sv_arena_strdup(x->arena, r->name);

    if (!data || !name)
        return -ENOMEM;
    if (r->len)
        memcpy(data, r->value, r->len);
    if (sv_streq(name, NM_AMRM_RECORD_USER))
        x->user = (const char *)data;
    else if (sv_streq(name, NM_AMRM_RECORD_TOKEN))
        x->token = (const char *)data;
    else if (x->n == NM_AMRM_RECORDS_MAX)
        return -E2BIG;
    else
        x->records[x->n++] = (struct nm_amrm_record){ name, data, r->len };
    return 0;
}

static int on_own_record(const struct nm_stored_amrm *r, void *userdata)
{
    return read_record(userdata, r);
}

/* The records of an earlier attempt on this node, which ends without more ado: its master is gone.
 * Its unmanaged masters in other clusters may be taken over. */
static int take_over(struct nm_amrm *p, struct master *old, struct reading *x)
{
    const struct nm_amrm_attempt *at = nm_amrm_pipeline_attempt(old->pipeline);
    int r;

    memcpy(x->attempt, at->text, sizeof(x->attempt));
    sv_log(SV_LOG_INFO, old->app, "%s: a later attempt takes its place on this node", at->text);
    forget(p, old);
    r = nm_store_each_amrm(p->ctx->store, x->attempt, on_own_record, x);
    return r < 0 ? r : nm_store_amrm_remove_all(p->ctx->store, x->attempt);
}

/* ---- The start of a master ---- */

bool nm_amrm_wants(const struct nm_amrm *p, const struct yarn_container_token *t)
{
    return p && t->container_type == APPLICATION_MASTER;
}

int nm_amrm_ask(struct nm_amrm *p, const struct yarn_container_token *t,
                void (*done)(int served, const char *why, void *userdata), void *userdata)
{
    if (p->home)
        return nm_amrm_home_ask(p->home, t->container.attempt.app, done, userdata);
    done(1, "", userdata);
    return 0;
}

static int begin_new(struct nm_amrm *p, const struct yarn_container_token *t,
                     const struct yarn_token *real, struct sv_error *err)
{
    _cleanup_free_ struct reading *x = calloc(1, sizeof(*x));
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(0);
    struct beginning b = {
        .id = t->container.attempt, .user = t->submitter, .token = real, .from = NM_AMRM_SUCCEEDS
    };
    struct master *m = find_app(p, b.id.app);
    int r = 0;

    if (!x || !a)
        return sv_error_errno(err, -ENOMEM, "AMRMProxy");
    x->arena = a;
    if (m)
        r = take_over(p, m, x);
    if (r < 0)
        return sv_error_errno(err, r, "AMRMProxy: records of an earlier attempt");
    b.records = x->records;
    b.n_records = x->n;
    return begin(p, &b, &m, err);
}

static int start_master(struct nm_amrm *p, const struct yarn_container_token *t,
                        Hadoop__Yarn__ContainerLaunchContextProto *clc, struct sv_arena *a,
                        struct sv_error *err)
{
    const struct yarn_attempt_id id = t->container.attempt;
    struct yarn_token real, local;
    char text[YARN_ID_TEXT_MAX];
    int r = nm_amrm_keys_token(p->keys, id, a, &local);

    yarn_attempt_id_text(id, text);
    if (r < 0)
        return sv_error_errno(err, r, "AMRMProxy: a token for %s", text);
    r = nm_master_token_exchange(clc, id, &local, a, &real, err);
    if (r >= 0)
        r = begin_new(p, t, &real, err);
    if (r >= 0)
        sv_log(SV_LOG_INFO, text, "%s: its ApplicationMaster is behind the AMRMProxy", text);
    return r;
}

int nm_amrm_start(struct nm_amrm *p, const struct yarn_container_token *t,
                  Hadoop__Yarn__ContainerLaunchContextProto *clc, struct sv_arena *a,
                  struct sv_error *err)
{
    const int64_t began_ms = sv_now_ms();
    int r = start_master(p, t, clc, a, err);

    if (r < 0)
        p->counters.failed_starts++;
    else
        sv_rate_add(&p->counters.starts, (double)(sv_now_ms() - began_ms), sv_now_ms());
    return r;
}

void nm_amrm_drop(struct nm_amrm *p, struct yarn_attempt_id id)
{
    struct master *m = p ? find_app(p, id.app) : NULL;
    int r;

    if (!m || !is_of(m, id))
        return;
    r = nm_store_amrm_remove_all(p->ctx->store, nm_amrm_pipeline_attempt(m->pipeline)->text);
    if (r < 0)
        sv_log(SV_LOG_WARNING, m->app, "%s: its records cannot be removed from the store: %s",
               m->app, strerror(-r));
    forget(p, m);
}

/* ---- Recovery ---- */

struct recovery {
    struct nm_amrm *p;
    struct reading *now;
    unsigned n, bad;
};

/* The later attempt of an application is the one that counts. */
static int restore(struct nm_amrm *p, const struct reading *x, struct sv_error *err)
{
    struct beginning b = { .records = x->records, .n_records = x->n, .user = x->user };
    const struct nm_app *app;
    struct yarn_token token;
    struct master *m;
    int r = yarn_attempt_id_parse(x->attempt, &b.id);

    if (r < 0 || !x->user || !x->token)
        return sv_error_set(err, -EBADMSG, "%s: records are missing", x->attempt);
    r = yarn_token_parse(x->arena, x->token, &token);
    if (r < 0)
        return sv_error_set(err, -EBADMSG, "%s: its AMRMToken is damaged", x->attempt);
    m = find_app(p, b.id.app);
    if (m && nm_amrm_pipeline_attempt(m->pipeline)->id.attempt > b.id.attempt)
        return sv_error_set(err, -EEXIST, "%s: a later attempt is on record", x->attempt);
    if (m)
        nm_amrm_drop(p, nm_amrm_pipeline_attempt(m->pipeline)->id);
    b.from = NM_AMRM_RESTARTED;
    b.token = &token;
    r = begin(p, &b, &m, err);
    if (r < 0)
        return r;
    app = nm_app_find(p->ctx, m->app);
    if (!app || app->finish_recorded)
        stop(m);
    return 0;
}

static void restore_read(struct recovery *x)
{
    struct sv_error err = { 0 };

    if (!x->now->arena)
        return;
    if (restore(x->p, x->now, &err) >= 0) {
        x->n++;
    } else {
        x->bad++;
        x->p->counters.failed_recoveries++;
        sv_log_err("AMRMProxy: %s: not restored", err.text);
        if (nm_store_amrm_remove_all(x->p->ctx->store, x->now->attempt) < 0)
            sv_log_err("AMRMProxy: %s: its records cannot be removed from the store",
                       x->now->attempt);
    }
    x->now->arena = sv_arena_wipe(x->now->arena);
    *x->now = (struct reading){ .n = 0 };
}

struct all_records { /* attempts of the store, read before anything is written */
    char (*attempts)[YARN_ID_TEXT_MAX];
    size_t n;
};

static int on_record(const struct nm_stored_amrm *r, void *userdata)
{
    struct all_records *all = userdata;
    void *more;

    if (all->n && sv_streq(all->attempts[all->n - 1], r->attempt))
        return 0;
    if (strlen(r->attempt) >= YARN_ID_TEXT_MAX)
        return -EBADMSG;
    more = reallocarray(all->attempts, all->n + 1, sizeof(*all->attempts));
    if (!more)
        return -ENOMEM;
    all->attempts = more;
    memcpy(all->attempts[all->n++], r->attempt, strlen(r->attempt) + 1);
    return 0;
}

int nm_amrm_recover(struct nm_amrm *p, struct sv_error *err)
{
    _cleanup_free_ struct reading *reading = calloc(1, sizeof(*reading));
    struct recovery x = { .p = p, .now = reading };
    struct all_records all = { .n = 0 };
    int r = reading ? 0 : -ENOMEM;

    if (r >= 0 && p)
        r = nm_store_each_amrm(p->ctx->store, NULL, on_record, &all);
    for (size_t i = 0; r >= 0 && i < all.n; i++) {
        memcpy(reading->attempt, all.attempts[i], YARN_ID_TEXT_MAX);
        reading->arena = sv_arena_new(SIZE_MAX);
        r = reading->arena
                ? nm_store_each_amrm(p->ctx->store, all.attempts[i], on_own_record, reading)
                : -ENOMEM;
        restore_read(&x);
    }
    free(all.attempts);
    if (r < 0)
        return sv_error_errno(err, r, "AMRMProxy: recovery");
    if (x.n || x.bad)
        sv_log_info("AMRMProxy: recovered %u ApplicationMasters; records of %u are not usable", x.n,
                    x.bad);
    return 0;
}

/* ---- Life ---- */

int nm_amrm_check_conf(struct sv_conf *c, const struct nm_amrm_interceptor *const *classes,
                       struct sv_error *err)
{
    const struct nm_amrm_interceptor *interceptor;
    struct nm_conf_amrmproxy conf;
    struct fed_policy_conf policy = { .manager = NULL };
    int r = nm_conf_amrmproxy_read(c, &conf, err);

    if (r < 0 || !conf.enabled)
        return r;
    r = nm_amrm_interceptor_of(c, classes, &interceptor, err);
    if (r < 0 || !conf.federation)
        return r;
    r = fed_policy_conf_load(c, FED_SIDE_PROXY, &policy, err);
    if (r >= 0)
        fed_policy_conf_clear(&policy);
    return r < 0 ? r : 0;
}

/* Masters read the same key, which then names the AMRMProxy: it would call itself. */
static int check_own_rm(const struct nm_amrm *p, struct sv_error *err)
{
    const struct nm_conf *conf = p->ctx->conf;
    char own[NM_HOST_MAX] = "";

    if (nm_host_address(conf->hostname, own) < 0)
        *own = 0;
    for (size_t i = 0; i < p->own_rm.n_servers; i++) {
        const struct ipc_proxy_server *s = &p->own_rm.servers[i];
        char address[NM_HOST_MAX] = "";

        if (s->port != conf->amrmproxy.port || p->interceptor->needs_federation)
            continue;
        if (nm_host_is_wildcard(s->host) || nm_host_address(s->host, address) < 0 ||
            sv_has_prefix(address, "127.") || sv_streq(address, "::1") || sv_streq(address, own))
            return sv_error_set(
                err, -EINVAL,
                "yarn.resourcemanager.scheduler.address is %s:%u, the AMRMProxy's own address: "
                "for this NodeManager it names the ResourceManager, and the AMRMProxy only in the "
                "configuration of its ApplicationMasters",
                s->host, s->port);
    }
    return 0;
}

static int open_rm(struct nm_amrm *p, struct sv_error *err)
{
    const struct nm_conf *conf = p->ctx->conf;
    struct ipc_server_settings settings;
    int r = yarn_rm_proxy_config(conf->conf, YARN_RM_SCHEDULER, &p->own_rm, err);

    if (r >= 0)
        r = ipc_settings_read(conf->conf, &settings, err);
    if (r < 0)
        return r;
    p->own_rm.client.qop_mask = settings.qop_mask;
    if (p->ctx->kerberos) {
        sgss_service_init(&p->kerberos, p->ctx->kerberos, RM_PRINCIPAL, conf->kerberos.rm_principal,
                          conf->kerberos.rm_pattern, conf->kerberos.own_host);
        p->env.kerberos = &p->kerberos;
    }
    return check_own_rm(p, err);
}

static int open_federation(struct nm_amrm *p, void (*unusable)(const char *why, void *userdata),
                           void *userdata, struct sv_error *err)
{
    const struct nm_conf *conf = p->ctx->conf;
    int r;

    if (!conf->amrmproxy.federation)
        return 0;
    r = nm_amrm_home_new(p->ctx->event, conf->conf, unusable, userdata, &p->home, err);
    if (r < 0) /* a file that is missing, too, is for the operator */
        return r == -ENOMEM ? r : -EINVAL;
    p->env.cluster_id = conf->amrmproxy.cluster_id;
    p->env.fed = nm_amrm_home_cache(p->home);
    p->env.policy = nm_amrm_home_policy(p->home);
    return 0;
}

static int open_all(struct nm_amrm *p, const struct nm_amrm_interceptor *const *classes,
                    void (*unusable)(const char *why, void *userdata), void *userdata,
                    struct sv_error *err)
{
    const struct nm_conf *conf = p->ctx->conf;
    int r = nm_amrm_interceptor_of(conf->conf, classes, &p->interceptor, err);

    if (r >= 0)
        r = open_rm(p, err);
    if (r >= 0)
        r = open_federation(p, unusable, userdata, err);
    if (r >= 0)
        r = nm_amrm_keys_new(p->ctx->event, p->ctx->store, &conf->amrmproxy, conf->hmac, &p->keys,
                             err);
    if (r >= 0 && p->interceptor->open) {
        r = p->interceptor->open(&p->env, &p->shared, err);
        p->opened = r >= 0;
    }
    return r;
}

int nm_amrm_new(struct nm_context *ctx, const struct nm_amrm_interceptor *const *classes,
                void (*unusable)(const char *why, void *userdata), void *userdata,
                struct nm_amrm **ret, struct sv_error *err)
{
    struct nm_amrm *p;
    int r;

    *ret = NULL;
    if (!ctx->conf->amrmproxy.enabled)
        return 0;
    p = calloc(1, sizeof(*p));
    if (!p)
        return sv_error_errno(err, -ENOMEM, "AMRMProxy");
    p->ctx = ctx;
    p->env = (struct nm_amrm_env){
        .event = ctx->event, .conf = ctx->conf->conf, .store = ctx->store, .own_rm = &p->own_rm
    };
    r = open_all(p, classes, unusable, userdata, err);
    if (r < 0) {
        nm_amrm_free(p);
        return r;
    }
    *ret = p;
    return 0;
}

struct nm_amrm *nm_amrm_free(struct nm_amrm *p)
{
    if (!p)
        return NULL;
    while (p->masters)
        forget(p, p->masters);
    if (p->opened && p->interceptor->close)
        p->interceptor->close(p->shared);
    p->home = nm_amrm_home_free(p->home);
    p->keys = nm_amrm_keys_free(p->keys);
    free(p);
    return NULL;
}

struct nm_amrm_keys *nm_amrm_keys_of(const struct nm_amrm *p)
{
    return p->keys;
}

struct nm_amrm_counters *nm_amrm_counters_of(struct nm_amrm *p)
{
    return &p->counters;
}

size_t nm_amrm_count(const struct nm_amrm *p)
{
    return p ? HASH_COUNT(p->masters) : 0;
}
