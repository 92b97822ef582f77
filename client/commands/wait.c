/* `selvedge wait APPLICATION`: returns when the application has ended, with its exit code. */
#include <string.h>

#include "client/core/commands.h"
#include "client/core/options.h"

struct waiting {
    struct cli_ctx *ctx;
    struct yarn_app_id app;
    sd_event_source *timer;
};

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata);

static void on_report(int status, const struct cli_report *report, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct waiting *w = userdata;
    int r;

    if (status < 0 || n == 0) {
        cli_stop_error(w->ctx, status, err);
        return;
    }
    if (cli_app_ended(report->state)) {
        if (w->ctx->json)
            cli_output_json(&w->ctx->output,
                            json_pack("{s:s, s:s, s:i}", "application", w->ctx->subject,
                                      "finalStatus", cli_final_name(report->final), "exitCode",
                                      cli_report_code(report)),
                            stdout);
        else if (!w->ctx->output.quiet)
            printf("%s %s\n", w->ctx->subject, cli_final_name(report->final));
        cli_stop(w->ctx, cli_report_code(report));
        return;
    }
    sd_event_source_disable_unref(w->timer);
    w->timer = NULL;
    r = sd_event_add_time_relative(w->ctx->event, &w->timer, CLOCK_MONOTONIC, CLI_POLL_MS * 1000, 0,
                                   on_timer, w);
    if (r < 0)
        cli_stop_error(w->ctx, r, NULL);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct waiting *w = userdata;
    int r = cli_rm_report(w->ctx->rm, w->app, on_report, w);

    (void)s;
    (void)usec;
    if (r < 0)
        cli_stop_error(w->ctx, r, NULL);
    return 0;
}

int cli_cmd_wait(struct cli_ctx *ctx, int argc, char **argv)
{
    struct waiting w = { .ctx = ctx };
    int code = cli_option_app(ctx, argc, argv, NULL, 0, &w.app), r;

    if (code != 0)
        return code;
    r = cli_rm_report(ctx->rm, w.app, on_report, &w);
    code = r < 0 ? cli_fail("wait: %s", strerror(-r)) : cli_loop(ctx);
    sd_event_source_disable_unref(w.timer);
    return code;
}
