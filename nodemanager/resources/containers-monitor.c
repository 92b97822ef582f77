/* See containers-monitor.h. Reads kernel files only. */
#include "nodemanager/resources/containers-monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cgroups/cg.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "executor/exe.h"
#include "nodemanager/core/container-diagnostics.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/resources/log-monitor.h"
#include "nodemanager/resources/virtual-memory.h"

/* Containers read in one turn of the loop, some ten files each: a call of D-Bus waits for one turn.
 */
#define SLICE 4

struct nm_monitor {
    struct nm_context *ctx;
    struct nm_vmem *vmem;        /* NULL: virtual memory is not checked */
    struct nm_log_monitor *logs; /* NULL: sizes of logs are not checked */
    sd_event_source *timer;      /* begins a pass over all containers */
    sd_event_source *more;       /* continues it, after other events of the loop */
    unsigned pass;
    char last[YARN_ID_TEXT_MAX]; /* the last container read by this pass */
    uint64_t pass_bytes;         /* sums of this pass so far */
    uint64_t pass_vmem;
    float pass_cpu;
    int32_t cpus;
    uint64_t containers_bytes, containers_vmem;
    float containers_cpu;
    uint64_t node_bytes, node_swap_bytes;
    float node_cpu;
    int64_t begun_ms, pass_ms;    /* of this pass; how long the last one took */
    uint64_t cpu_busy, cpu_total; /* last reading of /proc/stat, ticks */
    bool read_once;
    unsigned containers; /* at the last tick */
};

static void sample_container(struct nm_container *c, int64_t now)
{
    struct cg_leaf *leaf = c->launch.exe ? exe_container_cgroup(c->launch.exe) : NULL;
    struct cg_usage u;

    if (!leaf || cg_leaf_usage(leaf, &u) < 0)
        return;
    if (c->usage.read_ms && now > c->usage.read_ms && u.cpu_usec >= c->usage.last.cpu_usec)
        c->usage.cpu_cores = (float)((double)(u.cpu_usec - c->usage.last.cpu_usec) / 1000.0 /
                                     (double)(now - c->usage.read_ms));
    nm_container_take_usage(c, &u);
    c->usage.read_ms = now;
    c->usage.peak_bytes = SV_MAX(c->usage.peak_bytes, SV_MAX(u.memory_peak, u.memory_current));
}

/* If the kernel does not enforce the memory of each container, the monitor does, as in Hadoop:
 * kills a container above twice its memory, or above its memory at two readings. */
static void check_memory(struct nm_container *c)
{
    const struct nm_conf *conf = c->ctx->conf;
    struct cg_leaf *leaf = c->launch.exe ? exe_container_cgroup(c->launch.exe) : NULL;
    uint64_t asked =
        c->share.set.memory_max ? c->share.set.memory_max : (uint64_t)c->resource.memory_mb << 20;
    uint64_t used;
    char *why;

    if (conf->memory_enforced || conf->elastic || !conf->pmem_check || !leaf || c->kill_requested ||
        !nm_container_is_live(c) || cg_leaf_memory_in_use(leaf, &used) < 0)
        return;
    c->usage.over_readings = used > asked ? c->usage.over_readings + 1 : 0;
    if (c->usage.over_readings < 2 && used <= 2 * asked)
        return;
    why = nm_diagnostics_memory(c, c->launch.pid, used, NM_MEMORY_BY_MONITOR);
    if (why)
        sv_log(SV_LOG_WARNING, c->text, "%s", why);
    nm_container_kill(c, YARN_EXIT_KILLED_EXCEEDED_PMEM, why ? why : "");
    free(why);
}

/* "MemTotal:  123 kB" → KiB. */
static uint64_t meminfo_kib(const char *text, const char *key)
{
    const char *p = strstr(text, key);
    unsigned long long v = 0;

    return p && sscanf(p + strlen(key), " %llu", &v) == 1 ? v : 0;
}

static void sample_node(struct nm_monitor *m)
{
    unsigned long long v[8] = { 0 };
    _cleanup_free_ char *mem = NULL, *stat = NULL;
    uint64_t total = 0, busy;

    if (sv_read_file_at(AT_FDCWD, "/proc/meminfo", 65536, &mem, NULL) >= 0) {
        uint64_t all = meminfo_kib(mem, "MemTotal:"), avail = meminfo_kib(mem, "MemAvailable:");

        m->node_bytes = (all > avail ? all - avail : 0) << 10;
        all = meminfo_kib(mem, "SwapTotal:");
        avail = meminfo_kib(mem, "SwapFree:");
        m->node_swap_bytes = (all > avail ? all - avail : 0) << 10;
    }
    if (sv_read_file_at(AT_FDCWD, "/proc/stat", 1 << 20, &stat, NULL) < 0 ||
        sscanf(stat, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3],
               &v[4], &v[5], &v[6], &v[7]) != 8)
        return;
    for (size_t i = 0; i < SV_ARRAY_LEN(v); i++)
        total += v[i];
    busy = total - v[3] - v[4];
    if (m->read_once && total > m->cpu_total && busy >= m->cpu_busy)
        m->node_cpu =
            (float)((double)(busy - m->cpu_busy) / (double)(total - m->cpu_total) * m->cpus);
    m->cpu_busy = busy;
    m->cpu_total = total;
    m->read_once = true;
}

static void end_pass(struct nm_monitor *m)
{
    m->containers_bytes = m->pass_bytes;
    m->containers_vmem = m->pass_vmem;
    m->containers_cpu = m->pass_cpu;
    m->pass_ms = sv_now_ms() - m->begun_ms;
    sample_node(m);
    if (HASH_COUNT(m->ctx->containers) < m->containers)
        (void)malloc_trim(64 << 10); /* returns the memory of ended containers, ignoring */
    m->containers = HASH_COUNT(m->ctx->containers);
    (void)sd_event_source_set_time_relative(m->timer, (uint64_t)m->ctx->conf->monitor_ms * 1000);
    (void)sd_event_source_set_enabled(m->timer, SD_EVENT_ONESHOT); /* ours, ignoring */
}

/* The next container of the pass. If the last one is gone, the first one not read yet: each has its
 * pass. */
static struct nm_container *next_of_pass(const struct nm_monitor *m)
{
    const struct nm_container *last = nm_container_find(m->ctx, m->last);

    return last ? last->hh.next : m->ctx->containers;
}

/* Reads the next containers of the pass; containers start and end between two slices. */
static void go_on(struct nm_monitor *m)
{
    int64_t now = sv_now_ms();
    int left = SLICE;

    for (struct nm_container *c = next_of_pass(m); c; c = c->hh.next) {
        if (nm_container_is_done(c) || c->usage.pass == m->pass)
            continue;
        if (left-- == 0) {
            (void)sd_event_source_set_enabled(m->more, SD_EVENT_ONESHOT); /* ours, ignoring */
            return;
        }
        c->usage.pass = m->pass;
        memcpy(m->last, c->text, sizeof(m->last));
        sample_container(c, now);
        check_memory(c);
        nm_vmem_check(m->vmem, c);
        m->pass_bytes += c->usage.last.memory_current;
        m->pass_vmem += c->usage.vmem_bytes;
        m->pass_cpu += c->usage.cpu_cores;
    }
    end_pass(m);
}

static int on_more(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    go_on(userdata);
    return 0;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_monitor *m = userdata;

    (void)s;
    (void)usec;
    if (++m->pass == 0)
        m->pass = 1; /* 0: never read */
    m->last[0] = 0;
    m->pass_bytes = m->pass_vmem = 0;
    m->pass_cpu = 0;
    m->begun_ms = sv_now_ms();
    go_on(m);
    return 0;
}

static Hadoop__Yarn__ResourceUtilizationProto *utilization(struct sv_arena *a, uint64_t bytes,
                                                           uint64_t vmem, float cpu)
{
    Hadoop__Yarn__ResourceUtilizationProto *u = sv_new(a, Hadoop__Yarn__ResourceUtilizationProto);

    if (!u)
        return NULL;
    hadoop__yarn__resource_utilization_proto__init(u);
    u->has_pmem = u->has_vmem = u->has_cpu = true;
    u->pmem = (int32_t)SV_MIN(bytes >> 20, (uint64_t)INT32_MAX);
    u->vmem = (int32_t)SV_MIN(vmem >> 20, (uint64_t)INT32_MAX);
    u->cpu = cpu;
    return u;
}

Hadoop__Yarn__ResourceUtilizationProto *
nm_monitor_containers_utilization(const struct nm_monitor *m, struct sv_arena *a)
{
    return utilization(a, m->containers_bytes, m->vmem ? m->containers_vmem : m->containers_bytes,
                       m->containers_cpu);
}

Hadoop__Yarn__ResourceUtilizationProto *nm_monitor_node_utilization(const struct nm_monitor *m,
                                                                    struct sv_arena *a)
{
    return utilization(a, m->node_bytes, m->node_bytes, m->node_cpu);
}

void nm_monitor_figures(const struct nm_monitor *m, struct nm_monitor_figures *ret)
{
    *ret = (struct nm_monitor_figures){ .containers_cpu = m->containers_cpu,
                                        .containers_vmem = m->vmem ? m->containers_vmem : 0,
                                        .node_bytes = m->node_bytes,
                                        .node_swap_bytes = m->node_swap_bytes,
                                        .node_cpu = m->node_cpu,
                                        .pass_ms = m->pass_ms };
}

Hadoop__Yarn__ResourceProto *nm_monitor_physical(const struct nm_monitor *m, struct sv_arena *a)
{
    const struct nm_hardware *h = &m->ctx->conf->hardware;

    return yarn_resource_to(a, (struct yarn_resource){ h->memory_mb, h->processors });
}

int nm_monitor_new(struct nm_context *ctx, struct nm_monitor **ret, struct sv_error *err)
{
    struct nm_monitor *m = calloc(1, sizeof(*m));
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    int r;

    if (!m)
        return sv_error_errno(err, -ENOMEM, "containers monitor");
    m->ctx = ctx;
    m->cpus = cpus > 0 ? (int32_t)cpus : 1;
    sample_node(m);
    r = sd_event_add_time_relative(ctx->event, &m->timer, CLOCK_BOOTTIME,
                                   (uint64_t)ctx->conf->monitor_ms * 1000, 0, on_timer, m);
    if (r >= 0)
        r = sd_event_add_defer(ctx->event, &m->more, on_more, m);
    if (r >= 0)
        r = sd_event_source_set_enabled(m->more, SD_EVENT_OFF);
    if (r < 0)
        (void)sv_error_errno(err, r, "containers monitor");
    if (r >= 0)
        r = nm_vmem_new(ctx, &m->vmem, err);
    if (r >= 0)
        r = nm_log_monitor_new(ctx, &m->logs, err);
    if (r < 0) {
        nm_monitor_free(m);
        return r;
    }
    *ret = m;
    return 0;
}

struct nm_monitor *nm_monitor_free(struct nm_monitor *m)
{
    if (!m)
        return NULL;
    sd_event_source_disable_unref(m->timer);
    sd_event_source_disable_unref(m->more);
    m->vmem = nm_vmem_free(m->vmem);
    m->logs = nm_log_monitor_free(m->logs);
    free(m);
    return NULL;
}
