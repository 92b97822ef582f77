/* Configuration table of the NodeManager and its reader. Called by main; see conf.h. */
#include "nodemanager/conf.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "hdfs/conf.h"
#include "localizer/channel.h"
#include "nodemanager/conf-address.h"
#include "nodemanager/conf-refused.h"
#include "nodemanager/conf-s3.h"
#include "wire/auth-conf.h"
#include "wire/ipc-conf.h"
#include "wire/node-secret.h"

#define NM "yarn.nodemanager."
#define MAX_MB ((int64_t)1 << 40)
#define FOREVER INT64_MAX

enum {
    K_LOG_LEVEL,
    K_HOSTNAME,
    K_ADDRESS,
    K_BIND_HOST,
    K_WEBAPP,
    K_WEB_LOGS,
    K_RM_ADDRESS,
    K_MEMORY,
    K_VCORES,
    K_LOG_AGGREGATION,
    K_TRACK_STOPPED,
    K_RM_MINIMUM,
    K_LOCAL_DIRS,
    K_LOG_DIRS,
    K_DISK_ENABLE,
    K_DISK_INTERVAL,
    K_DISK_MIN_HEALTHY,
    K_DISK_MAX_UTIL,
    K_DISK_MIN_FREE,
    K_DISK_MIN_INODES,
    K_WORK_PRESERVING,
    K_LAUNCH_FAILURES,
    K_LAUNCH_RETRY,
    K_AUX,
    K_AUX_START,
    K_AUX_EVENT,
    K_EXECUTOR_PATH,
    K_EXECUTOR_SOCKET,
    K_DBUS,
    K_CGROUP_ROOT,
    K_UNENFORCED,
    K_SELINUX,
    K_LIMIT_USERS,
    K_LOCAL_USER,
    K_WHITELIST,
    K_ADMIN_ENV,
    K_FORCE_PATH,
    K_USER_HOME,
    K_ADD_OPENS,
    K_DEBUG_INFO,
    K_STDERR_TAIL,
    K_STDERR_PATTERN,
    K_PIDS_MAX,
    K_SIGKILL_DELAY,
    K_KILL_WAIT,
    K_DELETE_DELAY,
    K_LOG_RETAIN,
    K_DEFAULT_FS,
    K_FETCH_THREADS,
    K_CACHE_TARGET,
    K_CACHE_CLEANUP,
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
    K_MONITOR,
    K_MONITOR_ALL,
    K_PMEM,
    K_VMEM,
    K_VMEM_RATIO,
    K_DIAG_MAX,
    K_RECOVERY,
    K_SUPERVISED,
    K_RECOVERY_DIR,
    K_HMAC,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_LOG_LEVEL] = { "selvedge.nodemanager.log.level", SV_CONF_STRING, NULL, .help = "What the daemon logs: err, warning, notice, info or debug. Default: SELVEDGE_LOG_LEVEL of its environment, else info." },
    [K_HOSTNAME] = { NM "hostname", SV_CONF_STRING, "0.0.0.0", .help = "Name of this node; 0.0.0.0 = the canonical host name of the machine." },
    [K_ADDRESS] = { NM "address", SV_CONF_ADDRESS, "${yarn.nodemanager.hostname}:8041", .help = "ContainerManagementProtocol; host:port is the node's id. 0.0.0.0 listens on every address, and the node registers as yarn.nodemanager.hostname." },
    [K_BIND_HOST] = { NM "bind-host", SV_CONF_STRING, NULL, .help = "Address to listen on instead of the host of yarn.nodemanager.address." },
    [K_WEBAPP] = { NM "webapp.address", SV_CONF_ADDRESS, "${yarn.nodemanager.hostname}:8042", .help = "REST and container logs." },
    [K_WEB_LOGS] = { "selvedge.nodemanager.webapp.logs.enabled", SV_CONF_BOOL, "true", .help = "Serve container logs over HTTP; false refuses them to everybody." },
    [K_RM_ADDRESS] = { "yarn.resourcemanager.resource-tracker.address", SV_CONF_ADDRESS, "${yarn.resourcemanager.hostname}:8031", .help = "ResourceTracker of the ResourceManager." },
    [K_MEMORY] = { NM "resource.memory-mb", SV_CONF_INT, "-1", -1, MAX_MB, .help = "Memory for containers; -1 = 8192." },
    [K_VCORES] = { NM "resource.cpu-vcores", SV_CONF_INT, "-1", -1, INT32_MAX, .help = "Virtual cores for containers; -1 = 8." },
    [K_LOG_AGGREGATION] = { "yarn.log-aggregation-enable", SV_CONF_BOOL, "false", .help = "Upload of logs; not supported by this version." },
    [K_TRACK_STOPPED] = { NM "duration-to-track-stopped-containers", SV_CONF_DURATION, "600000", 0, FOREVER, 1, "Time for which a stopped container is remembered as recently stopped." },
    [K_RM_MINIMUM] = { NM "resourcemanager.minimum.version", SV_CONF_STRING, "NONE", .help = "Lowest ResourceManager version to work with: NONE, EqualToNM or a version." },
    [K_LOCAL_DIRS] = { NM "local-dirs", SV_CONF_LIST, "${hadoop.tmp.dir}/nm-local-dir", .help = "Directories for localized files and work directories; the same list as in container-executor.cfg." },
    [K_LOG_DIRS] = { NM "log-dirs", SV_CONF_LIST, "${yarn.log.dir}/userlogs", .help = "Directories for container logs; the same list as in container-executor.cfg." },
    [K_DISK_ENABLE] = { NM "disk-health-checker.enable", SV_CONF_BOOL, "true", .help = "Check the directories periodically." },
    [K_DISK_INTERVAL] = { NM "disk-health-checker.interval-ms", SV_CONF_DURATION, "120000", 100, FOREVER, 1, "Time between two checks." },
    [K_DISK_MIN_HEALTHY] = { NM "disk-health-checker.min-healthy-disks", SV_CONF_FLOAT, "0.25", .help = "Share of directories that must be good for the node to be healthy." },
    [K_DISK_MAX_UTIL] = { NM "disk-health-checker.max-disk-utilization-per-disk-percentage", SV_CONF_FLOAT, "90.0", .help = "A disk above this utilization gets no new containers." },
    [K_DISK_MIN_FREE] = { NM "disk-health-checker.min-free-space-per-disk-mb", SV_CONF_INT, "0", 0, MAX_MB, .help = "A disk with less free space gets no new containers." },
    [K_DISK_MIN_INODES] = { "selvedge.nodemanager.disk-health-checker.min-free-inodes", SV_CONF_INT, "1000", 0, INT32_MAX, .help = "A disk with fewer free inodes gets no new containers." },
    [K_WORK_PRESERVING] = { "yarn.resourcemanager.work-preserving-recovery.enabled", SV_CONF_BOOL, "true", .help = "Containers go on when the ResourceManager asks for a new registration (RESYNC); false: they are killed first." },
    [K_LAUNCH_FAILURES] = { "selvedge.nodemanager.health.launch-failures", SV_CONF_INT, "5", 0, NM_LAUNCH_FAILURES_MAX, .help = "Applications whose launches must fail one after the other for the node's own reason (helper, disk, cgroup) for the node to be unhealthy; 0 = never." },
    [K_LAUNCH_RETRY] = { "selvedge.nodemanager.health.launch-retry-ms", SV_CONF_DURATION, "60000", 1, 3600000, 1, "Time after which such a node is offered again to try a launch; doubled up to 16 times it with each further failure." },
    [K_AUX] = { NM "aux-services", SV_CONF_LIST, "", .help = "Auxiliary services: mapreduce_shuffle, or names with selvedge.nodemanager.aux-services.<name>.command, a program and its arguments, or .socket and .socket-user, the Unix socket of a service with a unit of its own and the account behind it. Further keys of a service: .memory-mb (0 = no limit), .open-files (65536) and .properties, prefixes of keys that it gets." },
    [K_AUX_START] = { "selvedge.nodemanager.aux-services.start-timeout-ms", SV_CONF_DURATION, "30000", 1, 3600000, 1, "Time for an auxiliary service to be ready; the node registers when all are ready or this is over." },
    [K_AUX_EVENT] = { "selvedge.nodemanager.aux-services.event-timeout-ms", SV_CONF_DURATION, "60000", 1, 3600000, 1, "Time for an auxiliary service to answer an event; one that does not is killed and restarted." },
    [K_EXECUTOR_PATH] = { "selvedge.nodemanager.executor.path", SV_CONF_STRING, NULL, .help = "The setuid container-executor; default: the installed one. Hadoop's yarn.nodemanager.linux-container-executor.path names Hadoop's own and is not read." },
    [K_EXECUTOR_SOCKET] = { "selvedge.nodemanager.executor.socket", SV_CONF_STRING, NULL, .help = "Socket of the socket-activated mode (selvedge-executor.socket), in which container-executor needs no setuid bit. Default: setuid mode, in which the NodeManager starts it." },
    [K_DBUS] = { "selvedge.nodemanager.dbus", SV_CONF_STRING, "system", .help = "Bus on which the daemon is org.selvedge.NodeManager1: system, off, or an address such as unix:path=/run/dbus/NAME." },
    [K_CGROUP_ROOT] = { "selvedge.nodemanager.cgroup.root", SV_CONF_STRING, NULL, .help = "Delegated cgroup for containers, as in container-executor.cfg; default: child `containers` of the daemon's own group." },
    [K_UNENFORCED] = { "selvedge.nodemanager.unenforced-limits.allowed", SV_CONF_BOOL, "false", .help = "Run although the kernel cannot enforce memory, pids and cpu limits here (development)." },
    [K_SELINUX] = { "selvedge.nodemanager.selinux.labels", SV_CONF_BOOL, "false", .help = "Give every user and application SELinux categories of its own; container-executor.cfg must enable labels." },
    [K_LIMIT_USERS] = { NM "linux-container-executor.nonsecure-mode.limit-users", SV_CONF_BOOL, "true", .help = "Without Kerberos run every container as the local user of the next key." },
    [K_LOCAL_USER] = { NM "linux-container-executor.nonsecure-mode.local-user", SV_CONF_STRING, "nobody", .help = "The account for containers while limit-users is true." },
    [K_WHITELIST] = { NM "env-whitelist", SV_CONF_LIST, "JAVA_HOME,HADOOP_COMMON_HOME,HADOOP_HDFS_HOME,HADOOP_CONF_DIR,CLASSPATH_PREPEND_DISTCACHE,HADOOP_YARN_HOME,HADOOP_HOME,PATH,LANG,TZ", .help = "Variables that containers inherit from the daemon's environment unless they set their own." },
    [K_ADMIN_ENV] = { NM "admin-env", SV_CONF_STRING, "MALLOC_ARENA_MAX=$MALLOC_ARENA_MAX", .help = "Variables that containers cannot override: A=x,B=y." },
    [K_FORCE_PATH] = { NM "force.path", SV_CONF_STRING, "", .help = "Prepended to PATH." },
    [K_USER_HOME] = { NM "user-home-dir", SV_CONF_STRING, "/home/", .help = "HOME of containers." },
    [K_ADD_OPENS] = { "selvedge.nodemanager.add-opens", SV_CONF_STRING, NULL, .help = "Text for the <ADD_OPENS> mark; default: decided by the container's Java version." },
    [K_DEBUG_INFO] = { NM "log-container-debug-info.enabled", SV_CONF_BOOL, "true", .help = "Copy the launch script and a directory listing into the log directory." },
    [K_STDERR_TAIL] = { NM "container.stderr.tail.bytes", SV_CONF_INT, "4096", 0, 1 << 20, .help = "Bytes of the error log in the diagnostics of a failure." },
    [K_STDERR_PATTERN] = { NM "container.stderr.pattern", SV_CONF_STRING, "{*stderr*,*STDERR*}", .help = "File name pattern of the error log." },
    [K_PIDS_MAX] = { "selvedge.nodemanager.container.pids.max", SV_CONF_INT, "16384", 1, 4194304, .help = "Processes and threads of one container." },
    [K_SIGKILL_DELAY] = { NM "sleep-delay-before-sigkill.ms", SV_CONF_DURATION, "250", 0, 3600000, 1, "Time between TERM and KILL." },
    [K_KILL_WAIT] = { NM "process-kill-wait.ms", SV_CONF_DURATION, "5000", 0, 3600000, 1, "Time for which a stop of the daemon waits for containers to end." },
    [K_DELETE_DELAY] = { NM "delete.debug-delay-sec", SV_CONF_INT, "0", -1, INT32_MAX, .help = "Seconds that files of finished containers are kept; -1 = forever." },
    [K_LOG_RETAIN] = { NM "log.retain-seconds", SV_CONF_INT, "10800", 0, INT32_MAX, .help = "Seconds that logs of finished applications are kept." },
    [K_DEFAULT_FS] = { "fs.defaultFS", SV_CONF_STRING, "file:///", .help = "Where a job's file is whose URL has no scheme." },
    [K_FETCH_THREADS] = { NM "localizer.fetch.thread-count", SV_CONF_INT, "4", 1, LOC_WORKERS_MAX, .help = "Downloads at a time of PUBLIC resources; selvedge.nodemanager.localizer.parallel bounds the others." },
    [K_CACHE_TARGET] = { NM "localizer.cache.target-size-mb", SV_CONF_INT, "10240", 0, MAX_MB, .help = "Size of the cache after a cleanup." },
    [K_CACHE_CLEANUP] = { NM "localizer.cache.cleanup.interval-ms", SV_CONF_DURATION, "600000", 1000, FOREVER, 1, "Time between cache cleanups." },
    [K_PROFILE] = { "selvedge.nodemanager.sandbox.profile", SV_CONF_STRING, "strict", .help = "Part of the host that containers see: strict, hadoop (its whole tree, read-only) or host; container-executor.cfg must allow it." },
    [K_NETWORK] = { "selvedge.nodemanager.network", SV_CONF_STRING, "host", .help = "Network of containers: host, none or private; container-executor.cfg must allow it." },
    [K_BANDWIDTH] = { NM "resource.network.enabled", SV_CONF_BOOL, "false", .help = "Outbound bandwidth of containers is limited; with private networks." },
    [K_BANDWIDTH_NODE] = { NM "resource.network.outbound-bandwidth-mbit", SV_CONF_INT, "1000", 1, 4000000, .help = "Outbound bandwidth of the node, Mbit/s." },
    [K_BANDWIDTH_YARN] = { NM "resource.network.outbound-bandwidth-yarn-mbit", SV_CONF_INT, "${yarn.nodemanager.resource.network.outbound-bandwidth-mbit}", 1, 4000000, .help = "The part of it for containers. Each is guaranteed a fiftieth and may use free bandwidth; with cgroups.strict-resource-usage no more than the fiftieth. Their sum is enforced by selvedge.network.outbound-mbit in container-executor.cfg, without which nothing is guaranteed." },
    [K_BANDWIDTH_SHARES] = { "selvedge.nodemanager.network.shares", SV_CONF_INT, "50", 1, 10000, .help = "Number of containers with guaranteed outbound bandwidth at a time; each is guaranteed that part of it instead of a fiftieth." },
    [K_PLUGINS] = { NM "resource-plugins", SV_CONF_LIST, "", .help = "Kinds of devices for containers; known: yarn.io/gpu." },
    [K_GPUS] = { NM "resource-plugins.gpu.allowed-gpu-devices", SV_CONF_STRING, "auto", .help = "GPUs for containers as index:minor,… or auto: those that nvidia-smi lists." },
    [K_GPU_DISCOVERY] = { NM "resource-plugins.gpu.path-to-discovery-executables", SV_CONF_STRING, NULL, .help = "nvidia-smi, or its directory." },
    [K_GPU_MAJOR] = { "selvedge.nodemanager.gpu.major-device-number", SV_CONF_INT, "195", 1, 4095, .help = "As gpu.major-device-number in container-executor.cfg." },
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
    [K_MONITOR] = { NM "container-monitor.interval-ms", SV_CONF_DURATION, "${yarn.nodemanager.resource-monitor.interval-ms}", 50, FOREVER, 1, "Time between two readings of container usage." },
    [K_MONITOR_ALL] = { NM "resource-monitor.interval-ms", SV_CONF_DURATION, "3000", 50, FOREVER, 1, "Default of the key above." },
    [K_PMEM] = { NM "pmem-check-enabled", SV_CONF_BOOL, "true", .help = "Shown in REST; the kernel enforces memory here." },
    [K_VMEM] = { NM "vmem-check-enabled", SV_CONF_BOOL, "true", .help = "Shown in REST; virtual memory is not limited here." },
    [K_VMEM_RATIO] = { NM "vmem-pmem-ratio", SV_CONF_FLOAT, "2.1", .help = "Virtual to physical memory, for REST." },
    [K_DIAG_MAX] = { NM "container-diagnostics-maximum-size", SV_CONF_INT, "10000", 100, 1 << 20, .help = "Maximum length of diagnostics, in characters." },
    [K_RECOVERY] = { NM "recovery.enabled", SV_CONF_BOOL, "true", .help = "Containers survive a restart of the daemon. Hadoop's default is false; ours is true." },
    [K_SUPERVISED] = { NM "recovery.supervised", SV_CONF_BOOL, "true", .help = "The daemon is restarted by a supervisor: a regular stop leaves containers running and does not unregister." },
    [K_RECOVERY_DIR] = { NM "recovery.dir", SV_CONF_STRING, "${hadoop.tmp.dir}/yarn-nm-recovery", .help = "Directory of the state store." },
    [K_HMAC] = { "hadoop.security.secret-manager.key-generator.algorithm", SV_CONF_STRING, "HmacSHA1", .help = "HMAC of tokens; the same on all nodes." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

/* Keys that other files read for this one. */
static const struct sv_conf_key *auth_key(size_t *ret_n)
{
    *ret_n = 1;
    return yarn_auth_key();
}

static const struct sv_conf_key *secret_key(size_t *ret_n)
{
    *ret_n = 1;
    return yarn_node_secret_key();
}

static const struct sv_conf_key *(*const tables[])(size_t *ret_n) = {
    nm_conf_keys,      nm_conf_refused_keys, nm_conf_localizer_keys,
    nm_conf_s3_table,  hdfs_conf_keys,       sv_web_auth_keys,
    auth_key,          secret_key,           yarn_proxy_conf_keys,
    ipc_settings_keys,
};

static bool has_key(const struct sv_conf_key *k, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (sv_streq(k[i].name, name))
            return true;
    return false;
}

static void print_key(FILE *out, const struct sv_conf_key *k)
{
    fprintf(out, "%s\n    default: %s\n    %s\n", k->name, k->def ? k->def : "(unset)", k->help);
}

static bool is_in_tables(const char *name, size_t n_tables)
{
    for (size_t i = 0; i < n_tables; i++) {
        size_t n;
        const struct sv_conf_key *k = tables[i](&n);

        if (has_key(k, n, name))
            return true;
    }
    return false;
}

bool nm_conf_has_row(const char *name)
{
    return has_key(keys, SV_ARRAY_LEN(keys), name);
}

bool nm_conf_is_read(const char *name)
{
    return is_in_tables(name, SV_ARRAY_LEN(tables));
}

/* The rows above and those of wire/ for clients and servers, each once. */
void nm_conf_print(FILE *out)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(tables); i++) {
        size_t n;
        const struct sv_conf_key *k = tables[i](&n);

        for (size_t j = 0; j < n; j++)
            if (!is_in_tables(k[j].name, i))
                print_key(out, &k[j]);
    }
}

/* hadoop.tmp.dir and yarn.log.dir have defaults in core-default.xml and the start scripts; rows
 * above refer to them. */
static int set_base_defaults(struct sv_conf *c)
{
    int r;

    if (!sv_conf_raw(c, "hadoop.tmp.dir")) {
        r = sv_conf_set(c, "hadoop.tmp.dir", "/var/lib/selvedge");
        if (r < 0)
            return r;
    }
    if (!sv_conf_raw(c, "yarn.log.dir")) {
        const char *e = getenv("YARN_LOG_DIR") ?: getenv("HADOOP_LOG_DIR");

        r = sv_conf_set(c, "yarn.log.dir", e ? e : "/var/log/selvedge");
        if (r < 0)
            return r;
    }
    if (!sv_conf_raw(c, "yarn.resourcemanager.hostname")) {
        r = sv_conf_set(c, "yarn.resourcemanager.hostname", "0.0.0.0");
        if (r < 0)
            return r;
    }
    /* Rows refer to these by ${…}; a row's default is not visible to expansion. */
    static const int referred[] = { K_HOSTNAME, K_MONITOR_ALL, K_BANDWIDTH_NODE };
    for (size_t i = 0; i < SV_ARRAY_LEN(referred); i++) {
        const struct sv_conf_key *k = &keys[referred[i]];

        if (!sv_conf_raw(c, k->name)) {
            r = sv_conf_set(c, k->name, k->def);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

/* "file:///x" and "/x" are the same directory; relative and remote paths are refused. */
static int check_dirs(char **dirs, const char *key, struct sv_error *err)
{
    if (!dirs[0])
        return sv_error_set(err, -EINVAL, "%s: no directory given", key);
    for (char **d = dirs; *d; d++) {
        char *s = *d;

        if (sv_has_prefix(s, "file://"))
            memmove(s, s + 7, strlen(s + 7) + 1);
        size_t n = strlen(s);
        while (n > 1 && s[n - 1] == '/')
            s[--n] = 0;
        if (s[0] != '/' || n < 2)
            return sv_error_set(err, -EINVAL, "%s: \"%s\" is not an absolute directory", key, s);
        for (char **e = dirs; e < d; e++)
            if (sv_streq(*e, *d))
                return sv_error_set(err, -EINVAL, "%s: \"%s\" is listed twice", key, s);
    }
    return 0;
}

#define GET(fn, k, p)                                                                              \
    do {                                                                                           \
        r = fn(c->conf, &keys[k], p, err);                                                         \
        if (r < 0)                                                                                 \
            return r;                                                                              \
    } while (0)

/* Names and listening addresses. A wildcard address cannot be a node's name: peers must be able to
 * connect. */
static int read_addresses(struct nm_conf *c, const struct nm_conf *known, struct sv_error *err)
{
    const char *named = sv_conf_raw(c->conf, keys[K_HOSTNAME].name), *bind;
    char name[NM_HOST_MAX];
    int r = sv_conf_address(c->conf, &keys[K_ADDRESS], &c->hostname, &c->port, err);

    if (r >= 0)
        r = sv_conf_address(c->conf, &keys[K_WEBAPP], &c->web_host, &c->web_port, err);
    if (r < 0)
        return r;
    GET(sv_conf_string, K_BIND_HOST, &bind);
    if (bind && *bind)
        c->bind_host = c->web_host = bind;
    else
        c->bind_host = c->hostname;
    if (!nm_host_is_wildcard(c->hostname))
        return 0;
    if (named && *named && !nm_host_is_wildcard(named)) {
        c->hostname = named;
        return 0;
    }
    if (known)
        (void)snprintf(name, sizeof(name), "%s", known->hostname);
    else
        r = nm_host_canonical(name, err);
    if (r >= 0)
        r = sv_conf_set(c->conf, keys[K_HOSTNAME].name, name);
    c->hostname = r < 0 ? NULL : sv_conf_raw(c->conf, keys[K_HOSTNAME].name);
    return c->hostname ? 0 : sv_error_errno(err, r < 0 ? r : -ENOMEM, "host name");
}

/* What containers on the host's network are reached by. */
static int read_node_address(struct nm_conf *c, const struct nm_conf *known, struct sv_error *err)
{
    char text[NM_HOST_MAX];

    c->node_address = c->hostname;
    if (known)
        return 0;
    if (nm_host_address(c->hostname, text) < 0)
        return 0; /* a name that peers may know better */
    c->node_address = c->own_address = strdup(text);
    return c->own_address ? 0 : sv_error_errno(err, -ENOMEM, "configuration");
}

static int read_identity(struct nm_conf *c, const struct nm_conf *known, struct sv_error *err)
{
    int64_t mem, cores;
    const char *s;
    int r;

    r = read_addresses(c, known, err);
    if (r >= 0)
        r = read_node_address(c, known, err);
    if (r < 0)
        return r;
    r = yarn_rm_proxy_config(c->conf, YARN_RM_TRACKER, &c->rm, err);
    if (r < 0)
        return r;
    GET(sv_conf_int, K_MEMORY, &mem);
    GET(sv_conf_int, K_VCORES, &cores);
    if (mem == 0 || cores == 0)
        return sv_error_set(err, -EINVAL, "%s and %s must not be 0", keys[K_MEMORY].name,
                            keys[K_VCORES].name);
    c->resource.memory_mb = mem < 0 ? 8192 : mem;
    c->resource.vcores = cores < 0 ? 8 : (int32_t)cores;
    GET(sv_conf_duration_ms, K_TRACK_STOPPED, &c->track_stopped_ms);
    GET(sv_conf_string, K_RM_MINIMUM, &c->rm_minimum_version);
    GET(sv_conf_string, K_HMAC, &s);
    r = yarn_hmac_parse(s, &c->hmac);
    if (r < 0)
        return sv_error_set(err, r,
                            "%s: \"%s\" is not one of HmacSHA1, HmacSHA224, HmacSHA256, "
                            "HmacSHA384, HmacSHA512",
                            keys[K_HMAC].name, s);
    return 0;
}

/* Settings of a yarn-site.xml that this version does not support: refused where the node would be
 * unsafe or useless, logged where it works without them. */
static int check_unsupported(struct nm_conf *c, struct sv_error *err)
{
    bool agg;
    int r = yarn_auth_check(c->conf, err);

    if (r >= 0)
        r = nm_conf_check_refused(c->conf, err);
    if (r < 0)
        return r;
    GET(sv_conf_bool, K_LOG_AGGREGATION, &agg);
    if (agg)
        sv_log_warning("%s=true: this version does not upload logs; they stay on this node for "
                       "%s",
                       keys[K_LOG_AGGREGATION].name, keys[K_LOG_RETAIN].name);
    return 0;
}

/* The names become variables of containers (NM_AUX_SERVICE_…) and directories. */
static bool is_service_name(const char *s)
{
    size_t n = strlen(s);

    return n > 0 && n <= 64 && !(*s >= '0' && *s <= '9') &&
           strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

static int read_aux_services(struct nm_conf *c, struct sv_error *err)
{
    int r;

    GET(sv_conf_list, K_AUX, &c->aux_services);
    GET(sv_conf_duration_ms, K_AUX_START, &c->aux_start_timeout_ms);
    GET(sv_conf_duration_ms, K_AUX_EVENT, &c->aux_event_timeout_ms);
    for (char **a = c->aux_services; a && *a; a++) {
        if (!is_service_name(*a))
            return sv_error_set(err, -EINVAL,
                                "%s: \"%s\" is not a name of letters, digits and _ that does not "
                                "begin with a digit, at most 64 characters",
                                keys[K_AUX].name, *a);
        for (char **b = c->aux_services; b < a; b++)
            if (sv_streq(*a, *b))
                return sv_error_set(err, -EINVAL, "%s: \"%s\" is listed twice", keys[K_AUX].name,
                                    *a);
    }
    return 0;
}

static int read_web(struct nm_conf *c, struct sv_error *err)
{
    int r;

    GET(sv_conf_bool, K_WEB_LOGS, &c->web.logs_enabled);
    return sv_web_auth_read(c->conf, &c->web.auth, err);
}

static int read_directories(struct nm_conf *c, struct sv_error *err)
{
    int r;

    GET(sv_conf_list, K_LOCAL_DIRS, &c->local_dirs);
    GET(sv_conf_list, K_LOG_DIRS, &c->log_dirs);
    r = check_dirs(c->local_dirs, keys[K_LOCAL_DIRS].name, err);
    if (r < 0)
        return r;
    r = check_dirs(c->log_dirs, keys[K_LOG_DIRS].name, err);
    if (r < 0)
        return r;
    GET(sv_conf_bool, K_DISK_ENABLE, &c->disk_check_enabled);
    GET(sv_conf_duration_ms, K_DISK_INTERVAL, &c->disk_check_ms);
    GET(sv_conf_float, K_DISK_MIN_HEALTHY, &c->min_healthy_disks);
    GET(sv_conf_float, K_DISK_MAX_UTIL, &c->max_disk_utilization);
    GET(sv_conf_int, K_DISK_MIN_FREE, &c->min_free_mb);
    GET(sv_conf_int, K_DISK_MIN_INODES, &c->min_free_inodes);
    GET(sv_conf_bool, K_WORK_PRESERVING, &c->work_preserving);
    GET(sv_conf_int, K_LAUNCH_FAILURES, &c->launch_failures);
    GET(sv_conf_duration_ms, K_LAUNCH_RETRY, &c->launch_retry_ms);
    GET(sv_conf_bool, K_RECOVERY, &c->recovery);
    GET(sv_conf_bool, K_SUPERVISED, &c->recovery_supervised);
    GET(sv_conf_string, K_RECOVERY_DIR, &c->recovery_dir);
    if (sv_has_prefix(c->recovery_dir, "file://"))
        c->recovery_dir += 7;
    if (c->recovery_dir[0] != '/')
        return sv_error_set(err, -EINVAL, "%s: \"%s\" is not an absolute directory",
                            keys[K_RECOVERY_DIR].name, c->recovery_dir);
    if (c->recovery && c->port == 0)
        return sv_error_set(err, -EINVAL,
                            "Cannot support recovery with an ephemeral server port. "
                            "Check the setting of %s",
                            keys[K_ADDRESS].name);
    return 0;
}

static int read_launch(struct nm_conf *c, struct sv_error *err)
{
    int64_t secs;
    int r;

    GET(sv_conf_string, K_EXECUTOR_PATH, &c->executor_path);
    GET(sv_conf_string, K_DBUS, &c->dbus);
    if (!sv_streq(c->dbus, "system") && !sv_streq(c->dbus, "off") && !strchr(c->dbus, ':'))
        return sv_error_set(err, -EINVAL,
                            "%s: \"%s\" is neither system nor off nor an address such as "
                            "unix:path=/run/dbus/NAME",
                            keys[K_DBUS].name, c->dbus);
    GET(sv_conf_string, K_EXECUTOR_SOCKET, &c->executor_socket);
    if (c->executor_socket && !*c->executor_socket)
        c->executor_socket = NULL;
    if (c->executor_socket && *c->executor_socket != '/')
        return sv_error_set(err, -EINVAL, "%s: must be an absolute path",
                            keys[K_EXECUTOR_SOCKET].name);
    GET(sv_conf_string, K_CGROUP_ROOT, &c->cgroup_root);
    GET(sv_conf_bool, K_UNENFORCED, &c->unenforced_allowed);
    GET(sv_conf_bool, K_SELINUX, &c->selinux_labels);
    GET(sv_conf_bool, K_LIMIT_USERS, &c->limit_users);
    GET(sv_conf_string, K_LOCAL_USER, &c->local_user);
    GET(sv_conf_list, K_WHITELIST, &c->env_whitelist);
    GET(sv_conf_string, K_ADMIN_ENV, &c->admin_env);
    GET(sv_conf_string, K_FORCE_PATH, &c->force_path);
    GET(sv_conf_string, K_USER_HOME, &c->user_home);
    GET(sv_conf_string, K_ADD_OPENS, &c->add_opens);
    GET(sv_conf_bool, K_DEBUG_INFO, &c->debug_info);
    GET(sv_conf_int, K_STDERR_TAIL, &c->stderr_tail_bytes);
    GET(sv_conf_string, K_STDERR_PATTERN, &c->stderr_pattern);
    GET(sv_conf_duration_ms, K_SIGKILL_DELAY, &c->sigkill_delay_ms);
    GET(sv_conf_duration_ms, K_KILL_WAIT, &c->kill_wait_ms);
    GET(sv_conf_int, K_DELETE_DELAY, &secs);
    c->delete_debug_delay_ms = secs < 0 ? -1 : secs * 1000;
    GET(sv_conf_int, K_LOG_RETAIN, &secs);
    c->log_retain_ms = secs * 1000;
    GET(sv_conf_int, K_DIAG_MAX, &c->diagnostics_max);
    return 0;
}

static int read_choice(struct nm_conf *c, int key, const char *const *names, size_t n, size_t *ret,
                       struct sv_error *err)
{
    char origin[512];
    const char *s;
    int r;

    GET(sv_conf_string, key, &s);
    for (*ret = 0; *ret < n; ++*ret)
        if (names[*ret] && sv_streq(s, names[*ret]))
            return 0;
    sv_conf_origin(c->conf, &keys[key], origin, sizeof(origin));
    return sv_error_set(err, -EINVAL, "%s: \"%s\" is not known", origin, s);
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

static int read_devices(struct nm_conf *c, struct sv_error *err)
{
    _cleanup_strv_ char **plugins = NULL;
    int r;

    GET(sv_conf_bool, K_BANDWIDTH, &c->bandwidth_enabled);
    GET(sv_conf_int, K_BANDWIDTH_YARN, &c->bandwidth_mbit);
    GET(sv_conf_int, K_BANDWIDTH_SHARES, &c->bandwidth_shares);
    if (c->bandwidth_enabled && c->network != EXE_NETWORK_PRIVATE)
        return sv_error_set(err, -EINVAL,
                            "%s: only with %s=private can a container's bandwidth be "
                            "limited",
                            keys[K_BANDWIDTH].name, keys[K_NETWORK].name);
    GET(sv_conf_list, K_PLUGINS, &plugins);
    for (char **p = plugins; p && *p; p++) {
        if (!sv_streq(*p, "yarn.io/gpu"))
            return sv_error_set(err, -EOPNOTSUPP, "%s: %s is not supported; yarn.io/gpu is",
                                keys[K_PLUGINS].name, *p);
        c->gpus = true;
    }
    GET(sv_conf_string, K_GPUS, &c->gpus_allowed);
    GET(sv_conf_string, K_GPU_DISCOVERY, &c->gpu_discovery);
    GET(sv_conf_int, K_GPU_MAJOR, &c->gpu_major);
    return 0;
}

/* Not rounded up to Mbit/s, as Hadoop does for tc: the sum of all shares is the whole bandwidth. */
static void divide_bandwidth(struct nm_conf *c)
{
    const int64_t all = c->bandwidth_mbit * 1000, share = all / c->bandwidth_shares;

    if (!c->bandwidth_enabled)
        return;
    c->net_rate_kbit = share ? (uint32_t)share : 1;
    c->net_ceil_kbit = c->strict_cpu ? c->net_rate_kbit : (uint32_t)all;
}

static int read_limits(struct nm_conf *c, struct sv_error *err)
{
    static const char *const profiles[] = { [EXE_PROFILE_STRICT] = "strict",
                                            [EXE_PROFILE_HADOOP] = "hadoop",
                                            [EXE_PROFILE_HOST] = "host" };
    static const char *const networks[] = {
        [EXE_NETWORK_HOST] = "host", [EXE_NETWORK_NONE] = "none", [EXE_NETWORK_PRIVATE] = "private"
    };
    int64_t secs;
    size_t i;
    int r;

    r = read_choice(c, K_PROFILE, profiles, SV_ARRAY_LEN(profiles), &i, err);
    if (r < 0)
        return r;
    c->profile = (enum exe_profile)i;
    r = read_choice(c, K_NETWORK, networks, SV_ARRAY_LEN(networks), &i, err);
    if (r < 0)
        return r;
    c->network = (enum exe_network)i;
    r = read_devices(c, err);
    if (r < 0)
        return r;
    GET(sv_conf_int, K_PIDS_MAX, &c->pids_max);
    GET(sv_conf_int, K_CPU_PERCENT, &c->cpu_percent);
    GET(sv_conf_bool, K_STRICT_CPU, &c->strict_cpu);
    divide_bandwidth(c);
    GET(sv_conf_bool, K_MEMORY_ENFORCED, &c->memory_enforced);
    GET(sv_conf_bool, K_MEMORY_NODE, &c->memory_node_limit);
    GET(sv_conf_bool, K_ELASTIC, &c->elastic);
    GET(sv_conf_int, K_ELASTIC_TIMEOUT, &secs);
    c->elastic_timeout_ms = secs * 1000;
    GET(sv_conf_int, K_MEMORY_HIGH, &c->memory_high_percent);
    GET(sv_conf_float, K_MEMORY_SOFT, &c->memory_soft_percent);
    if (!(c->memory_soft_percent >= 0 && c->memory_soft_percent <= 100))
        return sv_error_set(err, -EINVAL, "%s: a percentage from 0 to 100 is needed",
                            keys[K_MEMORY_SOFT].name);
    GET(sv_conf_int, K_SWAP, &c->swap_percent);
    GET(sv_conf_bool, K_DISK, &c->disk_enabled);
    GET(sv_conf_int, K_IO_WEIGHT, &c->io_weight);
    GET(sv_conf_list, K_IO_MAX, &c->io_max);
    r = check_io_max(c->io_max, err);
    if (r < 0)
        return r;
    GET(sv_conf_int, K_HUGETLB, &c->hugetlb_mb);
    GET(sv_conf_int, K_LOCALIZERS_MEMORY, &c->localizers_mb);
    GET(sv_conf_int, K_LOCALIZERS_PIDS, &c->localizers_pids);
    GET(sv_conf_bool, K_NUMA, &c->numa);
    GET(sv_conf_bool, K_NUMA_READ, &c->numa_read_topology);
    GET(sv_conf_list, K_NUMA_IDS, &c->numa_nodes);
    return 0;
}

/* "scheme://authority/…", as Hadoop reads its older forms, too: "/" is file, "host:port" HDFS. */
static int read_default_fs(struct nm_conf *c, struct sv_error *err)
{
    const char *s, *authority;
    int r;

    GET(sv_conf_string, K_DEFAULT_FS, &s);
    authority = strstr(s, "://");
    if (authority)
        c->default_fs = strndup(s, (size_t)(authority - s) + 3 + strcspn(authority + 3, "/"));
    else if (*s == '/' || sv_streq(s, "local"))
        c->default_fs = strdup("file://");
    else
        r = sv_asprintf(&c->default_fs, "hdfs://%s", s);
    return r >= 0 && c->default_fs ? 0 : sv_error_errno(err, -ENOMEM, "configuration");
}

static int read_rest(struct nm_conf *c, struct sv_error *err)
{
    int64_t mb;
    int r;

    r = read_default_fs(c, err);
    if (r < 0)
        return r;
    GET(sv_conf_int, K_FETCH_THREADS, &c->fetch_threads);
    GET(sv_conf_int, K_CACHE_TARGET, &mb);
    c->cache_target_bytes = (uint64_t)mb << 20;
    GET(sv_conf_duration_ms, K_CACHE_CLEANUP, &c->cache_cleanup_ms);
    r = nm_conf_localizer_read(c->conf, &c->localizer, err);
    if (r < 0)
        return r;
    GET(sv_conf_duration_ms, K_MONITOR, &c->monitor_ms);
    GET(sv_conf_bool, K_PMEM, &c->pmem_check);
    GET(sv_conf_bool, K_VMEM, &c->vmem_check);
    GET(sv_conf_float, K_VMEM_RATIO, &c->vmem_ratio);
    return 0;
}

static int read_log_level(struct nm_conf *c, struct sv_error *err)
{
    static const char *const names[] = { [SV_LOG_ERR] = "err",
                                         [SV_LOG_WARNING] = "warning",
                                         [SV_LOG_NOTICE] = "notice",
                                         [SV_LOG_INFO] = "info",
                                         [SV_LOG_DEBUG] = "debug" };
    const char *s;
    size_t i;
    int r;

    c->log_level = -1;
    GET(sv_conf_string, K_LOG_LEVEL, &s);
    if (!s || !*s)
        return 0;
    r = read_choice(c, K_LOG_LEVEL, names, SV_ARRAY_LEN(names), &i, err);
    if (r >= 0)
        c->log_level = (int)i;
    return r;
}

int nm_conf_load_again(struct nm_conf *c, const struct nm_conf *known, const char *dir,
                       char *const *overrides, struct sv_error *err)
{
    int r;

    *c = (struct nm_conf){ .conf = sv_conf_new() };
    if (!c->conf)
        return sv_error_errno(err, -ENOMEM, "configuration");
    r = sv_conf_load_hadoop(c->conf, dir, err);
    if (r >= 0)
        r = hdfs_conf_load(c->conf, err);
    if (r < 0)
        return r;
    for (char *const *o = overrides; o && *o; o++) {
        _cleanup_free_ char *key = strdup(*o);
        char *eq = key ? strchr(key, '=') : NULL;

        if (!eq || eq == key)
            return sv_error_set(err, -EINVAL, "-D %s: expected key=value", *o);
        *eq = 0;
        r = sv_conf_set(c->conf, key, eq + 1);
        if (r < 0)
            return sv_error_errno(err, r, "-D %s", key);
    }
    r = set_base_defaults(c->conf);
    if (r < 0)
        return sv_error_errno(err, r, "configuration");
    r = read_identity(c, known, err);
    if (r >= 0)
        r = read_log_level(c, err);
    if (r >= 0)
        r = read_directories(c, err);
    if (r >= 0)
        r = read_launch(c, err);
    if (r >= 0)
        r = read_limits(c, err);
    if (r >= 0)
        r = read_rest(c, err);
    if (r >= 0)
        r = read_aux_services(c, err);
    if (r >= 0)
        r = check_unsupported(c, err);
    if (r >= 0)
        r = read_web(c, err);
    return r;
}

int nm_conf_load(struct nm_conf *c, const char *dir, char *const *overrides, struct sv_error *err)
{
    return nm_conf_load_again(c, NULL, dir, overrides, err);
}

void nm_conf_free(struct nm_conf *c)
{
    c->local_dirs = sv_strv_free(c->local_dirs);
    c->log_dirs = sv_strv_free(c->log_dirs);
    c->env_whitelist = sv_strv_free(c->env_whitelist);
    c->aux_services = sv_strv_free(c->aux_services);
    c->io_max = sv_strv_free(c->io_max);
    c->numa_nodes = sv_strv_free(c->numa_nodes);
    sv_web_auth_free(&c->web.auth);
    free(c->default_fs);
    c->default_fs = NULL;
    free(c->own_address);
    c->own_address = NULL;
    c->conf = sv_conf_free(c->conf);
}
