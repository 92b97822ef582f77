/* See run.h. The job of -F: docs/job-file.md. Paths in it start at the file's directory. */
#include <stdio.h>
#include <string.h>

#include "client/core/input-file.h"
#include "client/run/job-file.h"
#include "client/run/run.h"
#include "client/run/yaml-tree.h"
#include "common/str.h"

static int no_memory(const struct run_options *o)
{
    return cli_fail("%s: out of memory", o->subcommand);
}

static bool is_stdin(const struct run_options *o)
{
    return strcmp(o->job_file, "-") == 0;
}

/* The path as this process opens it; NULL: out of memory. */
static const char *path_of(const struct run_options *o, const char *path)
{
    const char *slash = is_stdin(o) ? NULL : strrchr(o->job_file, '/');

    return *path == '/' || !slash
               ? path
               : sv_arena_printf(o->arena, "%.*s%s", (int)(slash - o->job_file) + 1, o->job_file,
                                 path);
}

/* ---- Files and variables ---- */

static int take_files(const struct run_options *o, const struct cli_file_set *set,
                      struct run_file *ret)
{
    for (size_t i = 0; i < set->n_files; i++) {
        ret[i] = (struct run_file){ .path = path_of(o, set->files[i].path),
                                    .link = sv_arena_strdup(o->arena, set->files[i].name),
                                    .type = set->files[i].type,
                                    .directory = set->files[i].directory };
        if (!ret[i].path || !ret[i].link)
            return no_memory(o);
    }
    return 0;
}

static int take_environment(const struct run_options *o, const struct cli_file_set *set,
                            const char **ret)
{
    for (size_t i = 0; i < set->n_env; i++) {
        ret[i] = sv_arena_printf(o->arena, "%s=%s", set->env[i].name, set->env[i].value);
        if (!ret[i])
            return no_memory(o);
    }
    return 0;
}

/* The job's own, which all groups have. */
static int take_common(struct run_options *o, const struct cli_job_file *job)
{
    struct run_file *files = sv_newn(o->arena, struct run_file, job->set.n_files + 1);
    int code = files ? take_files(o, &job->set, files) : no_memory(o);

    if (code == 0)
        code = take_environment(o, &job->set, o->env);
    if (code != 0)
        return code;
    o->n_env = job->set.n_env;
    for (size_t i = 0; i < job->set.n_files; i++) {
        o->files[i] = files[i];
        o->files[i].link = strdup(files[i].link); /* run_options own it */
        if (!o->files[i].link)
            return no_memory(o);
        o->n_files++;
    }
    return 0;
}

/* ---- Groups ---- */

static int take_group(const struct run_options *o, const struct cli_job_file *job,
                      const struct cli_file_group *from, struct run_group *g)
{
    int code;

    *g = (struct run_group){
        .name = from->name,
        .what = sv_arena_printf(o->arena, "a container of group %s", from->name),
        .resource = { from->memory_mb, (int32_t)from->vcores, (int32_t)from->gpus },
        .instances = (int32_t)from->instances,
        .restarts = (int32_t)(from->retries < 0 ? job->retries : from->retries),
        .at_once = (int32_t)from->at_once,
        .command = from->command.words,
        .is_line = from->command.is_line,
        .files = sv_newn(o->arena, struct run_file, from->set.n_files + 1),
        .n_files = from->set.n_files,
        .env = sv_newn(o->arena, const char *, from->set.n_env + 1),
        .n_env = from->set.n_env,
    };
    if (!g->what || !g->files || !g->env)
        return no_memory(o);
    code = take_files(o, &from->set, g->files);
    return code == 0 ? take_environment(o, &from->set, g->env) : code;
}

/* The file's name without directory and ending, for a job without a name. */
static const char *name_of(const struct run_options *o)
{
    const char *slash = strrchr(o->job_file, '/'), *name = slash ? slash + 1 : o->job_file;
    const char *dot = strrchr(name, '.');

    return is_stdin(o)
               ? "job"
               : sv_arena_printf(o->arena, "%.*s",
                                 (int)(dot && dot > name ? dot - name : (ptrdiff_t)strlen(name)),
                                 name);
}

/* Options of the command line go before the file. */
static int take_job(struct run_options *o, const struct cli_job_file *job)
{
    int code = take_common(o, job);

    o->name = o->name ? o->name : job->name ? job->name : name_of(o);
    o->queue = o->queue ? o->queue : job->queue;
    o->view_acl = o->view_acl ? o->view_acl : job->view_acl;
    o->modify_acl = o->modify_acl ? o->modify_acl : job->modify_acl;
    o->rolled_logs = o->rolled_logs ? o->rolled_logs : job->rolled_logs;
    o->lifetime_s = o->lifetime_s ? o->lifetime_s : job->deadline_s;
    o->tries = o->tries ? o->tries : (int32_t)job->tries;
    if (o->am_resource.memory_mb == 0)
        o->am_resource.memory_mb = job->am_memory_mb;
    o->at_once = (int32_t)job->at_once;
    o->groups = sv_newn(o->arena, struct run_group, job->n_groups);
    if (!o->name || !o->groups)
        return no_memory(o);
    for (; code == 0 && o->n_groups < job->n_groups; o->n_groups++)
        code = take_group(o, job, &job->groups[o->n_groups], &o->groups[o->n_groups]);
    cli_run_count(o);
    return code;
}

/* ---- The file ---- */

int cli_run_read_file(struct run_options *o)
{
    _cleanup_free_ char *text = NULL;
    struct cli_job_file job;
    struct sv_error err = { 0 };
    size_t len;
    int r = cli_file_read(o->job_file, CLI_YAML_BYTES_MAX, &text, &len, &err);

    if (r < 0) {
        (void)cli_fail("%s: %s", o->subcommand, err.text);
        return 2;
    }
    r = cli_job_file_parse(text, len, o->arena, &job, &err);
    if (r < 0) {
        (void)cli_fail("%s: %s: %s", o->subcommand, o->job_file, err.text);
        return 2;
    }
    return take_job(o, &job);
}
