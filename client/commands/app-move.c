/* `selvedge app move APPLICATION QUEUE`. */
#include <string.h>

#include "client/core/options.h"

static void on_moved(int status, const struct sv_error *err, void *userdata)
{
    struct cli_ctx *ctx = userdata;

    if (status < 0)
        cli_stop_error(ctx, status, err);
    else
        cli_stop(ctx, 0);
}

int cli_cmd_app_move(struct cli_ctx *ctx, int argc, char **argv)
{
    struct yarn_app_id app;
    int code = cli_option_app(ctx, argc, argv, NULL, 1, &app), r;

    if (code != 0)
        return code;
    r = cli_rm_move(ctx->rm, app, argv[optind + 1], on_moved, ctx);
    return r < 0 ? cli_fail("app move: %s", strerror(-r)) : cli_loop(ctx);
}
