/* See nm-metrics.h. */
#include "nodemanager/web/nm-metrics.h"

#include <string.h>

#include "cgroups/cg.h"
#include "common/web/jmx.h"
#include "localizer/cache.h"
#include "nodemanager/aux-services/aux-frame.h"
#include "nodemanager/aux-services/aux-services.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/logs/log-failures.h"
#include "nodemanager/services/localization.h"

#define SERVICE "NodeManager"

struct sums {
    int64_t initing, running, allocated, memory_mb, vcores, apps;
};

static struct sums sums_of(const struct nm_context *ctx)
{
    struct sums s = { 0 };

    for (const struct nm_container *c = ctx->containers; c; c = c->hh.next) {
        if (c->state == NM_CONTAINER_DONE)
            continue;
        s.initing += c->state == NM_CONTAINER_LOCALIZING;
        s.running += c->state == NM_CONTAINER_RUNNING;
        s.allocated++;
        s.memory_mb += c->resource.memory_mb;
        s.vcores += c->resource.vcores;
    }
    for (const struct nm_app *a = ctx->apps; a;
         a = a->hh.next) /* an ended one stays for its logs */
        s.apps += a->state < NM_APP_RESOURCES_CLEANINGUP;
    return s;
}

static int bad(int all, uint32_t usable)
{
    return all - __builtin_popcount(usable);
}

static void put_containers(json_t *b, const struct nm_context *ctx)
{
    struct sums s = sums_of(ctx);
    struct cg_usage u = { 0 };

    sv_jmx_num(b, "ContainersLaunched", ctx->counters.launched);
    sv_jmx_num(b, "ContainersCompleted", ctx->counters.completed);
    sv_jmx_num(b, "ContainersFailed", ctx->counters.failed);
    sv_jmx_num(b, "ContainersKilled", ctx->counters.killed);
    sv_jmx_num(b, "ContainersIniting", s.initing);
    sv_jmx_num(b, "ContainersRunning", s.running);
    sv_jmx_num(b, "AllocatedContainers", s.allocated);
    sv_jmx_num(b, "AllocatedGB", s.memory_mb / 1024);
    sv_jmx_num(b, "AllocatedVCores", s.vcores);
    sv_jmx_num(b, "AvailableGB", (ctx->total.memory_mb - s.memory_mb) / 1024);
    sv_jmx_num(b, "AvailableVCores", ctx->total.vcores - s.vcores);
    sv_jmx_num(b, "ApplicationsRunning", s.apps);
    if (cg_root_usage(ctx->cgroups, &u) < 0)
        return; /* no cgroup of containers on this machine */
    sv_jmx_num(b, "ContainerUsedMemGB", (int64_t)(u.memory_current >> 30));
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
    sv_jmx_num(b, "LocalizedCacheHitFiles", (int64_t)sum.hits);
    sv_jmx_num(b, "LocalizedCacheMissFiles", (int64_t)sum.misses);
    sv_jmx_num(b, "PublicBytesDeleted", (int64_t)s.of[LOC_PUBLIC].evicted_bytes);
    sv_jmx_num(b, "PrivateBytesDeleted", (int64_t)s.of[LOC_PRIVATE].evicted_bytes);
    sv_jmx_num(b, "TotalBytesDeleted",
               (int64_t)(s.of[LOC_PUBLIC].evicted_bytes + s.of[LOC_PRIVATE].evicted_bytes));
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

static json_t *beans(const struct nm_web *w)
{
    const struct nm_context *ctx = w->ctx;
    json_t *b = sv_jmx_bean(SERVICE, "NodeManagerMetrics", "NodeManagerMetrics", "yarn");
    json_t *list = json_array();

    put_containers(b, ctx);
    sv_jmx_num(b, "BadLocalDirs", bad(nm_dirs_n_local(ctx->dirs), nm_dirs_local_usable(ctx->dirs)));
    sv_jmx_num(b, "BadLogDirs", bad(nm_dirs_n_log(ctx->dirs), nm_dirs_log_usable(ctx->dirs)));
    put_cache(b, w->localization);
    sv_jmx_num(b, "FailedLogUploads",
               (int64_t)HASH_COUNT(nm_aggregation_failures(w->aggregation)->all));
    (void)json_array_append_new(list, b); /* no memory: the bean is missing, ignoring */
    put_services(list, w->aux);
    return list;
}

bool nm_web_metrics(const struct nm_web *w, const struct sv_http_request *req,
                    struct sv_http_response *ret, int *ret_result)
{
    if (strcmp(req->path, "/jmx") == 0)
        *ret_result = sv_jmx_answer(req, beans(w), ret);
    else if (strcmp(req->path, "/metrics") == 0 || strcmp(req->path, "/prom") == 0)
        *ret_result = sv_prometheus_answer(beans(w), ret);
    else
        return false;
    return true;
}
