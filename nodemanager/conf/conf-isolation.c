/* Keys of the isolation of containers from the host: sandbox, network, devices. See
 * conf-parts.h. */
#include "nodemanager/conf/conf-parts.h"

#include <errno.h>

#include "common/str.h"

#define NM "yarn.nodemanager."

enum {
    K_PROFILE,
    K_NETWORK,
    K_BANDWIDTH,
    K_BANDWIDTH_NODE,
    K_BANDWIDTH_YARN,
    K_BANDWIDTH_SHARES,
    K_PLUGINS,
    K_GPUS,
    K_GPU_DISCOVERY,
    K_GPU_MAJOR,
    K_GPU_CHECK,
    K_GPU_CDI,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_PROFILE] = { "selvedge.nodemanager.sandbox.profile", SV_CONF_STRING, "strict", .help = "Part of the host that containers see: strict, hadoop (its whole tree, read-only) or host; container-executor.cfg must allow it." },
    [K_NETWORK] = { "selvedge.nodemanager.network", SV_CONF_STRING, "host", .help = "Network of containers: host, none or private; container-executor.cfg must allow it." },
    [K_BANDWIDTH] = { NM "resource.network.enabled", SV_CONF_BOOL, "false", .help = "Outbound bandwidth of containers is limited; with private networks." },
    [K_BANDWIDTH_NODE] = { NM "resource.network.outbound-bandwidth-mbit", SV_CONF_INT, "1000", 1, 4000000, .help = "Outbound bandwidth of the node, Mbit/s." },
    [K_BANDWIDTH_YARN] = { NM "resource.network.outbound-bandwidth-yarn-mbit", SV_CONF_INT, "${yarn.nodemanager.resource.network.outbound-bandwidth-mbit}", 1, 4000000, .help = "The part of it for containers. Each is guaranteed a fiftieth and may use free bandwidth; with cgroups.strict-resource-usage no more than the fiftieth. Their sum is enforced by selvedge.network.outbound-mbit in container-executor.cfg, without which nothing is guaranteed." },
    [K_BANDWIDTH_SHARES] = { "selvedge.nodemanager.network.shares", SV_CONF_INT, "50", 1, 10000, .help = "Number of containers with guaranteed outbound bandwidth at a time; each is guaranteed that part of it instead of a fiftieth." },
    [K_PLUGINS] = { NM "resource-plugins", SV_CONF_LIST, "", .help = "Kinds of devices for containers; known: yarn.io/gpu." },
    [K_GPUS] = { NM "resource-plugins.gpu.allowed-gpu-devices", SV_CONF_STRING, "auto", .help = "GPUs for containers as index:minor,… or auto: those that the driver lists in /proc/driver/nvidia. A card with MIG instances is offered as its instances." },
    [K_GPU_DISCOVERY] = { NM "resource-plugins.gpu.path-to-discovery-executables", SV_CONF_STRING, NULL, .help = "nvidia-smi, or its directory: run at the start for the UUIDs of MIG instances and Hadoop's order of cards; unset, no program is run." },
    [K_GPU_MAJOR] = { "selvedge.nodemanager.gpu.major-device-number", SV_CONF_INT, "195", 1, 4095, .help = "As gpu.major-device-number in container-executor.cfg." },
    [K_GPU_CHECK] = { "selvedge.nodemanager.gpu.check-interval-ms", SV_CONF_INT, "60000", 100, INT32_MAX, .help = "Time between checks of the cards: one that has gone or cannot be read is withdrawn, and offered again when it is back." },
    [K_GPU_CDI] = { "selvedge.nodemanager.gpu.cdi-kind", SV_CONF_STRING, "", .help = "Kind of the CDI specifications in /etc/cdi and /var/run/cdi whose device nodes, mounts and environment a container gets with its GPUs, such as nvidia.com/gpu; empty: none." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_isolation_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

static int read_devices(struct nm_conf *c, struct sv_error *err)
{
    _cleanup_strv_ char **plugins = NULL;
    int r;

    NM_CONF_GET(sv_conf_bool, K_BANDWIDTH, &c->bandwidth_enabled);
    NM_CONF_GET(sv_conf_int, K_BANDWIDTH_YARN, &c->bandwidth_mbit);
    NM_CONF_GET(sv_conf_int, K_BANDWIDTH_SHARES, &c->bandwidth_shares);
    if (c->bandwidth_enabled && c->network != EXE_NETWORK_PRIVATE)
        return sv_error_set(err, -EINVAL,
                            "%s: only with %s=private can a container's bandwidth be "
                            "limited",
                            keys[K_BANDWIDTH].name, keys[K_NETWORK].name);
    NM_CONF_GET(sv_conf_list, K_PLUGINS, &plugins);
    for (char **p = plugins; p && *p; p++) {
        if (!sv_streq(*p, "yarn.io/gpu"))
            return sv_error_set(err, -EOPNOTSUPP, "%s: %s is not supported; yarn.io/gpu is",
                                keys[K_PLUGINS].name, *p);
        c->gpus = true;
    }
    NM_CONF_GET(sv_conf_string, K_GPUS, &c->gpus_allowed);
    NM_CONF_GET(sv_conf_string, K_GPU_DISCOVERY, &c->gpu_discovery);
    NM_CONF_GET(sv_conf_int, K_GPU_MAJOR, &c->gpu_major);
    NM_CONF_GET(sv_conf_int, K_GPU_CHECK, &c->gpu_check_ms);
    NM_CONF_GET(sv_conf_string, K_GPU_CDI, &c->gpu_cdi);
    return 0;
}

int nm_conf_isolation_read(struct nm_conf *c, struct sv_error *err)
{
    static const char *const profiles[] = { [EXE_PROFILE_STRICT] = "strict",
                                            [EXE_PROFILE_HADOOP] = "hadoop",
                                            [EXE_PROFILE_HOST] = "host" };
    static const char *const networks[] = {
        [EXE_NETWORK_HOST] = "host", [EXE_NETWORK_NONE] = "none", [EXE_NETWORK_PRIVATE] = "private"
    };
    size_t i;
    int r;

    r = sv_conf_choice(c->conf, &keys[K_PROFILE], profiles, SV_ARRAY_LEN(profiles), &i, err);
    if (r < 0)
        return r;
    c->profile = (enum exe_profile)i;
    r = sv_conf_choice(c->conf, &keys[K_NETWORK], networks, SV_ARRAY_LEN(networks), &i, err);
    if (r < 0)
        return r;
    c->network = (enum exe_network)i;
    return read_devices(c, err);
}
