/* See status.h. */
#include "service/framework/status.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "wire/ids.h"

static const char *const states[SVC_FW_N_TASK_STATES] = {
    "TASK_WAITING",      "CONTAINER_REQUESTED", "CONTAINER_ALLOCATED", "CONTAINER_LAUNCHED",
    "CONTAINER_RUNNING", "CONTAINER_COMPLETED", "TASK_COMPLETED",
};
static const char *const types[SVC_FW_N_TYPES] = {
    "SUCCEEDED", "TRANSIENT_NORMAL", "TRANSIENT_CONFLICT", "NON_TRANSIENT", "UNKNOWN",
};

const char *svc_fw_task_state_text(enum svc_fw_task_state s)
{
    return states[s];
}

const char *svc_fw_type_text(enum svc_fw_type t)
{
    return types[t];
}

static int named(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -ENOENT;
}

int svc_fw_type_named(const char *name, enum svc_fw_type *ret)
{
    int i = named(types, SVC_FW_N_TYPES, name);

    if (i < 0)
        return i;
    *ret = (enum svc_fw_type)i;
    return 0;
}

bool svc_fw_task_has_container(enum svc_fw_task_state s)
{
    return s == SVC_FW_CONTAINER_ALLOCATED || s == SVC_FW_CONTAINER_LAUNCHED ||
           s == SVC_FW_CONTAINER_RUNNING;
}

/* ---- Values ---- */

struct reading {
    const json_t *o;
    struct sv_arena *a;
    struct sv_error *err;
    int r; /* of the first value that is wrong */
};

static void wrong(struct reading *in, const char *key, int r, const char *rule)
{
    if (in->r == 0)
        in->r = sv_error_set(in->err, r, "%s: %s", key, rule);
}

/* NULL: null or absent. */
static const json_t *value(const struct reading *in, const char *key)
{
    const json_t *v = json_object_get(in->o, key);

    return json_is_null(v) ? NULL : v;
}

static const char *text(struct reading *in, const char *key, size_t max)
{
    const json_t *v = value(in, key);
    const char *copy;

    if (!v)
        return NULL;
    if (!json_is_string(v) || json_string_length(v) > max) {
        wrong(in, key, -EINVAL, "not a text, or too long");
        return NULL;
    }
    copy = sv_arena_strdup(in->a, json_string_value(v));
    if (!copy)
        wrong(in, key, -ENOMEM, "no memory");
    return copy;
}

static int64_t number(struct reading *in, const char *key, int64_t min, int64_t max, int64_t absent)
{
    const json_t *v = value(in, key);
    int64_t n = json_integer_value(v);

    if (!v)
        return absent;
    if (!json_is_integer(v) || n < min || n > max)
        wrong(in, key, -EINVAL, "not a number, or out of range");
    return n;
}

static int32_t required(struct reading *in, const char *key, int64_t min, int64_t max)
{
    if (!value(in, key))
        wrong(in, key, -EINVAL, "may not be null");
    return (int32_t)number(in, key, min, max, min);
}

static unsigned name(struct reading *in, const char *key, const char *const *names, size_t n)
{
    const json_t *v = value(in, key);
    int i = json_is_string(v) ? named(names, n, json_string_value(v)) : -EINVAL;

    if (i < 0)
        wrong(in, key, -EINVAL, "not one of its names");
    return i < 0 ? 0 : (unsigned)i;
}

/* ---- Retries ---- */

struct counter {
    const char *key;
    size_t at;
};
#define COUNTER(key, field)                                                                        \
    {                                                                                              \
        key, offsetof(struct svc_fw_retries, field)                                                \
    }
static const struct counter counters[] = {
    COUNTER("retriedCount", retried),
    COUNTER("succeededRetriedCount", succeeded),
    COUNTER("transientNormalRetriedCount", transient_normal),
    COUNTER("transientConflictRetriedCount", transient_conflict),
    COUNTER("nonTransientRetriedCount", non_transient),
    COUNTER("unKnownRetriedCount", unknown),
};

json_t *svc_fw_retries_json(const struct svc_fw_retries *r)
{
    json_t *o = json_object();
    int32_t n;

    for (size_t i = 0; o && i < SV_ARRAY_LEN(counters); i++) {
        memcpy(&n, (const char *)r + counters[i].at, sizeof(n));
        if (json_object_set_new(o, counters[i].key, json_integer(n)) < 0) {
            json_decref(o);
            o = NULL;
        }
    }
    return o;
}

int svc_fw_retries_read(const json_t *o, struct svc_fw_retries *ret)
{
    struct svc_fw_retries all = { 0 };
    struct reading in = { .o = o };
    int32_t n;

    if (!json_is_object(o))
        return -EINVAL;
    for (size_t i = 0; i < SV_ARRAY_LEN(counters); i++) {
        n = required(&in, counters[i].key, 0, INT32_MAX);
        memcpy((char *)&all + counters[i].at, &n, sizeof(n));
    }
    if (in.r == 0)
        *ret = all;
    return in.r;
}

/* ---- Reading ---- */

static void read_container(struct reading *in, struct svc_fw_task *t)
{
    struct yarn_container_id id;

    t->container = text(in, "containerId", YARN_ID_TEXT_MAX);
    if (t->container && yarn_container_id_parse(t->container, &id) < 0)
        wrong(in, "containerId", -EINVAL, "not the id of a container");
    t->host = text(in, "containerHost", SVC_FW_HOST_MAX);
    t->ip = text(in, "containerIp", SVC_FW_LINK_TEXT_MAX);
    t->ports = text(in, "containerPorts", SVC_FW_PORTS_TEXT_MAX);
    t->log_url = text(in, "containerLogHttpAddress", SVC_FW_LINK_TEXT_MAX);
    t->has_gpus = value(in, "containerGpus") != NULL;
    t->gpus = number(in, "containerGpus", 0, INT64_MAX, 0);
    t->lost = (int32_t)number(in, "containerConnectionLostCount", 0, INT32_MAX, -1);
    t->launched_ms = number(in, "containerLaunchedTimestamp", 0, INT64_MAX, 0);
    t->ended_ms = number(in, "containerCompletedTimestamp", 0, INT64_MAX, 0);
}

static void read_exit(struct reading *in, struct svc_fw_task *t)
{
    t->exited = value(in, "containerExitCode") != NULL;
    t->exit_code = (int32_t)number(in, "containerExitCode", INT32_MIN, INT32_MAX, 0);
    t->exit_description = text(in, "containerExitDescription", SVC_FW_DESCRIPTION_MAX);
    t->exit_diagnostics = text(in, "containerExitDiagnostics", SVC_FW_DIAGNOSTICS_TASK_MAX);
    if (t->exited)
        t->exit_type = (enum svc_fw_type)name(in, "containerExitType", types, SVC_FW_N_TYPES);
}

static void read_whole(struct reading *in, const char *role, struct svc_fw_task *t)
{
    const json_t *service = json_object_get(in->o, "taskServiceStatus");
    struct reading of_service = { .o = service, .a = in->a, .err = in->err };
    const char *told = json_string_value(json_object_get(in->o, "taskRoleName"));

    if (!told || strcmp(told, role) != 0)
        wrong(in, "taskRoleName", -EINVAL, "not the role's");
    t->state = (enum svc_fw_task_state)name(in, "taskState", states, SVC_FW_N_TASK_STATES);
    if (svc_fw_retries_read(json_object_get(in->o, "taskRetryPolicyState"), &t->retries) < 0)
        wrong(in, "taskRetryPolicyState", -EINVAL, "not six counters");
    if (!json_is_object(service))
        wrong(in, "taskServiceStatus", -EINVAL, "may not be null");
    else
        t->service_version = required(&of_service, "serviceVersion", INT32_MIN, INT32_MAX);
    if (of_service.r < 0 && in->r == 0)
        in->r = of_service.r;
    t->created_ms = number(in, "taskCreatedTimestamp", 0, INT64_MAX, 0);
    t->completed_ms = number(in, "taskCompletedTimestamp", 0, INT64_MAX, 0);
    read_container(in, t);
    read_exit(in, t);
    if (svc_fw_task_has_container(t->state) && !t->container)
        wrong(in, "containerId", -EINVAL, "a task in this state has a container");
    if (t->state == SVC_FW_TASK_COMPLETED && !t->exited)
        wrong(in, "containerExitCode", -EINVAL, "a task that is completed has exited");
}

int svc_fw_task_read(const json_t *o, const char *role, struct sv_arena *a, struct svc_fw_task *ret,
                     struct sv_error *err)
{
    struct reading in = { .o = o, .a = a, .err = err };
    struct svc_fw_task t = { .lost = -1 };

    if (!json_is_object(o))
        return sv_error_set(err, -EINVAL, "a task's status: not an object");
    t.index = required(&in, "taskIndex", 0, SVC_FW_TASKS_MAX - 1);
    t.removed = json_is_true(json_object_get(o, "removed"));
    if (!t.removed)
        read_whole(&in, role, &t);
    if (in.r < 0)
        return in.r;
    *ret = t;
    return 0;
}

/* ---- Printing ---- */

static bool add(json_t *o, const char *key, json_t *v)
{
    return json_object_set_new(o, key, v) == 0;
}

static json_t *number_or_null(bool there, int64_t n)
{
    return there ? json_integer(n) : json_null();
}

/* A text of bytes that are not all characters, as a node can report them. */
static json_t *mended(const char *s, size_t max)
{
    size_t len = strnlen(s, max);
    char *text = malloc(3 * len + 1);
    json_t *v = NULL;

    if (text) {
        (void)sv_utf8_copy(text, 3 * len + 1, s, len); /* there is room for all of it, ignoring */
        v = json_stringn(text, strlen(text) > max ? sv_utf8_cut(text, max) : strlen(text));
    }
    free(text);
    return v;
}

static json_t *text_or_null(const char *s, size_t max)
{
    size_t len = s ? strlen(s) : 0;
    json_t *v = s ? json_stringn(s, len > max ? sv_utf8_cut(s, max) : len) : json_null();

    return v ? v : mended(s, max);
}

static bool add_container(json_t *o, const struct svc_fw_task *t)
{
    return add(o, "containerId", text_or_null(t->container, YARN_ID_TEXT_MAX)) &&
           add(o, "containerHost", text_or_null(t->host, SVC_FW_HOST_MAX)) &&
           add(o, "containerIp", text_or_null(t->ip, SVC_FW_LINK_TEXT_MAX)) &&
           add(o, "containerPorts", text_or_null(t->ports, SVC_FW_PORTS_TEXT_MAX)) &&
           add(o, "containerGpus", number_or_null(t->has_gpus, t->gpus)) &&
           add(o, "containerLogHttpAddress", text_or_null(t->log_url, SVC_FW_LINK_TEXT_MAX)) &&
           add(o, "containerConnectionLostCount", number_or_null(t->lost >= 0, t->lost)) &&
           add(o, "containerIsDecommissioning", json_null()) &&
           add(o, "containerLaunchedTimestamp", number_or_null(t->launched_ms, t->launched_ms)) &&
           add(o, "containerCompletedTimestamp", number_or_null(t->ended_ms, t->ended_ms));
}

static bool add_exit(json_t *o, const struct svc_fw_task *t)
{
    return add(o, "containerExitCode", number_or_null(t->exited, t->exit_code)) &&
           add(o, "containerExitDescription",
               text_or_null(t->exit_description, SVC_FW_DESCRIPTION_MAX)) &&
           add(o, "containerExitDiagnostics",
               text_or_null(t->exit_diagnostics, SVC_FW_DIAGNOSTICS_TASK_MAX)) &&
           add(o, "containerExitType",
               t->exited ? json_string(svc_fw_type_text(t->exit_type)) : json_null());
}

static bool add_task(json_t *o, const struct svc_fw_task *t, const char *role)
{
    json_t *service = json_pack("{s:i}", "serviceVersion", (int)t->service_version);

    return add(o, "taskRoleName", json_string(role)) &&
           add(o, "taskState", json_string(svc_fw_task_state_text(t->state))) &&
           add(o, "taskRetryPolicyState", svc_fw_retries_json(&t->retries)) &&
           add(o, "taskCreatedTimestamp", number_or_null(t->created_ms, t->created_ms)) &&
           add(o, "taskCompletedTimestamp", number_or_null(t->completed_ms, t->completed_ms)) &&
           add(o, "taskServiceStatus", service);
}

json_t *svc_fw_task_json(const struct svc_fw_task *t, const char *role)
{
    json_t *o = json_object();
    bool ok = o && add(o, "taskIndex", json_integer(t->index));

    if (ok && t->removed)
        ok = add(o, "removed", json_true());
    else
        ok = ok && add_task(o, t, role) && add_container(o, t) && add_exit(o, t);
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}
