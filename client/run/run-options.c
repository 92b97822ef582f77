/* See run.h. The options of `selvedge run`, and the files of a job. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "client/core/options.h"
#include "client/run/run.h"
#include "common/buf.h"
#include "common/str.h"
#include "wire/ipc/proxy.h"

#ifndef SELVEDGE_LIBEXECDIR
#define SELVEDGE_LIBEXECDIR "/usr/libexec/selvedge"
#endif

static bool good_env(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

    return n > 0 && text[n] == '=' && !(text[0] >= '0' && text[0] <= '9');
}

static int wrong(const struct run_options *o, const char *option, const char *value,
                 const char *expected)
{
    (void)cli_fail("%s: --%s %s: expected %s", o->subcommand, option, value, expected);
    return 2;
}

static int parse_int(const struct run_options *o, const char *option, const char *value,
                     int32_t min, int32_t max, int32_t *ret)
{
    uint64_t v;
    char expected[64];

    snprintf(expected, sizeof(expected), "a number from %d to %d", min, max);
    if (sv_parse_u64(value, (uint64_t)min, (uint64_t)max, &v) < 0)
        return wrong(o, option, value, expected);
    *ret = (int32_t)v;
    return 0;
}

/* A plain number is MiB, as everywhere in YARN. */
static int parse_memory(const struct run_options *o, const char *option, const char *value,
                        int64_t *ret_mb)
{
    uint64_t bytes, mb;

    if (sv_parse_u64(value, 1, 1u << 30, &mb) == 0)
        bytes = mb << 20;
    else if (sv_parse_size(value, &bytes) < 0 || bytes < (1u << 20) || bytes > (1ULL << 50))
        return wrong(o, option, value, "a size of 1 MiB or more, such as 256m or 2g");
    *ret_mb = (int64_t)((bytes + (1u << 20) - 1) >> 20);
    return 0;
}

/* "path" or "path#name" */
static int add_file(struct run_options *o, char *value, enum cli_resource_type type)
{
    char *hash = strrchr(value, '#'), *slash;
    const char *link;

    if (o->n_files + 4 >= CLI_RESOURCES_MAX)
        return wrong(o, type == CLI_FILE ? "file" : "archive", value, "fewer files");
    if (hash)
        *hash = '\0';
    slash = strrchr(value, '/');
    link = hash ? hash + 1 : slash ? slash + 1 : value;
    if (!*link || strchr(link, '/') || strcmp(link, ".") == 0 || strcmp(link, "..") == 0 ||
        strlen(link) > 200)
        return wrong(o, type == CLI_FILE ? "file" : "archive", value, "PATH or PATH#NAME");
    o->files[o->n_files].link = strdup(link);
    if (!o->files[o->n_files].link)
        return cli_fail("%s: out of memory", o->subcommand);
    o->files[o->n_files].path = value;
    o->files[o->n_files++].type = type;
    return 0;
}

/* A trailing slash refers to the directory itself. */
static int add_directory(struct run_options *o, char *value)
{
    size_t n = strcspn(value, "#");
    int code;

    while (n > 1 && value[n - 1] == '/') {
        memmove(value + n - 1, value + n, strlen(value + n) + 1);
        n--;
    }
    code = add_file(o, value, CLI_ARCHIVE);
    if (code == 0)
        o->files[o->n_files - 1].directory = true;
    return code;
}

static int parse_timeout(const struct run_options *o, const char *value, int64_t *ret_s)
{
    int64_t ms;

    if (sv_parse_duration_ms(value, 1000, &ms) < 0 || ms <= 0)
        return wrong(o, "timeout", value, "a time, such as 90 (seconds) or 5m");
    *ret_s = (ms + 999) / 1000;
    return 0;
}

/* A NodeManager that cannot read the pattern uploads nothing while the job runs, and only its log
 * says so. Java's syntax, of which this checks what is never right: an open bracket, group or
 * escape. */
static bool good_pattern(const char *p)
{
    int groups = 0;
    bool set = false;

    for (; *p && groups >= 0; p++) {
        if (*p == '\\') {
            if (*++p == '\0')
                return false;
        } else if (*p == '[' && !set) {
            set = true;
            p += p[1] == '^';
            p += p[1] == ']'; /* the first one is a member */
        } else if (*p == ']') {
            set = false;
        } else if (!set) {
            groups += (*p == '(') - (*p == ')');
        }
    }
    return groups == 0 && !set;
}

static int take_option(struct run_options *o, int c)
{
    switch (c) {
    case 'n':
        return parse_int(o, "instances", optarg, 1, CLI_INSTANCES_MAX, &o->instances);
    case 'm':
        return parse_memory(o, "memory", optarg, &o->resource.memory_mb);
    case 'c':
        return parse_int(o, "vcores", optarg, 1, 1 << 20, &o->resource.vcores);
    case 'a':
        return add_file(o, optarg, CLI_ARCHIVE);
    case 'f':
        return add_file(o, optarg, CLI_FILE);
    case RUN_OPT_LOCAL_DIR:
        return add_directory(o, optarg);
    case RUN_OPT_GPUS:
        return parse_int(o, "gpus", optarg, 0, 1 << 20, &o->resource.gpus);
    case RUN_OPT_RESTART:
        return parse_int(o, "restart", optarg, 0, 1000, &o->restarts);
    case RUN_OPT_TIMEOUT:
        return parse_timeout(o, optarg, &o->lifetime_s);
    case RUN_OPT_ROLLED_LOGS:
        if (!good_pattern(optarg))
            return wrong(o, "rolled-logs", optarg, "a regular expression, such as stdout|.*[.]log");
        o->rolled_logs = optarg;
        return 0;
    case RUN_OPT_USER:
        o->user = optarg;
        return 0;
    case RUN_OPT_VIEW_ACL:
        o->view_acl = optarg;
        return 0;
    case RUN_OPT_MODIFY_ACL:
        o->modify_acl = optarg;
        return 0;
    case 'e':
        if (!good_env(optarg) || o->n_env == SV_ARRAY_LEN(o->env))
            return wrong(o, "env", optarg, "NAME=VALUE");
        o->env[o->n_env++] = optarg;
        return 0;
    case 'N':
        o->name = optarg;
        return 0;
    case 'q':
        o->queue = optarg;
        return 0;
    case RUN_OPT_TRIES:
        return parse_int(o, "tries", optarg, 1, 100, &o->tries);
    case RUN_OPT_AM_MEMORY:
        return parse_memory(o, "am-memory", optarg, &o->am_resource.memory_mb);
    case RUN_OPT_AM:
        o->am_file = optarg;
        return 0;
    case 'd':
        o->detach = true;
        return 0;
    case RUN_OPT_NO_OUTPUT:
        o->no_output = true;
        return 0;
    default: /* an error message was printed */
        return 2;
    }
}

/* Returns the path of the ApplicationMaster installed (or built) with this program; else the
 * compiled-in install path. */
static void find_am(char path[PATH_MAX])
{
    static const char *const places[] = { "../libexec/selvedge/" CLI_AM_FILE, CLI_AM_FILE };
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    self[n > 0 ? n : 0] = '\0';
    slash = strrchr(self, '/');
    for (size_t i = 0; slash && i < SV_ARRAY_LEN(places); i++) {
        slash[1] = '\0';
        if (snprintf(path, PATH_MAX, "%s%s", self, places[i]) < PATH_MAX && access(path, R_OK) == 0)
            return;
    }
    snprintf(path, PATH_MAX, "%s", SELVEDGE_LIBEXECDIR "/" CLI_AM_FILE);
}

int cli_run_parse(struct cli_ctx *ctx, int argc, char **argv, struct run_options *ret)
{
    static char am_file[PATH_MAX];
    struct run_options o = {
        .subcommand = ctx->command->name,
        .am_file = am_file,
        .resource = { 256, 1 },
        .am_resource = { 128, 1 },
        .instances = 1,
        .tries = 3,
    };
    int c, r;

    find_am(am_file);
    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        r = take_option(&o, c);
        if (r != 0) {
            cli_run_options_free(&o);
            return r;
        }
    }
    if (optind == argc) {
        cli_run_options_free(&o);
        (void)cli_fail("%s: no command: give it after --", ctx->command->name);
        return 2;
    }
    o.command = argv + optind;
    if (!o.name) {
        const char *slash = strrchr(o.command[0], '/');

        /* default name: the program, or the whole shell line */
        o.name = slash && !strpbrk(o.command[0], " \t\n") ? slash + 1 : o.command[0];
    }
    *ret = o;
    return 0;
}

void cli_run_options_free(struct run_options *o)
{
    for (size_t i = 0; i < o->n_files; i++)
        free(o->files[i].link);
    o->n_files = 0;
}

/* Quotes for the shell: 'text' with every ' as '\''. */
static int put_quoted(struct sv_buf *b, const char *text)
{
    int r = sv_buf_put_str(b, "'");

    for (const char *p = text; r == 0 && *p; p++)
        r = *p == '\'' ? sv_buf_put_str(b, "'\\''") : sv_buf_put(b, p, 1);
    return r < 0 ? r : sv_buf_put_str(b, "'");
}

/* Writes the script that each container runs: the environment, then the command. A single word is a
 * shell line; several are a program and its arguments, exactly as given. malloc'd. */
static int script_of(const struct run_options *o, char **ret)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    int r = sv_buf_put_str(&b, "#!/bin/bash\n");

    for (size_t i = 0; r == 0 && i < o->n_env; i++) {
        const char *value = strchr(o->env[i], '=') + 1;

        r = sv_buf_printf(&b, "export %.*s", (int)(value - o->env[i]), o->env[i]);
        if (r == 0)
            r = put_quoted(&b, value);
        if (r == 0)
            r = sv_buf_put_str(&b, "\n");
    }
    if (r == 0 && !o->command[1]) {
        r = sv_buf_put_str(&b, o->command[0]);
    } else if (r == 0) {
        r = sv_buf_put_str(&b, "exec --");
        for (char **word = o->command; r == 0 && *word; word++) {
            r = sv_buf_put_str(&b, " ");
            if (r == 0)
                r = put_quoted(&b, *word);
        }
    }
    if (r == 0)
        r = sv_buf_put(&b, "\n", 2); /* includes the NUL */
    if (r < 0)
        return r;
    *ret = (char *)SV_TAKE(b.data);
    return 0;
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

int cli_run_stage(const struct run_options *o, struct sv_conf *conf, struct cli_stage *stage,
                  struct sv_arena *a, struct cli_job *ret_job, struct cli_resource ret_am[2],
                  struct sv_error *err)
{
    _cleanup_free_ char *script = NULL, *description = NULL;
    struct cli_job job = {
        .name = o->name,
        .instances = o->instances,
        .resource = o->resource,
        .tries = o->tries,
        .restarts = o->restarts,
        .detached = o->detach,
        .view_acl = o->view_acl,
        .modify_acl = o->modify_acl,
    };
    uint8_t random[16];
    char *secret = sv_arena_alloc(a, 2 * sizeof(random) + 1);
    int r;

    job.resources = sv_newn(a, struct cli_resource, o->n_files + 1);
    if (!secret || !job.resources || getrandom(random, sizeof(random), 0) != sizeof(random))
        return sv_error_errno(err, -ENOMEM, "job");
    for (size_t i = 0; i < sizeof(random); i++)
        snprintf(secret + 2 * i, 3, "%02x", random[i]);
    job.secret = secret;
    r = find_schedulers(conf, a, &job, err);
    if (r < 0)
        return r;
    r = script_of(o, &script);
    if (r < 0)
        return sv_error_errno(err, r, "command");
    r = cli_stage_write(stage, CLI_TASK_FILE, script, strlen(script), &job.resources[0], err);
    if (r < 0)
        return r;
    job.n_resources = 1;
    for (size_t i = 0; i < o->n_files; i++) {
        r = (o->files[i].directory ? cli_stage_pack : cli_stage_copy)(
            stage, o->files[i].path, o->files[i].link, o->files[i].type,
            &job.resources[job.n_resources++], err);
        if (r < 0)
            return r;
    }
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
