/* See web-metrics.h. Called by web.c. */
#include "rm-lite/web-metrics.h"

#include <stdio.h>
#include <string.h>

#include "common/jmx.h"
#include "common/str.h"
#include "rm-lite/queue-counters.h"
#include "rm-lite/reports.h"
#include "rm-lite/rm-node.h"
#include "rm-lite/scheduler.h"

#define SERVICE "ResourceManager"
#define CONTEXT "yarn"

/* ---- ClusterMetrics ---- */

static json_t *cluster_bean(struct rm *rm)
{
    static const struct {
        const char *name;
        int state;
    } states[] = {
        { "NumActiveNMs", RM_NODE_ST_RUNNING },
        { "NumDecommissioningNMs", RM_NODE_ST_DECOMMISSIONING },
        { "NumDecommissionedNMs", RM_NODE_ST_DECOMMISSIONED },
        { "NumLostNMs", RM_NODE_ST_LOST },
        { "NumUnhealthyNMs", RM_NODE_ST_UNHEALTHY },
        { "NumRebootedNMs", RM_NODE_ST_REBOOTED },
        { "NumShutdownNMs", RM_NODE_ST_SHUTDOWN },
    };
    json_t *b = sv_jmx_bean(SERVICE, "ClusterMetrics", "ClusterMetrics", CONTEXT);
    struct rm_res total = rm_sched_cluster(rm->sched);
    double mb = 0, cores = 0;

    for (const struct rm_node *n = rm->nodes; n; n = n->hh.next) {
        mb += n->node_pmem;
        cores += (double)n->node_cpu;
    }
    sv_jmx_tag(b, "ClusterMetrics", SERVICE);
    for (size_t i = 0; i < SV_ARRAY_LEN(states); i++)
        sv_jmx_num(b, states[i].name, rm_count_nodes(rm, states[i].state));
    sv_jmx_num(b, "CapabilityMB", total.mem);
    sv_jmx_num(b, "CapabilityVirtualCores", total.vcores);
    sv_jmx_num(b, "UtilizedMB", (int64_t)mb);
    sv_jmx_num(b, "UtilizedVirtualCores", (int64_t)cores);
    sv_jmx_num(b, "ContainerAssignedPerSecond", rm->counters.allocated_per_s);
    return b;
}

/* ---- QueueMetrics ---- */

/* "QueueMetrics,q0=root,q1=a" */
static void bean_name(const char *path, char *ret, size_t size)
{
    size_t n = (size_t)snprintf(ret, size, "QueueMetrics"), level = 0;

    for (const char *p = path; *p && n < size; level++) {
        size_t len = strcspn(p, ".");

        n += (size_t)snprintf(ret + n, size - n, ",q%zu=%.*s", level, (int)SV_MIN(len, (size_t)500),
                              p);
        p += len + (p[len] == '.');
    }
}

static void put_room(json_t *b, const struct rm_queue_info *q)
{
    struct rm_res used = rm_res_sub(q->used, q->reserved);
    struct rm_res left = rm_res_max(rm_res_sub(q->effective_max, q->used), (struct rm_res){ 0, 0 });

    sv_jmx_num(b, "AllocatedMB", used.mem);
    sv_jmx_num(b, "AllocatedVCores", used.vcores);
    sv_jmx_num(b, "AllocatedContainers", q->containers);
    sv_jmx_num(b, "AvailableMB", left.mem);
    sv_jmx_num(b, "AvailableVCores", left.vcores);
    sv_jmx_num(b, "PendingMB", q->pending.mem);
    sv_jmx_num(b, "PendingVCores", q->pending.vcores);
    sv_jmx_num(b, "ReservedMB", q->reserved.mem);
    sv_jmx_num(b, "ReservedVCores", q->reserved.vcores);
    sv_jmx_num(b, "GuaranteedMB", q->effective_min.mem);
    sv_jmx_num(b, "GuaranteedVCores", q->effective_min.vcores);
    sv_jmx_num(b, "MaxCapacityMB", q->effective_max.mem);
    sv_jmx_num(b, "MaxCapacityVCores", q->effective_max.vcores);
    sv_jmx_num(b, "AMResourceLimitMB", q->am_limit.mem);
    sv_jmx_num(b, "AMResourceLimitVCores", q->am_limit.vcores);
    sv_jmx_num(b, "UsedAMResourceMB", q->am_used.mem);
    sv_jmx_num(b, "UsedAMResourceVCores", q->am_used.vcores);
    sv_jmx_real(b, "UsedCapacity", q->used_capacity);
    sv_jmx_real(b, "AbsoluteUsedCapacity", q->abs_used_capacity);
    sv_jmx_real(b, "GuaranteedCapacity", q->capacity);
    sv_jmx_real(b, "GuaranteedAbsoluteCapacity", q->abs_capacity);
    sv_jmx_real(b, "MaxCapacity", q->max_capacity);
    sv_jmx_real(b, "MaxAbsoluteCapacity", q->abs_max_capacity);
    sv_jmx_num(b, "ActiveUsers", q->users);
    sv_jmx_num(b, "ActiveApplications", q->active_apps);
}

struct beans {
    struct rm *rm;
    json_t *list;
};

static int add_queue(const struct rm_queue_info *q, void *userdata)
{
    static const char *const minutes[] = { "running_0", "running_60", "running_300",
                                           "running_1440" };
    struct beans *all = userdata;
    struct rm_queue_counters sum = rm_queue_counters_sum(all->rm, q->path);
    char name[2048];
    json_t *b;

    bean_name(q->path, name, sizeof(name));
    b = sv_jmx_bean(SERVICE, name, "QueueMetrics", CONTEXT);
    sv_jmx_tag(b, "Queue", q->path);
    for (size_t i = 0; i < SV_ARRAY_LEN(minutes); i++)
        sv_jmx_num(b, minutes[i], sum.live.for_minutes[i]);
    sv_jmx_num(b, "AppsSubmitted", sum.submitted);
    sv_jmx_num(b, "AppsRunning", sum.live.running);
    sv_jmx_num(b, "AppsPending", sum.live.pending);
    sv_jmx_num(b, "AppsCompleted", sum.completed);
    sv_jmx_num(b, "AppsKilled", sum.killed);
    sv_jmx_num(b, "AppsFailed", sum.failed);
    sv_jmx_num(b, "AggregateContainersAllocated", sum.allocated);
    sv_jmx_num(b, "AggregateContainersReleased", sum.released);
    put_room(b, q);
    (void)json_array_append_new(all->list, b); /* no memory: the bean is missing, ignoring */
    return 0;
}

static json_t *beans(struct rm *rm)
{
    struct beans all = { rm, json_array() };

    rm_queue_counters_live(rm);
    (void)json_array_append_new(all.list, cluster_bean(rm)); /* as above, ignoring */
    (void)rm_sched_each_queue(rm->sched, add_queue, &all);   /* add_queue does not fail, ignoring */
    return all.list;
}

bool rm_web_metrics(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret,
                    int *ret_result)
{
    if (strcmp(req->path, "/jmx") == 0)
        *ret_result = sv_jmx_answer(req, beans(rm), ret);
    else if (strcmp(req->path, "/metrics") == 0 || strcmp(req->path, "/prom") == 0)
        *ret_result = sv_prometheus_answer(beans(rm), ret);
    else
        return false;
    return true;
}
