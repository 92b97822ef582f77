/* `selvedge kill`: for each application in turn, repeats the kill request until it has ended. */
#include <errno.h>
#include <string.h>

#include "client/core/commands.h"
#include "client/core/options.h"

struct kills {
    struct cli_ctx *ctx;
    char **texts; /* ids of the remaining applications; NULL-terminated */
    sd_event_source *timer;
};

static void send_kill(struct kills *k);

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    (void)s;
    (void)usec;
    send_kill(userdata);
    return 0;
}

static void on_answer(int status, bool killed, const struct sv_error *err, void *userdata)
{
    struct kills *k = userdata;
    int r;

    if (status < 0) {
        cli_stop_error(k->ctx, status, err);
        return;
    }
    if (killed) {
        if (!k->ctx->json && !k->ctx->output.quiet)
            printf("%s is over\n", *k->texts);
        k->texts++;
        send_kill(k);
        return;
    }
    sd_event_source_disable_unref(k->timer);
    r = sd_event_add_time_relative(k->ctx->event, &k->timer, CLOCK_MONOTONIC, CLI_POLL_MS * 1000, 0,
                                   on_timer, k);
    if (r < 0)
        cli_stop_error(k->ctx, r, NULL);
}

static void send_kill(struct kills *k)
{
    struct yarn_app_id app;
    int r;

    if (!*k->texts) {
        cli_stop(k->ctx, 0);
        return;
    }
    k->ctx->subject = *k->texts;
    r = cli_parse_app(*k->texts, &app);
    if (r == 0)
        r = cli_rm_kill(k->ctx->rm, app, "killed by the user", on_answer, k);
    if (r < 0)
        cli_stop_error(k->ctx, r, NULL);
}

int cli_cmd_kill(struct cli_ctx *ctx, int argc, char **argv)
{
    struct kills k = { .ctx = ctx };
    struct yarn_app_id app;
    int code = cli_option_none(ctx, argc, argv);

    if (code != 0)
        return code;
    if (optind == argc)
        return cli_usage(ctx);
    k.texts = argv + optind;
    for (char **text = k.texts; *text && code == 0; text++)
        code = cli_parse_app(*text, &app);
    if (code == 0)
        code = cli_connect(ctx);
    if (code != 0)
        return code;
    send_kill(&k);
    code = cli_loop(ctx);
    sd_event_source_disable_unref(k.timer);
    return code;
}
