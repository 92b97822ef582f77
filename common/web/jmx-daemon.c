/* See jmx-daemon.h. What has no meaning in a process like this one is 0, where Hadoop's would be 0
 * in a daemon that never needs it: there is no garbage to collect, no queue of calls, no lock. */
#include "common/web/jmx-daemon.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/str.h"
#include "common/web/jmx.h"

#define MB (1024.0 * 1024)
#define THREADS_MAX 256 /* looked at; a daemon has a dozen */
#define CGROUP_PATH_MAX 4096

/* ---- Memory ---- */

/* "RssAnon:     123 kB" of /proc/self/status → bytes. */
static double status_bytes(const char *text, const char *key)
{
    const char *p = strstr(text, key);
    unsigned long long kib = 0;

    return p && sscanf(p + strlen(key), ": %llu kB", &kib) == 1 ? (double)kib * 1024 : 0;
}

static uint64_t read_limit(const char *root, const char *path)
{
    char file[CGROUP_PATH_MAX + 64];
    _cleanup_free_ char *text = NULL;
    unsigned long long v;

    (void)snprintf(file, sizeof(file), "%s%s/memory.max", root, path);
    if (sv_read_file_at(AT_FDCWD, file, 64, &text, NULL) < 0 || sscanf(text, "%llu", &v) != 1)
        return UINT64_MAX; /* "max", or no such file */
    return v;
}

uint64_t sv_cgroup_memory_max(const char *root, const char *own)
{
    const char *line = sv_has_prefix(own, "0::") ? own : strstr(own, "\n0::");
    char path[CGROUP_PATH_MAX];
    uint64_t least = UINT64_MAX;
    char *slash;

    if (!line)
        return least; /* no cgroup v2 */
    line += *line == '\n';
    (void)snprintf(path, sizeof(path), "%.*s", (int)strcspn(line + strlen("0::"), "\n"),
                   line + strlen("0::"));
    while ((slash = strrchr(path, '/')) && slash[1]) {
        least = SV_MIN(least, read_limit(root, path));
        *slash = 0;
    }
    return least;
}

static double memory_max(void)
{
    double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    _cleanup_free_ char *own = NULL;
    uint64_t limit;

    if (sv_read_file_at(AT_FDCWD, "/proc/self/cgroup", 65536, &own, NULL) < 0)
        return all;
    limit = sv_cgroup_memory_max("/sys/fs/cgroup", own);
    return limit < (uint64_t)all ? (double)limit : all;
}

static void put_memory(json_t *b)
{
    _cleanup_free_ char *text = NULL;
    double anon, mapped, most = memory_max() / MB;
    const char *status =
        sv_read_file_at(AT_FDCWD, "/proc/self/status", 65536, &text, NULL) < 0 ? "" : text;

    anon = status_bytes(status, "RssAnon") / MB;
    mapped = (status_bytes(status, "RssFile") + status_bytes(status, "RssShmem")) / MB;
    sv_jmx_real(b, "MemNonHeapUsedM", mapped);
    sv_jmx_real(b, "MemNonHeapCommittedM", mapped);
    sv_jmx_real(b, "MemNonHeapMaxM", -1); /* no limit of its own, as in most JVMs */
    sv_jmx_real(b, "MemHeapUsedM", anon);
    sv_jmx_real(b, "MemHeapCommittedM", anon);
    sv_jmx_real(b, "MemHeapMaxM", most);
    sv_jmx_real(b, "MemMaxM", most);
}

/* ---- Threads ---- */

/* The state is behind the name, which may have parentheses itself. */
static char thread_state(const char *id)
{
    char path[64];
    _cleanup_free_ char *text = NULL;
    const char *end;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", id);
    if (sv_read_file_at(AT_FDCWD, path, 4096, &text, NULL) < 0)
        return 0; /* it has ended */
    end = strrchr(text, ')');
    return end && end[1] == ' ' ? end[2] : 0;
}

static void put_threads(json_t *b)
{
    int runnable = 0, blocked = 0, waiting = 0, left = THREADS_MAX;
    DIR *dir = opendir("/proc/self/task");
    const struct dirent *d;

    while (dir && left > 0 && (d = readdir(dir))) {
        char state;

        if (*d->d_name == '.')
            continue;
        left--;
        state = thread_state(d->d_name);
        runnable += state == 'R';
        blocked += state == 'D';
        waiting += state && state != 'R' && state != 'D';
    }
    if (dir)
        (void)closedir(dir); /* only read, ignoring */
    sv_jmx_num(b, "ThreadsNew", 0);
    sv_jmx_num(b, "ThreadsRunnable", runnable);
    sv_jmx_num(b, "ThreadsBlocked", blocked);
    sv_jmx_num(b, "ThreadsWaiting", waiting);
    sv_jmx_num(b, "ThreadsTimedWaiting", 0);
    sv_jmx_num(b, "ThreadsTerminated", 0);
}

json_t *sv_jmx_process(const char *service)
{
    static const char *const no_garbage[] = { "GcCount", "GcTimeMillis",
                                              "GcNumWarnThresholdExceeded",
                                              "GcNumInfoThresholdExceeded",
                                              "GcTotalExtraSleepTime" };
    json_t *b = sv_jmx_bean(service, "JvmMetrics", "JvmMetrics", "jvm");

    sv_jmx_tag(b, "ProcessName", service);
    (void)json_object_set_new(b, "tag.SessionId", json_null()); /* as Hadoop's, ignoring */
    put_memory(b);
    for (size_t i = 0; i < SV_ARRAY_LEN(no_garbage); i++)
        sv_jmx_num(b, no_garbage[i], 0);
    put_threads(b);
    return b;
}

/* ---- RPC ---- */

void sv_jmx_rate(json_t *bean, const char *name, const struct sv_rate *r, int64_t now_ms)
{
    char key[128];

    (void)snprintf(key, sizeof(key), "%.100sNumOps", name);
    sv_jmx_num(bean, key, (int64_t)r->n);
    (void)snprintf(key, sizeof(key), "%.100sAvgTime", name);
    sv_jmx_real(bean, key, sv_rate_average(r, now_ms));
}

static void put_rpc_times(json_t *b, const struct sv_rpc_counters *n)
{
    const struct sv_rate no_time = { .n = n->queue.n }, none = { 0 };
    int64_t now = sv_now_ms();

    sv_jmx_rate(b, "RpcEnQueueTime", &no_time, now);
    sv_jmx_rate(b, "RpcQueueTime", &n->queue, now);
    sv_jmx_rate(b, "RpcLockWaitTime", &no_time, now);
    sv_jmx_rate(b, "RpcProcessingTime", &n->processing, now);
    sv_jmx_rate(b, "DeferredRpcProcessingTime", &none, now);
    sv_jmx_num(b, "TotalRequests", (int64_t)n->queue.n);
    sv_jmx_num(b, "TotalRequestsPerSecond", (int64_t)(sv_rate_per_second(&n->queue, now) + 0.5));
}

static void put_rpc_counters(json_t *b, const struct sv_rpc_counters *n)
{
    sv_jmx_num(b, "ReceivedBytes", (int64_t)n->received_bytes);
    sv_jmx_num(b, "SentBytes", (int64_t)n->sent_bytes);
    sv_jmx_num(b, "RpcAuthenticationSuccesses", (int64_t)n->authentications);
    sv_jmx_num(b, "RpcAuthenticationFailures", (int64_t)n->authentications_failed);
    sv_jmx_num(b, "RpcAuthorizationSuccesses", (int64_t)n->authorizations);
    sv_jmx_num(b, "RpcAuthorizationFailures", (int64_t)n->authorizations_failed);
    sv_jmx_num(b, "RpcCallSuccesses", (int64_t)(n->processing.n - n->errors));
    sv_jmx_num(b, "NumDroppedConnections", (int64_t)n->dropped);
}

json_t *sv_jmx_rpc(const char *service, const struct sv_jmx_rpc *rpc)
{
    /* Hadoop's with a queue that is full, slow calls that are logged: neither is there. */
    static const char *const never[] = { "CallQueueLength", "RpcClientBackoff",
                                         "RpcClientBackoffDisconnected", "RpcRequeueCalls",
                                         "RpcSlowCalls" };
    char name[64], port[8];
    json_t *b;

    (void)snprintf(port, sizeof(port), "%u", rpc->port);
    (void)snprintf(name, sizeof(name), "RpcActivityForPort%s", port);
    b = sv_jmx_bean(service, name, "rpc", "rpc");
    sv_jmx_tag(b, "port", port);
    sv_jmx_tag(b, "serverName", rpc->server);
    put_rpc_counters(b, rpc->counters);
    put_rpc_times(b, rpc->counters);
    for (size_t i = 0; i < SV_ARRAY_LEN(never); i++)
        sv_jmx_num(b, never[i], 0);
    sv_jmx_num(b, "NumInProcessHandler", (int64_t)rpc->open_calls);
    sv_jmx_num(b, "NumOpenConnections", (int64_t)rpc->connections);
    return b;
}
