/* Configuration table of the NodeManager and its reader. Called by main; see conf.h. */
#include "nodemanager/conf.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"

#define NM "yarn.nodemanager."
#define MAX_MB ((int64_t)1 << 40)
#define FOREVER INT64_MAX

enum {
    K_HOSTNAME, K_ADDRESS, K_BIND_HOST, K_WEBAPP,
    K_RM_ADDRESS, K_RM_HA, K_MEMORY, K_VCORES, K_LOG_AGGREGATION,
    K_CONNECT_WAIT, K_CONNECT_RETRY, K_NM_CONNECT_WAIT, K_NM_CONNECT_RETRY, K_TRACK_STOPPED,
    K_RM_MINIMUM, K_LOCAL_DIRS, K_LOG_DIRS,
    K_DISK_ENABLE, K_DISK_INTERVAL, K_DISK_MIN_HEALTHY, K_DISK_MAX_UTIL, K_DISK_MIN_FREE,
    K_EXECUTOR_PATH, K_CGROUP_ROOT, K_UNENFORCED, K_LIMIT_USERS, K_LOCAL_USER,
    K_WHITELIST, K_ADMIN_ENV, K_FORCE_PATH, K_USER_HOME, K_ADD_OPENS,
    K_DEBUG_INFO, K_STDERR_TAIL, K_STDERR_PATTERN, K_PIDS_MAX,
    K_SIGKILL_DELAY, K_KILL_WAIT, K_DELETE_DELAY, K_LOG_RETAIN,
    K_FETCH_THREADS, K_CACHE_TARGET, K_CACHE_CLEANUP,
    K_MONITOR, K_MONITOR_ALL, K_PMEM, K_VMEM, K_VMEM_RATIO, K_DIAG_MAX,
    K_RECOVERY, K_SUPERVISED, K_RECOVERY_DIR, K_HMAC, K_SECURITY, K_AUX,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_HOSTNAME] = { NM "hostname", SV_CONF_STRING, "0.0.0.0", .help = "Name of this node; 0.0.0.0 = the machine's host name." },
    [K_ADDRESS] = { NM "address", SV_CONF_ADDRESS, "${yarn.nodemanager.hostname}:8041", .help = "ContainerManagementProtocol; host:port is the node's id." },
    [K_BIND_HOST] = { NM "bind-host", SV_CONF_STRING, NULL, .help = "Address to listen on instead of the host of yarn.nodemanager.address." },
    [K_WEBAPP] = { NM "webapp.address", SV_CONF_ADDRESS, "${yarn.nodemanager.hostname}:8042", .help = "REST and container logs." },
    [K_RM_ADDRESS] = { "yarn.resourcemanager.resource-tracker.address", SV_CONF_ADDRESS, "${yarn.resourcemanager.hostname}:8031", .help = "ResourceTracker of the ResourceManager." },
    [K_RM_HA] = { "yarn.resourcemanager.ha.enabled", SV_CONF_BOOL, "false", .help = "Several ResourceManagers; not supported by this version." },
    [K_MEMORY] = { NM "resource.memory-mb", SV_CONF_INT, "-1", -1, MAX_MB, .help = "Memory for containers; -1 = 8192." },
    [K_VCORES] = { NM "resource.cpu-vcores", SV_CONF_INT, "-1", -1, INT32_MAX, .help = "Virtual cores for containers; -1 = 8." },
    [K_LOG_AGGREGATION] = { "yarn.log-aggregation-enable", SV_CONF_BOOL, "false", .help = "Upload of logs; not supported by this version." },
    [K_CONNECT_WAIT] = { "yarn.resourcemanager.connect.max-wait.ms", SV_CONF_DURATION, "900000", -1, FOREVER, 1, "How long the ResourceManager may be away before the daemon gives up; -1 = for ever." },
    [K_CONNECT_RETRY] = { "yarn.resourcemanager.connect.retry-interval.ms", SV_CONF_DURATION, "30000", 1, FOREVER, 1, "Time between attempts to reach the ResourceManager." },
    [K_NM_CONNECT_WAIT] = { NM "resourcemanager.connect.max-wait.ms", SV_CONF_DURATION, "${yarn.resourcemanager.connect.max-wait.ms}", -1, FOREVER, 1, "The same for NodeManagers only." },
    [K_NM_CONNECT_RETRY] = { NM "resourcemanager.connect.retry-interval.ms", SV_CONF_DURATION, "${yarn.resourcemanager.connect.retry-interval.ms}", 1, FOREVER, 1, "The same for NodeManagers only." },
    [K_TRACK_STOPPED] = { NM "duration-to-track-stopped-containers", SV_CONF_DURATION, "600000", 0, FOREVER, 1, "How long a stopped container is remembered as recently stopped." },
    [K_RM_MINIMUM] = { NM "resourcemanager.minimum.version", SV_CONF_STRING, "NONE", .help = "Lowest ResourceManager version to work with: NONE, EqualToNM or a version." },
    [K_LOCAL_DIRS] = { NM "local-dirs", SV_CONF_LIST, "${hadoop.tmp.dir}/nm-local-dir", .help = "Directories for localized files and work directories; the same list as in container-executor.cfg." },
    [K_LOG_DIRS] = { NM "log-dirs", SV_CONF_LIST, "${yarn.log.dir}/userlogs", .help = "Directories for container logs; the same list as in container-executor.cfg." },
    [K_DISK_ENABLE] = { NM "disk-health-checker.enable", SV_CONF_BOOL, "true", .help = "Check the directories while running." },
    [K_DISK_INTERVAL] = { NM "disk-health-checker.interval-ms", SV_CONF_DURATION, "120000", 100, FOREVER, 1, "Time between two checks." },
    [K_DISK_MIN_HEALTHY] = { NM "disk-health-checker.min-healthy-disks", SV_CONF_FLOAT, "0.25", .help = "Share of directories that must be good for the node to be healthy." },
    [K_DISK_MAX_UTIL] = { NM "disk-health-checker.max-disk-utilization-per-disk-percentage", SV_CONF_FLOAT, "90.0", .help = "A fuller disk takes no new containers." },
    [K_DISK_MIN_FREE] = { NM "disk-health-checker.min-free-space-per-disk-mb", SV_CONF_INT, "0", 0, MAX_MB, .help = "A disk with less free space takes no new containers." },
    [K_EXECUTOR_PATH] = { NM "linux-container-executor.path", SV_CONF_STRING, NULL, .help = "The setuid container-executor; default: the installed one." },
    [K_CGROUP_ROOT] = { "selvedge.nodemanager.cgroup.root", SV_CONF_STRING, NULL, .help = "Delegated cgroup for containers, as in container-executor.cfg; default: child `containers` of the daemon's own group." },
    [K_UNENFORCED] = { "selvedge.nodemanager.unenforced-limits.allowed", SV_CONF_BOOL, "false", .help = "Run although the kernel cannot enforce memory, pids and cpu limits here (development)." },
    [K_LIMIT_USERS] = { NM "linux-container-executor.nonsecure-mode.limit-users", SV_CONF_BOOL, "true", .help = "Without Kerberos run every container as the local user of the next key." },
    [K_LOCAL_USER] = { NM "linux-container-executor.nonsecure-mode.local-user", SV_CONF_STRING, "nobody", .help = "The account for containers while limit-users is true." },
    [K_WHITELIST] = { NM "env-whitelist", SV_CONF_LIST, "JAVA_HOME,HADOOP_COMMON_HOME,HADOOP_HDFS_HOME,HADOOP_CONF_DIR,CLASSPATH_PREPEND_DISTCACHE,HADOOP_YARN_HOME,HADOOP_HOME,PATH,LANG,TZ", .help = "Variables of the daemon's environment that containers get unless they set their own." },
    [K_ADMIN_ENV] = { NM "admin-env", SV_CONF_STRING, "MALLOC_ARENA_MAX=$MALLOC_ARENA_MAX", .help = "Variables that containers cannot override: A=x,B=y." },
    [K_FORCE_PATH] = { NM "force.path", SV_CONF_STRING, "", .help = "Put in front of PATH." },
    [K_USER_HOME] = { NM "user-home-dir", SV_CONF_STRING, "/home/", .help = "HOME of containers." },
    [K_ADD_OPENS] = { "selvedge.nodemanager.add-opens", SV_CONF_STRING, NULL, .help = "Text for the <ADD_OPENS> mark; default: decided by the container's Java version." },
    [K_DEBUG_INFO] = { NM "log-container-debug-info.enabled", SV_CONF_BOOL, "true", .help = "Copy the launch script and a directory listing into the log directory." },
    [K_STDERR_TAIL] = { NM "container.stderr.tail.bytes", SV_CONF_INT, "4096", 0, 1 << 20, .help = "Bytes of the error log in the diagnostics of a failure." },
    [K_STDERR_PATTERN] = { NM "container.stderr.pattern", SV_CONF_STRING, "{*stderr*,*STDERR*}", .help = "Which log is the error log." },
    [K_PIDS_MAX] = { "selvedge.nodemanager.container.pids.max", SV_CONF_INT, "16384", 1, 4194304, .help = "Processes and threads of one container." },
    [K_SIGKILL_DELAY] = { NM "sleep-delay-before-sigkill.ms", SV_CONF_DURATION, "250", 0, 3600000, 1, "Time between TERM and KILL." },
    [K_KILL_WAIT] = { NM "process-kill-wait.ms", SV_CONF_DURATION, "5000", 0, 3600000, 1, "How long a stop of the daemon waits for containers to end." },
    [K_DELETE_DELAY] = { NM "delete.debug-delay-sec", SV_CONF_INT, "0", -1, INT32_MAX, .help = "Seconds that files of finished containers are kept; -1 = for ever." },
    [K_LOG_RETAIN] = { NM "log.retain-seconds", SV_CONF_INT, "10800", 0, INT32_MAX, .help = "Seconds that logs of finished applications are kept." },
    [K_FETCH_THREADS] = { NM "localizer.fetch.thread-count", SV_CONF_INT, "4", 1, 256, .help = "Parallel downloads for PUBLIC resources." },
    [K_CACHE_TARGET] = { NM "localizer.cache.target-size-mb", SV_CONF_INT, "10240", 0, MAX_MB, .help = "Size that the cache is cleaned down to." },
    [K_CACHE_CLEANUP] = { NM "localizer.cache.cleanup.interval-ms", SV_CONF_DURATION, "600000", 1000, FOREVER, 1, "Time between cache cleanups." },
    [K_MONITOR] = { NM "container-monitor.interval-ms", SV_CONF_DURATION, "${yarn.nodemanager.resource-monitor.interval-ms}", 50, FOREVER, 1, "Time between two readings of container usage." },
    [K_MONITOR_ALL] = { NM "resource-monitor.interval-ms", SV_CONF_DURATION, "3000", 50, FOREVER, 1, "Default of the key above." },
    [K_PMEM] = { NM "pmem-check-enabled", SV_CONF_BOOL, "true", .help = "Shown in REST; the kernel enforces memory here." },
    [K_VMEM] = { NM "vmem-check-enabled", SV_CONF_BOOL, "true", .help = "Shown in REST; virtual memory is not limited here." },
    [K_VMEM_RATIO] = { NM "vmem-pmem-ratio", SV_CONF_FLOAT, "2.1", .help = "Virtual to physical memory, for REST." },
    [K_DIAG_MAX] = { NM "container-diagnostics-maximum-size", SV_CONF_INT, "10000", 100, 1 << 20, .help = "Characters of diagnostics that are kept." },
    [K_RECOVERY] = { NM "recovery.enabled", SV_CONF_BOOL, "true", .help = "Containers survive a restart of the daemon. Hadoop's default is false; ours is true." },
    [K_SUPERVISED] = { NM "recovery.supervised", SV_CONF_BOOL, "true", .help = "The daemon is restarted by a supervisor: a clean stop leaves containers running and does not unregister." },
    [K_RECOVERY_DIR] = { NM "recovery.dir", SV_CONF_STRING, "${hadoop.tmp.dir}/yarn-nm-recovery", .help = "Directory of the state store." },
    [K_HMAC] = { "hadoop.security.secret-manager.key-generator.algorithm", SV_CONF_STRING, "HmacSHA1", .help = "HMAC of tokens; the same on all nodes." },
    [K_SECURITY] = { "hadoop.security.authentication", SV_CONF_STRING, "simple", .help = "simple; kerberos is not supported by this version." },
    [K_AUX] = { NM "aux-services", SV_CONF_LIST, "", .help = "Auxiliary services; none is supported by this version." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

void nm_conf_print(FILE *out)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++)
        fprintf(out, "%s\n    default: %s\n    %s\n", keys[i].name,
                keys[i].def ? keys[i].def : "(unset)", keys[i].help);
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
    static const int referred[] = { K_HOSTNAME, K_CONNECT_WAIT, K_CONNECT_RETRY, K_MONITOR_ALL };
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

/* 0.0.0.0 as a node's own name means this machine's host name: peers must be able to connect. */
static int real_hostname(struct sv_conf *c, struct sv_error *err)
{
    const char *h = sv_conf_raw(c, keys[K_HOSTNAME].name);
    char name[256] = { 0 };

    if (!sv_streq(h, "0.0.0.0"))
        return 0;
    if (gethostname(name, sizeof(name) - 1) < 0)
        return sv_error_errno(err, -errno, "host name");
    return sv_conf_set(c, keys[K_HOSTNAME].name, name);
}

/* "file:///x" and "/x" are the same directory; anything relative or remote is refused. */
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

static int read_identity(struct nm_conf *c, struct sv_error *err)
{
    int64_t mem, cores;
    const char *s;
    int r;

    r = sv_conf_address(c->conf, &keys[K_ADDRESS], &c->hostname, &c->port, err);
    if (r < 0)
        return r;
    r = sv_conf_address(c->conf, &keys[K_WEBAPP], &c->web_host, &c->web_port, err);
    if (r < 0)
        return r;
    r = sv_conf_address(c->conf, &keys[K_RM_ADDRESS], &c->rm_host, &c->rm_port, err);
    if (r < 0)
        return r;
    GET(sv_conf_int, K_MEMORY, &mem);
    GET(sv_conf_int, K_VCORES, &cores);
    if (mem == 0 || cores == 0)
        return sv_error_set(err, -EINVAL, "%s and %s must not be 0",
                            keys[K_MEMORY].name, keys[K_VCORES].name);
    c->resource.memory_mb = mem < 0 ? 8192 : mem;
    c->resource.vcores = cores < 0 ? 8 : (int32_t)cores;
    GET(sv_conf_string, K_BIND_HOST, &c->bind_host);
    if (c->bind_host && !*c->bind_host)
        c->bind_host = NULL;
    GET(sv_conf_duration_ms, K_NM_CONNECT_WAIT, &c->rm_connect_max_wait_ms);
    GET(sv_conf_duration_ms, K_NM_CONNECT_RETRY, &c->rm_connect_retry_ms);
    GET(sv_conf_duration_ms, K_TRACK_STOPPED, &c->track_stopped_ms);
    GET(sv_conf_string, K_RM_MINIMUM, &c->rm_minimum_version);
    GET(sv_conf_string, K_HMAC, &s);
    r = yarn_hmac_parse(s, &c->hmac);
    if (r < 0)
        return sv_error_set(err, r, "%s: \"%s\" is not one of HmacSHA1, HmacSHA224, HmacSHA256, "
                            "HmacSHA384, HmacSHA512", keys[K_HMAC].name, s);
    return 0;
}

/* What a yarn-site.xml may ask for and this version has not: refused where going on would be
 * unsafe or useless, told where the node still works. */
static int check_unsupported(struct nm_conf *c, struct sv_error *err)
{
    _cleanup_strv_ char **aux = NULL;
    bool ha, agg;
    const char *s;
    int r;

    GET(sv_conf_bool, K_RM_HA, &ha);
    if (ha)
        return sv_error_set(err, -EOPNOTSUPP, "%s=true: failover between ResourceManagers is not "
                            "supported by this version", keys[K_RM_HA].name);
    GET(sv_conf_string, K_SECURITY, &s);
    if (!sv_streq(s, "simple"))
        return sv_error_set(err, -EOPNOTSUPP, "%s=%s: only simple is supported by this version",
                            keys[K_SECURITY].name, s);
    GET(sv_conf_bool, K_LOG_AGGREGATION, &agg);
    if (agg)
        sv_log_warning("%s=true: this version does not upload logs; they stay on this node for "
                       "%s", keys[K_LOG_AGGREGATION].name, keys[K_LOG_RETAIN].name);
    GET(sv_conf_list, K_AUX, &aux);
    for (char **a = aux; a && *a; a++)
        sv_log_warning("%s: \"%s\" is not supported by this version; containers that ask for it "
                       "are refused", keys[K_AUX].name, *a);
    return 0;
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
    GET(sv_conf_bool, K_RECOVERY, &c->recovery);
    GET(sv_conf_bool, K_SUPERVISED, &c->recovery_supervised);
    GET(sv_conf_string, K_RECOVERY_DIR, &c->recovery_dir);
    if (sv_has_prefix(c->recovery_dir, "file://"))
        c->recovery_dir += 7;
    if (c->recovery_dir[0] != '/')
        return sv_error_set(err, -EINVAL, "%s: \"%s\" is not an absolute directory",
                            keys[K_RECOVERY_DIR].name, c->recovery_dir);
    if (c->recovery && c->port == 0)
        return sv_error_set(err, -EINVAL, "Cannot support recovery with an ephemeral server port. "
                            "Check the setting of %s", keys[K_ADDRESS].name);
    return 0;
}

static int read_launch(struct nm_conf *c, struct sv_error *err)
{
    int64_t secs;
    int r;

    GET(sv_conf_string, K_EXECUTOR_PATH, &c->executor_path);
    GET(sv_conf_string, K_CGROUP_ROOT, &c->cgroup_root);
    GET(sv_conf_bool, K_UNENFORCED, &c->unenforced_allowed);
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
    GET(sv_conf_int, K_PIDS_MAX, &c->pids_max);
    GET(sv_conf_duration_ms, K_SIGKILL_DELAY, &c->sigkill_delay_ms);
    GET(sv_conf_duration_ms, K_KILL_WAIT, &c->kill_wait_ms);
    GET(sv_conf_int, K_DELETE_DELAY, &secs);
    c->delete_debug_delay_ms = secs < 0 ? -1 : secs * 1000;
    GET(sv_conf_int, K_LOG_RETAIN, &secs);
    c->log_retain_ms = secs * 1000;
    GET(sv_conf_int, K_DIAG_MAX, &c->diagnostics_max);
    return 0;
}

static int read_rest(struct nm_conf *c, struct sv_error *err)
{
    int64_t mb;
    int r;

    GET(sv_conf_int, K_FETCH_THREADS, &c->fetch_threads);
    GET(sv_conf_int, K_CACHE_TARGET, &mb);
    c->cache_target_bytes = (uint64_t)mb << 20;
    GET(sv_conf_duration_ms, K_CACHE_CLEANUP, &c->cache_cleanup_ms);
    GET(sv_conf_duration_ms, K_MONITOR, &c->monitor_ms);
    GET(sv_conf_bool, K_PMEM, &c->pmem_check);
    GET(sv_conf_bool, K_VMEM, &c->vmem_check);
    GET(sv_conf_float, K_VMEM_RATIO, &c->vmem_ratio);
    return 0;
}

int nm_conf_load(struct nm_conf *c, const char *dir, char *const *overrides, struct sv_error *err)
{
    int r;

    *c = (struct nm_conf){ .conf = sv_conf_new() };
    if (!c->conf)
        return sv_error_errno(err, -ENOMEM, "configuration");
    r = sv_conf_load_hadoop(c->conf, dir, err);
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
    r = real_hostname(c->conf, err);
    if (r < 0)
        return r;
    r = read_identity(c, err);
    if (r >= 0)
        r = read_directories(c, err);
    if (r >= 0)
        r = read_launch(c, err);
    if (r >= 0)
        r = read_rest(c, err);
    if (r >= 0)
        r = check_unsupported(c, err);
    return r;
}

void nm_conf_free(struct nm_conf *c)
{
    c->local_dirs = sv_strv_free(c->local_dirs);
    c->log_dirs = sv_strv_free(c->log_dirs);
    c->env_whitelist = sv_strv_free(c->env_whitelist);
    c->conf = sv_conf_free(c->conf);
}
