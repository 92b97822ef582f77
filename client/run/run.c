/* `selvedge run`: submits a job, shows its progress and the containers' output, ends with their
 * table and the job's exit code. A timer polls the ResourceManager and the ApplicationMaster;
 * responses drive the progress. */
#include "client/run/run.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/core/commands.h"
#include "client/job/diagnostics.h"
#include "client/logs/streams.h"
#include "client/run/preflight.h"
#include "client/run/run-interrupt.h"
#include "client/run/run-last.h"
#include "client/run/run-progress.h"
#include "client/run/run-submit.h"
#include "client/run/run-usage.h"
#include "client/run/sweep.h"
#include "client/ui/progress.h"
#include "client/views/status.h"
#include "client/views/waiting.h"
#include "common/clock.h"
#include "common/str.h"

#define DRAIN_MS                                                                                   \
    15000 /* limit for the last output after the last container, without any progress */
#define LOG_POLL_MS 500
/* Polls frequently while a short job may end, and at the end; large tables are read less often,
 * since parsing them takes time. */
#define YOUNG_MS 3000
#define YOUNG_POLL_MS 40
#define END_POLL_MS 10
#define WAITING_MS 2000        /* before the reason is printed why the scheduler gives nothing */
#define WAITING_AGAIN_MS 30000 /* before another one is */
#define ROWS_PER_MS 2          /* rows of the table per ms added to the polling interval */
#define SIZE_POLL_MS 1500      /* upper limit: the ApplicationMaster waits for 4 s */

struct run {
    struct cli_ctx *ctx;
    struct run_options options;
    struct run_submission submission;
    struct run_interrupt *interrupt;
    struct cli_streams *streams;
    struct run_usage *usage;
    struct run_last *last; /* NULL: the job is running */
    struct run_progress *progress;
    sd_event_source *tick;
    char url[512]; /* the ApplicationMaster's; "" = unknown */
    enum cli_app_state state;
    struct cli_status status; /* rows == NULL: none received */
    bool report_open, status_open, end_sent, output_complete;
    bool hint; /* printed by `submit` */
    int64_t began, finished_at, ended_at, polled_at;
    int64_t waits_since, waits_told; /* 0: it does not wait; not told yet */
    char waits[CLI_WAITING_MAX];     /* told last */
};

static void print_line(struct run *run, const char *fmt, ...) _printf_(2, 3);
static void print_line(struct run *run, const char *fmt, ...)
{
    char text[4096], shown[4 * sizeof(text)];
    va_list ap;

    if (run->ctx->json || run->ctx->output.quiet)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sv_escape(shown, sizeof(shown), text); /* diagnostics come from the job */
    cli_progress_yield(stderr, true);
    fprintf(stderr, "[%6.1f s] %s\n", (double)(sv_now_ms() - run->began) / 1000, shown);
}

static void say(const char *line, void *userdata)
{
    print_line(userdata, "%s", line);
}

/* ---- Output of the containers ---- */

/* Polls logs; true when output and usage of all ended containers are complete. */
static bool follow_all(struct run *run, bool all)
{
    bool complete = true;

    for (size_t i = 0; i < run->status.n && (int32_t)i < run->options.runs; i++) {
        const struct cli_row *row = &run->status.rows[i];

        if (!run->options.no_output && (row->done || strcmp(row->state, "RUNNING") == 0))
            cli_streams_add(run->streams, row, run->options.runs > 1, -1);
        if (!row->done || run->last) /* killed: its output may never be complete */
            continue;
        cli_streams_end(run->streams, row->container);
        complete = cli_run_usage_ask(run->usage, i, row) && complete;
    }
    if (run->status.rows)
        cli_streams_end_replaced(run->streams, &run->status);
    return cli_streams_poll(run->streams, all) && complete;
}

/* Prints a message on stderr for each log that was not printed completely. */
static void report_incomplete(int instance, const char *container, bool ended,
                              const struct cli_follow *log, void *userdata)
{
    const struct run *run = userdata;
    const char *problem = cli_follow_problem(log);

    (void)container;
    if (problem)
        (void)cli_fail("output of instance %d is incomplete: %s", instance, problem);
    else if (ended && !cli_follow_complete(log))
        (void)cli_fail("output of instance %d is incomplete: its node did not send the rest within "
                       "%d seconds; selvedge logs %s",
                       instance, DRAIN_MS / 1000, run->submission.app_text);
}

/* ---- The ApplicationMaster's table ---- */

static void on_status(int http, const char *body, size_t len, const char *why, void *userdata)
{
    struct run *run = userdata;
    struct cli_status status;

    (void)why;
    run->status_open = false;
    if (run->last || http != 200 || cli_status_parse(body, len, &status, NULL) < 0)
        return; /* it has ended or may be restarting: the application report shows it */
    cli_status_free(&run->status);
    run->status = status;
    cli_run_progress_table(run->progress, &run->status);
    if (status.finished && run->finished_at == 0) {
        run->finished_at = sv_now_ms();
        (void)sd_event_source_set_time(run->tick, 0); /* on failure, with the next poll, ignoring */
    }
}

static void on_end(int http, const char *body, size_t len, const char *why, void *userdata)
{
    (void)http; /* without this request the ApplicationMaster ends by timeout */
    (void)body;
    (void)len;
    (void)why;
    (void)userdata;
}

/* Notifies the ApplicationMaster that its final table was read. */
static void send_end(struct run *run)
{
    char url[520], header[128];
    char *slash;

    run->end_sent = true;
    snprintf(url, sizeof(url), "%s", run->url);
    slash = strrchr(url, '/');
    if (!slash || slash < url + 8)
        return;
    snprintf(slash, sizeof(url) - (size_t)(slash - url), "/end");
    snprintf(header, sizeof(header), CLI_SECRET_HEADER ": %s", run->submission.job.secret);
    (void)!cli_fetch_post(run->ctx->fetch, url, header, on_end, run);
}

/* ---- The ResourceManager's report ---- */

/* False: the containers ended at `at`, and since then no text has come for DRAIN_MS. A pager that
 * keeps this command from printing is not the node's delay. */
static bool still_drains(const struct run *run, int64_t at)
{
    return sv_now_ms() - SV_MAX(at, cli_streams_printed_ms(run->streams)) <= DRAIN_MS;
}

/* The application may end before its last output has arrived, if its ApplicationMaster stopped
 * waiting for this command. */
static bool wait_for_output(struct run *run)
{
    if (run->ended_at == 0)
        run->ended_at = sv_now_ms();
    return run->status.finished && !run->output_complete && still_drains(run, run->ended_at);
}

/* The ApplicationMaster has ended, so its table no longer changes: containers last seen running
 * were killed with it, and their nodes report how they ended. */
static bool wait_for_states(struct run *run)
{
    if (!run->last)
        run->last = cli_run_last_new(run->ctx, &run->status);
    return run->last && !cli_run_last_poll(run->last);
}

static void finish(struct run *run, const struct cli_report *report)
{
    const char *app = run->submission.app_text;
    int code = cli_run_interrupt_code(run->interrupt);
    char why[1024];

    cli_progress_end();
    cli_diagnostics_summary(report->diagnostics, why, sizeof(why));
    cli_run_usage_copy(run->usage, &run->status);
    cli_streams_each(run->streams, report_incomplete, run);
    if (run->status.rows && (run->ctx->json || !run->ctx->output.quiet))
        cli_status_print(&run->status, app, &run->ctx->output,
                         run->options.no_output ? CLI_TAIL_LINES : 0, /* else it was printed */
                         run->ctx->json ? stdout : stderr);
    if (code == 0 && run->status.rows && run->status.finished && report->state == CLI_APP_FINISHED)
        code = run->status.exit_code;
    else if (code == 0)
        code = cli_report_code(report);
    if (report->final == CLI_FINAL_SUCCEEDED)
        print_line(run, "%s succeeded", app);
    else
        print_line(run, "%s %s: %s", app, cli_final_name(report->final),
                   run->ctx->verbose ? report->diagnostics : why);
    cli_stop(run->ctx, code);
}

/* After a while, since most jobs wait for a moment; once for each reason, and not the state alone,
 * which has its own line. */
static void tell_waiting(struct run *run, const struct cli_report *report)
{
    char text[CLI_WAITING_MAX];
    const char *why = cli_waiting_text(report->state, report->diagnostics, text);
    int64_t now = sv_now_ms();

    if (!*why || sv_has_prefix(why, "Application is ")) {
        run->waits_since = 0;
        return;
    }
    if (run->waits_since == 0)
        run->waits_since = now;
    if (now - run->waits_since < WAITING_MS || strcmp(why, run->waits) == 0 ||
        (run->waits_told && now - run->waits_told < WAITING_AGAIN_MS))
        return;
    run->waits_told = now;
    snprintf(run->waits, sizeof(run->waits), "%s", why);
    print_line(run, "waits: %s", why);
}

static void on_report(int status, const struct cli_report *report, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct run *run = userdata;

    run->report_open = false;
    if (status == -EREMOTEIO) {
        cli_stop_error(run->ctx, status, err);
        return;
    }
    if (status < 0 || n == 0)
        return; /* the ResourceManager is unreachable: the job keeps running */
    if (report->state != run->state) {
        run->state = report->state;
        if (!cli_app_ended(report->state))
            print_line(run, "%s %s", run->submission.app_text, cli_app_state_name(report->state));
    }
    tell_waiting(run, report);
    snprintf(run->url, sizeof(run->url), "%s",
             report->state == CLI_APP_RUNNING ? report->tracking_url : "");
    if (cli_app_ended(report->state) && !wait_for_output(run) && !wait_for_states(run))
        finish(run, report);
}

/* ---- Timer ---- */

static uint64_t next_poll_ms(const struct run *run, int64_t now)
{
    uint64_t size = SV_MIN(run->status.n / ROWS_PER_MS, (size_t)SIZE_POLL_MS);

    if (run->finished_at && now - run->finished_at < YOUNG_MS)
        return END_POLL_MS;
    if (now - run->began < YOUNG_MS)
        return YOUNG_POLL_MS + size;
    return CLI_POLL_MS + size;
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
    struct run *run = userdata;
    int64_t now = sv_now_ms();
    bool logs = now - run->polled_at >= LOG_POLL_MS;

    if (!run->report_open)
        run->report_open = cli_rm_report(run->ctx->rm, run->submission.app, on_report, run) >= 0;
    cli_run_interrupt_poll(run->interrupt);
    if (strncmp(run->url, "http", 4) == 0 && !run->status_open && !run->finished_at)
        run->status_open =
            cli_fetch_get_of_job(run->ctx->fetch, run->url, CLI_BODY_MAX, on_status, run) >= 0;
    run->output_complete = follow_all(run, logs);
    cli_run_progress_poll(run->progress, &run->status);
    if (logs)
        run->polled_at = now;
    if (run->finished_at && !run->end_sent && !run->status_open &&
        (run->output_complete || !still_drains(run, run->finished_at)))
        send_end(run);
    (void)sd_event_source_set_time(source, usec + next_poll_ms(run, now) * 1000);
    (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
    return 0;
}

/* ---- After the submission ---- */

static void leave_detached(struct run *run)
{
    const char *app = run->submission.app_text;

    cli_stage_keep(run->submission.stage);
    if (run->ctx->json)
        cli_output_json(&run->ctx->output, json_pack("{s:s}", "application", app), stdout);
    else
        puts(app);
    if (run->hint && !run->ctx->json && !run->ctx->output.quiet)
        fprintf(stderr,
                "selvedge wait %s ends with its exit code, selvedge logs shows its output, "
                "selvedge stop ends it\n",
                app);
    cli_stop(run->ctx, 0);
}

static void say_submitted(struct run *run)
{
    const struct run_options *o = &run->options;
    const struct run_group *g = &o->groups[0];

    if (o->n_groups == 1)
        print_line(run, "%s submitted: %d container%s of %lld MiB, %d vcore%s",
                   run->submission.app_text, o->runs, o->runs == 1 ? "" : "s",
                   (long long)g->resource.memory_mb, g->resource.vcores,
                   g->resource.vcores == 1 ? "" : "s");
    else
        print_line(run, "%s submitted: %d containers in %zu groups", run->submission.app_text,
                   o->runs, o->n_groups);
}

static void on_submitted(void *userdata)
{
    struct run *run = userdata;
    int r;

    if (run->options.detach && cli_run_interrupt_code(run->interrupt) == 0) {
        leave_detached(run);
        return;
    }
    say_submitted(run);
    run->state = CLI_APP_SUBMITTED;
    cli_run_interrupt_submitted(run->interrupt);
    cli_sweep_staging(run->ctx, run->submission.stage);
    r = sd_event_add_time_relative(run->ctx->event, &run->tick, CLOCK_MONOTONIC, 0, 1000, on_tick,
                                   run);
    if (r < 0)
        cli_stop_error(run->ctx, r, NULL);
}

/* ---- The command ---- */

static int start(struct run *run)
{
    size_t n = (size_t)run->options.runs;
    int r;

    run->began = sv_now_ms();
    run->streams = cli_streams_new(run->ctx, NULL, "", run->ctx->json ? stderr : stdout, stderr);
    run->usage = cli_run_usage_new(run->ctx, n);
    run->progress = cli_run_progress_new(run->ctx, run->options.runs, say, run);
    if (!run->streams || !run->usage || !run->progress)
        return -ENOMEM;
    r = cli_run_interrupt_new(run->ctx, say, run, &run->interrupt);
    if (r < 0)
        return r;
    run->submission = (struct run_submission){
        .ctx = run->ctx,
        .options = &run->options,
        .interrupt = run->interrupt,
        .done = on_submitted,
        .userdata = run,
    };
    return cli_run_submit(&run->submission);
}

static void end(struct run *run)
{
    struct cli_ctx *ctx = run->ctx;

    ctx->fetch = cli_fetch_free(ctx->fetch); /* before the objects of its callbacks */
    ctx->rm = cli_rm_free(ctx->rm);
    sd_event_source_disable_unref(run->tick);
    cli_streams_free(run->streams);
    cli_run_usage_free(run->usage);
    cli_run_progress_free(run->progress);
    cli_run_last_free(run->last);
    cli_run_interrupt_free(run->interrupt);
    cli_status_free(&run->status);
    cli_run_submission_free(&run->submission);
}

static int run_job(struct cli_ctx *ctx, int argc, char **argv, bool submit)
{
    struct run run = { .ctx = ctx, .hint = submit };
    int code = cli_run_parse(ctx, argc, argv, &run.options), r;

    run.options.detach = run.options.detach || submit;
    if (code == 0)
        code = cli_run_become(&run.options);
    if (code == 0)
        code = cli_preflight_files(&run.options);
    if (code == 0)
        code = cli_connect(ctx);
    if (code == 0)
        code = cli_run_keep_failed(ctx, &run.options);
    if (code == 0) {
        r = start(&run);
        code = r < 0 ? cli_fail("%s: %s", ctx->command->name, strerror(-r)) : cli_loop(ctx);
        end(&run);
    }
    cli_run_options_free(&run.options);
    return code;
}

int cli_cmd_run(struct cli_ctx *ctx, int argc, char **argv)
{
    return run_job(ctx, argc, argv, false);
}

int cli_cmd_submit(struct cli_ctx *ctx, int argc, char **argv)
{
    return run_job(ctx, argc, argv, true);
}
