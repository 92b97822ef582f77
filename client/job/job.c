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

int cli_job_print(const struct cli_job *job, char **ret)
{
    _cleanup_json_ json_t *list = json_array(), *servers = json_array();
    _cleanup_json_ json_t *root = NULL;

    for (size_t i = 0; i < job->n_schedulers; i++)
        if (json_array_append_new(servers, json_pack("{s:s, s:i}", "host", job->schedulers[i].host,
                                                     "port", (int)job->schedulers[i].port)) < 0)
            return -EINVAL;

    for (size_t i = 0; i < job->n_resources; i++) {
        const struct cli_resource *r = &job->resources[i];

        if (json_array_append_new(
                list, json_pack("{s:s, s:s, s:I, s:I, s:i, s:i}", "name", r->name, "url", r->url,
                                "size", (json_int_t)r->size, "timestamp", (json_int_t)r->timestamp,
                                "type", (int)r->type, "visibility", (int)r->visibility)) < 0)
            return -EINVAL; /* a name that is not UTF-8, or out of memory */
    }
    root =
        json_pack("{s:i, s:s, s:i, s:I, s:i, s:i, s:O, s:s, s:O, s:b, s:i, s:i, s:s*, s:s*}",
                  "version", 2, "name", job->name, "instances", (int)job->instances, "memoryMb",
                  (json_int_t)job->resource.memory_mb, "vcores", (int)job->resource.vcores, "tries",
                  (int)job->tries, "schedulers", servers, "secret", job->secret, "resources", list,
                  "detached", job->detached, "gpus", (int)job->resource.gpus, "restarts",
                  (int)job->restarts, "viewAcl", job->view_acl, "modifyAcl", job->modify_acl);
    *ret = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
    return *ret ? 0 : -EINVAL;
}

static int parse_resources(json_t *list, struct sv_arena *a, struct cli_job *job,
                           struct sv_error *err)
{
    size_t n = json_array_size(list);

    if (n > CLI_RESOURCES_MAX)
        return sv_error_set(err, -E2BIG, "resources: %zu, at most %d", n, CLI_RESOURCES_MAX);
    job->resources = sv_newn(a, struct cli_resource, n + 1);
    if (!job->resources)
        return sv_error_errno(err, -ENOMEM, "resources");
    for (size_t i = 0; i < n; i++) {
        struct cli_resource *r = &job->resources[i];
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
    job->n_resources = n;
    return 0;
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
    json_int_t memory;
    json_t *resources, *schedulers;
    int version, instances, vcores, tries, detached = 0, gpus = 0, restarts = 0, r;

    if (!root)
        return sv_error_set(err, -EINVAL, "line %d: %s", where.line, where.text);
    if (json_unpack_ex(root, &where, 0,
                       "{s:i, s:s, s:i, s:I, s:i, s:i, s:o, s:s, s:o, s?b, s?i, s?i, s?s, s?s}",
                       "version", &version, "name", &name, "instances", &instances, "memoryMb",
                       &memory, "vcores", &vcores, "tries", &tries, "schedulers", &schedulers,
                       "secret", &secret, "resources", &resources, "detached", &detached, "gpus",
                       &gpus, "restarts", &restarts, "viewAcl", &view_acl, "modifyAcl",
                       &modify_acl) < 0)
        return sv_error_set(err, -EINVAL, "%s", where.text);
    if (version != 2)
        return sv_error_set(err, -EINVAL, "version %d: this program reads version 2", version);
    if (instances < 1 || instances > CLI_INSTANCES_MAX || memory < 1 || memory > (1LL << 40) ||
        vcores < 1 || tries < 1 || tries > 100 || gpus < 0 || restarts < 0 || restarts > 1000)
        return sv_error_set(err, -ERANGE,
                            "instances, memoryMb, vcores, gpus, tries or restarts: out of range");
    job.name = sv_arena_strdup(a, name);
    job.instances = instances;
    job.resource = (struct yarn_resource){ memory, vcores, gpus };
    job.restarts = restarts;
    job.tries = tries;
    job.detached = detached;
    job.secret = sv_arena_strdup(a, secret);
    job.view_acl = view_acl ? sv_arena_strdup(a, view_acl) : NULL;
    job.modify_acl = modify_acl ? sv_arena_strdup(a, modify_acl) : NULL;
    if (!job.name || !job.secret || (view_acl && !job.view_acl) || (modify_acl && !job.modify_acl))
        return sv_error_errno(err, -ENOMEM, "job description");
    r = parse_schedulers(schedulers, a, &job, err);
    if (r == 0)
        r = parse_resources(resources, a, &job, err);
    if (r < 0)
        return r;
    *ret = job;
    return 0;
}
