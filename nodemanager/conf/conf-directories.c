/* Keys of directories, their checks, and recovery. See conf-parts.h. */
#include "nodemanager/conf/conf-parts.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"

#define NM "yarn.nodemanager."
#define MAX_MB ((int64_t)1 << 40)
#define FOREVER INT64_MAX

enum {
    K_LOCAL_DIRS,
    K_LOG_DIRS,
    K_DISK_ENABLE,
    K_DISK_INTERVAL,
    K_DISK_MIN_HEALTHY,
    K_DISK_UTIL_CHECKED,
    K_DISK_MAX_UTIL,
    K_DISK_LOW_UTIL,
    K_DISK_FREE_CHECKED,
    K_DISK_MIN_FREE,
    K_DISK_HIGH_FREE,
    K_DISK_CONTENT,
    K_DISK_MIN_INODES,
    K_WORK_PRESERVING,
    K_LAUNCH_FAILURES,
    K_LAUNCH_RETRY,
    K_RECOVERY,
    K_SUPERVISED,
    K_RECOVERY_DIR,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_LOCAL_DIRS] = { NM "local-dirs", SV_CONF_LIST, "${hadoop.tmp.dir}/nm-local-dir", .help = "Directories for localized files and work directories; the same list as in container-executor.cfg." },
    [K_LOG_DIRS] = { NM "log-dirs", SV_CONF_LIST, "${yarn.log.dir}/userlogs", .help = "Directories for container logs; the same list as in container-executor.cfg." },
    [K_DISK_ENABLE] = { NM "disk-health-checker.enable", SV_CONF_BOOL, "true", .help = "Check the directories periodically." },
    [K_DISK_INTERVAL] = { NM "disk-health-checker.interval-ms", SV_CONF_DURATION, "120000", 100, FOREVER, 1, "Time between two checks." },
    [K_DISK_MIN_HEALTHY] = { NM "disk-health-checker.min-healthy-disks", SV_CONF_FLOAT, "0.25", .help = "Share of directories that must be good for the node to be healthy." },
    [K_DISK_UTIL_CHECKED] = { NM "disk-health-checker.disk-utilization-threshold.enabled", SV_CONF_BOOL, "true", .help = "The two keys below count." },
    [K_DISK_MAX_UTIL] = { NM_MAX_UTILIZATION, SV_CONF_FLOAT, "90.0", .help = "A disk above this utilization gets no new containers." },
    [K_DISK_LOW_UTIL] = { NM "disk-health-checker.disk-utilization-watermark-low-per-disk-percentage", SV_CONF_FLOAT, "${" NM_MAX_UTILIZATION "}", .help = "A disk that was above the key before gets containers again up to this utilization." },
    [K_DISK_FREE_CHECKED] = { NM "disk-health-checker.disk-free-space-threshold.enabled", SV_CONF_BOOL, "true", .help = "The two keys below count." },
    [K_DISK_MIN_FREE] = { NM "disk-health-checker.min-free-space-per-disk-mb", SV_CONF_INT, "0", 0, MAX_MB, .help = "A disk with less free space gets no new containers." },
    [K_DISK_HIGH_FREE] = { NM "disk-health-checker.min-free-space-per-disk-watermark-high-mb", SV_CONF_INT, "0", 0, MAX_MB, .help = "A disk that was below the key before gets containers again from this free space on." },
    [K_DISK_CONTENT] = { NM "disk-health-checker.working-dir-content-accessibility-validation.enabled", SV_CONF_BOOL, "false", .help = "A directory is bad, too, if something of the daemon's account below it cannot be read, or a directory of it not written." },
    [K_DISK_MIN_INODES] = { "selvedge.nodemanager.disk-health-checker.min-free-inodes", SV_CONF_INT, "1000", 0, INT32_MAX, .help = "A disk with fewer free inodes gets no new containers." },
    [K_WORK_PRESERVING] = { "yarn.resourcemanager.work-preserving-recovery.enabled", SV_CONF_BOOL, "true", .help = "Containers go on when the ResourceManager asks for a new registration (RESYNC); false: they are killed first." },
    [K_LAUNCH_FAILURES] = { "selvedge.nodemanager.health.launch-failures", SV_CONF_INT, "5", 0, NM_LAUNCH_FAILURES_MAX, .help = "Applications whose launches must fail one after the other for the node's own reason (helper, disk, cgroup) for the node to be unhealthy; 0 = never." },
    [K_LAUNCH_RETRY] = { "selvedge.nodemanager.health.launch-retry-ms", SV_CONF_DURATION, "60000", 1, 3600000, 1, "Time after which such a node is offered again to try a launch; doubled up to 16 times it with each further failure." },
    [K_RECOVERY] = { NM "recovery.enabled", SV_CONF_BOOL, "true", .help = "Containers survive a restart of the daemon. Hadoop's default is false; ours is true." },
    [K_SUPERVISED] = { NM "recovery.supervised", SV_CONF_BOOL, "true", .help = "The daemon is restarted by a supervisor: a regular stop leaves containers running and does not unregister." },
    [K_RECOVERY_DIR] = { NM "recovery.dir", SV_CONF_STRING, "${hadoop.tmp.dir}/yarn-nm-recovery", .help = "Directory of the state store." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_directories_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
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

/* A watermark beyond its threshold counts as the threshold, as in Hadoop. */
static int read_thresholds(struct nm_conf *c, struct sv_error *err)
{
    int r;

    NM_CONF_GET(sv_conf_bool, K_DISK_UTIL_CHECKED, &c->utilization_checked);
    NM_CONF_GET(sv_conf_float, K_DISK_MAX_UTIL, &c->max_disk_utilization);
    NM_CONF_GET(sv_conf_float, K_DISK_LOW_UTIL, &c->low_disk_utilization);
    NM_CONF_GET(sv_conf_bool, K_DISK_FREE_CHECKED, &c->free_space_checked);
    NM_CONF_GET(sv_conf_int, K_DISK_MIN_FREE, &c->min_free_mb);
    NM_CONF_GET(sv_conf_int, K_DISK_HIGH_FREE, &c->high_free_mb);
    NM_CONF_GET(sv_conf_bool, K_DISK_CONTENT, &c->content_checked);
    c->max_disk_utilization = SV_MAX(0.0, SV_MIN(100.0, c->max_disk_utilization));
    c->low_disk_utilization = SV_MAX(0.0, SV_MIN(c->max_disk_utilization, c->low_disk_utilization));
    c->high_free_mb = SV_MAX(c->min_free_mb, c->high_free_mb);
    return 0;
}

int nm_conf_directories_read(struct nm_conf *c, struct sv_error *err)
{
    int r;

    NM_CONF_GET(sv_conf_list, K_LOCAL_DIRS, &c->local_dirs);
    NM_CONF_GET(sv_conf_list, K_LOG_DIRS, &c->log_dirs);
    r = check_dirs(c->local_dirs, keys[K_LOCAL_DIRS].name, err);
    if (r < 0)
        return r;
    r = check_dirs(c->log_dirs, keys[K_LOG_DIRS].name, err);
    if (r < 0)
        return r;
    NM_CONF_GET(sv_conf_bool, K_DISK_ENABLE, &c->disk_check_enabled);
    NM_CONF_GET(sv_conf_duration_ms, K_DISK_INTERVAL, &c->disk_check_ms);
    NM_CONF_GET(sv_conf_float, K_DISK_MIN_HEALTHY, &c->min_healthy_disks);
    r = read_thresholds(c, err);
    if (r < 0)
        return r;
    NM_CONF_GET(sv_conf_int, K_DISK_MIN_INODES, &c->min_free_inodes);
    NM_CONF_GET(sv_conf_bool, K_WORK_PRESERVING, &c->work_preserving);
    NM_CONF_GET(sv_conf_int, K_LAUNCH_FAILURES, &c->launch_failures);
    NM_CONF_GET(sv_conf_duration_ms, K_LAUNCH_RETRY, &c->launch_retry_ms);
    NM_CONF_GET(sv_conf_bool, K_RECOVERY, &c->recovery);
    NM_CONF_GET(sv_conf_bool, K_SUPERVISED, &c->recovery_supervised);
    NM_CONF_GET(sv_conf_string, K_RECOVERY_DIR, &c->recovery_dir);
    if (sv_has_prefix(c->recovery_dir, "file://"))
        c->recovery_dir += 7;
    if (c->recovery_dir[0] != '/')
        return sv_error_set(err, -EINVAL, "%s: \"%s\" is not an absolute directory",
                            keys[K_RECOVERY_DIR].name, c->recovery_dir);
    return 0;
}
