/* The AMRMProxy's half of a policy: which member gets which resource requests of a master. Pure.
 * Hostile: the requests, and what members say about themselves. */
#ifndef SELVEDGE_FEDERATION_AMRM_ASKS_H
#define SELVEDGE_FEDERATION_AMRM_ASKS_H

#include "common/arena.h"
#include "federation/amrm/budget.h"
#include "federation/policy/manager.h"
#include "federation/policy/random.h"
#include "federation/policy/resolver.h"
#include "proto/yarn_service.pb-c.h"

/* Requests given to members, all together: a rack's and a cancelling one go to several each. */
#define FED_PLACED_MAX (1u << 20)

struct fed_target { /* a member, as it looked at its last answer to this master */
    const char *id;
    bool active;       /* SC_RUNNING */
    bool timed_out;    /* has not answered for long: takes new requests only if all have not */
    bool answered;     /* ever: a cancelling request goes to it */
    bool has_memory;   /* it has said: */
    int64_t memory_mb; /* its headroom */
    bool has_load;     /* it has said: */
    int32_t pending, active_cores; /* EnhancedHeadroomProto */
};

/* yarn.nodemanager.least-load-policy-selector.*: fed_split_conf_load() */
struct fed_split_conf {
    bool by_load;          /* .enabled: requests for a node of a loaded member go elsewhere */
    int32_t max_pending;   /* .pending-container.threshold */
    bool use_active_cores; /* .use-active-core */
    int64_t multiplier;    /* .multiplier */
    bool fail_on_error;    /* .fail-on-error; false: without weights all members are equal */
    const char *const *excluded;
    size_t n_excluded; /* .blacklist-subclusters */
};

struct fed_asking {
    const struct fed_manager *manager;
    const struct fed_split_conf *conf;
    const struct fed_resolver *resolver; /* may be NULL */
    const struct fed_target *targets;    /* at most FED_MEMBERS_MAX */
    size_t n_targets, home;
    const struct fed_random *random;
};

struct fed_asks { /* of one member */
    Hadoop__Yarn__ResourceRequestProto **rows;
    size_t n;
};

struct fed_asks_split; /* in the making, in the arena */

/* Begins with copies of what `in` has but for texts of targets, the resolver, `conf` and `random`,
 * which outlive it, as the rows do. -EHOSTUNREACH, -EPERM, -ENOMEM as of fed_asks_run(). */
int fed_asks_begin(const struct fed_asking *in, Hadoop__Yarn__ResourceRequestProto **rows,
                   size_t n_rows, struct sv_arena *a, struct fed_asks_split **ret,
                   struct sv_error *err) _must_use_;
/* Fills ret[n_targets]. Rows are those of the request, or copies of them with another count; a list
 * may be shared by members. 0: done; FED_MORE; -EINVAL: a row without a name, or with a count below
 * 0; -EHOSTUNREACH: no member may be asked; -EPERM: the policy rejects; -E2BIG: more than
 * FED_PLACED_MAX; -ENOMEM. */
int fed_asks_run(struct fed_asks_split *s, struct fed_budget *b, struct fed_asks *ret,
                 struct sv_error *err) _must_use_;
/* Frees its tables; the rest is the arena's. Accepts NULL. */
void fed_asks_end(struct fed_asks_split *s);
/* All at once. */
int fed_asks_split(const struct fed_asking *in, Hadoop__Yarn__ResourceRequestProto **rows,
                   size_t n_rows, struct sv_arena *a, struct fed_asks *ret, struct sv_error *err)
    _must_use_;

#endif
