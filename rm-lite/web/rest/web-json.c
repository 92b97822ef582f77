/* The JSON objects of /ws/v1/cluster with Hadoop's fields. */
#include "rm-lite/web/rest/web-json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/str.h"
#include "common/web/json-text.h"
#include "rm-lite/core/log-status.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/core/tracking.h"
#include "rm-lite/core/version.h"
#include "rm-lite/fsm/app-lifetime.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/requests/wait-reason.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/web/rest/web-usage.h"

const char *rm_json_final(int final_status)
{
    static const char *const names[RM_JSON_FINALS] = { "UNDEFINED", "SUCCEEDED", "FAILED", "KILLED",
                                                       "ENDED" };

    return final_status >= 0 && final_status < RM_JSON_FINALS ? names[final_status] : "UNDEFINED";
}

static void num(json_t *o, const char *key, int64_t v)
{
    (void)json_object_set_new(o, key, json_integer(v)); /* no memory: the field is missing */
}

static void real(json_t *o, const char *key, double v)
{
    (void)json_object_set_new(o, key, json_real(isfinite(v) ? v : 0)); /* as num */
}

static void str(json_t *o, const char *key, const char *v)
{
    (void)json_object_set_new(o, key, sv_json_text(v)); /* as num */
}

static void boolean(json_t *o, const char *key, bool v)
{
    (void)json_object_set_new(o, key, json_boolean(v)); /* as num */
}

json_t *rm_json_info(struct rm *rm)
{
    json_t *o = json_object();

    num(o, "id", rm->started_ms);
    num(o, "startedOn", rm->started_ms);
    str(o, "state", "STARTED");
    str(o, "haState", "ACTIVE");
    str(o, "rmStateStoreName",
        rm->conf.recovery ? "selvedge.SQLiteRMStateStore"
                          : "org.apache.hadoop.yarn.server.resourcemanager."
                            "recovery.NullRMStateStore");
    str(o, "resourceManagerVersion", RM_HADOOP_VERSION);
    str(o, "resourceManagerBuildVersion", "selvedge-rm, protocols of " RM_HADOOP_VERSION);
    str(o, "resourceManagerVersionBuiltOn", "N/A");
    str(o, "hadoopVersion", RM_HADOOP_VERSION);
    str(o, "hadoopBuildVersion", "selvedge-rm, protocols of " RM_HADOOP_VERSION);
    str(o, "hadoopVersionBuiltOn", "N/A");
    str(o, "haZooKeeperConnectionState", "ResourceManager HA is not enabled.");
    return o;
}

/* Applications by state, those of earlier processes too. */
struct apps {
    int64_t all, pending, running, by_state[RM_APP_STATES];
};

static struct apps count_apps(struct rm *rm)
{
    struct apps n = { 0 };
    struct rm_app *app;

    DL_FOREACH (rm->app_list, app) {
        n.all++;
        n.by_state[app->state]++;
    }
    n.running = n.by_state[RM_APP_ST_RUNNING] + n.by_state[RM_APP_ST_FINISHING];
    n.pending = n.all - n.running - n.by_state[RM_APP_ST_FINISHED] - n.by_state[RM_APP_ST_FAILED] -
                n.by_state[RM_APP_ST_KILLED];
    return n;
}

/* Utilization of the machines, as their nodes report it. */
static void utilization(json_t *o, struct rm *rm, struct rm_res total)
{
    double mb = 0, cores = 0;

    for (struct rm_node *n = rm->nodes; n; n = n->hh.next) {
        mb += n->node_pmem;
        cores += (double)n->node_cpu;
    }
    num(o, "utilizedMB", (int64_t)mb);
    num(o, "utilizedVirtualCores", (int64_t)cores);
    num(o, "utilizedMBPercent", rm_json_percent(mb, (double)total.mem));
    num(o, "utilizedVirtualCoresPercent", rm_json_percent(cores, (double)total.vcores));
    num(o, "rmSchedulerBusyPercent", 0); /* it has no queue and no thread of its own */
    num(o, "rmEventQueueSize", 0);
    num(o, "schedulerEventQueueSize", 0);
    num(o, "containerAssignedPerSecond", rm->counters.allocated_per_s);
}

static void across_partitions(json_t *o, const struct rm_queue_info *root)
{
    boolean(o, "crossPartitionMetricsAvailable", true);
    (void)json_object_set_new(o, "totalClusterResourcesAcrossPartition",
                              rm_json_resource(root->effective_max)); /* as num */
    (void)json_object_set_new(o, "totalUsedResourcesAcrossPartition",
                              rm_json_resource(rm_res_sub(root->used, root->reserved)));
    (void)json_object_set_new(o, "totalReservedResourcesAcrossPartition",
                              rm_json_resource(root->reserved));
    num(o, "totalAllocatedContainersAcrossPartition", root->containers);
}

json_t *rm_json_metrics(struct rm *rm)
{
    struct rm_queue_info root;
    struct rm_res left;
    json_t *o = json_object();
    struct apps apps;

    if (rm_sched_queue(rm->sched, "root", &root) < 0)
        return o;
    apps = count_apps(rm);
    left = rm_res_sub(root.effective_max, root.used);
    num(o, "appsSubmitted", apps.all);
    num(o, "appsCompleted", apps.by_state[RM_APP_ST_FINISHED]);
    num(o, "appsPending", apps.pending);
    num(o, "appsRunning", apps.running);
    num(o, "appsFailed", apps.by_state[RM_APP_ST_FAILED]);
    num(o, "appsKilled", apps.by_state[RM_APP_ST_KILLED]);
    num(o, "reservedMB", root.reserved.mem);
    num(o, "availableMB", left.mem);
    num(o, "allocatedMB", root.used.mem - root.reserved.mem);
    num(o, "pendingMB", root.pending.mem);
    num(o, "reservedVirtualCores", root.reserved.vcores);
    num(o, "availableVirtualCores", left.vcores);
    num(o, "allocatedVirtualCores", root.used.vcores - root.reserved.vcores);
    num(o, "pendingVirtualCores", root.pending.vcores);
    num(o, "containersAllocated", root.containers);
    num(o, "containersReserved", 0);
    num(o, "containersPending", 0);
    num(o, "totalMB", root.effective_max.mem);
    num(o, "totalVirtualCores", root.effective_max.vcores);
    num(o, "totalNodes", (int64_t)HASH_COUNT(rm->nodes) + HASH_COUNT(rm->inactive_nodes));
    num(o, "lostNodes", rm_count_nodes(rm, RM_NODE_ST_LOST));
    num(o, "unhealthyNodes", rm_count_nodes(rm, RM_NODE_ST_UNHEALTHY));
    num(o, "decommissioningNodes", rm_count_nodes(rm, RM_NODE_ST_DECOMMISSIONING));
    num(o, "decommissionedNodes", rm_count_nodes(rm, RM_NODE_ST_DECOMMISSIONED));
    num(o, "rebootedNodes", rm_count_nodes(rm, RM_NODE_ST_REBOOTED));
    num(o, "activeNodes", rm_count_nodes(rm, RM_NODE_ST_RUNNING));
    num(o, "shutdownNodes", rm_count_nodes(rm, RM_NODE_ST_SHUTDOWN));
    utilization(o, rm, root.effective_max);
    across_partitions(o, &root);
    num(o, "selvedgeContainersAllocatedTotal", rm->counters.allocated);
    num(o, "selvedgeContainersReleasedTotal", rm->counters.released);
    return o;
}

/* In percent of the machine, floating, as Hadoop's NodeInfo: of a node that does not report its
 * size, in percent of the memory for containers and of one core. */
static void put_utilization(json_t *o, const struct rm_node *n)
{
    const struct rm_res *machine = &n->physical;
    double mem = (double)(machine->mem ? machine->mem : n->total.mem);
    double cores = machine->mem ? (double)machine->vcores : 1;

    real(o, "memUtilization", mem > 0 ? (double)n->node_pmem * 100 / mem : 0);
    real(o, "cpuUtilization", cores > 0 ? (double)n->node_cpu * 100 / cores : 0);
}

static void count_tags(json_t *counts, const struct rm_container *c)
{
    for (char **tag = c->tags; tag && *tag; tag++)
        num(counts, *tag, json_integer_value(json_object_get(counts, *tag)) + 1);
}

/* Containers of the node by allocation tag. */
static json_t *allocation_tags(const struct rm_node *n)
{
    json_t *o = json_object(), *counts = json_object(), *list = json_array(), *one;
    const char *tag;
    json_t *count;

    if (n->rm->conf.placement != RM_PLACEMENT_DISABLED)
        for (const struct rm_container *c = n->containers; c; c = c->n_next)
            count_tags(counts, c);
    json_object_foreach(counts, tag, count)
    {
        one = json_object();
        str(one, "allocationTag", tag);
        num(one, "allocationsCount", json_integer_value(count));
        (void)json_array_append_new(list, one); /* as num */
    }
    if (json_array_size(list) > 0)
        (void)json_object_set(o, "allocationTagInfo", list); /* as num */
    json_decref(list);
    json_decref(counts);
    return o;
}

json_t *rm_json_node(const struct rm_node *n)
{
    struct rm_node_usage use = { .total = n->total };
    json_t *o = json_object(), *u;

    (void)rm_sched_node_usage(n->rm->sched, &n->id,
                              &use); /* not in the scheduler: nothing used, ignoring */
    str(o, "rack", n->rack);
    str(o, "state", rm_node_fsm.state_names[n->state]);
    str(o, "id", n->key);
    str(o, "nodeHostName", n->id.host);
    str(o, "nodeHTTPAddress", rm_node_is_active(n) || n->state == RM_NODE_ST_NEW ? n->http : "");
    num(o, "lastHealthUpdate", n->health_ms);
    str(o, "version", n->version);
    str(o, "healthReport", n->health);
    num(o, "numContainers", use.containers);
    num(o, "usedMemoryMB", use.used.mem);
    num(o, "availMemoryMB", use.total.mem - use.used.mem);
    num(o, "usedVirtualCores", use.used.vcores);
    num(o, "availableVirtualCores", use.total.vcores - use.used.vcores);
    num(o, "numRunningOpportContainers", 0); /* no opportunistic containers */
    num(o, "usedMemoryOpportGB", 0);
    num(o, "usedVirtualCoresOpport", 0);
    num(o, "numQueuedContainers", 0);
    put_utilization(o, n);
    (void)json_object_set_new(o, "allocationTags", allocation_tags(n)); /* as num */
    (void)json_object_set_new(o, "nodeAttributesInfo", json_object());
    u = json_object();
    num(u, "nodePhysicalMemoryMB", n->node_pmem);
    num(u, "nodeVirtualMemoryMB", n->node_vmem);
    real(u, "nodeCPUUsage", (double)n->node_cpu);
    num(u, "aggregatedContainersPhysicalMemoryMB", n->used_pmem);
    num(u, "aggregatedContainersVirtualMemoryMB", n->used_vmem);
    real(u, "containersCPUUsage", (double)n->used_cpu);
    (void)json_object_set_new(o, "resourceUtilization", u); /* as num */
    (void)json_object_set_new(o, "usedResource", rm_json_resource(use.used));
    (void)json_object_set_new(o, "availableResource",
                              rm_json_resource(rm_res_sub(use.total, use.used)));
    (void)json_object_set_new(o, "totalResource", rm_json_resource(use.total));
    return o;
}

static void app_place(json_t *o, const struct rm_app *app)
{
    const struct rm_attempt *att = app->current;
    char url[1200], node[300];

    if (att && att->rpc_port >= 0 && att->host) {
        (void)snprintf(url, sizeof(url), "%.1000s:%d", att->host, att->rpc_port);
        str(o, "amRPCAddress", url);
    }
    if (!att || !att->has_master)
        return;
    (void)snprintf(url, sizeof(url), "%s://%s/node/containerlogs/%s/%s", rm_web_scheme(att->rm),
                   att->master_http ? att->master_http : "",
                   yarn_container_id_text(att->master_id, node), app->user);
    str(o, "amContainerLogs", url);
    str(o, "amHostHttpAddress", att->master_http);
    str(o, "masterNodeId", yarn_node_id_text(&att->master_node, node));
}

json_t *rm_json_app(struct rm_app *app)
{
    json_t *o = json_object();
    int64_t end = app->finish_ms ? app->finish_ms : sv_wall_ms();
    char url[1200], tags[1024] = "", date[RM_LIFETIME_DATE_MAX], waits[RM_WAIT_TEXT_MAX];
    int64_t left_s;
    size_t n = 0;

    for (char **t = app->tags; t && *t && n + 1 < sizeof(tags); t++)
        n += (size_t)snprintf(tags + n, sizeof(tags) - n, "%s%s", n ? "," : "", *t);
    str(o, "id", app->id_str);
    str(o, "user", app->user);
    str(o, "name", app->name);
    str(o, "queue", app->queue);
    str(o, "state", rm_app_wire_state_name(app));
    str(o, "finalStatus", rm_json_final(rm_app_wire_final(app)));
    real(o, "progress",
         rm_app_final_stored(app) ? 100
         : app->current           ? (double)app->current->progress * 100
                                  : 0);
    str(o, "trackingUI",
        rm_app_is_final(app)                       ? "History"
        : app->current && app->current->registered ? "ApplicationMaster"
                                                   : "UNASSIGNED");
    if (app->current)
        rm_tracking_url(app->current, url, sizeof(url));
    else
        rm_app_page(app, url, sizeof(url));
    str(o, "trackingUrl", url);
    str(o, "diagnostics", rm_app_diagnostics(app, waits));
    num(o, "clusterId", app->id.cluster_ts);
    str(o, "applicationType", app->type);
    str(o, "applicationTags", tags);
    num(o, "priority", app->priority);
    num(o, "startedTime", app->start_ms);
    num(o, "launchTime", app->launch_ms);
    num(o, "finishedTime", app->finish_ms);
    num(o, "elapsedTime", SV_MAX(end - app->start_ms, (int64_t)0));
    app_place(o, app);
    rm_json_app_usage(o, app);
    str(o, "logAggregationStatus", rm_log_status_name(rm_log_status(app)));
    boolean(o, "unmanagedApplication", app->unmanaged);
    str(o, "amNodeLabelExpression", "");
    rm_lifetime_report(app, date, &left_s);
    (void)json_object_set_new(o, "timeouts",
                              json_pack("{s:[{s:s, s:s, s:I}]}", "timeout", "type", "LIFETIME",
                                        "expiryTime", date, "remainingTimeInSeconds",
                                        (json_int_t)left_s));
    return o;
}

json_t *rm_json_attempt(const struct rm_attempt *att)
{
    static const char *const of_master[] = { "containerId", "nodeHttpAddress", "nodeId",
                                             "logsLink",    "exportPorts",     "blacklistedNodes" };
    json_t *o = json_object();
    char text[YARN_ID_TEXT_MAX], url[1200], node[300];

    num(o, "id", att->id.attempt);
    str(o, "appAttemptId", att->id_str);
    num(o, "startTime", att->start_ms);
    num(o, "finishedTime", att->finish_ms);
    str(o, "appAttemptState", rm_attempt_fsm.state_names[att->state]);
    for (size_t i = 0; i < SV_ARRAY_LEN(of_master); i++)
        str(o, of_master[i], "");
    if (att->has_master) {
        str(o, "nodesBlacklistedBySystem", "");
        yarn_container_id_text(att->master_id, text);
        str(o, "containerId", text);
        str(o, "nodeHttpAddress", att->master_http);
        str(o, "nodeId", yarn_node_id_text(&att->master_node, node));
        (void)snprintf(url, sizeof(url), "%s://%s/node/containerlogs/%s/%s", rm_web_scheme(att->rm),
                       att->master_http ? att->master_http : "", text, att->app->user);
        str(o, "logsLink", url);
    }
    return o;
}
