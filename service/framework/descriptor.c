/* Reads a FrameworkDescriptor; see descriptor.h. Hostile: all of it. */
#include "service/framework/descriptor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "service/framework/fields.h"
#include "service/framework/reader.h"
#include "service/framework/status.h"
#include "wire/container-variables.h"

#define QUEUE_MAX 1024
#define LABEL_MAX 256
#define DESCRIPTION_MAX 1024
#define N(a) ((int)SV_ARRAY_LEN(a))

static const char *const executions[] = SVC_FW_EXECUTION_NAMES;
static const char *const disks[] = SVC_FW_DISK_NAMES;
static const char *const masters[] = SVC_FW_AM_NAMES;
static const char *const checks[] = SVC_FW_CHECK_NAMES;
static const char *const check_failures[] = SVC_FW_CHECK_FAILURE_NAMES;
static const struct svc_fw_range any = { INT32_MIN, INT32_MAX, false };
static const struct svc_fw_range needed = { INT32_MIN, INT32_MAX, true };
static const struct svc_fw_range positive = { 1, INT32_MAX, false };
static const struct svc_fw_range natural = { 0, INT32_MAX, false };

/* ---- Resources ---- */

static int by_label(const void *a, const void *b)
{
    return strcmp(((const struct svc_fw_ports *)a)->label, ((const struct svc_fw_ports *)b)->label);
}

/* Bounds of a node for one container, and of a status, whose text is "label:1,2;label:3;". */
static void check_ports(struct svc_fw_in *in, const struct svc_fw_at *at,
                        const struct svc_fw_resource *r)
{
    int64_t ports = 0, bytes = 1;

    for (size_t i = 0; i < r->n_ports; i++) {
        ports += r->ports[i].count;
        bytes += (int64_t)strlen(r->ports[i].label) + strlen(":;");
    }
    if (ports > YARN_VARIABLE_PORTS_MAX)
        svc_fw_bad(in, at, "%lld ports of one task, a node takes at most %d", (long long)ports,
                   YARN_VARIABLE_PORTS_MAX);
    else if (bytes + ports * (int64_t)strlen("65535,") > SVC_FW_PORTS_TEXT_MAX)
        svc_fw_bad(in, at, "the labels are too long: with the ports they are more than %d bytes",
                   SVC_FW_PORTS_TEXT_MAX);
}

static void read_ports(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o,
                       struct svc_fw_resource *r)
{
    const struct svc_fw_at at = { up, "portDefinitions", false };
    json_t *map = svc_fw_object(in, up, o, at.key, false, false), *v;
    size_t n = json_object_size(map);
    const char *label;

    if (n > SVC_FW_PORTS_MAX) {
        svc_fw_bad(in, &at, "size must be between 0 and %d", SVC_FW_PORTS_MAX);
        return;
    }
    r->ports = n ? sv_newn(in->a, struct svc_fw_ports, n) : NULL;
    in->no_memory |= n && !r->ports;
    json_object_foreach(map, label, v)
    {
        const struct svc_fw_at here = { &at, label, true };
        json_t *one = svc_fw_map_value(in, &at, label, v);
        struct svc_fw_ports p = { .label = one ? sv_arena_strdup(in->a, label) : NULL };

        if (!one || !r->ports || !p.label) {
            in->no_memory |= one != NULL;
            continue;
        }
        svc_fw_int(in, &here, one, "start", (struct svc_fw_range){ 0, 65535, false }, &p.start);
        svc_fw_int(in, &here, one, "count", (struct svc_fw_range){ 1, 65535, true }, &p.count);
        if (p.start && p.start + p.count > 65536)
            svc_fw_bad(in, &here, "ports end at 65535");
        r->ports[r->n_ports++] = p;
    }
    if (r->n_ports > 1)
        qsort(r->ports, r->n_ports, sizeof(*r->ports), by_label);
    check_ports(in, &at, r);
}

/* "5(101)": the number and its bits. */
static const char *with_bits(int64_t mask, char text[96])
{
    uint64_t m = (uint64_t)mask;
    int top = m ? 63 - __builtin_clzll(m) : 0, n = snprintf(text, 32, "%" PRId64 "(", mask);

    for (int i = top; i >= 0; i--)
        text[n++] = m >> i & 1 ? '1' : '0';
    text[n++] = ')';
    text[n] = '\0';
    return text;
}

static void check_gpus(struct svc_fw_in *in, const struct svc_fw_at *at,
                       const struct svc_fw_resource *r, bool gpus)
{
    char text[96];

    if (r->gpu_mask && __builtin_popcountll((uint64_t)r->gpu_mask) != r->gpus)
        svc_fw_bad(in, at, "GpuNumber [%d] is not consistent with GpuAttribute [%s]", r->gpus,
                   with_bits(r->gpu_mask, text));
    else if (r->gpus > 0 && !gpus)
        svc_fw_bad(in, at, "GpuNumber [%d]: the cluster has no resource yarn.io/gpu", r->gpus);
}

/* `o` NULL: *r stays, the defaults. */
static void read_resource(struct svc_fw_in *in, const struct svc_fw_at *at, const json_t *o,
                          bool gpus, struct svc_fw_resource *r)
{
    const struct svc_fw_range wanted = { 1, INT32_MAX, true };
    const json_t *mask;
    int ssd = 0;

    if (!o)
        return;
    svc_fw_int(in, at, o, "cpuNumber", wanted, &r->cpus);
    svc_fw_int(in, at, o, "memoryMB", wanted, &r->memory_mb);
    read_ports(in, at, o, r);
    svc_fw_enum(in, at, o, "diskType", disks, N(disks), false, &ssd);
    r->ssd = ssd;
    svc_fw_int(in, at, o, "diskMB", natural, &r->disk_mb);
    svc_fw_int(in, at, o, "gpuNumber", natural, &r->gpus);
    svc_fw_long(in, at, o, "gpuAttribute", (struct svc_fw_range){ 0, INT64_MAX, false },
                &r->gpu_mask);
    mask = json_object_get(o, "gpuAttribute");
    if (json_integer_value(mask) < 0) /* of the wrong range, and of no number of GPUs either */
        r->gpu_mask = json_integer_value(mask);
    check_gpus(in, at, r, gpus);
}

/* ---- Roles ---- */

static void read_retry(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o,
                       const char *key, struct svc_fw_retry_policy *ret)
{
    const struct svc_fw_at at = { up, key, false };
    const json_t *v = svc_fw_object(in, up, o, key, false, false);

    svc_fw_bool(in, &at, v, "fancyRetryPolicy", &ret->fancy);
    svc_fw_int(in, &at, v, "maxRetryCount",
               (struct svc_fw_range){ SVC_FW_RETRY_ALWAYS, INT32_MAX, false }, &ret->max_retries);
}

static bool has_null(const json_t *o, const char *key)
{
    return o && json_is_null(json_object_get(o, key));
}

static void read_completion(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o,
                            struct svc_fw_role *role)
{
    const struct svc_fw_at at = { up, "applicationCompletionPolicy", false };
    const json_t *v = svc_fw_object(in, up, o, at.key, false, false);

    role->min_failed = 1;
    if (has_null(v, "minFailedTaskCount"))
        role->min_failed = 0;
    else
        svc_fw_int(in, &at, v, "minFailedTaskCount", positive, &role->min_failed);
    if (!has_null(v, "minSucceededTaskCount"))
        svc_fw_int(in, &at, v, "minSucceededTaskCount", positive, &role->min_succeeded);
}

static void read_sources(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o,
                         struct svc_fw_role *role)
{
    const struct svc_fw_at at = { up, "sourceLocations", false };
    json_t *list = json_object_get(o, at.key);
    size_t n = json_array_size(list);

    if (!json_is_array(list) || n == 0 || n > SVC_FW_SOURCES_MAX) {
        svc_fw_bad(in, &at,
                   !list || json_is_null(list) ? "may not be empty"
                   : !json_is_array(list)      ? "must be a list"
                   : n == 0                    ? "may not be empty"
                                               : "size must be between 1 and 256");
        return;
    }
    role->sources = sv_newn(in->a, const char *, n);
    in->no_memory |= !role->sources;
    for (size_t i = 0; role->sources && i < n; i++) {
        const char *text = json_string_value(json_array_get(list, i));

        if (!text || !*text || strlen(text) > SVC_FW_SOURCE_MAX)
            svc_fw_bad(in, &at, "element %zu must be a text of 1 to %d bytes", i,
                       SVC_FW_SOURCE_MAX);
        else if (!(role->sources[role->n_sources++] = sv_arena_strdup(in->a, text)))
            in->no_memory = true;
    }
}

static void read_service(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o,
                         bool gpus, struct svc_fw_role *role)
{
    const struct svc_fw_at at = { up, "taskService", false };
    const struct svc_fw_at resource = { &at, "resource", false };
    const json_t *v = svc_fw_object(in, up, o, at.key, true, false);

    if (!v)
        return;
    svc_fw_int(in, &at, v, "version", needed, &role->service_version);
    svc_fw_text(in, &at, v, "entryPoint", SVC_FW_TEXT_REQUIRED | SVC_FW_TEXT_FULL, SVC_FW_ENTRY_MAX,
                &role->entry_point);
    read_sources(in, &at, v, role);
    read_resource(in, &resource, svc_fw_object(in, &at, v, "resource", true, false), gpus,
                  &role->resource);
}

/* `^[^\s]{1,256}$` */
static void read_gpu_type(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o,
                          const char **ret)
{
    const struct svc_fw_at at = { up, "taskNodeGpuType", false };
    const char *text = NULL;

    svc_fw_text(in, up, o, at.key, SVC_FW_TEXT_NULL, INT32_MAX, &text);
    if (text && (!*text || strlen(text) > 256 || strpbrk(text, " \t\n\v\f\r")))
        svc_fw_bad(in, &at, "must match \"^[^\\s]{1,256}$\"");
    else
        *ret = text;
}

static void read_role(struct svc_fw_in *in, const struct svc_fw_at *at, const json_t *o, bool gpus,
                      struct svc_fw_role *role)
{
    const struct svc_fw_at platform = { at, "platformSpecificParameters", false };
    const json_t *v;

    svc_fw_int(in, at, o, "taskNumber", (struct svc_fw_range){ 0, SVC_FW_TASKS_MAX, true },
               &role->tasks);
    role->scale_unit = 1;
    svc_fw_int(in, at, o, "scaleUnitNumber", any, &role->scale_unit);
    svc_fw_int(in, at, o, "scaleUnitTimeoutSec", any, &role->scale_timeout_s);
    read_retry(in, at, o, "taskRetryPolicy", &role->retry);
    read_completion(in, at, o, role);
    read_service(in, at, o, gpus, role);
    v = svc_fw_object(in, at, o, platform.key, false, false);
    svc_fw_text(in, &platform, v, "taskNodeLabel", SVC_FW_TEXT_NULL, LABEL_MAX, &role->label);
    read_gpu_type(in, &platform, v, &role->gpu_type);
    svc_fw_bool(in, &platform, v, "samePortAllocation", &role->same_ports);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct svc_fw_role *)a)->name, ((const struct svc_fw_role *)b)->name);
}

static void read_roles(struct svc_fw_in *in, const json_t *o, bool gpus,
                       struct svc_fw_descriptor *d)
{
    const struct svc_fw_at at = { NULL, "taskRoles", false };
    json_t *map = svc_fw_object(in, NULL, o, at.key, false, true), *v;
    const json_t *given = json_object_get(o, at.key);
    size_t n = json_object_size(map);
    const char *name;

    if (!map && given && !json_is_null(given))
        return; /* no object: it was said */
    if (n == 0 || n > SVC_FW_ROLES_MAX) {
        svc_fw_bad(in, &at, n ? "size must be between 1 and 256" : "may not be empty");
        return;
    }
    d->roles = sv_newn(in->a, struct svc_fw_role, n);
    in->no_memory |= !d->roles;
    json_object_foreach(map, name, v)
    {
        const struct svc_fw_at here = { &at, name, true };
        struct svc_fw_role *role;

        if (!svc_fw_map_value(in, &at, name, v) || !d->roles)
            continue;
        role = &d->roles[d->n_roles++];
        role->name = sv_arena_strdup(in->a, name);
        in->no_memory |= !role->name;
        read_role(in, &here, v, gpus, role);
    }
    if (d->n_roles > 1 && !in->no_memory)
        qsort(d->roles, d->n_roles, sizeof(*d->roles), by_name);
}

/* ---- The platform ---- */

static void read_check(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o,
                       struct svc_fw_agent *agent)
{
    const struct svc_fw_at at = { up, "taskServiceHealthCheck", false };
    const json_t *v = svc_fw_object(in, up, o, at.key, false, true);
    struct svc_fw_check *c = v ? sv_new(in->a, struct svc_fw_check) : NULL;
    int web = 0, failure = 0;

    in->no_memory |= v && !c;
    if (!c)
        return;
    *c = (struct svc_fw_check){
        .delay_s = 30, .interval_s = 30, .timeout_s = 30, .failures = 10, .grace_s = 60
    };
    svc_fw_enum(in, &at, v, "healthCheckType", checks, N(checks), false, &web);
    svc_fw_text(in, &at, v, "entryPoint", SVC_FW_TEXT_NULL, SVC_FW_ENTRY_MAX, &c->entry_point);
    svc_fw_text(in, &at, v, "webUrl", SVC_FW_TEXT_NULL, SVC_FW_SOURCE_MAX, &c->url);
    svc_fw_int(in, &at, v, "delaySeconds", any, &c->delay_s);
    svc_fw_int(in, &at, v, "intervalSeconds", any, &c->interval_s);
    svc_fw_int(in, &at, v, "timeoutSeconds", any, &c->timeout_s);
    svc_fw_int(in, &at, v, "consecutiveFailures", any, &c->failures);
    svc_fw_int(in, &at, v, "gracePeriodSeconds", any, &c->grace_s);
    svc_fw_enum(in, &at, v, "healthCheckFailureType", check_failures, N(check_failures), false,
                &failure);
    c->web = web;
    c->non_transient = failure;
    agent->check = c;
}

static void read_agent(struct svc_fw_in *in, const struct svc_fw_at *at, const json_t *o,
                       struct svc_fw_agent *agent)
{
    int type = 0;

    *agent = (struct svc_fw_agent){ .heartbeat_s = 30, .expiry_s = 180 };
    svc_fw_enum(in, at, o, "amType", masters, N(masters), false, &type);
    agent->agent = type;
    svc_fw_bool(in, at, o, "agentUseHeartbeat", &agent->heartbeat);
    svc_fw_int(in, at, o, "agentHeartbeatIntervalSec", any, &agent->heartbeat_s);
    svc_fw_int(in, at, o, "agentExpiryIntervalSec", any, &agent->expiry_s);
    svc_fw_bool(in, at, o, "agentUseHealthCheck", &agent->health_check);
    read_check(in, at, o, agent);
}

static void read_platform(struct svc_fw_in *in, const json_t *o, bool gpus,
                          struct svc_fw_descriptor *d)
{
    const struct svc_fw_at at = { NULL, "platformSpecificParameters", false };
    const struct svc_fw_at resource = { &at, "amResource", false };
    const json_t *v = svc_fw_object(in, NULL, o, at.key, false, false);

    d->master = (struct svc_fw_resource){ .cpus = 1, .memory_mb = 4096 };
    read_resource(in, &resource, svc_fw_object(in, &at, v, "amResource", false, false), gpus,
                  &d->master);
    svc_fw_text(in, &at, v, "amNodeLabel", SVC_FW_TEXT_NULL, LABEL_MAX, &d->master_label);
    svc_fw_text(in, &at, v, "taskNodeLabel", SVC_FW_TEXT_NULL, LABEL_MAX, &d->label);
    read_gpu_type(in, &at, v, &d->gpu_type);
    d->queue = "default";
    svc_fw_text(in, &at, v, "queue", 0, QUEUE_MAX, &d->queue);
    d->max_lost = -2;
    svc_fw_int(in, &at, v, "containerConnectionMaxLostCount",
               (struct svc_fw_range){ -2, INT32_MAX, false }, &d->max_lost);
    d->max_exceed = 2;
    svc_fw_int(in, &at, v, "containerConnectionMaxExceedCount", natural, &d->max_exceed);
    svc_fw_bool(in, &at, v, "antiaffinityAllocation", &d->anti_affine);
    svc_fw_bool(in, &at, v, "gangAllocation", &d->gang);
    d->skip_tried = true;
    svc_fw_bool(in, &at, v, "skipLocalTriedResource", &d->skip_tried);
    read_agent(in, &at, v, &d->agent);
}

static void read_parent(struct svc_fw_in *in, const json_t *o, struct svc_fw_descriptor *d)
{
    const struct svc_fw_at at = { NULL, "parentFramework", false };
    const json_t *v = svc_fw_object(in, NULL, o, at.key, false, true);

    if (!v)
        return;
    svc_fw_text(in, &at, v, "parentFrameworkName", SVC_FW_TEXT_REQUIRED | SVC_FW_TEXT_NAME,
                SVC_FW_NAME_MAX, &d->parent);
    svc_fw_bool(in, &at, v, "deleteOnParentDeleted", &d->deleted_with_parent);
    svc_fw_bool(in, &at, v, "stopOnParentStopped", &d->stopped_with_parent);
}

static void read_user(struct svc_fw_in *in, const json_t *o, struct svc_fw_descriptor *d)
{
    const struct svc_fw_at at = { NULL, "user", false };
    const json_t *v = svc_fw_object(in, NULL, o, at.key, false, false);

    d->user = "default";
    if (v)
        svc_fw_text(in, &at, v, "name", SVC_FW_TEXT_NAME, SVC_FW_NAME_MAX, &d->user);
}

static void read_all(struct svc_fw_in *in, const json_t *o, bool gpus, struct svc_fw_descriptor *d)
{
    const struct svc_fw_at platform = { NULL, "platformSpecificParameters", false };
    int stop = 0;

    svc_fw_text(in, NULL, o, "description", SVC_FW_TEXT_NULL, DESCRIPTION_MAX, &d->description);
    svc_fw_int(in, NULL, o, "version", needed, &d->version);
    svc_fw_enum(in, NULL, o, "executionType", executions, N(executions), false, &stop);
    d->stop = stop;
    read_retry(in, NULL, o, "retryPolicy", &d->retry);
    read_parent(in, o, d);
    read_user(in, o, d);
    read_roles(in, o, gpus, d);
    read_platform(in, o, gpus, d);
    if (in->n_bad == 0 && !svc_fw_gang_fits(d))
        svc_fw_bad(in, &(struct svc_fw_at){ &platform, "gangAllocation", false },
                   "the addresses of all tasks are more than %zu MiB", SVC_FW_ADDRESSES_MAX >> 20);
}

/* "ROLE INDEX HOST LABEL:PORT,PORT;…" a line. */
bool svc_fw_gang_fits(const struct svc_fw_descriptor *d)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < d->n_roles && d->gang; i++) {
        const struct svc_fw_role *r = &d->roles[i];
        int64_t line = (int64_t)strlen(r->name) + 64 + (int64_t)strlen(" 12345   \n");

        for (size_t k = 0; k < r->resource.n_ports; k++)
            line += (int64_t)strlen(r->resource.ports[k].label) + (int64_t)strlen(":;") +
                    r->resource.ports[k].count * (int64_t)strlen("12345,");
        if (r->tasks > 0 && line > (int64_t)SVC_FW_ADDRESSES_MAX / r->tasks)
            return false;
        bytes += line * r->tasks;
    }
    return bytes <= (int64_t)SVC_FW_ADDRESSES_MAX;
}

int svc_fw_parse(const char *json, size_t len, bool gpus, struct sv_arena *a,
                 struct svc_fw_descriptor **ret, char **ret_violations)
{
    struct svc_fw_in in = { .a = a, .bad = SV_BUF_INIT(SVC_FW_VIOLATIONS_MAX) };
    struct svc_fw_descriptor *d = sv_new(a, struct svc_fw_descriptor);
    json_t *o;
    int r = d ? svc_fw_load(json, len, &o, ret_violations) : -ENOMEM;

    if (r < 0)
        return r;
    if (json_is_object(o))
        read_all(&in, o, gpus, d);
    else
        svc_fw_bad(&in, NULL, "must be an object");
    json_decref(o);
    r = svc_fw_done(&in, ret_violations);
    if (r == 0)
        *ret = d;
    return r;
}
