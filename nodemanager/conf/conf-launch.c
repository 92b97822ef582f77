/* Keys of launching, stopping and deleting containers. See conf-parts.h. */
#include "nodemanager/conf/conf-parts.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"

#define NM "yarn.nodemanager."

enum {
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
    K_NICENESS,
    K_DEBUG_INFO,
    K_STDERR_TAIL,
    K_STDERR_PATTERN,
    K_SIGKILL_DELAY,
    K_KILL_WAIT,
    K_DELETE_DELAY,
    K_LOG_RETAIN,
    K_DIAG_MAX,
    K_RETRY_MINIMUM,
    K_QUEUE_MAX,
    K_QUEUE_POLICY,
    K_QUEUE_PAUSES,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
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
    [K_NICENESS] = { NM "container-executor.os.sched.priority.adjustment", SV_CONF_INT, "0", -20, 19, .help = "Niceness of jobs, 0 to 19, which no job can undo; a negative one is refused: nothing here may raise a priority. Where the kernel enforces CPU limits, it shares processors between containers by cpu.weight, and niceness counts among the processes of one container." },
    [K_DEBUG_INFO] = { NM "log-container-debug-info.enabled", SV_CONF_BOOL, "true", .help = "Copy the launch script and a directory listing into the log directory." },
    [K_STDERR_TAIL] = { NM "container.stderr.tail.bytes", SV_CONF_INT, "4096", 0, 1 << 20, .help = "Bytes of the error log in the diagnostics of a failure." },
    [K_STDERR_PATTERN] = { NM "container.stderr.pattern", SV_CONF_STRING, "{*stderr*,*STDERR*}", .help = "File name pattern of the error log." },
    [K_SIGKILL_DELAY] = { NM "sleep-delay-before-sigkill.ms", SV_CONF_DURATION, "250", 0, 3600000, 1, "Time between TERM and KILL." },
    [K_KILL_WAIT] = { NM "process-kill-wait.ms", SV_CONF_DURATION, "5000", 0, 3600000, 1, "Time for which a stop of the daemon waits for containers to end." },
    [K_DELETE_DELAY] = { NM "delete.debug-delay-sec", SV_CONF_INT, "0", -1, INT32_MAX, .help = "Seconds that files of finished containers are kept; -1 = forever." },
    [K_LOG_RETAIN] = { NM "log.retain-seconds", SV_CONF_INT, "10800", 0, INT32_MAX, .help = "Seconds that logs of finished applications are kept." },
    [K_DIAG_MAX] = { NM "container-diagnostics-maximum-size", SV_CONF_INT, "10000", 100, 1 << 20, .help = "Maximum length of diagnostics, in characters." },
    [K_RETRY_MINIMUM] = { NM "container-retry-minimum-interval-ms", SV_CONF_INT, "1000", 0, INT32_MAX, .help = "Least time between the failure of a container that its job lets retry and its next launch." },
    [K_QUEUE_MAX] = { NM "opportunistic-containers-max-queue-length", SV_CONF_INT, "0", INT32_MIN, 100000, .help = "Opportunistic containers that may wait for room on this node, with those that are paused; more are killed (-108). 0 or less: none is accepted, and guaranteed containers start without a look at what runs." },
    [K_QUEUE_POLICY] = { NM "opportunistic-containers-queue-policy", SV_CONF_STRING, "BY_QUEUE_LEN", .help = "BY_QUEUE_LEN, or BY_RESOURCES: in the place of max-queue-length opportunistic containers are accepted as long as the node has room for all that run and wait." },
    [K_QUEUE_PAUSES] = { NM "opportunistic-containers-use-pause-for-preemption", SV_CONF_BOOL, "false", .help = "Opportunistic containers that make room for a guaranteed one are frozen, not killed; their memory stays in use." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_launch_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

static int read_queue(struct nm_conf *c, struct sv_error *err)
{
    static const char *const policies[] = {
        [NM_QUEUE_BY_LENGTH] = "BY_QUEUE_LEN",
        [NM_QUEUE_BY_RESOURCES] = "BY_RESOURCES",
    };
    size_t i;
    int r;

    NM_CONF_GET(sv_conf_int, K_QUEUE_MAX, &c->queue_max);
    c->queue_max = SV_MAX(c->queue_max, (int64_t)0);
    NM_CONF_GET(sv_conf_bool, K_QUEUE_PAUSES, &c->queue_pauses);
    r = sv_conf_choice(c->conf, &keys[K_QUEUE_POLICY], policies, SV_ARRAY_LEN(policies), &i, err);
    if (r >= 0)
        c->queue_policy = (enum nm_queue_policy)i;
    return r;
}

/* A higher priority would take CAP_SYS_NICE, which container-executor does not have. */
static int read_niceness(struct nm_conf *c, struct sv_error *err)
{
    int64_t niceness;
    char at[512];
    int r;

    NM_CONF_GET(sv_conf_int, K_NICENESS, &niceness);
    if (niceness < 0) {
        sv_conf_origin(c->conf, &keys[K_NICENESS], at, sizeof(at));
        return sv_error_set(err, -EOPNOTSUPP,
                            "%s is \"%lld\": a job's priority can only be lowered, by 0 to 19; to "
                            "give jobs more processor time, raise CPUWeight= of the unit of their "
                            "cgroup, or lower that of others",
                            at, (long long)niceness);
    }
    c->niceness = (int)niceness;
    return 0;
}

int nm_conf_launch_read(struct nm_conf *c, struct sv_error *err)
{
    int64_t secs;
    int r = read_queue(c, err);

    if (r < 0)
        return r;
    NM_CONF_GET(sv_conf_string, K_EXECUTOR_PATH, &c->executor_path);
    NM_CONF_GET(sv_conf_string, K_DBUS, &c->dbus);
    if (!sv_streq(c->dbus, "system") && !sv_streq(c->dbus, "off") && !strchr(c->dbus, ':'))
        return sv_error_set(err, -EINVAL,
                            "%s: \"%s\" is neither system nor off nor an address such as "
                            "unix:path=/run/dbus/NAME",
                            keys[K_DBUS].name, c->dbus);
    NM_CONF_GET(sv_conf_string, K_EXECUTOR_SOCKET, &c->executor_socket);
    if (c->executor_socket && !*c->executor_socket)
        c->executor_socket = NULL;
    if (c->executor_socket && *c->executor_socket != '/')
        return sv_error_set(err, -EINVAL, "%s: must be an absolute path",
                            keys[K_EXECUTOR_SOCKET].name);
    NM_CONF_GET(sv_conf_string, K_CGROUP_ROOT, &c->cgroup_root);
    NM_CONF_GET(sv_conf_bool, K_UNENFORCED, &c->unenforced_allowed);
    NM_CONF_GET(sv_conf_bool, K_SELINUX, &c->selinux_labels);
    NM_CONF_GET(sv_conf_bool, K_LIMIT_USERS, &c->limit_users);
    NM_CONF_GET(sv_conf_string, K_LOCAL_USER, &c->local_user);
    NM_CONF_GET(sv_conf_list, K_WHITELIST, &c->env_whitelist);
    NM_CONF_GET(sv_conf_string, K_ADMIN_ENV, &c->admin_env);
    NM_CONF_GET(sv_conf_string, K_FORCE_PATH, &c->force_path);
    NM_CONF_GET(sv_conf_string, K_USER_HOME, &c->user_home);
    NM_CONF_GET(sv_conf_string, K_ADD_OPENS, &c->add_opens);
    r = read_niceness(c, err);
    if (r < 0)
        return r;
    NM_CONF_GET(sv_conf_bool, K_DEBUG_INFO, &c->debug_info);
    NM_CONF_GET(sv_conf_int, K_STDERR_TAIL, &c->stderr_tail_bytes);
    NM_CONF_GET(sv_conf_string, K_STDERR_PATTERN, &c->stderr_pattern);
    NM_CONF_GET(sv_conf_duration_ms, K_SIGKILL_DELAY, &c->sigkill_delay_ms);
    NM_CONF_GET(sv_conf_duration_ms, K_KILL_WAIT, &c->kill_wait_ms);
    NM_CONF_GET(sv_conf_int, K_DELETE_DELAY, &secs);
    c->delete_debug_delay_ms = secs < 0 ? -1 : secs * 1000;
    NM_CONF_GET(sv_conf_int, K_LOG_RETAIN, &secs);
    c->log_retain_ms = secs * 1000;
    NM_CONF_GET(sv_conf_int, K_DIAG_MAX, &c->diagnostics_max);
    NM_CONF_GET(sv_conf_int, K_RETRY_MINIMUM, &c->retry_minimum_ms);
    return 0;
}
