/* See nm-metrics.h. */
#include "nodemanager/web/nm-metrics.h"

#include <string.h>

#include "cgroups/cg.h"
#include "common/clock.h"
#include "common/web/jmx-daemon.h"
#include "common/web/jmx.h"
#include "gss/daemon.h"
#include "localizer/cache.h"
#include "nodemanager/amrmproxy/amrm-proxy.h"
#include "nodemanager/aux-services/aux-frame.h"
#include "nodemanager/aux-services/aux-services.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/logs/log-failures.h"
#include "nodemanager/resources/container-scheduler.h"
#include "nodemanager/resources/containers-monitor.h"
#include "nodemanager/services/hdfs-tokens.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/web/amrm-bean.h"
#include "nodemanager/web/container-beans.h"
#include "nodemanager/web/container-series.h"
#include "nodemanager/web/kerberos-series.h"
#include "nodemanager/web/node-series.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"

#define SERVICE "NodeManager"
#define SERIES_MAX (1 << 20) /* bytes; a few hundred lines, and those of disks */

struct sums {
    int64_t initing, running, paused, reiniting, allocated, memory_mb, vcores, apps;
    struct nm_scheduler_figures scheduler;
};

static void add(struct sums *s, const struct nm_container *c)
{
    s->initing += c->state == NM_CONTAINER_LOCALIZING;
    s->running += c->state == NM_CONTAINER_RUNNING;
    s->paused += c->state == NM_CONTAINER_PAUSED;
    s->reiniting += c->reinit.kind != 0;
    s->allocated++;
    s->memory_mb += c->resource.memory_mb;
    s->vcores += c->resource.vcores;
}

static struct sums sums_of(const struct nm_web *w)
{
    const struct nm_context *ctx = w->ctx;
    struct sums s = { 0 };

    nm_scheduler_figures(w->scheduler, &s.scheduler);
    for (const struct nm_container *c = ctx->containers; c; c = c->hh.next)
        if (c->state != NM_CONTAINER_DONE)
            add(&s, c);
    for (const struct nm_app *a = ctx->apps; a;
         a = a->hh.next) /* an ended one stays for its logs */
        s.apps += a->state < NM_APP_RESOURCES_CLEANINGUP;
    return s;
}

/* As Hadoop rounds them. */
static int64_t gb_up(int64_t mb)
{
    return (mb + 1023) / 1024;
}

static void put_states(json_t *b, const struct nm_context *ctx, const struct sums *s)
{
    const struct nm_counters *n = &ctx->counters;
    int64_t now = sv_now_ms();

    sv_jmx_num(b, "ContainersLaunched", n->launched);
    sv_jmx_num(b, "ContainersCompleted", n->completed);
    sv_jmx_num(b, "ContainersFailed", n->failed);
    sv_jmx_num(b, "ContainersKilled", n->killed);
    sv_jmx_num(b, "ContainersIniting", s->initing);
    sv_jmx_num(b, "ContainersRunning", s->running);
    sv_jmx_num(b, "ContainersPaused", s->paused);
    sv_jmx_num(b, "ContainersReIniting", s->reiniting);
    sv_jmx_num(b, "ContainersRolledBackOnFailure", n->rolled_back);
    sv_jmx_num(b, "ContainersGuaranteedQueued", s->scheduler.queued_guaranteed);
    sv_jmx_num(b, "ContainersOpportunisticQueued", s->scheduler.queued_opportunistic);
    sv_jmx_rate(b, "ContainerLaunchDuration", &n->launches, now);
    sv_jmx_rate(b, "LocalizationDurationMillis", &n->localizations, now);
    sv_jmx_num(b, "ApplicationsRunning", s->apps);
}

static void put_allocations(json_t *b, const struct nm_context *ctx, const struct sums *s)
{
    sv_jmx_num(b, "AllocatedContainers", s->allocated);
    sv_jmx_num(b, "AllocatedGB", gb_up(s->memory_mb));
    sv_jmx_num(b, "AllocatedVCores", s->vcores);
    sv_jmx_num(b, "AvailableGB", (ctx->total.memory_mb - s->memory_mb) / 1024);
    sv_jmx_num(b, "AvailableVCores", ctx->total.vcores - s->vcores);
    sv_jmx_num(b, "RunningOpportunisticContainers", s->scheduler.running);
    sv_jmx_num(b, "AllocatedOpportunisticGB", gb_up(s->scheduler.memory_mb));
    sv_jmx_num(b, "AllocatedOpportunisticVCores", s->scheduler.vcores);
}

/* A figure that is not known is missing, unless it is 0 for certain. */
static void put_usage(json_t *b, const struct nm_web *w, const struct sums *s)
{
    const struct nm_context *ctx = w->ctx;
    struct nm_monitor_figures f;
    struct cg_usage u = { 0 };

    nm_monitor_figures(w->monitor, &f);
    sv_jmx_real(b, "ContainerCpuUtilization", (double)f.containers_cpu);
    sv_jmx_real(b, "NodeCpuUtilization", (double)f.node_cpu);
    sv_jmx_num(b, "NodeUsedMemGB", (int64_t)(f.node_bytes >> 30));
    sv_jmx_num(b, "NodeUsedVMemGB", (int64_t)((f.node_bytes + f.node_swap_bytes) >> 30));
    sv_jmx_num(b, "ContainersMonitorCostTime", f.pass_ms);
    if (ctx->total.gpus == 0)
        sv_jmx_real(b, "NodeGpuUtilization", 0);
    if (s->running == 0 || ctx->conf->vmem_check)
        sv_jmx_num(b, "ContainerUsedVMemGB", s->running ? (int64_t)(f.containers_vmem >> 30) : 0);
    if (cg_root_usage(ctx->cgroups, &u) < 0)
        return; /* no cgroup of containers on this machine */
    sv_jmx_num(b, "ContainerUsedMemGB", (int64_t)(u.memory_current >> 30));
}

static void put_dirs(json_t *b, const struct nm_dirs *dirs, bool local, const char *bad_name,
                     const char *used_name)
{
    uint64_t used = 0, all = 0;
    struct nm_dir_space d;
    int64_t bad = 0;

    for (int i = 0; nm_dirs_space(dirs, i, &d); i++) {
        if (d.local != local)
            continue;
        bad += !d.usable;
        if (*d.why)
            continue;
        used += d.used_bytes;
        all += d.all_bytes;
    }
    sv_jmx_num(b, bad_name, bad);
    sv_jmx_num(b, used_name, all ? (int64_t)((double)used * 100 / (double)all) : 0);
}

static int64_t percent(uint64_t part, uint64_t rest)
{
    return part ? (int64_t)((double)part * 100 / ((double)part + (double)rest)) : 0;
}

static void put_cache(json_t *b, const struct nm_localization *l)
{
    struct loc_tally sum = { 0 };
    struct loc_stats s;

    nm_localization_stats(l, &s);
    for (int i = LOC_PUBLIC; i <= LOC_APPLICATION; i++) {
        sum.hits += s.of[i].hits;
        sum.misses += s.of[i].misses;
        sum.hit_bytes += s.of[i].hit_bytes;
        sum.miss_bytes += s.of[i].miss_bytes;
    }
    sv_jmx_num(b, "LocalizedCacheHitBytes", (int64_t)sum.hit_bytes);
    sv_jmx_num(b, "LocalizedCacheMissBytes", (int64_t)sum.miss_bytes);
    sv_jmx_num(b, "LocalizedCacheHitBytesRatio", percent(sum.hit_bytes, sum.miss_bytes));
    sv_jmx_num(b, "LocalizedCacheHitFiles", (int64_t)sum.hits);
    sv_jmx_num(b, "LocalizedCacheMissFiles", (int64_t)sum.misses);
    sv_jmx_num(b, "LocalizedCacheHitFilesRatio", percent(sum.hits, sum.misses));
    sv_jmx_num(b, "CacheSizeBeforeClean", (int64_t)s.bytes_before_cleanup);
    sv_jmx_num(b, "PublicBytesDeleted", (int64_t)s.of[LOC_PUBLIC].evicted_bytes);
    sv_jmx_num(b, "PrivateBytesDeleted", (int64_t)s.of[LOC_PRIVATE].evicted_bytes);
    sv_jmx_num(b, "TotalBytesDeleted",
               (int64_t)(s.of[LOC_PUBLIC].evicted_bytes + s.of[LOC_PRIVATE].evicted_bytes));
}

static json_t *node_bean(const struct nm_web *w)
{
    json_t *b = sv_jmx_bean(SERVICE, "NodeManagerMetrics", "NodeManagerMetrics", "yarn");
    const struct nm_context *ctx = w->ctx;
    struct sums s = sums_of(w);

    put_states(b, ctx, &s);
    put_allocations(b, ctx, &s);
    put_usage(b, w, &s);
    put_dirs(b, ctx->dirs, true, "BadLocalDirs", "GoodLocalDirsDiskUtilizationPerc");
    put_dirs(b, ctx->dirs, false, "BadLogDirs", "GoodLogDirsDiskUtilizationPerc");
    put_cache(b, w->localization);
    sv_jmx_num(b, "FailedLogUploads",
               (int64_t)HASH_COUNT(nm_aggregation_failures(w->aggregation)->all));
    return b;
}

/* The daemon itself: in Hadoop's the value says whether there is Kerberos. */
static json_t *security_bean(const struct nm_context *ctx)
{
    return json_pack("{s:s,s:s,s:b}", "name", "Hadoop:service=NodeManager,name=NodeManager",
                     "modelerType", "NodeManager", "SecurityEnabled", ctx->conf->kerberos.own.on);
}

static json_t *rpc_bean(const struct ipc_server *s, const char *protocol)
{
    const struct sv_jmx_rpc rpc = { .port = ipc_server_port(s),
                                    .server = protocol,
                                    .connections = ipc_server_connections(s),
                                    .open_calls = ipc_server_open_calls(s),
                                    .counters = ipc_server_counters(s) };

    return sv_jmx_rpc(SERVICE, &rpc);
}

/* Metrics of auxiliary services, each in a bean with its name; the shuffle's has Hadoop's. */
static void put_services(json_t *list, const struct nm_aux *aux)
{
    for (size_t i = 0; i < nm_aux_count(aux); i++) {
        struct nm_aux_info info;
        json_t *b;

        nm_aux_info(aux, i, &info);
        if (info.metrics->n == 0)
            continue;
        const char *name = strcmp(info.name, "mapreduce_shuffle") ? info.name : "ShuffleMetrics";
        b = sv_jmx_bean(SERVICE, name, name, "mapred");
        for (size_t k = 0; k < info.metrics->n; k++)
            sv_jmx_num(b, info.metrics->v[k].name, info.metrics->v[k].value);
        (void)json_array_append_new(list, b); /* no memory: the bean is missing, ignoring */
    }
}

static void put_amrmproxy(json_t *list, const struct nm_web *w)
{
    if (!w->amrm_rpc)
        return;
    /* No memory: a bean is missing, ignoring. */
    (void)json_array_append_new(list,
                                nm_amrm_bean(SERVICE, nm_amrm_counters_of(w->amrm), sv_now_ms()));
    (void)json_array_append_new(list, rpc_bean(w->amrm_rpc, "ApplicationMasterProtocol"));
}

static json_t *beans(const struct nm_web *w)
{
    json_t *own[] = { node_bean(w), sv_jmx_process(SERVICE),
                      rpc_bean(w->rpc, "ContainerManagementProtocol"), security_bean(w->ctx) };
    json_t *list = json_array();

    for (size_t i = 0; i < SV_ARRAY_LEN(own); i++)
        (void)json_array_append_new(list, own[i]); /* no memory: the bean is missing, ignoring */
    put_amrmproxy(list, w);
    put_services(list, w->aux);
    return list;
}

static int jmx(const struct nm_web *w, const struct sv_http_request *req,
               struct sv_http_response *ret)
{
    json_t *node = beans(w);
    int r;

    return nm_container_beans(w, node, req, ret, &r) ? r : sv_jmx_answer(req, node, ret);
}

static int prometheus(const struct nm_web *w, struct sv_http_response *ret)
{
    const struct nm_context *ctx = w->ctx;
    struct sv_buf more = SV_BUF_INIT(SERIES_MAX);
    struct cg_usage u;
    int r = cg_root_usage(ctx->cgroups, &u);

    r = nm_container_series(&ctx->counters, r < 0 ? NULL : &u, &more);
    if (r >= 0 && ctx->kerberos) {
        const struct sgss_daemon_state s = sgss_daemon_state(ctx->kerberos);
        struct nm_hdfs_tokens_counts tokens;

        nm_localization_tokens(w->localization, &tokens);
        r = nm_kerberos_series(&s, &tokens, sv_wall_ms() / 1000, &more);
    }
    if (r >= 0)
        r = nm_node_series(w, &more);
    if (r >= 0)
        return sv_prometheus_answer(beans(w), &more, ret);
    sv_buf_free(&more);
    return r;
}

bool nm_web_metrics(const struct nm_web *w, const struct sv_http_request *req,
                    struct sv_http_response *ret, int *ret_result)
{
    if (strcmp(req->path, "/jmx") == 0)
        *ret_result = jmx(w, req, ret);
    else if (strcmp(req->path, "/metrics") == 0 || strcmp(req->path, "/prom") == 0)
        *ret_result = prometheus(w, ret);
    else
        return false;
    return true;
}
