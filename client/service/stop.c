/* `selvedge service stop` and `destroy`. */
#include "client/core/options.h"
#include "client/service/await.h"
#include "client/service/call.h"

struct ending {
    struct cli_ctx *ctx;
    struct cli_await await;
};

static void on_answer(const json_t *answer, void *userdata)
{
    struct ending *e = userdata;

    cli_service_said(e->ctx, answer);
    cli_await(e->ctx, &e->await);
}

static int end(struct cli_ctx *ctx, int argc, char **argv, const char *method, json_t *body)
{
    struct ending e = { .ctx = ctx, .await = { .goal = CLI_GOAL_STOPPED } };
    int code = 0, c;

    optind = 0; /* restart getopt for a new argv */
    while (code == 0 && (c = cli_option(ctx, argc, argv)) != -1)
        code = c == CLI_OPT_WAIT_EMPTY ? cli_await_option(ctx, &e.await, optarg) : 2;
    if (code == 0)
        code = cli_service_begin(ctx, argc, argv, NULL, 1, 1);
    if (code == 0)
        code = cli_service_name(ctx, ctx->subject);
    if (code != 0) {
        json_decref(body);
        return code;
    }
    cli_service_call(ctx, &(struct cli_service_request){ .method = method, .body = body },
                     on_answer, &e);
    code = cli_loop(ctx);
    ctx->fetch = cli_fetch_free(ctx->fetch); /* an open request has its answer here */
    cli_await_end(&e.await);
    return code;
}

int cli_cmd_service_stop(struct cli_ctx *ctx, int argc, char **argv)
{
    return end(ctx, argc, argv, "PUT", json_pack("{s:s}", "state", "STOPPED"));
}

int cli_cmd_service_destroy(struct cli_ctx *ctx, int argc, char **argv)
{
    return end(ctx, argc, argv, "DELETE", NULL);
}
