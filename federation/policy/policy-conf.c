/* Keys about policies; see policy-conf.h. */
#include "federation/policy/policy-conf.h"

#include <errno.h>
#include <string.h>

#define FEDERATION "yarn.federation."
#define RESOLVER "org.apache.hadoop.yarn.server.federation.resolver.DefaultSubClusterResolverImpl"
#define DAY_S 86400

enum { K_MANAGER, K_PARAMS, K_RESOLVER, K_MACHINES, K_TTL, K_ENTRIES, K_COUNT };

/* clang-format off */
static const struct sv_conf_key keys[K_COUNT] = {
    [K_MANAGER] = { FEDERATION "policy-manager", SV_CONF_STRING, FED_MANAGER_DEFAULT, .help = "Policy of queues for which the state store has none, where * has none either: the class of a policy manager of Hadoop's." },
    [K_PARAMS] = { FEDERATION "policy-manager-params", SV_CONF_STRING, "", .help = "Its weights, as JSON." },
    [K_RESOLVER] = { FEDERATION "subcluster-resolver.class", SV_CONF_STRING, RESOLVER, .help = "Finds the sub-cluster of a node: the machine list, no other class." },
    [K_MACHINES] = { FEDERATION "machine-list", SV_CONF_STRING, "", .help = "File with a line for each node: its name, its sub-cluster, its rack. Read at the start." },
    [K_TTL] = { FEDERATION "cache-ttl.secs", SV_CONF_DURATION, "300", 0, (int64_t)DAY_S * 1000, 1000, "Time for which answers of the state store are used again; 0: not at all." },
    [K_ENTRIES] = { FEDERATION "cache-entity.nums", SV_CONF_INT, "1000", 1, 100000, .help = "Answers that are kept: the members, a queue's policy, an application's home." },
};
/* clang-format on */

const struct sv_conf_key *fed_policy_conf_keys(size_t *ret_n)
{
    *ret_n = K_COUNT;
    return keys;
}

/* "/etc/hadoop/conf/yarn-site.xml:12: KEY: " before the reason. */
static int wrap(struct sv_conf *c, int key, int r, struct sv_error *err)
{
    char origin[256];

    sv_conf_origin(c, &keys[key], origin, sizeof(origin));
    (void)sv_error_wrap(err, "%s", origin);
    return r;
}

static int load_manager(struct sv_conf *c, unsigned sides, struct fed_manager **ret,
                        struct sv_error *err)
{
    const char *type, *params;
    struct fed_policy row = { .queue = FED_QUEUE_ANY };
    int r = sv_conf_string(c, &keys[K_MANAGER], &type, err);

    if (r == 0)
        r = sv_conf_string(c, &keys[K_PARAMS], &params, err);
    if (r < 0)
        return r;
    row.type = type;
    row.params = (const uint8_t *)params;
    row.params_len = strlen(params);
    r = fed_manager_new(&row, sides, ret, err);
    return r < 0 ? wrap(c, K_MANAGER, r, err) : 0;
}

static int load_resolver(struct sv_conf *c, struct fed_policy_conf *conf, struct sv_error *err)
{
    const char *class, *path;
    int r = sv_conf_string(c, &keys[K_RESOLVER], &class, err);

    if (r == 0 && strcmp(class, RESOLVER) != 0) {
        r = sv_error_set(err, -EINVAL, "%s is not there: use " RESOLVER " and a machine list",
                         class);
        return wrap(c, K_RESOLVER, r, err);
    }
    if (r == 0)
        r = sv_conf_string(c, &keys[K_MACHINES], &path, err);
    if (r < 0 || !*path)
        return r;
    r = fed_resolver_load(path, &conf->resolver, &conf->machines, err);
    return r < 0 ? wrap(c, K_MACHINES, r, err) : 0;
}

static int load_cache(struct sv_conf *c, struct fed_policy_conf *conf, struct sv_error *err)
{
    int64_t entries;
    int r = sv_conf_duration_ms(c, &keys[K_TTL], &conf->cache_ttl_ms, err);

    if (r == 0)
        r = sv_conf_int(c, &keys[K_ENTRIES], &entries, err);
    if (r == 0)
        conf->cache_entries = (size_t)entries;
    return r;
}

int fed_policy_conf_load(struct sv_conf *c, unsigned sides, struct fed_policy_conf *ret,
                         struct sv_error *err)
{
    struct fed_policy_conf conf = { 0 };
    int r = load_cache(c, &conf, err);

    if (r == 0)
        r = load_manager(c, sides, &conf.manager, err);
    if (r == 0)
        r = load_resolver(c, &conf, err);
    if (r < 0)
        fed_policy_conf_clear(&conf);
    else
        *ret = conf;
    return r;
}

void fed_policy_conf_clear(struct fed_policy_conf *conf)
{
    conf->manager = fed_manager_free(conf->manager);
    conf->resolver = fed_resolver_free(conf->resolver);
}
