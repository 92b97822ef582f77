/* Keys about the split; see split-conf.h. */
#include "federation/amrm/split-conf.h"

#include "common/str.h"

#define SELECTOR "yarn.nodemanager.least-load-policy-selector."

enum { K_ENABLED, K_PENDING, K_CORES, K_MULTIPLIER, K_FAIL, K_EXCLUDED, K_COUNT };

/* clang-format off */
static const struct sv_conf_key keys[K_COUNT] = {
    [K_ENABLED] = { SELECTOR "enabled", SV_CONF_BOOL, "false", .help = "Requests for a node of a loaded sub-cluster go to a less loaded one (WeightedLocalityPolicyManager)." },
    [K_PENDING] = { SELECTOR "pending-container.threshold", SV_CONF_INT, "10000", 1, INT32_MAX, .help = "Pending containers from which a sub-cluster is loaded." },
    [K_CORES] = { SELECTOR "use-active-core", SV_CONF_BOOL, "false", .help = "Load is pending containers times the multiplier by cores in use." },
    [K_MULTIPLIER] = { SELECTOR "multiplier", SV_CONF_INT, "50000", 1, INT32_MAX, .help = "That multiplier." },
    [K_FAIL] = { SELECTOR "fail-on-error", SV_CONF_BOOL, "true", .help = "No sub-cluster with a weight is active: requests fail; false: they go to all active ones alike." },
    [K_EXCLUDED] = { SELECTOR "blacklist-subclusters", SV_CONF_LIST, "", .help = "Sub-clusters that get no requests." },
};
/* clang-format on */

const struct sv_conf_key *fed_split_conf_keys(size_t *ret_n)
{
    *ret_n = K_COUNT;
    return keys;
}

int fed_split_conf_load(struct sv_conf *c, struct fed_split_conf *ret, struct sv_error *err)
{
    _cleanup_strv_ char **excluded = NULL;
    struct fed_split_conf conf = { 0 };
    int64_t pending;
    int r = sv_conf_bool(c, &keys[K_ENABLED], &conf.by_load, err);

    if (r == 0)
        r = sv_conf_int(c, &keys[K_PENDING], &pending, err);
    if (r == 0)
        r = sv_conf_bool(c, &keys[K_CORES], &conf.use_active_cores, err);
    if (r == 0)
        r = sv_conf_int(c, &keys[K_MULTIPLIER], &conf.multiplier, err);
    if (r == 0)
        r = sv_conf_bool(c, &keys[K_FAIL], &conf.fail_on_error, err);
    if (r == 0)
        r = sv_conf_list(c, &keys[K_EXCLUDED], &excluded, err);
    if (r < 0)
        return r;
    conf.max_pending = (int32_t)pending;
    conf.n_excluded = sv_strv_len(excluded);
    conf.excluded = (const char *const *)SV_TAKE(excluded);
    *ret = conf;
    return 0;
}

void fed_split_conf_clear(struct fed_split_conf *conf)
{
    sv_strv_free((char **)(uintptr_t)conf->excluded);
    *conf = (struct fed_split_conf){ 0 };
}
