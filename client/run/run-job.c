/* See run.h. The files of a job: a script and files for each group, the description, the
 * ApplicationMaster. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "client/run/run-command.h"
#include "wire/ipc/proxy.h"

void cli_run_count(struct run_options *o)
{
    o->runs = 0;
    for (size_t i = 0; i < o->n_groups; i++)
        o->runs += o->groups[i].only ? (int32_t)o->groups[i].n_only : o->groups[i].instances;
}

/* Finds the scheduler addresses of all ResourceManagers, for the ApplicationMaster. */
static int find_schedulers(struct sv_conf *conf, struct sv_arena *a, struct cli_job *job,
                           struct sv_error *err)
{
    struct ipc_proxy_config rm;
    int r = yarn_rm_proxy_config(conf, YARN_RM_SCHEDULER, &rm, err);

    if (r < 0)
        return r;
    job->schedulers = sv_newn(a, struct cli_server, rm.n_servers);
    if (!job->schedulers)
        return sv_error_errno(err, -ENOMEM, "job");
    for (; job->n_schedulers < rm.n_servers; job->n_schedulers++)
        job->schedulers[job->n_schedulers] =
            (struct cli_server){ rm.servers[job->n_schedulers].host,
                                 rm.servers[job->n_schedulers].port };
    return 0;
}

static int stage_files(struct cli_stage *stage, const struct run_file *files, size_t n,
                       struct cli_resource *ret, struct sv_error *err)
{
    for (size_t i = 0; i < n; i++) {
        int r = (files[i].directory ? cli_stage_pack : cli_stage_copy)(
            stage, files[i].path, files[i].link, files[i].type, &ret[i], err);

        if (r < 0)
            return r;
    }
    return 0;
}

/* Its command and its own files. */
static int stage_group(const struct run_options *o, const struct run_group *g,
                       struct cli_stage *stage, struct sv_arena *a, struct cli_job_group *ret,
                       struct sv_error *err)
{
    _cleanup_free_ char *script = NULL, *words = cli_run_words(o, g);
    int r = 0;

    *ret = (struct cli_job_group){ .name = g->name,
                                   .resource = g->resource,
                                   .instances = g->instances,
                                   .restarts = g->restarts,
                                   .at_once = g->at_once,
                                   .only = g->only,
                                   .n_only = g->n_only,
                                   .n_resources = g->n_files + 1 };
    ret->resources = sv_newn(a, struct cli_resource, ret->n_resources);
    if (!ret->resources)
        return sv_error_errno(err, -ENOMEM, "job");
    if (words) {
        ret->command = sv_arena_strdup(a, words);
        ret->n_resources--;
        r = ret->command ? 0 : -ENOMEM;
    } else {
        r = cli_run_script(o, g, &script);
    }
    if (r < 0)
        return sv_error_errno(err, r, "command");
    if (script)
        r = cli_stage_write(stage, CLI_TASK_FILE, script, strlen(script), &ret->resources[0], err);
    return r < 0 ? r
                 : stage_files(stage, g->files, g->n_files, &ret->resources[script != NULL], err);
}

static int stage_job(const struct run_options *o, struct cli_stage *stage, struct sv_arena *a,
                     struct cli_job *job, struct sv_error *err)
{
    int r = 0;

    job->resources = sv_newn(a, struct cli_resource, o->n_files + 1);
    job->groups = sv_newn(a, struct cli_job_group, o->n_groups);
    if (!job->resources || !job->groups)
        return sv_error_errno(err, -ENOMEM, "job");
    for (; r == 0 && job->n_groups < o->n_groups; job->n_groups++)
        r = stage_group(o, &o->groups[job->n_groups], stage, a, &job->groups[job->n_groups], err);
    if (r == 0)
        r = stage_files(stage, o->files, o->n_files, job->resources, err);
    job->n_resources = o->n_files;
    return r;
}

int cli_run_stage(const struct run_options *o, struct sv_conf *conf, struct cli_stage *stage,
                  struct sv_arena *a, struct cli_job *ret_job, struct cli_resource ret_am[2],
                  struct sv_error *err)
{
    _cleanup_free_ char *description = NULL;
    struct cli_job job = {
        .name = o->name,
        .tries = o->tries,
        .at_once = o->at_once,
        .detached = o->detach,
        .view_acl = o->view_acl,
        .modify_acl = o->modify_acl,
    };
    uint8_t random[16];
    char *secret = sv_arena_alloc(a, 2 * sizeof(random) + 1);
    int r;

    if (!secret || getrandom(random, sizeof(random), 0) != sizeof(random))
        return sv_error_errno(err, -ENOMEM, "job");
    for (size_t i = 0; i < sizeof(random); i++)
        snprintf(secret + 2 * i, 3, "%02x", random[i]);
    job.secret = secret;
    r = find_schedulers(conf, a, &job, err);
    if (r == 0)
        r = stage_job(o, stage, a, &job, err);
    if (r < 0)
        return r;
    r = cli_job_print(&job, &description);
    if (r < 0)
        return sv_error_errno(err, r, "job description");
    r = cli_stage_write(stage, CLI_JOB_FILE, description, strlen(description), &ret_am[0], err);
    if (r == 0)
        r = cli_stage_copy(stage, o->am_file, CLI_AM_FILE, CLI_FILE, &ret_am[1], err);
    if (r < 0)
        return r;
    *ret_job = job;
    return 0;
}
