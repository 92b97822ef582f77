/* `selvedge attach APPLICATION`: follows the output of its containers until it ends. For a job of
 * `selvedge run`, stdout is printed to stdout and stderr to stderr, as in the original session.
 * Hostile: the nodes' answers. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "client/core/options.h"
#include "client/logs/follow-app.h"

#define EXIT_LEFT 130 /* Ctrl-C */

struct attach {
    struct cli_ctx *ctx;
    struct cli_follow_app follow;
    sd_event_source *on_int;
};

/* Output of running containers is shown from now on, that of later ones from its beginning. */
static void on_row(const struct cli_row *row, size_t rows, bool first, void *userdata)
{
    struct attach *a = userdata;

    if (!row->done || !first)
        cli_streams_add(a->follow.streams, row, rows > 1, first ? 0 : -1);
}

/* ---- Completion ---- */

static void on_last_report(int status, const struct cli_report *report, size_t n,
                           const struct sv_error *err, void *userdata)
{
    struct attach *a = userdata;

    if (status < 0 || n == 0) {
        cli_stop_error(a->ctx, status, err);
        return;
    }
    (void)fflush(stdout);
    if (!a->ctx->output.quiet)
        fprintf(stderr, "%s %s\n", a->ctx->subject, cli_final_name(report->final));
    cli_stop(a->ctx, cli_report_code(report));
}

static void report_incomplete(int instance, const char *container, bool ended,
                              const struct cli_follow *log, void *userdata)
{
    const char *why = cli_follow_problem(log);

    (void)instance;
    (void)ended;
    (void)userdata;
    if (why && cli_follow_missing(log) != -ENOENT)
        (void)cli_fail("output of %s is incomplete: %s", container, why);
}

static void on_ended(void *userdata)
{
    struct attach *a = userdata;
    int r;

    cli_streams_each(a->follow.streams, report_incomplete, NULL);
    r = cli_rm_report(a->ctx->rm, a->follow.app, on_last_report, a);
    if (r < 0)
        cli_stop_error(a->ctx, r, NULL);
}

static int on_interrupt(sd_event_source *s, const struct signalfd_siginfo *info, void *userdata)
{
    const struct attach *a = userdata;

    (void)s;
    (void)info;
    fprintf(stderr, "selvedge: detached; %s keeps running: selvedge attach %s, selvedge kill %s\n",
            a->ctx->subject, a->ctx->subject, a->ctx->subject);
    cli_stop(a->ctx, EXIT_LEFT);
    return 0;
}

/* ---- Startup ---- */

static void on_report(int status, const struct cli_report *report, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct attach *a = userdata;
    int r;

    if (status < 0 || n == 0) {
        cli_stop_error(a->ctx, status, err);
        return;
    }
    if (cli_app_ended(report->state)) {
        (void)cli_fail("%s has ended; selvedge logs shows its output", a->ctx->subject);
        cli_stop(a->ctx, cli_report_code(report));
        return;
    }
    r = cli_follow_app_start(&a->follow);
    if (r < 0)
        cli_stop_error(a->ctx, r, NULL);
}

static int catch_interrupt(struct attach *a)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return -errno;
    return sd_event_add_signal(a->ctx->event, &a->on_int, SIGINT, on_interrupt, a);
}

int cli_cmd_attach(struct cli_ctx *ctx, int argc, char **argv)
{
    static const struct cli_follow_app_ops ops = { .row = on_row, .ended = on_ended };
    struct attach a = { .ctx = ctx, .follow = { .ctx = ctx, .ops = &ops, .userdata = &a } };
    int code = cli_option_app(ctx, argc, argv, NULL, 0, &a.follow.app), r;

    if (code != 0)
        return code;
    a.follow.streams = cli_streams_new(ctx, NULL, "", stdout, stderr);
    r = a.follow.streams ? catch_interrupt(&a) : -ENOMEM;
    if (r >= 0)
        r = cli_rm_report(ctx->rm, a.follow.app, on_report, &a);
    code = r < 0 ? cli_fail("attach: %s", strerror(-r)) : cli_loop(ctx);
    cli_follow_app_stop(&a.follow);
    sd_event_source_disable_unref(a.on_int);
    ctx->fetch = cli_fetch_free(ctx->fetch); /* its callbacks use the streams */
    ctx->rm = cli_rm_free(ctx->rm);
    cli_streams_free(a.follow.streams);
    return code;
}
