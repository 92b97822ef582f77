/* The keys of yarn-site.xml about policies: the one of queues without a row, the machine list, how
 * long the store's answers are kept. The files are the operator's. */
#ifndef SELVEDGE_FEDERATION_POLICY_POLICY_CONF_H
#define SELVEDGE_FEDERATION_POLICY_POLICY_CONF_H

#include "common/conf.h"
#include "federation/policy/manager.h"
#include "federation/policy/resolver.h"

struct fed_policy_conf {
    struct fed_manager *manager;   /* for queues without a row where "*" has none */
    struct fed_resolver *resolver; /* NULL: no machine list */
    struct fed_resolver_notes machines;
    int64_t cache_ttl_ms; /* 0: answers of the store are not kept */
    size_t cache_entries;
};

/* Reads all of them, for the sides (enum fed_side) of this daemon. -EINVAL: a policy manager or a
 * resolver that there is not, broken weights; -ENOENT and others: the machine list cannot be read.
 * The reason names file, line and key. */
int fed_policy_conf_load(struct sv_conf *c, unsigned sides, struct fed_policy_conf *ret,
                         struct sv_error *err) _must_use_;
void fed_policy_conf_clear(struct fed_policy_conf *conf);
/* All keys that are read, for --print-config. */
const struct sv_conf_key *fed_policy_conf_keys(size_t *ret_n);

#endif
