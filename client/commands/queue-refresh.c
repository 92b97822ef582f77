/* `selvedge queue refresh`: makes the ResourceManager reload its queue configuration. */
#include <string.h>

#include "client/core/options.h"

static void on_refreshed(int status, const struct sv_error *err, void *userdata)
{
    struct cli_ctx *ctx = userdata;

    if (status < 0)
        cli_stop_error(ctx, status, err);
    else
        cli_stop(ctx, 0);
}

int cli_cmd_queue_refresh(struct cli_ctx *ctx, int argc, char **argv)
{
    int code = cli_option_none(ctx, argc, argv), r;

    if (code != 0)
        return code;
    if (argc != optind)
        return cli_usage(ctx);
    code = cli_connect_admin(ctx);
    if (code != 0)
        return code;
    r = cli_rm_refresh_queues(ctx->rm, on_refreshed, ctx);
    return r < 0 ? cli_fail("queue refresh: %s", strerror(-r)) : cli_loop(ctx);
}
