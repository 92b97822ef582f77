/* `selvedge app status`: prints one report. */
#include <string.h>
#include <time.h>

#include "client/core/options.h"
#include "client/ui/table.h"
#include "client/views/objects.h"
#include "common/str.h"

static const char *time_text(int64_t ms, bool utc, char buf[40])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;

    if (ms <= 0 || !(utc ? gmtime_r : localtime_r)(&seconds, &tm) ||
        strftime(buf, 40, utc ? "%Y-%m-%dT%H:%M:%SZ" : "%F %T %z", &tm) == 0)
        return "-";
    return buf;
}

static void print_row(const char *name, const char *value)
{
    char shown[4096];

    sv_escape(shown, sizeof(shown), value);
    printf("%-13s %s\n", name, *shown ? shown : "-");
}

static void print_text(const struct cli_report *r, bool utc)
{
    char text[YARN_ID_TEXT_MAX], memory[32], used[96], attempt[16], progress[16], buf[40];

    snprintf(used, sizeof(used), "%d containers, %s, %d vcores", SV_MAX(r->used_containers, 0),
             cli_text_bytes(SV_MAX(r->used_memory_mb, (int64_t)0) << 20, memory),
             SV_MAX(r->used_vcores, 0));
    snprintf(attempt, sizeof(attempt), "%d", r->attempt.attempt);
    snprintf(progress, sizeof(progress), "%.0f%%", 100 * (double)r->progress);
    print_row("application", yarn_app_id_text(r->id, text));
    print_row("name", r->name);
    print_row("type", r->type);
    print_row("user", r->user);
    print_row("queue", r->queue);
    print_row("state", cli_app_state_name(r->state));
    print_row("final status", cli_app_ended(r->state) ? cli_final_name(r->final) : "-");
    print_row("attempt", attempt);
    print_row("progress", progress);
    print_row("uses", used);
    print_row("started", time_text(r->start_ms, utc, buf));
    print_row("finished", time_text(r->finish_ms, utc, buf));
    print_row("tracking URL", r->tracking_url);
    printf("%-13s ", "diagnostics");
    cli_output_lines(*r->diagnostics ? r->diagnostics : "-", 14, stdout);
}

static void on_report(int status, const struct cli_report *report, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct cli_ctx *ctx = userdata;

    if (status < 0 || n == 0) {
        cli_stop_error(ctx, status, err);
        return;
    }
    if (ctx->json)
        cli_output_json(&ctx->output, cli_app_object(report), stdout);
    else
        print_text(report, ctx->output.utc);
    cli_stop(ctx, 0);
}

int cli_cmd_app_status(struct cli_ctx *ctx, int argc, char **argv)
{
    struct yarn_app_id app;
    int code = cli_option_app(ctx, argc, argv, NULL, 0, &app), r;

    if (code != 0)
        return code;
    r = cli_rm_report(ctx->rm, app, on_report, ctx);
    return r < 0 ? cli_fail("app status: %s", strerror(-r)) : cli_loop(ctx);
}
