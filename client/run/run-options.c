/* See run.h. The options of `selvedge run`. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/core/options.h"
#include "client/run/run.h"
#include "common/str.h"

#ifndef SELVEDGE_LIBEXECDIR
#define SELVEDGE_LIBEXECDIR "/usr/libexec/selvedge"
#endif

#define TRIES 3 /* defaults */
#define AM_MEMORY_MB 128

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

/* Options whose place in a job file is a group's. */
static bool is_of_command(int c)
{
    static const int letters[] = {
        'n', 'm', 'c', 'a', 'f', 'e', RUN_OPT_LOCAL_DIR, RUN_OPT_GPUS, RUN_OPT_RESTART
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(letters); i++)
        if (c == letters[i])
            return true;
    return false;
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
    case 'F':
        o->job_file = optarg;
        return 0;
    case RUN_OPT_RERUN:
        o->rerun = optarg;
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

/* The command line as a job of one group. */
static int take_command(struct run_options *o, char **command)
{
    struct run_group *g = sv_new(o->arena, struct run_group);
    const char *slash = strrchr(command[0], '/');

    if (!g)
        return cli_fail("%s: out of memory", o->subcommand);
    *g = (struct run_group){ .name = "",
                             .what = "a container",
                             .resource = o->resource,
                             .instances = o->instances,
                             .restarts = o->restarts,
                             .command = (const char *const *)command,
                             .is_line = !command[1] };
    o->groups = g;
    o->n_groups = 1;
    if (!o->name) /* the program, or the whole shell line */
        o->name = slash && !strpbrk(command[0], " \t\n") ? slash + 1 : command[0];
    cli_run_count(o);
    return 0;
}

/* Takes the job of the file, or of the words behind the options. 0 or the exit code. */
static int take_job(struct run_options *o, int argc, char **argv)
{
    if (o->job_file && (optind < argc || o->of_command)) {
        (void)cli_fail("%s: --job-file %s: has the command, the sizes, the numbers, the files and "
                       "the environment of its groups: set them there",
                       o->subcommand, o->job_file);
        return 2;
    }
    if (o->job_file)
        return cli_run_read_file(o);
    if (optind == argc) {
        (void)cli_fail("%s: no command: give it after --", o->subcommand);
        return 2;
    }
    return take_command(o, argv + optind);
}

int cli_run_parse(struct cli_ctx *ctx, int argc, char **argv, struct run_options *ret)
{
    static char am_file[PATH_MAX];
    struct run_options o = {
        .subcommand = ctx->command->name,
        .am_file = am_file,
        .resource = { 256, 1 },
        .am_resource = { .vcores = 1 },
        .instances = 1,
        .arena = sv_arena_new(0),
    };
    int c, r = o.arena ? 0 : cli_fail("%s: out of memory", o.subcommand);

    find_am(am_file);
    optind = 0; /* restart getopt for a new argv */
    while (r == 0 && (c = cli_option(ctx, argc, argv)) != -1) {
        o.of_command = o.of_command || is_of_command(c);
        r = take_option(&o, c);
    }
    if (r == 0)
        r = take_job(&o, argc, argv);
    if (o.tries == 0)
        o.tries = TRIES;
    if (o.am_resource.memory_mb == 0)
        o.am_resource.memory_mb = AM_MEMORY_MB;
    if (r != 0)
        cli_run_options_free(&o);
    else
        *ret = o;
    return r;
}

void cli_run_options_free(struct run_options *o)
{
    for (size_t i = 0; i < o->n_files; i++)
        free(o->files[i].link);
    o->n_files = 0;
    o->arena = sv_arena_free(o->arena);
}
