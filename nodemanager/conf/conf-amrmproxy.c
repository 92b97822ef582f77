/* See conf-amrmproxy.h. */
#include "nodemanager/conf/conf-amrmproxy.h"

#include <errno.h>

#define NM "yarn.nodemanager."
#define RM "yarn.resourcemanager."
#define FOREVER (INT64_MAX / 4)

enum {
    K_ENABLED,
    K_ADDRESS,
    K_PIPELINE,
    K_HA,
    K_DISTRIBUTED,
    K_ROLL,
    K_EXPIRY,
    K_FEDERATION,
    K_CLUSTER_ID,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_ENABLED] = { NM "amrmproxy.enabled", SV_CONF_BOOL, "false", .help = "ApplicationMasters of this node talk to their ResourceManager through the NodeManager; in a federation to all of them." },
    [K_ADDRESS] = { NM "amrmproxy.address", SV_CONF_ADDRESS, "0.0.0.0:8049", .help = "ApplicationMasterProtocol for them; what their own yarn.resourcemanager.scheduler.address has to name." },
    [K_PIPELINE] = { NM "amrmproxy.interceptor-class.pipeline", SV_CONF_LIST, "org.apache.hadoop.yarn.server.nodemanager.amrmproxy.DefaultRequestInterceptor", .help = "DefaultRequestInterceptor passes calls to the node's own ResourceManager, FederationInterceptor to all members of the federation; others, and two, are refused." },
    [K_HA] = { NM "amrmproxy.ha.enable", SV_CONF_BOOL, "false", .help = "true is refused: a later attempt on another node starts its masters in other sub-clusters anew." },
    [K_DISTRIBUTED] = { NM "distributed-scheduling.enabled", SV_CONF_BOOL, "false", .help = "true is refused: containers are allocated by ResourceManagers alone." },
    [K_ROLL] = { RM "am-rm-tokens.master-key-rolling-interval-secs", SV_CONF_DURATION, "86400", 1, FOREVER, 1000, "Age at which the key of the AMRMProxy's own tokens is replaced." },
    [K_EXPIRY] = { "yarn.am.liveness-monitor.expiry-interval-ms", SV_CONF_DURATION, "900000", 1, FOREVER, 1, "1.5 times this, the key before it is still good; the former must be more than three times this." },
    [K_FEDERATION] = { "yarn.federation.enabled", SV_CONF_BOOL, "false", .help = "The node belongs to a federation: the AMRMProxy serves masters of applications that have a home in its state store." },
    [K_CLUSTER_ID] = { RM "cluster-id", SV_CONF_STRING, NULL, .help = "Id of this node's sub-cluster in the federation." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_amrmproxy_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

static int refuse(struct sv_conf *c, int key, int code, const char *why, struct sv_error *err)
{
    char at[512];

    sv_conf_origin(c, &keys[key], at, sizeof(at));
    return sv_error_set(err, code, "%s is \"%.64s\": %s", at, sv_conf_raw(c, keys[key].name) ?: "",
                        why);
}

/* A token made with a new key could not be used before the key is replaced. The words are those of
 * Hadoop's AMRMProxyTokenSecretManager. */
static int read_rolling(struct sv_conf *c, struct nm_conf_amrmproxy *p, struct sv_error *err)
{
    int64_t expiry_ms = 0;
    int r = sv_conf_duration_ms(c, &keys[K_ROLL], &p->roll_ms, err);

    if (r >= 0)
        r = sv_conf_duration_ms(c, &keys[K_EXPIRY], &expiry_ms, err);
    if (r < 0)
        return r;
    p->delay_ms = expiry_ms + expiry_ms / 2;
    if (p->roll_ms > 2 * p->delay_ms)
        return 0;
    return sv_error_set(
        err, -EINVAL,
        "%s: %lld ms is not more than 2 x the activation delay of %lld ms, which is "
        "1.5 x %s: raise the former",
        keys[K_ROLL].name, (long long)p->roll_ms, (long long)p->delay_ms, keys[K_EXPIRY].name);
}

static int read_federation(struct sv_conf *c, struct nm_conf_amrmproxy *p, struct sv_error *err)
{
    int r = sv_conf_bool(c, &keys[K_FEDERATION], &p->federation, err);

    if (r < 0 || !p->federation)
        return r;
    r = sv_conf_string(c, &keys[K_CLUSTER_ID], &p->cluster_id, err);
    if (r < 0 || (p->cluster_id && *p->cluster_id))
        return r;
    return refuse(c, K_CLUSTER_ID, -EINVAL,
                  "yarn.federation.enabled needs the id of this node's sub-cluster", err);
}

/* Refuses features of Hadoop's AMRMProxy that are missing here. */
static int check_absent(struct sv_conf *c, struct sv_error *err)
{
    bool distributed, ha;
    int r = sv_conf_bool(c, &keys[K_DISTRIBUTED], &distributed, err);

    if (r >= 0)
        r = sv_conf_bool(c, &keys[K_HA], &ha, err);
    if (r < 0)
        return r;
    if (distributed)
        return refuse(c, K_DISTRIBUTED, -EOPNOTSUPP,
                      "this version has no distributed scheduling, which Hadoop's AMRMProxy would "
                      "be switched on for; set it to false",
                      err);
    if (ha)
        return refuse(c, K_HA, -EOPNOTSUPP,
                      "this version keeps the tokens of masters in other sub-clusters in the "
                      "NodeManager's store, not in the registry, where the next attempt on another "
                      "node would find them; set it to false",
                      err);
    return 0;
}

int nm_conf_amrmproxy_read(struct sv_conf *c, struct nm_conf_amrmproxy *ret, struct sv_error *err)
{
    struct nm_conf_amrmproxy p = { .enabled = false };
    int r = check_absent(c, err);

    if (r >= 0)
        r = sv_conf_bool(c, &keys[K_ENABLED], &p.enabled, err);
    if (r >= 0 && p.enabled)
        r = sv_conf_address(c, &keys[K_ADDRESS], &p.host, &p.port, err);
    if (r >= 0 && p.enabled)
        r = read_rolling(c, &p, err);
    if (r >= 0 && p.enabled)
        r = read_federation(c, &p, err);
    if (r >= 0)
        *ret = p;
    return r < 0 ? r : 0;
}
