/* Prints a FrameworkDescriptor with its defaults; see descriptor.h. */
#include "service/framework/descriptor.h"
#include "service/framework/fields.h"

static const char *const executions[] = SVC_FW_EXECUTION_NAMES;
static const char *const disks[] = SVC_FW_DISK_NAMES;
static const char *const masters[] = SVC_FW_AM_NAMES;
static const char *const checks[] = SVC_FW_CHECK_NAMES;
static const char *const check_failures[] = SVC_FW_CHECK_FAILURE_NAMES;

/* All take NULL members, which a lack of memory left, and are NULL then. */

static json_t *retry(const struct svc_fw_retry_policy *p)
{
    return json_pack("{s:b, s:i}", "fancyRetryPolicy", p->fancy, "maxRetryCount", p->max_retries);
}

static json_t *resource(const struct svc_fw_resource *r)
{
    json_t *ports = json_object();
    int bad = !ports;

    for (size_t i = 0; i < r->n_ports; i++)
        bad |= json_object_set_new(
            ports, r->ports[i].label,
            json_pack("{s:i, s:i}", "start", r->ports[i].start, "count", r->ports[i].count));
    if (bad) {
        json_decref(ports);
        return NULL;
    }
    return json_pack("{s:i, s:i, s:o, s:s, s:i, s:i, s:I}", "cpuNumber", r->cpus, "memoryMB",
                     r->memory_mb, "portDefinitions", ports, "diskType", disks[r->ssd], "diskMB",
                     r->disk_mb, "gpuNumber", r->gpus, "gpuAttribute", (json_int_t)r->gpu_mask);
}

static json_t *number_or_null(int32_t n)
{
    return n ? json_integer(n) : json_null();
}

static json_t *service(const struct svc_fw_role *r)
{
    json_t *sources = json_array();
    int bad = !sources;

    for (size_t i = 0; i < r->n_sources; i++)
        bad |= json_array_append_new(sources, json_string(r->sources[i]));
    if (bad) {
        json_decref(sources);
        return NULL;
    }
    return json_pack("{s:i, s:s, s:o, s:o}", "version", r->service_version, "entryPoint",
                     r->entry_point, "sourceLocations", sources, "resource",
                     resource(&r->resource));
}

static json_t *role(const struct svc_fw_role *r)
{
    return json_pack(
        "{s:i, s:i, s:i, s:o, s:{s:o, s:o}, s:o, s:{s:s?, s:s?, s:b}}", "taskNumber", r->tasks,
        "scaleUnitNumber", r->scale_unit, "scaleUnitTimeoutSec", r->scale_timeout_s,
        "taskRetryPolicy", retry(&r->retry), "applicationCompletionPolicy", "minFailedTaskCount",
        number_or_null(r->min_failed), "minSucceededTaskCount", number_or_null(r->min_succeeded),
        "taskService", service(r), "platformSpecificParameters", "taskNodeLabel", r->label,
        "taskNodeGpuType", r->gpu_type, "samePortAllocation", r->same_ports);
}

static json_t *check(const struct svc_fw_check *c)
{
    if (!c)
        return json_null();
    return json_pack("{s:s, s:s?, s:s?, s:i, s:i, s:i, s:i, s:i, s:s}", "healthCheckType",
                     checks[c->web], "entryPoint", c->entry_point, "webUrl", c->url, "delaySeconds",
                     c->delay_s, "intervalSeconds", c->interval_s, "timeoutSeconds", c->timeout_s,
                     "consecutiveFailures", c->failures, "gracePeriodSeconds", c->grace_s,
                     "healthCheckFailureType", check_failures[c->non_transient]);
}

static json_t *platform(const struct svc_fw_descriptor *d)
{
    const struct svc_fw_agent *g = &d->agent;

    return json_pack(
        "{s:o, s:s?, s:s?, s:s?, s:s, s:i, s:i, s:b, s:b, s:b, s:s, s:b, s:i, s:i, s:b, s:o}",
        "amResource", resource(&d->master), "amNodeLabel", d->master_label, "taskNodeLabel",
        d->label, "taskNodeGpuType", d->gpu_type, "queue", d->queue,
        "containerConnectionMaxLostCount", d->max_lost, "containerConnectionMaxExceedCount",
        d->max_exceed, "antiaffinityAllocation", d->anti_affine, "gangAllocation", d->gang,
        "skipLocalTriedResource", d->skip_tried, "amType", masters[g->agent], "agentUseHeartbeat",
        g->heartbeat, "agentHeartbeatIntervalSec", g->heartbeat_s, "agentExpiryIntervalSec",
        g->expiry_s, "agentUseHealthCheck", g->health_check, "taskServiceHealthCheck",
        check(g->check));
}

static json_t *parent(const struct svc_fw_descriptor *d)
{
    if (!d->parent)
        return json_null();
    return json_pack("{s:s, s:b, s:b}", "parentFrameworkName", d->parent, "deleteOnParentDeleted",
                     d->deleted_with_parent, "stopOnParentStopped", d->stopped_with_parent);
}

json_t *svc_fw_json(const struct svc_fw_descriptor *d)
{
    json_t *roles = json_object();
    int bad = !roles;

    for (size_t i = 0; i < d->n_roles; i++)
        bad |= json_object_set_new(roles, d->roles[i].name, role(&d->roles[i]));
    if (bad) {
        json_decref(roles);
        return NULL;
    }
    return json_pack("{s:s?, s:i, s:s, s:o, s:o, s:{s:s}, s:o, s:o}", "description", d->description,
                     "version", d->version, "executionType", executions[d->stop], "retryPolicy",
                     retry(&d->retry), "parentFramework", parent(d), "user", "name", d->user,
                     "taskRoles", roles, "platformSpecificParameters", platform(d));
}
