/* Keys of the limits of containers and localizers. See conf-parts.h. */
#include "nodemanager/conf/conf-parts.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"

#define NM "yarn.nodemanager."
#define MAX_MB ((int64_t)1 << 40)

enum {
    K_PIDS_MAX,
    K_CPU_PERCENT,
    K_STRICT_CPU,
    K_MEMORY_ENFORCED,
    K_MEMORY_NODE,
    K_ELASTIC,
    K_ELASTIC_TIMEOUT,
    K_MEMORY_HIGH,
    K_MEMORY_SOFT,
    K_SWAP,
    K_DISK,
    K_IO_WEIGHT,
    K_IO_MAX,
    K_HUGETLB,
    K_LOCALIZERS_MEMORY,
    K_LOCALIZERS_PIDS,
    K_NUMA,
    K_NUMA_READ,
    K_NUMA_IDS,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_PIDS_MAX] = { "selvedge.nodemanager.container.pids.max", SV_CONF_INT, "16384", 1, 4194304, .help = "Processes and threads of one container." },
    [K_CPU_PERCENT] = { NM "resource.percentage-physical-cpu-limit", SV_CONF_INT, "100", 1, 100, .help = "Share of the machine's processors that all containers together may use." },
    [K_STRICT_CPU] = { NM "linux-container-executor.cgroups.strict-resource-usage", SV_CONF_BOOL, "false", .help = "A container gets the processor time of its vcores and no more, even when processors are idle." },
    [K_MEMORY_ENFORCED] = { NM "resource.memory.enforced", SV_CONF_BOOL, "true", .help = "The kernel limits the memory of each container. false: only the node's memory is limited, and a container above its own memory at two readings is killed if pmem-check-enabled." },
    [K_MEMORY_NODE] = { "selvedge.nodemanager.containers.memory-limit.enabled", SV_CONF_BOOL, "true", .help = "The memory of all containers together is limited to resource.memory-mb (and the memory of localizers)." },
    [K_ELASTIC] = { NM "elastic-memory-control.enabled", SV_CONF_BOOL, "false", .help = "Containers may use more memory than requested while the node has free memory; when it has none, one is killed: opportunistic ones first, then those above their request, the newest first." },
    [K_ELASTIC_TIMEOUT] = { NM "elastic-memory-control.timeout-sec", SV_CONF_INT, "5", 1, 3600, .help = "Seconds to wait for the end of a killed container before the next one is killed." },
    [K_MEMORY_HIGH] = { "selvedge.nodemanager.container.memory.high-percentage", SV_CONF_INT, "0", 0, 100, .help = "memory.high in percent of a container's memory: above it the kernel reclaims and throttles; 0 = off." },
    [K_MEMORY_SOFT] = { NM "resource.memory.cgroups.soft-limit-percentage", SV_CONF_FLOAT, "90.0", .help = "memory.low in percent of a container's memory: reclaimed last when the node's memory for containers is used up." },
    [K_SWAP] = { "selvedge.nodemanager.container.swap-percentage", SV_CONF_INT, "0", 0, 1000, .help = "memory.swap.max in percent of a container's memory." },
    [K_DISK] = { NM "resource.disk.enabled", SV_CONF_BOOL, "false", .help = "Containers share disks by weight (io.weight)." },
    [K_IO_WEIGHT] = { "selvedge.nodemanager.container.io.weight", SV_CONF_INT, "100", 1, 10000, .help = "io.weight of a container, with resource.disk.enabled." },
    [K_IO_MAX] = { "selvedge.nodemanager.container.io.max", SV_CONF_LIST, "", .help = "Limits of one container on a disk: PATH rbps=N wbps=N riops=N wiops=N (any of the four), commas between disks; PATH is the block device or a path on it. On ext4 with dioread_lock or nodelalloc every fsync waits for such a container: use another disk for yarn.nodemanager.recovery.dir then." },
    [K_HUGETLB] = { "selvedge.nodemanager.container.hugetlb.max-mb", SV_CONF_INT, "0", 0, MAX_MB, .help = "Huge pages of one container, for each page size; they do not count as its memory." },
    [K_LOCALIZERS_MEMORY] = { "selvedge.nodemanager.localizers.memory-mb", SV_CONF_INT, "1024", 16, MAX_MB, .help = "Memory of all localizers, including dirty pages of their files." },
    [K_LOCALIZERS_PIDS] = { "selvedge.nodemanager.localizers.pids.max", SV_CONF_INT, "4096", 16, 4194304, .help = "Processes and threads of all localizers." },
    [K_NUMA] = { NM "numa-awareness.enabled", SV_CONF_BOOL, "false", .help = "Each container is bound to the processors and the memory of NUMA nodes with enough free resources." },
    [K_NUMA_READ] = { NM "numa-awareness.read-topology", SV_CONF_BOOL, "false", .help = "NUMA nodes of the kernel's topology; false: of the keys node-ids, <id>.memory and <id>.cpus." },
    [K_NUMA_IDS] = { NM "numa-awareness.node-ids", SV_CONF_LIST, "", .help = "NUMA nodes for containers; yarn.nodemanager.numa-awareness.<id>.memory is in MB, .<id>.cpus a number of processors." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_limits_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

/* "PATH rbps=1 wbps=…": keys of io.max, and an absolute path. */
static int check_io_max(char **list, struct sv_error *err)
{
    static const char *const words[] = { "rbps=", "wbps=", "riops=", "wiops=" };

    for (char **one = list; one && *one; one++) {
        _cleanup_strv_ char **part = NULL;
        int r = sv_strv_split(*one, ' ', &part);
        bool ok = r >= 0 && sv_strv_len(part) >= 2 && part[0][0] == '/';

        for (char **p = ok ? part + 1 : NULL; p && *p; p++) {
            uint64_t v;
            bool known = false;

            for (size_t i = 0; i < SV_ARRAY_LEN(words); i++)
                if (sv_has_prefix(*p, words[i]))
                    known = sv_parse_u64(*p + strlen(words[i]), 1, UINT64_MAX, &v) >= 0;
            ok = ok && known;
        }
        if (!ok)
            return sv_error_set(err, -EINVAL,
                                "%s: \"%s\" is not of the form PATH rbps=N wbps=N "
                                "riops=N wiops=N",
                                keys[K_IO_MAX].name, *one);
    }
    return 0;
}

/* Not rounded up to Mbit/s as Hadoop does for tc: the sum of all shares must be the whole
 * bandwidth. */
static void divide_bandwidth(struct nm_conf *c)
{
    const int64_t all = c->bandwidth_mbit * 1000, share = all / c->bandwidth_shares;

    if (!c->bandwidth_enabled)
        return;
    c->net_rate_kbit = share ? (uint32_t)share : 1;
    c->net_ceil_kbit = c->strict_cpu ? c->net_rate_kbit : (uint32_t)all;
}

int nm_conf_limits_read(struct nm_conf *c, struct sv_error *err)
{
    int64_t secs;
    int r;

    NM_CONF_GET(sv_conf_int, K_PIDS_MAX, &c->pids_max);
    NM_CONF_GET(sv_conf_int, K_CPU_PERCENT, &c->cpu_percent);
    NM_CONF_GET(sv_conf_bool, K_STRICT_CPU, &c->strict_cpu);
    divide_bandwidth(c);
    NM_CONF_GET(sv_conf_bool, K_MEMORY_ENFORCED, &c->memory_enforced);
    NM_CONF_GET(sv_conf_bool, K_MEMORY_NODE, &c->memory_node_limit);
    NM_CONF_GET(sv_conf_bool, K_ELASTIC, &c->elastic);
    NM_CONF_GET(sv_conf_int, K_ELASTIC_TIMEOUT, &secs);
    c->elastic_timeout_ms = secs * 1000;
    NM_CONF_GET(sv_conf_int, K_MEMORY_HIGH, &c->memory_high_percent);
    NM_CONF_GET(sv_conf_float, K_MEMORY_SOFT, &c->memory_soft_percent);
    if (!(c->memory_soft_percent >= 0 && c->memory_soft_percent <= 100))
        return sv_error_set(err, -EINVAL, "%s: a percentage from 0 to 100 is needed",
                            keys[K_MEMORY_SOFT].name);
    NM_CONF_GET(sv_conf_int, K_SWAP, &c->swap_percent);
    NM_CONF_GET(sv_conf_bool, K_DISK, &c->disk_enabled);
    NM_CONF_GET(sv_conf_int, K_IO_WEIGHT, &c->io_weight);
    NM_CONF_GET(sv_conf_list, K_IO_MAX, &c->io_max);
    r = check_io_max(c->io_max, err);
    if (r < 0)
        return r;
    NM_CONF_GET(sv_conf_int, K_HUGETLB, &c->hugetlb_mb);
    NM_CONF_GET(sv_conf_int, K_LOCALIZERS_MEMORY, &c->localizers_mb);
    NM_CONF_GET(sv_conf_int, K_LOCALIZERS_PIDS, &c->localizers_pids);
    NM_CONF_GET(sv_conf_bool, K_NUMA, &c->numa);
    NM_CONF_GET(sv_conf_bool, K_NUMA_READ, &c->numa_read_topology);
    NM_CONF_GET(sv_conf_list, K_NUMA_IDS, &c->numa_nodes);
    return 0;
}
