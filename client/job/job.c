/* Writer and reader of the job description. The reader checks ranges although the file is the same
 * user's: the ApplicationMaster must not loop over two billion instances. */
#include "client/job/job.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

static void json_freep(json_t **j)
{
    json_decref(*j);
}
#define _cleanup_json_ _cleanup_(json_freep)

int32_t cli_job_runs(const struct cli_job *job)
{
    int32_t n = 0;

    for (size_t i = 0; i < job->n_groups; i++)
        n += cli_group_runs(&job->groups[i]);
    return n;
}

/* ---- Writer ---- */

/* NULL: a name that is not UTF-8, or out of memory. */
static json_t *resources_json(const struct cli_resource *resources, size_t n)
{
    _cleanup_json_ json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        const struct cli_resource *r = &resources[i];

        if (json_array_append_new(
                list, json_pack("{s:s, s:s, s:I, s:I, s:i, s:i}", "name", r->name, "url", r->url,
                                "size", (json_int_t)r->size, "timestamp", (json_int_t)r->timestamp,
                                "type", (int)r->type, "visibility", (int)r->visibility)) < 0)
            return NULL;
    }
    return json_incref(list);
}

static json_t *group_json(const struct cli_job_group *g)
{
    _cleanup_json_ json_t *only = g->only ? json_array() : json_null();

    for (size_t i = 0; g->only && i < g->n_only; i++)
        if (json_array_append_new(only, json_integer(g->only[i])) < 0)
            return NULL;
    return json_pack("{s:s, s:s*, s:i, s:I, s:i, s:i, s:i, s:i, s:O, s:o}", "name", g->name,
                     "command", g->command, "instances", (int)g->instances, "memoryMb",
                     (json_int_t)g->resource.memory_mb, "vcores", (int)g->resource.vcores, "gpus",
                     (int)g->resource.gpus, "restarts", (int)g->restarts, "atOnce", (int)g->at_once,
                     "only", only, "resources", resources_json(g->resources, g->n_resources));
}

int cli_job_print(const struct cli_job *job, char **ret)
{
    _cleanup_json_ json_t *groups = json_array(), *servers = json_array();
    _cleanup_json_ json_t *root = NULL;

    for (size_t i = 0; i < job->n_schedulers; i++)
        if (json_array_append_new(servers, json_pack("{s:s, s:i}", "host", job->schedulers[i].host,
                                                     "port", (int)job->schedulers[i].port)) < 0)
            return -EINVAL;
    for (size_t i = 0; i < job->n_groups; i++)
        if (json_array_append_new(groups, group_json(&job->groups[i])) < 0)
            return -EINVAL;
    root = json_pack("{s:i, s:s, s:i, s:i, s:O, s:s, s:o, s:O, s:b, s:s*, s:s*}", "version", 4,
                     "name", job->name, "tries", (int)job->tries, "atOnce", (int)job->at_once,
                     "schedulers", servers, "secret", job->secret, "resources",
                     resources_json(job->resources, job->n_resources), "groups", groups, "detached",
                     job->detached, "viewAcl", job->view_acl, "modifyAcl", job->modify_acl);
    *ret = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
    return *ret ? 0 : -EINVAL;
}

/* ---- Reader ---- */

static int parse_resources(json_t *list, struct sv_arena *a, struct cli_resource **ret,
                           size_t *ret_n, struct sv_error *err)
{
    size_t n = json_array_size(list);
    struct cli_resource *all;

    if (n > CLI_RESOURCES_MAX)
        return sv_error_set(err, -E2BIG, "resources: %zu, at most %d", n, CLI_RESOURCES_MAX);
    all = sv_newn(a, struct cli_resource, n + 1);
    if (!all)
        return sv_error_errno(err, -ENOMEM, "resources");
    for (size_t i = 0; i < n; i++) {
        struct cli_resource *r = &all[i];
        json_int_t size, timestamp;
        int type, visibility;
        const char *name, *url;

        if (json_unpack(json_array_get(list, i), "{s:s, s:s, s:I, s:I, s:i, s:i}", "name", &name,
                        "url", &url, "size", &size, "timestamp", &timestamp, "type", &type,
                        "visibility", &visibility) < 0 ||
            type < CLI_ARCHIVE || type > CLI_FILE || visibility < CLI_PUBLIC ||
            visibility > CLI_APPLICATION)
            return sv_error_set(err, -EINVAL, "resources[%zu]: not a resource", i);
        *r = (struct cli_resource){
            .name = sv_arena_strdup(a, name),
            .url = sv_arena_strdup(a, url),
            .size = size,
            .timestamp = timestamp,
            .type = (enum cli_resource_type)type,
            .visibility = (enum cli_visibility)visibility,
        };
        if (!r->name || !r->url)
            return sv_error_errno(err, -ENOMEM, "resources");
    }
    *ret = all;
    *ret_n = n;
    return 0;
}

/* Ascending numbers of instances. */
static int parse_only(json_t *list, struct sv_arena *a, struct cli_job_group *g,
                      struct sv_error *err)
{
    size_t n = json_array_size(list);
    json_int_t last = -1;

    if (!json_is_array(list))
        return 0;
    if (n < 1 || n > (size_t)g->instances)
        return sv_error_set(err, -ERANGE, "group %s: only: %zu of %d instances", g->name, n,
                            g->instances);
    g->only = sv_newn(a, int32_t, n);
    if (!g->only)
        return sv_error_errno(err, -ENOMEM, "groups");
    for (; g->n_only < n; g->n_only++) {
        const json_t *number = json_array_get(list, g->n_only);

        if (!json_is_integer(number) || json_integer_value(number) <= last ||
            json_integer_value(number) >= g->instances)
            return sv_error_set(err, -ERANGE, "group %s: only[%zu]: not an instance, in order",
                                g->name, g->n_only);
        last = json_integer_value(number);
        g->only[g->n_only] = (int32_t)last;
    }
    return 0;
}

static int parse_group(json_t *j, struct sv_arena *a, struct cli_job_group *g, struct sv_error *err)
{
    json_error_t where;
    const char *name, *command = NULL;
    json_int_t memory;
    json_t *only, *resources;
    int instances, vcores, gpus, restarts, at_once, r;

    if (json_unpack_ex(j, &where, 0, "{s:s, s?s, s:i, s:I, s:i, s:i, s:i, s:i, s:o, s:o}", "name",
                       &name, "command", &command, "instances", &instances, "memoryMb", &memory,
                       "vcores", &vcores, "gpus", &gpus, "restarts", &restarts, "atOnce", &at_once,
                       "only", &only, "resources", &resources) < 0)
        return sv_error_set(err, -EINVAL, "a group: %s", where.text);
    if (instances < 1 || instances > CLI_INSTANCES_MAX || memory < 1 || memory > (1LL << 40) ||
        vcores < 1 || gpus < 0 || restarts < 0 || restarts > 1000 || at_once < 0 ||
        strlen(name) >= CLI_GROUP_NAME_MAX || (command && strlen(command) >= CLI_COMMAND_MAX))
        return sv_error_set(
            err, -ERANGE,
            "a group: name, command, instances, memoryMb, vcores, gpus, restarts or "
            "atOnce: out of range");
    *g = (struct cli_job_group){ .name = sv_arena_strdup(a, name),
                                 .command = command ? sv_arena_strdup(a, command) : NULL,
                                 .resource = { memory, vcores, gpus },
                                 .instances = instances,
                                 .restarts = restarts,
                                 .at_once = at_once };
    if (!g->name || (command && !g->command))
        return sv_error_errno(err, -ENOMEM, "groups");
    r = parse_only(only, a, g, err);
    return r < 0 ? r : parse_resources(resources, a, &g->resources, &g->n_resources, err);
}

static int parse_groups(json_t *list, struct sv_arena *a, struct cli_job *job, struct sv_error *err)
{
    size_t n = json_array_size(list);
    int64_t runs = 0;

    if (n < 1 || n > CLI_GROUPS_MAX)
        return sv_error_set(err, -ERANGE, "groups: %zu, between 1 and %d are needed", n,
                            CLI_GROUPS_MAX);
    job->groups = sv_newn(a, struct cli_job_group, n);
    if (!job->groups)
        return sv_error_errno(err, -ENOMEM, "groups");
    for (; job->n_groups < n; job->n_groups++) {
        int r =
            parse_group(json_array_get(list, job->n_groups), a, &job->groups[job->n_groups], err);

        if (r < 0)
            return r;
        runs += cli_group_runs(&job->groups[job->n_groups]);
    }
    return runs > CLI_INSTANCES_MAX
               ? sv_error_set(err, -ERANGE, "groups: %lld instances, at most %d", (long long)runs,
                              CLI_INSTANCES_MAX)
               : 0;
}

static int parse_schedulers(json_t *list, struct sv_arena *a, struct cli_job *job,
                            struct sv_error *err)
{
    size_t n = json_array_size(list);

    if (n < 1 || n > CLI_SERVERS_MAX)
        return sv_error_set(err, -ERANGE, "schedulers: %zu, between 1 and %d are needed", n,
                            CLI_SERVERS_MAX);
    job->schedulers = sv_newn(a, struct cli_server, n);
    if (!job->schedulers)
        return sv_error_errno(err, -ENOMEM, "schedulers");
    for (size_t i = 0; i < n; i++) {
        const char *host;
        int port;

        if (json_unpack(json_array_get(list, i), "{s:s, s:i}", "host", &host, "port", &port) < 0 ||
            port < 1 || port > 65535)
            return sv_error_set(err, -ERANGE, "schedulers[%zu]: not a host and a port", i);
        job->schedulers[i] = (struct cli_server){ sv_arena_strdup(a, host), (uint16_t)port };
        if (!job->schedulers[i].host)
            return sv_error_errno(err, -ENOMEM, "schedulers");
    }
    job->n_schedulers = n;
    return 0;
}

int cli_job_parse(const char *text, size_t len, struct sv_arena *a, struct cli_job *ret,
                  struct sv_error *err)
{
    json_error_t where;
    _cleanup_json_ json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
    struct cli_job job = { 0 };
    const char *name, *secret, *view_acl = NULL, *modify_acl = NULL;
    json_t *resources, *schedulers, *groups;
    int version, tries, at_once, detached = 0, r;

    if (!root)
        return sv_error_set(err, -EINVAL, "line %d: %s", where.line, where.text);
    if (json_unpack_ex(root, &where, 0, "{s:i, s:s, s:i, s:i, s:o, s:s, s:o, s:o, s?b, s?s, s?s}",
                       "version", &version, "name", &name, "tries", &tries, "atOnce", &at_once,
                       "schedulers", &schedulers, "secret", &secret, "resources", &resources,
                       "groups", &groups, "detached", &detached, "viewAcl", &view_acl, "modifyAcl",
                       &modify_acl) < 0)
        return sv_error_set(err, -EINVAL, "%s", where.text);
    if (version != 4)
        return sv_error_set(err, -EINVAL, "version %d: this program reads version 4", version);
    if (tries < 1 || tries > 100 || at_once < 0)
        return sv_error_set(err, -ERANGE, "tries or atOnce: out of range");
    job.name = sv_arena_strdup(a, name);
    job.tries = tries;
    job.at_once = at_once;
    job.detached = detached;
    job.secret = sv_arena_strdup(a, secret);
    job.view_acl = view_acl ? sv_arena_strdup(a, view_acl) : NULL;
    job.modify_acl = modify_acl ? sv_arena_strdup(a, modify_acl) : NULL;
    if (!job.name || !job.secret || (view_acl && !job.view_acl) || (modify_acl && !job.modify_acl))
        return sv_error_errno(err, -ENOMEM, "job description");
    r = parse_schedulers(schedulers, a, &job, err);
    if (r == 0)
        r = parse_resources(resources, a, &job.resources, &job.n_resources, err);
    if (r == 0)
        r = parse_groups(groups, a, &job, err);
    if (r < 0)
        return r;
    *ret = job;
    return 0;
}
