/* The Router of a federation: clients' calls, answered by its members. One loop, one thread. */
#ifndef SELVEDGE_ROUTER_ROUTER_H
#define SELVEDGE_ROUTER_ROUTER_H

#include "federation/cache.h"
#include "federation/policy/policy-conf.h"
#include "router/router-conf.h"

struct fed_policies;
struct ipc_proxy_users;
struct ipc_server;
struct rtr_call;
struct rtr_pool;
struct rtr_lists;
struct rtr_member_stats;
struct rtr_secure;
struct rtr_tokens;
struct sv_groups;
struct sv_http;
struct sv_policy;

#define RTR_ANSWER_MAX (64u << 20) /* bytes of one member's answer; each may have many records */
#define RTR_HELD_MAX (512u << 20)  /* of all answers that wait for those of other members */

struct router {
    sd_event *event;
    struct rtr_conf conf;
    struct fed_policy_conf policy;
    struct fed_store *store;
    struct fed_cache *cache;
    struct fed_policies *policies;
    struct rtr_pool *pool;
    struct rtr_member_stats *stats; /* of calls, by member */
    struct rtr_lists *lists;
    struct rtr_tokens *tokens;
    struct ipc_server *server;
    struct sv_http *web;                 /* NULL: no web port */
    struct sv_groups *groups;            /* of users for whom others act */
    struct ipc_proxy_users *proxy_users; /* the others */
    struct rtr_secure *secure;           /* NULL: no Kerberos */
    struct sv_policy *policy_file;       /* hadoop-policy.xml; NULL: it is not asked */
    int64_t refusal_told_ms;
    const char *user;       /* own account, which acts for the callers */
    struct rtr_call *calls; /* open ones */
    size_t n_calls;
    size_t held; /* bytes, of RTR_HELD_MAX */
    sd_event_source *check;
    bool away;
};

/* Opens the store, checks it on the loop, and serves. `conf` outlives the Router. */
/* Whether the files are accepted, for --check-config: opens nothing. */
int rtr_check(struct sv_conf *conf, struct sv_error *err) _must_use_;
int rtr_new(sd_event *event, struct sv_conf *conf, struct router **ret, struct sv_error *err)
    _must_use_;
struct router *rtr_free(struct router *r); /* accepts NULL, returns NULL */

#endif
