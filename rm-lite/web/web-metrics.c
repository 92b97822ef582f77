/* See web-metrics.h. */
#include "rm-lite/web/web-metrics.h"

#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "common/web/jmx-daemon.h"
#include "common/web/jmx.h"
#include "rm-lite/core/queue-counters.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/web/web-series.h"
#include "wire/ipc/ipc-server.h"

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

/* "QueueMetrics,q0=root,q1=a", with ",user=ann" for a user. */
static void bean_name(const char *path, const char *user, char *ret, size_t size)
{
    size_t n = (size_t)snprintf(ret, size, "QueueMetrics"), level = 0;

    for (const char *p = path; *p && n < size; level++) {
        size_t len = strcspn(p, ".");

        n += (size_t)snprintf(ret + n, size - n, ",q%zu=%.*s", level, (int)SV_MIN(len, (size_t)500),
                              p);
        p += len + (p[len] == '.');
    }
    if (user && n < size)
        (void)snprintf(ret + n, size - n, ",user=%.200s", user);
}

static void put_room(json_t *b, const struct rm_queue_info *q)
{
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
}

struct amounts { /* of a queue, or of a user in it */
    struct rm_res used, left, pending, reserved;
    int64_t containers, users, active;
};

/* "AllocatedMB", "AllocatedVCores" and, with resource types, "AllocatedResource.yarn.io/gpu". */
static void put_resource(json_t *b, const char *kind, struct rm_res r)
{
    const struct rm_types *t = rm_types();
    char name[64 + RM_TYPE_NAME_MAX];

    (void)snprintf(name, sizeof(name), "%sMB", kind);
    sv_jmx_num(b, name, r.mem);
    (void)snprintf(name, sizeof(name), "%sVCores", kind);
    sv_jmx_num(b, name, r.vcores);
    for (int i = 0; i < t->n; i++) {
        (void)snprintf(name, sizeof(name), "%sResource.%s", kind, t->names[i]);
        sv_jmx_num(b, name, r.extra[i]);
    }
}

static void put_amounts(json_t *b, const struct amounts *a, const struct rm_queue_counters *c)
{
    put_resource(b, "Allocated", a->used);
    put_resource(b, "Available", rm_res_max(a->left, (struct rm_res){ 0, 0 }));
    put_resource(b, "Pending", a->pending);
    put_resource(b, "Reserved", a->reserved);
    sv_jmx_num(b, "AllocatedContainers", a->containers);
    sv_jmx_num(b, "PendingContainers", c->live.pending_containers);
    sv_jmx_num(b, "ReservedContainers", c->live.reserved_containers);
    sv_jmx_num(b, "ActiveUsers", a->users);
    sv_jmx_num(b, "ActiveApplications", a->active);
}

static void put_preempted(json_t *b, const int64_t *sum)
{
    const struct rm_types *t = rm_types();
    char name[64 + RM_TYPE_NAME_MAX];

    sv_jmx_num(b, "AggregateContainersPreempted", sum[RM_COUNT_PREEMPTED]);
    sv_jmx_num(b, "AggregateMemoryMBPreempted", sum[RM_COUNT_PREEMPTED_MB]);
    sv_jmx_num(b, "AggregateVcoresPreempted", sum[RM_COUNT_PREEMPTED_VCORES]);
    sv_jmx_num(b, "AggregateMemoryMBSecondsPreempted", sum[RM_COUNT_PREEMPTED_MB_MS] / 1000);
    sv_jmx_num(b, "AggregateVcoreSecondsPreempted", sum[RM_COUNT_PREEMPTED_VCORE_MS] / 1000);
    for (int i = 0; i < t->n; i++) {
        (void)snprintf(name, sizeof(name), "AggregatePreemptedSeconds.%s", t->names[i]);
        sv_jmx_num(b, name, sum[RM_COUNT_PREEMPTED_EXTRA_MS + i] / 1000);
    }
}

static void put_counters(json_t *b, const struct rm_queue_counters *c)
{
    static const char *const minutes[] = { "running_0", "running_60", "running_300",
                                           "running_1440" };

    for (size_t i = 0; i < SV_ARRAY_LEN(minutes); i++)
        sv_jmx_num(b, minutes[i], c->live.for_minutes[i]);
    sv_jmx_num(b, "AppsSubmitted", c->sum[RM_COUNT_SUBMITTED]);
    sv_jmx_num(b, "AppsRunning", c->live.running);
    sv_jmx_num(b, "AppsPending", c->live.pending);
    sv_jmx_num(b, "AppsCompleted", c->sum[RM_COUNT_COMPLETED]);
    sv_jmx_num(b, "AppsKilled", c->sum[RM_COUNT_KILLED]);
    sv_jmx_num(b, "AppsFailed", c->sum[RM_COUNT_FAILED]);
    sv_jmx_num(b, "AggregateContainersAllocated", c->sum[RM_COUNT_ALLOCATED]);
    sv_jmx_num(b, "AggregateContainersReleased", c->sum[RM_COUNT_RELEASED]);
    put_preempted(b, c->sum);
}

struct beans {
    struct rm *rm;
    json_t *list;
};

static json_t *queue_bean(const char *path, const char *user)
{
    char name[2048];
    json_t *b;

    bean_name(path, user, name, sizeof(name));
    b = sv_jmx_bean(SERVICE, name, "QueueMetrics", CONTEXT);
    sv_jmx_tag(b, "Queue", path);
    if (user)
        sv_jmx_tag(b, "User", user);
    return b;
}

static int add_queue(const struct rm_queue_info *q, void *userdata)
{
    struct beans *all = userdata;
    const struct rm_queue_counters *c = rm_queue_counters_find(all->rm, q->path, NULL);
    struct amounts a = { .used = rm_res_sub(q->used, q->reserved),
                         .left = rm_res_sub(q->effective_max, q->used),
                         .pending = q->pending,
                         .reserved = q->reserved,
                         .containers = q->containers,
                         .users = q->users,
                         .active = q->active_apps };
    json_t *b = queue_bean(q->path, NULL);

    put_counters(b, c);
    put_amounts(b, &a, c);
    put_room(b, q);
    (void)json_array_append_new(all->list, b); /* no memory: the bean is missing, ignoring */
    return 0;
}

/* A user's bean; fields that only queues have are 0, as at Apache's. */
static void add_user(struct beans *all, const struct rm_queue_counters *c)
{
    const struct rm_queue_live *l = &c->live;
    struct amounts a = { .used = l->used,
                         .left = l->headroom,
                         .pending = l->wanted,
                         .reserved = l->reserved,
                         .containers = l->containers,
                         .active = l->active };
    json_t *b = queue_bean(c->key, c->user);

    put_counters(b, c);
    put_amounts(b, &a, c);
    put_room(b, &(struct rm_queue_info){ .name = c->key });
    (void)json_array_append_new(all->list, b); /* as above, ignoring */
}

/* ---- JvmMetrics, RpcActivityForPort ---- */

static void add_rpc(json_t *list, const struct ipc_server *s, const char *name)
{
    const struct sv_jmx_rpc rpc = { .port = ipc_server_port(s),
                                    .server = name,
                                    .connections = ipc_server_connections(s),
                                    .open_calls = ipc_server_open_calls(s),
                                    .counters = ipc_server_counters(s) };

    (void)json_array_append_new(list, sv_jmx_rpc(SERVICE, &rpc)); /* as above, ignoring */
}

static void add_daemon(json_t *list, const struct rm *rm)
{
    (void)json_array_append_new(list, sv_jmx_process(SERVICE)); /* as above, ignoring */
    add_rpc(list, rm->client_server, "ApplicationClientProtocol");
    add_rpc(list, rm->am_server, "ApplicationMasterProtocol");
    add_rpc(list, rm->tracker_server, "ResourceTracker");
    add_rpc(list, rm->admin_server, "ResourceManagerAdministrationProtocol");
}

static json_t *beans(struct rm *rm)
{
    struct beans all = { rm, json_array() };

    rm_queue_counters_gather(rm);
    (void)json_array_append_new(all.list, cluster_bean(rm)); /* as above, ignoring */
    add_daemon(all.list, rm);
    (void)rm_sched_each_queue(rm->sched, add_queue, &all); /* add_queue does not fail, ignoring */
    for (const struct rm_queue_counters *c = rm->queue_counters; c; c = c->hh.next)
        if (c->user && *c->key)
            add_user(&all, c);
    return all.list;
}

/* A cluster with thousands of queues has some megabytes of them. */
#define SERIES_MAX ((size_t)16 << 20)

static int prometheus(struct rm *rm, struct sv_http_response *ret)
{
    struct sv_buf more = SV_BUF_INIT(SERIES_MAX);
    json_t *hadoops = beans(rm); /* gathers the counters of queues */
    int r = rm_web_series(rm, &more);

    if (r >= 0)
        return sv_prometheus_answer(hadoops, &more, ret);
    json_decref(hadoops);
    sv_buf_free(&more);
    return r;
}

bool rm_web_metrics(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret,
                    int *ret_result)
{
    if (strcmp(req->path, "/jmx") == 0)
        *ret_result = sv_jmx_answer(req, beans(rm), ret);
    else if (strcmp(req->path, "/metrics") == 0 || strcmp(req->path, "/prom") == 0)
        *ret_result = prometheus(rm, ret);
    else
        return false;
    return true;
}
