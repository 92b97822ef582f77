/* See container-beans.h. The list is written in turns of the loop; a reading is as old as the
 * monitor's last pass. */
#include "nodemanager/web/container-beans.h"

#include <stdio.h>

#include "common/web/jmx.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/web/web-list.h"

#define RECORD "ContainerResource"

static void put_limits(json_t *b, const struct nm_container *c)
{
    sv_jmx_num(b, "pMemLimitMBs", c->resource.memory_mb);
    sv_jmx_num(b, "vMemLimitMBs",
               (int64_t)((double)c->resource.memory_mb * c->ctx->conf->vmem_ratio));
    sv_jmx_num(b, "vCoreLimit", c->resource.vcores);
}

/* Hadoop has numbers and averages of its readings; here they are the last reading, and the most
 * that the kernel has counted. */
static void put_usage(json_t *b, const struct nm_container *c)
{
    double cores = nm_container_is_done(c) ? 0 : (double)c->usage.cpu_cores;
    uint64_t used = nm_container_is_done(c) ? 0 : c->usage.last.memory_current;

    sv_jmx_num(b, "PMemUsageMBsAvgMBs", (int64_t)(used >> 20));
    sv_jmx_num(b, "PMemUsageMBsMaxMBs", (int64_t)(c->usage.peak_bytes >> 20));
    sv_jmx_real(b, "PCpuUsagePercentAvgPercents", cores * 100);
    sv_jmx_real(b, "MilliVcoreUsageAvgMilliVcores", cores * 1000);
}

static void put_times(json_t *b, const struct nm_container *c)
{
    int64_t launch = c->launch_ms ? c->launch_ms - c->start_ms - c->localize_ms : 0;

    sv_jmx_num(b, "launchDurationMs", SV_MAX(launch, (int64_t)0));
    sv_jmx_num(b, "localizationDurationMs", c->localize_ms);
    sv_jmx_num(b, "StartTime", c->start_ms);
    sv_jmx_num(b, "FinishTime", c->finish_ms);
    sv_jmx_num(b, "ExitCode", nm_container_is_done(c) ? c->exit_code : 0);
}

json_t *nm_container_bean(const struct nm_context *ctx, const char *id)
{
    const struct nm_container *c = nm_container_find(ctx, id);
    char name[YARN_ID_TEXT_MAX + 32], pid[16];
    json_t *b;

    if (!c || !c->launch_ms)
        return NULL; /* Hadoop's appears with its first reading */
    (void)snprintf(name, sizeof(name), RECORD "_%s", id);
    (void)snprintf(pid, sizeof(pid), "%d", (int)c->launch.pid);
    b = sv_jmx_bean("NodeManager", name, RECORD, "container");
    sv_jmx_tag(b, RECORD, id);
    if (c->launch.pid)
        sv_jmx_tag(b, "ContainerPid", pid);
    put_limits(b, c);
    put_usage(b, c);
    put_times(b, c);
    return b;
}

static json_t *entry(const struct nm_context *ctx, const struct nm_web_caller *who,
                     const struct nm_web_filter *f, const char *id)
{
    const struct nm_container *c = nm_container_find(ctx, id);
    json_t *bean = c && nm_web_may_view(who, c->app) ? nm_container_bean(ctx, id) : NULL;
    json_t *wanted = bean ? sv_jmx_select(bean, &f->beans) : NULL;

    json_decref(bean);
    return wanted;
}

bool nm_container_beans(const struct nm_web *w, json_t *node, const struct sv_http_request *req,
                        struct sv_http_response *ret, int *ret_result)
{
    static const struct nm_web_list_kind kind = { "beans", NULL, entry };
    const struct nm_context *ctx = w->ctx;
    struct nm_web_filter filter = { 0 };
    struct nm_web_caller who;

    if (!ctx->conf->web.container_metrics || sv_jmx_query(req, &filter.beans) < 0 ||
        nm_web_identify(&ctx->conf->web, w->groups, req, &who) < 0)
        return false;
    *ret_result =
        nm_web_list(w, &who, &kind, &filter,
                    nm_web_containers(ctx, sv_jmx_selected(node, &filter.beans)), req, ret);
    return true;
}
