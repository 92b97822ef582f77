/* See amrm-proxy.h: the AMRMProxy's configuration and its parts. */
#include "nodemanager/amrmproxy/amrm-proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "nodemanager/amrmproxy/home.h"
#include "nodemanager/amrmproxy/interceptors.h"
#include "nodemanager/amrmproxy/keys.h"
#include "nodemanager/amrmproxy/masters.h"
#include "nodemanager/conf/conf-address.h"
#include "nodemanager/core/context.h"
#include "wire/ipc/ipc-conf.h"

#define RM_PRINCIPAL "yarn.resourcemanager.principal"

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
    return r < 0 ? r : fed_store_check(c, err);
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
                          conf->kerberos.rm_pattern, conf->kerberos.own.own_host);
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
        nm_amrm_master_forget(p, p->masters);
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
