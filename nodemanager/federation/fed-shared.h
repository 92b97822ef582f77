/* Shared by all attempts behind the federation's interceptor: keys, policies of queues, how
 * members are reached. */
#ifndef SELVEDGE_NODEMANAGER_FEDERATION_FED_SHARED_H
#define SELVEDGE_NODEMANAGER_FEDERATION_FED_SHARED_H

#include "federation/amrm/proxy-conf.h"
#include "federation/amrm/split-conf.h"
#include "federation/policy/policy-conf.h"
#include "federation/policy/queue-policies.h"
#include "nodemanager/federation/member-line.h"
#include "nodemanager/federation/turns.h"

#define NM_FED_RELAUNCH_MS 3000

struct nm_fed_shared {
    const struct nm_amrm_env *env;
    struct fed_proxy_conf conf;
    struct fed_split_conf split;
    struct fed_policies *policies;
    struct nm_turns turns;
    const struct nm_member_wire *wire; /* a test has its own, as `random` */
    void *wire_userdata;
    const struct fed_random *random;
    int64_t relaunch_ms; /* between two launches of a master that failed */
    int64_t flushed_ms;  /* the last time that the members were read for an address */
};

/* The keys alone: opens nothing. */
int nm_fed_shared_check(struct sv_conf *c, struct sv_error *err) _must_use_;
/* env->fed and env->policy are there. */
int nm_fed_shared_open(const struct nm_amrm_env *env, struct nm_fed_shared **ret,
                       struct sv_error *err) _must_use_;
/* After the attempts and the cache. Accepts NULL. */
void nm_fed_shared_close(struct nm_fed_shared *s);

#endif
