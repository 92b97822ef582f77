/* `selvedge app priority APPLICATION N`. */
#include <string.h>

#include "client/core/options.h"
#include "common/str.h"

static void on_priority(int status, int32_t priority, const struct sv_error *err, void *userdata)
{
    struct cli_ctx *ctx = userdata;

    if (status < 0) {
        cli_stop_error(ctx, status, err);
        return;
    }
    if (ctx->json)
        cli_output_json(
            &ctx->output,
            json_pack("{s:s, s:i}", "application", ctx->subject, "priority", (int)priority),
            stdout);
    else if (!ctx->output.quiet) /* the cluster may have lowered it to its maximum */
        printf("%s has priority %d\n", ctx->subject, priority);
    cli_stop(ctx, 0);
}

int cli_cmd_app_priority(struct cli_ctx *ctx, int argc, char **argv)
{
    struct yarn_app_id app;
    uint64_t priority;
    int code = cli_option_app(ctx, argc, argv, NULL, 1, &app), r;

    if (code != 0)
        return code;
    if (sv_parse_u64(argv[optind + 1], 0, INT32_MAX, &priority) < 0) {
        (void)cli_fail("app priority: %s: expected a number from 0 (the lowest)", argv[optind + 1]);
        return 2;
    }
    r = cli_rm_priority(ctx->rm, app, (int32_t)priority, on_priority, ctx);
    return r < 0 ? cli_fail("app priority: %s", strerror(-r)) : cli_loop(ctx);
}
