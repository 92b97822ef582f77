/* `selvedge app priority APPLICATION N`. */
#include <string.h>

#include "client/core/options.h"
#include "common/str.h"

struct priority_call {
    struct cli_ctx *ctx;
    int32_t asked;
};

/* The ResourceManager cuts a priority to the cluster's highest and answers with what it set; it
 * ignores the call for an application that is ending. */
static void print(const char *app, int32_t priority, int32_t asked)
{
    if (priority == asked)
        printf("%s has priority %d\n", app, priority);
    else if (priority < asked)
        printf("%s has priority %d, not %d: the highest of this cluster "
               "(yarn.cluster.max-application-priority of the ResourceManager), or it is ending\n",
               app, priority, asked);
    else
        printf("%s keeps priority %d: it is ending\n", app, priority);
}

static void on_priority(int status, int32_t priority, const struct sv_error *err, void *userdata)
{
    const struct priority_call *call = userdata;
    struct cli_ctx *ctx = call->ctx;

    if (status < 0) {
        cli_stop_error(ctx, status, err);
        return;
    }
    if (ctx->json)
        cli_output_json(
            &ctx->output,
            json_pack("{s:s, s:i}", "application", ctx->subject, "priority", (int)priority),
            stdout);
    else if (!ctx->output.quiet)
        print(ctx->subject, priority, call->asked);
    cli_stop(ctx, 0);
}

int cli_cmd_app_priority(struct cli_ctx *ctx, int argc, char **argv)
{
    struct priority_call call = { .ctx = ctx };
    struct yarn_app_id app;
    uint64_t priority;
    int code = cli_option_app(ctx, argc, argv, NULL, 1, &app), r;

    if (code != 0)
        return code;
    if (sv_parse_u64(argv[optind + 1], 0, INT32_MAX, &priority) < 0) {
        (void)cli_fail("app priority: %s: expected a number from 0 (the lowest)", argv[optind + 1]);
        return 2;
    }
    call.asked = (int32_t)priority;
    r = cli_rm_priority(ctx->rm, app, call.asked, on_priority, &call);
    if (r < 0)
        return cli_fail("app priority: %s", strerror(-r));
    code = cli_loop(ctx);
    ctx->rm = cli_rm_free(ctx->rm); /* before the object of its callback */
    return code;
}
