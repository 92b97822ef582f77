/* `selvedge framework submit NAME FILE`. The descriptor is checked here first. */
#include <errno.h>
#include <string.h>

#include "client/core/input-file.h"
#include "client/core/options.h"
#include "client/framework/call.h"
#include "client/framework/explain.h"
#include "client/framework/framework.h"
#include "client/framework/watch.h"
#include "common/str.h"

static const struct cli_column columns[] = {
    { "ROLE", "role", CLI_TEXT, CLI_ALWAYS },
    { ">TASKS", "tasks", CLI_NUMBER, CLI_ALWAYS },
    { ">MEMORY", "memoryMb", CLI_MIB, CLI_ALWAYS },
    { ">VCORES", "vcores", CLI_NUMBER, CLI_ALWAYS },
    { ">GPUS", "gpus", CLI_NUMBER, CLI_ALWAYS },
    { "PORTS", "ports", CLI_TEXT, CLI_ALWAYS },
    { "LABEL", "label", CLI_TEXT, CLI_IF_WIDE },
    { "GPU TYPE", "gpuType", CLI_TEXT, CLI_IF_WIDE },
    { "NODE", "node", CLI_TEXT, CLI_ALWAYS },
    { ">FITS", "fits", CLI_NUMBER, CLI_ALWAYS },
    { "~LACKS", "lacks", CLI_TEXT, CLI_ALWAYS },
};
static const struct cli_list list = CLI_LIST(columns, "role");

struct submit {
    struct cli_ctx *ctx;
    struct cli_watch watch;
    bool explain;
    struct sv_arena *arena;
    struct svc_fw_descriptor *descriptor;
};

/* 0, or 2 after an error message. */
static int read_file(struct submit *s, const char *file)
{
    _cleanup_free_ char *json = NULL, *violations = NULL;
    struct sv_error err = { 0 };
    size_t len;
    int r = cli_file_read(file, SVC_FW_JSON_MAX, &json, &len, &err);

    if (r == 0) {
        s->arena = sv_arena_new(0);
        r = s->arena ? svc_fw_parse(json, len, true, s->arena, &s->descriptor, &violations)
                     : -ENOMEM;
    }
    if (r == 0)
        return 0;
    if (!violations) {
        (void)cli_fail("%s", err.code ? err.text : strerror(-r));
        return 2;
    }
    for (char *line = violations, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        (void)cli_fail("%s: %s", file, line);
    }
    return 2;
}

static void on_submitted(const json_t *answer, void *userdata)
{
    struct submit *s = userdata;

    (void)answer;
    cli_watch(s->ctx, &s->watch);
}

static void put(struct submit *s)
{
    _cleanup_free_ char *path = NULL;
    json_t *body;

    if (strcmp(s->descriptor->user, "default") == 0) /* it names none: the caller's own */
        s->descriptor->user = s->ctx->user;
    body = svc_fw_json(s->descriptor);
    if (!body || sv_asprintf(&path, "/%s", s->ctx->subject) < 0) {
        json_decref(body);
        cli_stop(s->ctx, cli_fail("out of memory"));
        return;
    }
    cli_framework_call(
        s->ctx, &(struct cli_framework_request){ .method = "PUT", .path = path, .body = body },
        on_submitted, s);
}

static void on_nodes(int status, const struct cli_node_report *nodes, size_t n,
                     const struct sv_error *err, void *userdata)
{
    struct submit *s = userdata;

    if (status < 0)
        cli_stop_error(s->ctx, status, err);
    else
        cli_stop_list(s->ctx, &list, cli_framework_explain(s->descriptor, nodes, n));
}

/* 0 or the exit code. */
static int begin(struct submit *s, int argc, char **argv)
{
    int code = s->explain ? cli_option_begin(s->ctx, argc, argv, &list, 2, 2, NULL)
                          : cli_framework_begin(s->ctx, argc, argv, NULL, 2, 2);

    if (code == 0)
        code = cli_framework_name(s->ctx, s->ctx->subject);
    return code == 0 ? read_file(s, argv[optind + 1]) : code;
}

static int run(struct submit *s)
{
    int code, r = 0;

    if (s->explain)
        r = cli_rm_nodes(s->ctx->rm, false, on_nodes, s);
    else
        put(s);
    code = r < 0 ? cli_fail("%s", strerror(-r)) : cli_loop(s->ctx);
    s->ctx->fetch = cli_fetch_free(s->ctx->fetch); /* an open request has its answer here */
    cli_watch_end(&s->watch);
    return code;
}

int cli_cmd_framework_submit(struct cli_ctx *ctx, int argc, char **argv)
{
    struct submit s = { .ctx = ctx };
    int code = 0, c;

    optind = 0; /* restart getopt for a new argv */
    while (code == 0 && (c = cli_option(ctx, argc, argv)) != -1) {
        if (c == FRAMEWORK_OPT_EXPLAIN)
            s.explain = true;
        else
            code = c == CLI_OPT_WAIT_EMPTY ? cli_watch_option(ctx, &s.watch, optarg) : 2;
    }
    if (code == 0)
        code = begin(&s, argc, argv);
    if (code == 0)
        code = run(&s);
    sv_arena_free(s.arena);
    return code;
}
