/* `selvedge framework status NAME`: a line about the framework, why its tasks wait, and a table of
 * its roles. */
#include <errno.h>
#include <string.h>

#include "client/core/options.h"
#include "client/core/rm-rest.h"
#include "client/framework/call.h"
#include "client/framework/views.h"
#include "client/views/waiting.h"
#include "common/str.h"

static const struct cli_column role_columns[] = {
    { "ROLE", "role", CLI_TEXT, CLI_ALWAYS },
    { ">TASKS", "tasks", CLI_NUMBER, CLI_ALWAYS },
    { ">WAITING", "waiting", CLI_NUMBER, CLI_ALWAYS },
    { ">STARTING", "starting", CLI_NUMBER, CLI_ALWAYS },
    { ">RUNNING", "running", CLI_NUMBER, CLI_ALWAYS },
    { ">SUCCEEDED", "succeeded", CLI_NUMBER, CLI_ALWAYS },
    { ">FAILED", "failed", CLI_NUMBER, CLI_ALWAYS },
    { ">RETRIED", "retried", CLI_NUMBER, CLI_ALWAYS },
    { ">MEMORY", "memoryMb", CLI_MIB, CLI_IF_WIDE },
    { "~COMMAND", "command", CLI_TEXT, CLI_IF_WIDE },
};
static const struct cli_list roles = CLI_LIST(role_columns, "role");

#define STATUS "aggregatedFrameworkStatus.frameworkStatus."

struct asked {
    struct cli_ctx *ctx;
    json_t *info;
    char waits[CLI_WAITING_MAX]; /* why tasks have no containers; "" = nothing says why */
};

static void print_title(const struct asked *s)
{
    const struct cli_ctx *ctx = s->ctx;
    const json_t *info = s->info;
    const char *why = cli_member_text(info, STATUS "applicationExitTriggerMessage");
    const char *description = cli_member_text(info, STATUS "applicationExitDescription");
    const json_t *code = cli_member(info, STATUS "applicationExitCode");
    char text[600];

    printf("%s is %s", ctx->subject, cli_framework_state(info));
    if (*cli_member_text(info, STATUS "applicationId")) {
        sv_escape(text, sizeof(text), cli_member_text(info, STATUS "applicationId"));
        printf(", %s", text);
    }
    if (code) {
        sv_escape(text, sizeof(text), *why ? why : description);
        printf(", exit %lld: %s", (long long)json_integer_value(code), text);
    }
    if (*s->waits) {
        sv_escape(text, sizeof(text), s->waits);
        printf("\nwaits: %s", text);
    }
    printf("\n\n");
}

static void show(struct asked *s)
{
    struct cli_ctx *ctx = s->ctx;
    const json_t *info = s->info;
    bool table = ctx->output.format == CLI_TABLE || ctx->output.format == CLI_WIDE;

    if (ctx->json) {
        cli_output_json(&ctx->output,
                        json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "framework",
                                  ctx->subject, "state", cli_framework_state(info), "version",
                                  cli_member_json(info, STATUS "frameworkVersion"), "application",
                                  cli_member_json(info, STATUS "applicationId"), "exitCode",
                                  cli_member_json(info, STATUS "applicationExitCode"), "why",
                                  cli_member_json(info, STATUS "applicationExitTriggerMessage"),
                                  "waits", *s->waits ? cli_json_string(s->waits) : json_null(),
                                  "roles", cli_framework_roles(info)),
                        stdout);
        cli_stop(ctx, 0);
        return;
    }
    if (table && !ctx->output.quiet && !ctx->output.no_headers)
        print_title(s);
    cli_stop_list(ctx, &roles, cli_framework_roles(info));
}

/* The ResourceManager knows what each node lacked; without its answer nothing is said of that. */
static void on_application(int status, const char *body, size_t len, const char *why,
                           void *userdata)
{
    struct asked *s = userdata;
    json_t *answer = status == 200 ? json_loadb(body, len, 0, NULL) : NULL;

    (void)why;
    if (status == -ECANCELED)
        return;
    (void)cli_waiting_text(CLI_APP_RUNNING, cli_member_text(answer, "app.diagnostics"), s->waits);
    if (!*s->waits) /* its request may be none that the ResourceManager knows */
        (void)snprintf(s->waits, sizeof(s->waits), "%s", cli_framework_waits(s->info));
    json_decref(answer);
    show(s);
}

static void on_status(const json_t *info, void *userdata)
{
    struct asked *s = userdata;
    const char *app = cli_member_text(info, STATUS "applicationId");
    struct cli_framework_counts n;
    struct yarn_app_id id;
    char path[64], text[YARN_ID_TEXT_MAX];

    s->info = json_incref((json_t *)(uintptr_t)info);
    cli_framework_counts(info, NULL, &n);
    if (n.running + n.succeeded + n.failed < n.wanted && yarn_app_id_parse(app, &id) == 0 &&
        strncmp(cli_framework_state(info), "APPLICATION_", strlen("APPLICATION_")) == 0) {
        (void)snprintf(path, sizeof(path), "apps/%s", yarn_app_id_text(id, text));
        if (cli_rm_rest_get(s->ctx, path, on_application, s) >= 0)
            return;
    }
    show(s);
}

int cli_cmd_framework_status(struct cli_ctx *ctx, int argc, char **argv)
{
    struct asked s = { .ctx = ctx };
    int code = cli_option_none(ctx, argc, argv);

    if (code == 0)
        code = cli_framework_begin(ctx, argc, argv, &roles, 1, 1);
    if (code != 0)
        return code;
    cli_framework_info(ctx, on_status, &s);
    code = cli_loop(ctx);
    ctx->fetch = cli_fetch_free(ctx->fetch); /* an open request has its answer here */
    json_decref(s.info);
    return code;
}
