/* `selvedge app attempts APPLICATION`: lists the attempts to run its ApplicationMaster. */
#include <string.h>

#include "client/core/options.h"
#include "client/views/objects.h"

static const struct cli_column columns[] = {
    { "ATTEMPT", "id", CLI_TEXT, CLI_ALWAYS },
    { "STATE", "state", CLI_TEXT, CLI_ALWAYS },
    { "?CONTAINER", "container", CLI_TEXT, CLI_ALWAYS },
    { "?HOST", "host", CLI_TEXT, CLI_ALWAYS },
    { "?STARTED", "startedTime", CLI_TIME, CLI_ALWAYS },
    { "?FINISHED", "finishedTime", CLI_TIME, CLI_ALWAYS },
    { "TRACKING URL", "trackingUrl", CLI_TEXT, CLI_IF_WIDE },
    { "DIAGNOSTICS", "diagnostics", CLI_TEXT, CLI_IF_WIDE },
};
static const struct cli_list list = CLI_LIST(columns, "id");

static void on_attempts(int status, const struct cli_attempt_report *attempts, size_t n,
                        const struct sv_error *err, void *userdata)
{
    struct cli_ctx *ctx = userdata;
    json_t *rows;

    if (status < 0) {
        cli_stop_error(ctx, status, err);
        return;
    }
    rows = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(rows, cli_attempt_object(&attempts[i]));
    cli_stop_list(ctx, &list, rows);
}

int cli_cmd_app_attempts(struct cli_ctx *ctx, int argc, char **argv)
{
    struct yarn_app_id app;
    int code = cli_option_app(ctx, argc, argv, &list, 0, &app), r;

    if (code != 0)
        return code;
    r = cli_rm_attempts(ctx->rm, app, on_attempts, ctx);
    return r < 0 ? cli_fail("app attempts: %s", strerror(-r)) : cli_loop(ctx);
}
