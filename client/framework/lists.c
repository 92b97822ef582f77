/* `selvedge framework list` and `tasks`. */
#include <string.h>

#include "client/core/options.h"
#include "client/framework/call.h"
#include "client/framework/framework.h"
#include "client/framework/views.h"
#include "client/http/node-url.h"
#include "common/str.h"

static const struct cli_column framework_columns[] = {
    { "FRAMEWORK", "framework", CLI_TEXT, CLI_ALWAYS },
    { ">VERSION", "version", CLI_NUMBER, CLI_ALWAYS },
    { "STATE", "state", CLI_TEXT, CLI_ALWAYS },
    { "USER", "user", CLI_TEXT, CLI_ALWAYS },
    { "QUEUE", "queue", CLI_TEXT, CLI_ALWAYS },
    { ">TASKS", "tasks", CLI_NUMBER, CLI_ALWAYS },
    { ">EXIT", "exitCode", CLI_NUMBER, CLI_ALWAYS },
    { "SUBMITTED", "submitted", CLI_TIME, CLI_ALWAYS },
    { "ENDED", "ended", CLI_TIME, CLI_IF_WIDE },
    { ">GPUS", "gpus", CLI_NUMBER, CLI_IF_WIDE },
    { ">ROLES", "roles", CLI_NUMBER, CLI_IF_WIDE },
};
static const struct cli_list frameworks = CLI_LIST(framework_columns, "framework");

static const struct cli_column task_columns[] = {
    { "TASK", "task", CLI_TEXT, CLI_ALWAYS },
    { "STATE", "state", CLI_TEXT, CLI_ALWAYS },
    { "HOST", "host", CLI_TEXT, CLI_ALWAYS },
    { "PORTS", "ports", CLI_TEXT, CLI_ALWAYS },
    { ">RETRIES", "retries", CLI_NUMBER, CLI_ALWAYS },
    { ">EXIT", "exitCode", CLI_NUMBER, CLI_ALWAYS },
    { "TYPE", "exitType", CLI_TEXT, CLI_ALWAYS },
    { "STARTED", "started", CLI_TIME, CLI_IF_WIDE },
    { "CONTAINER", "container", CLI_TEXT, CLI_IF_WIDE },
    { "~WHY", "why", CLI_TEXT, CLI_IF_WIDE },
    { "IP", "ip", CLI_TEXT, CLI_AS_FIELD },
    { ">GPUS", "gpus", CLI_NUMBER, CLI_AS_FIELD },
    { "LOGS", "logs", CLI_TEXT, CLI_AS_FIELD },
};
static const struct cli_list tasks = CLI_LIST(task_columns, "task");

/* ---- list ---- */

static json_t *framework_row(const json_t *one)
{
    const char *state = cli_member_text(one, "frameworkState");
    int64_t code = json_integer_value(json_object_get(one, "applicationExitCode"));

    if (strcmp(state, "FRAMEWORK_COMPLETED") == 0)
        state = code == 0 ? "SUCCEEDED" : code == -7351 ? "STOPPED" : "FAILED";
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "framework",
        cli_member_json(one, "frameworkName"), "version", cli_member_json(one, "frameworkVersion"),
        "state", cli_json_string(state), "user", cli_member_json(one, "userName"), "queue",
        cli_member_json(one, "queue"), "tasks", cli_member_json(one, "totalTaskNumber"), "exitCode",
        cli_member_json(one, "applicationExitCode"), "submitted",
        cli_member_json(one, "firstRequestTimestamp"), "ended",
        cli_member_json(one, "frameworkCompletedTimestamp"), "gpus",
        cli_member_json(one, "totalGpuNumber"), "roles",
        cli_member_json(one, "totalTaskRoleNumber"));
}

static void on_list(const json_t *answer, void *userdata)
{
    struct cli_ctx *ctx = userdata;
    json_t *rows = json_array();
    const json_t *one;
    size_t i;

    json_array_foreach(cli_member(answer, "summarizedFrameworkInfos"), i,
                       one) if (json_array_append_new(rows, framework_row(one)) < 0)
    {
        json_decref(rows);
        cli_stop(ctx, cli_fail("out of memory"));
        return;
    }
    cli_stop_list(ctx, &frameworks, rows);
}

int cli_cmd_framework_list(struct cli_ctx *ctx, int argc, char **argv)
{
    _cleanup_free_ char *query = NULL, *name = NULL;
    const char *user = NULL;
    int code, c;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c != 'u')
            return 2;
        user = optarg;
    }
    code = cli_framework_begin(ctx, argc, argv, &frameworks, 0, 0);
    if (code == 0 && optind < argc)
        return cli_usage(ctx);
    if (code != 0)
        return code;
    name = user ? cli_percent_encode(user) : NULL;
    if (user && (!name || sv_asprintf(&query, "&UserName=%s", name) < 0))
        return cli_fail("out of memory");
    cli_framework_call(
        ctx, &(struct cli_framework_request){ .method = "GET", .path = "", .query = query },
        on_list, ctx);
    return cli_loop(ctx);
}

/* ---- tasks ---- */

struct wanted {
    struct cli_ctx *ctx;
    const char *role, *states;
};

static void on_tasks(const json_t *info, void *userdata)
{
    struct wanted *w = userdata;

    cli_stop_list(w->ctx, &tasks, cli_framework_tasks(info, w->role, w->states));
}

int cli_cmd_framework_tasks(struct cli_ctx *ctx, int argc, char **argv)
{
    struct wanted w = { .ctx = ctx };
    int code = 0, c;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c == FRAMEWORK_OPT_STATES)
            w.states = optarg;
        else if (c == FRAMEWORK_OPT_ROLE)
            w.role = optarg;
        else
            return 2;
    }
    code = cli_framework_begin(ctx, argc, argv, &tasks, 1, 1);
    if (code == 0 && w.role)
        code = cli_framework_name(ctx, w.role);
    if (code != 0)
        return code;
    cli_framework_info(ctx, on_tasks, &w);
    return cli_loop(ctx);
}
