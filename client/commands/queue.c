/* `selvedge queue list|status`. */
#include <string.h>

#include "client/core/options.h"
#include "client/views/objects.h"

static const struct cli_column columns[] = {
    { "QUEUE", "path", CLI_TEXT, CLI_ALWAYS },
    { "STATE", "state", CLI_TEXT, CLI_ALWAYS },
    { ">CAPACITY", "capacity", CLI_SHARE, CLI_ALWAYS },
    { ">MAXIMUM", "maximumCapacity", CLI_SHARE, CLI_ALWAYS },
    { ">USED", "usedOfCapacity", CLI_SHARE, CLI_ALWAYS },
    { ">RUNNING", "running", CLI_NUMBER, CLI_ALWAYS },
    { ">PENDING", "pending", CLI_NUMBER, CLI_ALWAYS },
    { "LEAF", "leaf", CLI_TEXT, CLI_IF_WIDE },
};
static const struct cli_list list = CLI_LIST(columns, "path");

static void on_queues(int status, const struct cli_queue_report *queues, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct cli_ctx *ctx = userdata;
    json_t *rows;

    if (status < 0) {
        cli_stop_error(ctx, status, err);
        return;
    }
    if (n == 0) {
        cli_stop(ctx, cli_fail("%s: no such queue", ctx->subject ? ctx->subject : "root"));
        return;
    }
    rows = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(rows, cli_queue_object(&queues[i]));
    cli_stop_list(ctx, &list, rows);
}

static int queues(struct cli_ctx *ctx, int argc, char **argv, bool all)
{
    int code = cli_option_none(ctx, argc, argv), r;

    if (code == 0)
        code = cli_option_begin(ctx, argc, argv, &list, all ? 0 : 1, all ? 0 : 1, NULL);
    if (code != 0)
        return code;
    r = cli_rm_queues(ctx->rm, all ? "root" : ctx->subject, all, on_queues, ctx);
    return r < 0 ? cli_fail("%s: %s", ctx->command->name, strerror(-r)) : cli_loop(ctx);
}

int cli_cmd_queue_list(struct cli_ctx *ctx, int argc, char **argv)
{
    return queues(ctx, argc, argv, true);
}

int cli_cmd_queue_status(struct cli_ctx *ctx, int argc, char **argv)
{
    return queues(ctx, argc, argv, false);
}
