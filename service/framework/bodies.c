/* See bodies.h. */
#include "service/framework/bodies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "service/framework/descriptor.h"
#include "service/framework/fields.h"
#include "service/framework/reader.h"

#define VERSION_MAX 1024
#define HOST_MAX 255
#define GPU_TYPE_MAX 256

struct body {
    struct svc_fw_in in;
    json_t *o;
};

static int begin(struct body *b, const char *json, size_t len, char **ret_violations)
{
    int r;

    *b = (struct body){ .in = { .bad = SV_BUF_INIT(SVC_FW_VIOLATIONS_MAX) } };
    r = svc_fw_load(json, len, &b->o, ret_violations);
    if (r < 0)
        return r;
    b->in.a = sv_arena_new(0);
    b->in.no_memory = !b->in.a;
    if (!json_is_object(b->o))
        svc_fw_bad(&b->in, NULL, "must be an object");
    return 0;
}

static int end(struct body *b, char **ret_violations)
{
    int r = svc_fw_done(&b->in, ret_violations);

    json_decref(b->o);
    b->in.a = sv_arena_free(b->in.a);
    return r;
}

/* The body as far as it is read; NULL: it is no object. */
static const json_t *object(const struct body *b)
{
    return b->in.n_bad == 0 && b->in.a ? b->o : NULL;
}

int svc_fw_read_task_number(const char *json, size_t len, int32_t *ret, char **ret_violations)
{
    struct body b;
    int32_t n = 0;
    int r = begin(&b, json, len, ret_violations);

    if (r < 0)
        return r;
    svc_fw_int(&b.in, NULL, object(&b), "taskNumber",
               (struct svc_fw_range){ 0, SVC_FW_TASKS_MAX, true }, &n);
    r = end(&b, ret_violations);
    if (r == 0)
        *ret = n;
    return r;
}

int svc_fw_read_execution(const char *json, size_t len, bool *ret_stop, char **ret_violations)
{
    static const char *const names[] = SVC_FW_EXECUTION_NAMES;
    struct body b;
    int stop = 0, r = begin(&b, json, len, ret_violations);

    if (r < 0)
        return r;
    svc_fw_enum(&b.in, NULL, object(&b), "executionType", names, SV_ARRAY_LEN(names), true, &stop);
    r = end(&b, ret_violations);
    if (r == 0)
        *ret_stop = stop;
    return r;
}

int svc_fw_read_migrate(const char *json, size_t len, char **ret_violations)
{
    static const char *const names[] = { "ANY", "NODE", "RACK" };
    struct body b;
    int level = 0, r = begin(&b, json, len, ret_violations);

    if (r < 0)
        return r;
    if (!json_is_null(json_object_get(b.o, "antiAffinityLevel")))
        svc_fw_enum(&b.in, NULL, object(&b), "antiAffinityLevel", names, SV_ARRAY_LEN(names), false,
                    &level);
    if (level)
        svc_fw_bad(&b.in, &(struct svc_fw_at){ NULL, "antiAffinityLevel", false },
                   "only ANY is supported");
    return end(&b, ret_violations);
}

int svc_fw_read_progress(const char *json, size_t len, double *ret, char **ret_violations)
{
    const struct svc_fw_at at = { NULL, "applicationProgress", false };
    struct body b;
    const json_t *v;
    double n;
    int r = begin(&b, json, len, ret_violations);

    if (r < 0)
        return r;
    v = json_object_get(object(&b), at.key);
    n = json_number_value(v);
    if (!v || json_is_null(v))
        svc_fw_bad(&b.in, &at, "may not be null");
    else if (!json_is_number(v))
        svc_fw_bad(&b.in, &at, "must be a number");
    else if (n < 0)
        svc_fw_bad(&b.in, &at, "must be greater than or equal to 0.0");
    else if (n > 1)
        svc_fw_bad(&b.in, &at, "must be less than or equal to 1.0");
    r = end(&b, ret_violations);
    if (r == 0)
        *ret = n;
    return r;
}

int svc_fw_read_data_version(const char *json, size_t len, bool *ret_launched, char **ret_version,
                             char **ret_violations)
{
    static const char *const names[] = { "LAUNCHING", "LAUNCHED" };
    struct body b;
    const char *version = NULL;
    char *copy = NULL;
    int launched = 0, r = begin(&b, json, len, ret_violations);

    if (r < 0)
        return r;
    svc_fw_enum(&b.in, NULL, object(&b), "dataDeploymentVersionType", names, SV_ARRAY_LEN(names),
                true, &launched);
    svc_fw_text(&b.in, NULL, object(&b), "dataDeploymentVersion",
                SVC_FW_TEXT_REQUIRED | SVC_FW_TEXT_FULL, VERSION_MAX, &version);
    if (version && !(copy = strdup(version)))
        b.in.no_memory = true;
    r = end(&b, ret_violations);
    if (r < 0) {
        free(copy);
        return r;
    }
    *ret_launched = launched;
    *ret_version = copy;
    return 0;
}

/* ---- ClusterConfiguration ---- */

/* `^[^,\s]{1,256}$` */
static bool gpu_type_valid(const char *s)
{
    return *s && strlen(s) <= GPU_TYPE_MAX && !strpbrk(s, ", \t\n\v\f\r");
}

static json_t *read_nodes(struct svc_fw_in *in, json_t *map)
{
    const struct svc_fw_at at = { NULL, "nodes", false };
    json_t *nodes = json_object(), *v;
    const char *host;

    if (json_object_size(map) > SVC_FW_NODES_MAX)
        svc_fw_bad(in, &at, "size must be between 0 and %d", SVC_FW_NODES_MAX);
    json_object_foreach(map, host, v)
    {
        const struct svc_fw_at here = { &at, host, true };
        const json_t *type = json_object_get(v, "gpuType");
        const char *text = json_string_value(type);

        if (!*host || strlen(host) > HOST_MAX)
            svc_fw_bad(in, &at, "a host has 1 to %d bytes", HOST_MAX);
        else if (!json_is_object(v) && !json_is_null(v))
            svc_fw_bad(in, &here, "must be an object");
        else if (type && !json_is_null(type) && (!text || !gpu_type_valid(text)))
            svc_fw_bad(in, &(struct svc_fw_at){ &here, "gpuType", false },
                       "must match \"^[^,\\s]{1,256}$\"");
        else if (json_object_set_new(nodes, host,
                                     json_is_null(v) ? json_null()
                                                     : json_pack("{s:s?}", "gpuType", text)) < 0)
            in->no_memory = true;
    }
    return nodes;
}

int svc_fw_read_cluster(const char *json, size_t len, json_t **ret, char **ret_violations)
{
    struct body b;
    json_t *nodes, *v, *all;
    int r = begin(&b, json, len, ret_violations);

    if (r < 0)
        return r;
    v = json_object_get(object(&b), "nodes");
    if (v && !json_is_null(v) && !json_is_object(v))
        svc_fw_bad(&b.in, &(struct svc_fw_at){ NULL, "nodes", false }, "must be an object");
    nodes = json_is_object(v) ? read_nodes(&b.in, v) : json_null();
    all = json_pack("{s:o}", "nodes", nodes);
    b.in.no_memory |= !all;
    r = end(&b, ret_violations);
    if (r == 0)
        *ret = all;
    else
        json_decref(all);
    return r;
}

/* ---- AclConfiguration ---- */

static json_t *read_users(struct svc_fw_in *in, const struct svc_fw_at *at, json_t *list)
{
    json_t *users = json_array();
    size_t n = json_array_size(list);

    if (list && !json_is_array(list))
        svc_fw_bad(in, at, "must be a list");
    for (size_t i = 0; i < n; i++) {
        const char *name = NULL;

        svc_fw_text(in, at, json_array_get(list, i), "name",
                    SVC_FW_TEXT_REQUIRED | SVC_FW_TEXT_NAME, SVC_FW_NAME_MAX, &name);
        if (name && json_array_append_new(users, json_pack("{s:s}", "name", name)) < 0)
            in->no_memory = true;
    }
    return users;
}

static json_t *read_namespaces(struct svc_fw_in *in, json_t *map)
{
    const struct svc_fw_at at = { NULL, "namespaceAcls", false };
    json_t *all = json_object(), *v;
    const char *name;

    if (map && !json_is_object(map))
        svc_fw_bad(in, &at, "must be an object");
    json_object_foreach(json_is_object(map) ? map : NULL, name, v)
    {
        const struct svc_fw_at here = { &at, name, true };
        const struct svc_fw_at users = { &here, "users", false };
        const json_t *one = svc_fw_map_value(in, &at, name, v);

        if (one && json_object_set_new(
                       all, name,
                       json_pack("{s:o}", "users",
                                 read_users(in, &users, json_object_get(one, "users")))) < 0)
            in->no_memory = true;
    }
    return all;
}

int svc_fw_read_acl(const char *json, size_t len, json_t **ret, char **ret_violations)
{
    const struct svc_fw_at admins = { NULL, "normalAdminUsers", false };
    struct body b;
    json_t *all;
    int r = begin(&b, json, len, ret_violations);

    if (r < 0)
        return r;
    all = json_pack("{s:o, s:o}", "namespaceAcls",
                    read_namespaces(&b.in, json_object_get(object(&b), "namespaceAcls")),
                    "normalAdminUsers",
                    read_users(&b.in, &admins, json_object_get(object(&b), admins.key)));
    b.in.no_memory |= !all;
    r = end(&b, ret_violations);
    if (r == 0)
        *ret = all;
    else
        json_decref(all);
    return r;
}
