/* Composes the Router, and looks whether the store and its policies are those of a federation. See
 * router.h. */
#include "router/router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/own-user.h"
#include "federation/policy/queue-policies.h"
#include "federation/store/member-epoch.h"
#include "router/call.h"
#include "router/client-service.h"
#include "router/list-answer.h"
#include "router/member-stats.h"
#include "router/pool.h"
#include "router/proxy-users.h"
#include "router/router-web.h"
#include "router/secure.h"
#include "router/service-access.h"
#include "router/token-calls.h"

#define AWAY_US 10000000 /* between looks at a store that is away */
#define ACCURACY_US 100000
#define INFLIGHT_MAX 256 /* calls of one connection; reading pauses beyond */

/* ---- The store at the start ---- */

static void check_later(struct router *r)
{
    int e = sd_event_source_set_time_relative(r->check, AWAY_US);

    if (e >= 0)
        e = sd_event_source_set_enabled(r->check, SD_EVENT_ONESHOT);
    if (e < 0)
        sv_log_err("state store: timer: %s", strerror(-e));
}

static void store_failed(struct router *r, const struct fed_answer *a)
{
    if (a->error == -ECANCELED)
        return;
    if (fed_error_away(a->error) || a->error == -ENOMEM) {
        if (!r->away)
            sv_log_warning("%s: %s; calls are refused until it is back", fed_store_text(r->store),
                           a->reason);
        r->away = true;
        check_later(r);
        return;
    }
    sv_log_err("%s: %s", fed_store_text(r->store), a->reason);
    (void)sd_event_exit(r->event, a->error); /* the loop runs, ignoring */
}

static void on_one_epoch(const struct fed_member *a, const struct fed_member *b, int64_t epoch,
                         void *userdata)
{
    (void)userdata;
    sv_log_err("sub-clusters %s and %s both have epoch %lld: containers that one application has "
               "there get equal ids; set another yarn.resourcemanager.epoch on one of them and "
               "restart it",
               a->id, b->id, (long long)epoch);
}

static void on_members(const struct fed_answer *a, void *userdata)
{
    struct router *r = userdata;
    const char *ids[FED_MEMBERS_MAX];
    struct sv_error err = { 0 };
    size_t active = 0;

    if (a->error < 0) {
        store_failed(r, a);
        return;
    }
    r->away = false;
    for (size_t i = 0; i < a->n && i < FED_MEMBERS_MAX; i++) {
        ids[i] = a->members[i].id;
        active += fed_state_active(a->members[i].state);
    }
    sv_log_notice("federation of %zu members, %zu of them active, in %s", a->n, active,
                  fed_store_text(r->store));
    if (fed_members_with_one_epoch(a->members, a->n, on_one_epoch, NULL) < 0)
        sv_log_warning("epochs of sub-clusters are not compared: out of memory");
    if (a->n &&
        fed_manager_check_members(r->policy.manager, FED_SIDE_ROUTER, ids, a->n, &err) < 0) {
        sv_log_err("yarn.federation.policy-manager-params: %s", err.text);
        (void)sd_event_exit(r->event, -EINVAL); /* the loop runs, ignoring */
    }
}

static void on_version(const struct fed_answer *a, void *userdata)
{
    struct router *r = userdata;

    if (a->error < 0)
        store_failed(r, a);
    else if (fed_store_call(r->store, &(struct fed_request){ .op = FED_MEMBER_LIST }, on_members, r,
                            NULL) < 0)
        check_later(r);
}

static int on_check(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct router *r = userdata;

    (void)s;
    (void)usec;
    if (fed_store_call(r->store, &(struct fed_request){ .op = FED_VERSION_CHECK }, on_version, r,
                       NULL) < 0)
        check_later(r);
    return 0;
}

/* ---- Life ---- */

static int serve(struct router *r, struct sv_error *err)
{
    struct ipc_server_config cfg = {
        .host = r->conf.host,
        .port = r->conf.port,
        .allow_simple = !r->secure,
        .kerberos = rtr_secure_acceptor(r),
        .verify_token = rtr_token_verify,
        .impersonation = rtr_proxy_users_check,
        .authorization = rtr_service_access(r),
        .protocols = rtr_protocols,
        .userdata = r,
        .qop_mask = r->conf.ipc.qop_mask,
        .limits = r->conf.ipc.limits,
    };
    int e;

    if (!cfg.limits.max_inflight_per_conn || cfg.limits.max_inflight_per_conn > INFLIGHT_MAX)
        cfg.limits.max_inflight_per_conn = INFLIGHT_MAX;
    e = ipc_server_new(r->event, &cfg, &r->server, err);
    return e < 0 ? sv_error_wrap(err, "ApplicationClientProtocol") : 0;
}

static int make_parts(struct router *r, struct sv_error *err)
{
    const struct rtr_pool_config pool = { .user = r->user,
                                          .kerberos = rtr_secure_members(r),
                                          .qop_mask = r->conf.ipc.qop_mask,
                                          .timeout_ms = r->conf.timeout_ms,
                                          .max_open = (size_t)r->conf.max_calls / 4,
                                          .max_frame = RTR_ANSWER_MAX };

    r->cache = fed_cache_new(r->store, r->policy.cache_ttl_ms, r->policy.cache_entries);
    r->policies = fed_policies_new(r->cache, r->policy.manager, FED_SIDE_ROUTER);
    r->pool = rtr_pool_new(r->event, &pool);
    r->lists = rtr_lists_new(r->event);
    if (!r->cache || !r->policies || !r->pool || !r->lists)
        return sv_error_errno(err, -ENOMEM, "Router");
    return 0;
}

int rtr_check(struct sv_conf *conf, struct sv_error *err)
{
    struct fed_policy_conf policy = { .manager = NULL };
    struct rtr_conf c = { 0 };
    int e = rtr_conf_read(conf, &c, err);

    if (e < 0)
        return e;
    rtr_conf_clear(&c);
    e = fed_policy_conf_load(conf, FED_SIDE_ROUTER, &policy, err);
    if (e < 0)
        return e;
    fed_policy_conf_clear(&policy);
    return fed_store_check(conf, err);
}

int rtr_new(sd_event *event, struct sv_conf *conf, struct router **ret, struct sv_error *err)
{
    struct router *r = calloc(1, sizeof(*r));
    int e;

    if (!r)
        return sv_error_errno(err, -ENOMEM, "Router");
    r->event = event;
    e = rtr_conf_read(conf, &r->conf, err);
    r->user = r->conf.kerberos.own.on ? r->conf.kerberos.account : sv_own_user();
    if (e >= 0)
        e = fed_policy_conf_load(conf, FED_SIDE_ROUTER, &r->policy, err);
    if (e >= 0)
        e = fed_store_open(event, conf, &r->store, err);
    if (e >= 0)
        e = rtr_secure_start(r, err);
    if (e >= 0)
        e = make_parts(r, err);
    if (e >= 0)
        e = rtr_token_calls_start(r, err);
    if (e >= 0 && (e = sd_event_add_time_relative(event, &r->check, CLOCK_MONOTONIC, 0, ACCURACY_US,
                                                  on_check, r)) < 0)
        e = sv_error_errno(err, e, "timer");
    if (e >= 0)
        e = rtr_proxy_users_start(r, conf, err);
    if (e >= 0)
        e = rtr_service_access_start(r, conf, err);
    if (e >= 0)
        e = serve(r, err);
    if (e >= 0)
        e = rtr_web_start(r, err);
    if (e < 0) {
        rtr_free(r);
        return e;
    }
    *ret = r;
    return 0;
}

struct router *rtr_free(struct router *r)
{
    if (!r)
        return NULL;
    sd_event_source_disable_unref(r->check);
    rtr_web_stop(r);
    r->pool = rtr_pool_free(r->pool);
    rtr_stats_free(&r->stats);
    r->cache = fed_cache_free(r->cache);
    r->store = fed_store_free(r->store);
    rtr_token_calls_stop(r);
    r->lists = rtr_lists_free(r->lists);
    r->policies = fed_policies_free(r->policies);
    r->server = ipc_server_free(r->server);
    rtr_service_access_stop(r);
    rtr_proxy_users_stop(r);
    rtr_secure_stop(r);
    fed_policy_conf_clear(&r->policy);
    rtr_conf_clear(&r->conf);
    free(r);
    return NULL;
}
