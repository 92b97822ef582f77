/* `selvedge run`: submits a job, shows its progress and the containers' output, ends with their
 * table and the job's exit code. A timer polls the ResourceManager and the ApplicationMaster;
 * responses drive the progress. */
#include "client/run.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "client/commands.h"
#include "client/follow.h"
#include "client/node-url.h"
#include "client/preflight.h"
#include "client/run-localizing.h"
#include "client/status.h"
#include "client/sweep.h"
#include "common/clock.h"
#include "common/str.h"

#define DRAIN_MS 15000 /* limit for the last output after the last container */
#define LOG_POLL_MS 500
#define PROGRESS_MS 1000
#define LEAVE_MS 2000 /* for the answer to the kill, after a second signal */

struct stream { /* output and usage of one instance's current container */
    char container[YARN_ID_TEXT_MAX];
    struct cli_follow *out, *err;
    bool usage_asked, usage_known;
    int64_t peak_bytes, cpu_ms, localize_ms, launch_ms;
    char not_enforced[64];
};

struct run {
    struct cli_ctx *ctx;
    struct run_options options;
    struct sv_arena *arena;
    struct cli_stage *stage;
    struct cli_job job;
    struct yarn_app_id app;
    char app_text[YARN_ID_TEXT_MAX];
    sd_event_source *tick;
    char url[512]; /* of the ApplicationMaster; "" = not known */
    enum cli_app_state state;
    struct cli_status status;          /* rows == NULL: none seen */
    struct stream *streams;            /* [instances] */
    struct run_localizing *localizing; /* NULL: stderr is no terminal */
    bool report_open, status_open, kill_open, end_sent, output_complete;
    int interrupted; /* by this signal; SIGPIPE: nobody reads the output; 0: not */
    bool submitting, kill_answered;
    int64_t leaving_at; /* a second signal has come; 0: none */
    bool hint;          /* of `submit` */
    int64_t began, finished_at, ended_at, polled_at, said_at;
    int said_done, said_running;
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
    sv_escape(shown, sizeof(shown), text); /* diagnostics are the job's */
    fprintf(stderr, "[%6.1f s] %s\n", (double)(sv_now_ms() - run->began) / 1000, shown);
}

static void print_localizing(const char *line, void *userdata)
{
    print_line(userdata, "%s", line);
}

/* ---- The containers' output and usage ---- */

struct usage_call {
    struct run *run;
    size_t row;
};

static void on_usage(int http, const char *body, size_t len, const char *why, void *userdata)
{
    struct usage_call *call = userdata;
    struct stream *s = &call->run->streams[call->row];
    struct cli_row row = { .peak_bytes = -1, .cpu_ms = -1, .localize_ms = -1, .launch_ms = -1 };

    (void)why;
    if (http == 200)
        cli_row_usage(&row, body, len);
    free(row.localizing); /* it has ended */
    s->peak_bytes = row.peak_bytes;
    s->cpu_ms = row.cpu_ms;
    s->localize_ms = row.localize_ms;
    s->launch_ms = row.launch_ms;
    memcpy(s->not_enforced, row.not_enforced, sizeof(s->not_enforced));
    s->usage_known = true;
    free(call);
}

static void request_usage(struct run *run, size_t i, const struct cli_row *row)
{
    struct usage_call *call = malloc(sizeof(*call));
    _cleanup_free_ char *url = NULL;

    run->streams[i].usage_asked = true;
    if (call)
        *call = (struct usage_call){ run, i };
    if (!call || cli_node_url(row->http, row->container, "", run->ctx->user, &url) < 0 ||
        cli_fetch_get(run->ctx->fetch, url, CLI_BODY_MAX, on_usage, call) < 0) {
        free(call);
        run->streams[i].usage_known = true; /* permanently unknown: shown as "-" */
    }
}

static void stream_reset(struct stream *s)
{
    cli_follow_free(s->out);
    cli_follow_free(s->err);
    *s = (struct stream){ .peak_bytes = -1, .cpu_ms = -1, .localize_ms = -1, .launch_ms = -1 };
}

static void open_stream(struct run *run, struct stream *s, const struct cli_row *row)
{
    char prefix[32] = "";

    stream_reset(s);
    memcpy(s->container, row->container, sizeof(s->container));
    if (run->options.no_output)
        return;
    if (run->job.instances > 1)
        snprintf(prefix, sizeof(prefix), "[%d] ", row->instance);
    s->out = cli_follow_new(run->ctx->fetch, run->ctx->user, row->http, row->container, "stdout",
                            prefix, run->ctx->json ? stderr : stdout);
    s->err = cli_follow_new(run->ctx->fetch, run->ctx->user, row->http, row->container, "stderr",
                            prefix, stderr);
}

static bool stream_complete(const struct stream *s)
{
    return s->usage_known && (!s->out || cli_follow_complete(s->out)) &&
           (!s->err || cli_follow_complete(s->err));
}

/* Polls logs that may have grown; true when the output of all ended containers was printed. */
static bool follow_all(struct run *run, bool all)
{
    bool complete = true;

    for (size_t i = 0; i < run->status.n && (int32_t)i < run->job.instances; i++) {
        const struct cli_row *row = &run->status.rows[i];
        struct stream *s = &run->streams[i];

        if (!*row->container || !*row->http)
            continue;
        if (strcmp(s->container, row->container) != 0)
            open_stream(run, s, row);
        if (row->done && !s->usage_asked)
            request_usage(run, i, row);
        if (row->done || (all && strcmp(row->state, "RUNNING") == 0)) {
            if (s->out)
                cli_follow_poll(s->out, row->done);
            if (s->err)
                cli_follow_poll(s->err, row->done);
        }
        complete = complete && (!row->done || stream_complete(s));
    }
    return complete;
}

static void copy_usage(struct run *run)
{
    for (size_t i = 0; i < run->status.n && (int32_t)i < run->job.instances; i++) {
        const struct stream *s = &run->streams[i];
        struct cli_row *row = &run->status.rows[i];

        if (!s->usage_known || strcmp(s->container, row->container) != 0)
            continue;
        row->peak_bytes = s->peak_bytes;
        row->cpu_ms = s->cpu_ms;
        row->localize_ms = s->localize_ms;
        row->launch_ms = s->launch_ms;
        memcpy(row->not_enforced, s->not_enforced, sizeof(row->not_enforced));
    }
}

/* ---- The ApplicationMaster's table ---- */

static void print_progress(struct run *run)
{
    int running = 0;

    for (size_t i = 0; i < run->status.n; i++)
        running += strcmp(run->status.rows[i].state, "RUNNING") == 0;
    if ((running == run->said_running && run->status.done == run->said_done) ||
        (sv_now_ms() - run->said_at < PROGRESS_MS && !run->status.finished))
        return;
    run->said_running = running;
    run->said_done = run->status.done;
    run->said_at = sv_now_ms();
    print_line(run, "%d of %d containers done, %d running", run->status.done, run->job.instances,
               running);
}

static void on_status(int http, const char *body, size_t len, const char *why, void *userdata)
{
    struct run *run = userdata;
    struct cli_status status;

    (void)why;
    run->status_open = false;
    if (http != 200 || cli_status_parse(body, len, &status, NULL) < 0)
        return; /* it may be restarting: the application report shows it */
    cli_status_free(&run->status);
    run->status = status;
    print_progress(run);
    if (status.finished && run->finished_at == 0)
        run->finished_at = sv_now_ms();
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
    snprintf(header, sizeof(header), CLI_SECRET_HEADER ": %s", run->job.secret);
    (void)!cli_fetch_post(run->ctx->fetch, url, header, on_end, run);
}

/* ---- The ResourceManager's report ---- */

/* Names on stderr each log that the terminal has not got whole. */
static void report_missing_output(const struct run *run)
{
    for (size_t i = 0; i < run->status.n && (int32_t)i < run->job.instances; i++) {
        const struct cli_follow *logs[] = { run->streams[i].out, run->streams[i].err };

        for (size_t k = 0; k < SV_ARRAY_LEN(logs); k++) {
            const char *problem = logs[k] ? cli_follow_problem(logs[k]) : NULL;

            if (problem)
                (void)cli_fail("output of instance %zu is incomplete: %s", i, problem);
            else if (run->status.rows[i].done && logs[k] && !cli_follow_complete(logs[k]))
                (void)cli_fail("output of instance %zu is incomplete: its node did not send the "
                               "rest within %d seconds; selvedge logs %s",
                               i, DRAIN_MS / 1000, run->app_text);
        }
    }
}

/* The application may end before its last output has arrived, when its ApplicationMaster no longer
 * waited for this command. */
static bool wait_for_output(struct run *run)
{
    if (run->ended_at == 0)
        run->ended_at = sv_now_ms();
    return run->status.finished && !run->output_complete && sv_now_ms() - run->ended_at <= DRAIN_MS;
}

/* The ApplicationMaster is gone, so its table no longer changes: containers that it last saw
 * running were killed with it, and how they ended is not known. */
static void mark_unknown(struct run *run)
{
    for (size_t i = 0; i < run->status.n; i++)
        if (!run->status.rows[i].done)
            snprintf(run->status.rows[i].state, sizeof(run->status.rows[i].state), "unknown");
}

/* As a shell tells it; output that cannot be written is an error as any other. */
static int interrupted_code(const struct run *run)
{
    struct pollfd out[] = { { .fd = STDOUT_FILENO }, { .fd = STDERR_FILENO } };

    if (run->interrupted != SIGPIPE)
        return 128 + run->interrupted;
    return poll(out, 2, 0) > 0 && (out[0].revents | out[1].revents) & (POLLERR | POLLHUP)
               ? 128 + SIGPIPE
               : 1;
}

static void finish(struct run *run, const struct cli_report *report)
{
    int code = cli_report_code(report);

    copy_usage(run);
    report_missing_output(run);
    mark_unknown(run);
    if (run->status.rows && (run->ctx->json || !run->ctx->output.quiet))
        cli_status_print(&run->status, run->app_text, &run->ctx->output,
                         run->options.no_output ? CLI_TAIL_LINES : 0, /* else it was printed */
                         run->ctx->json ? stdout : stderr);
    if (run->interrupted)
        code = interrupted_code(run);
    else if (run->status.rows && run->status.finished && report->state == CLI_APP_FINISHED)
        code = run->status.exit_code;
    if (report->final == CLI_FINAL_SUCCEEDED)
        print_line(run, "%s succeeded", run->app_text);
    else
        print_line(run, "%s %s: %.*s", run->app_text, cli_final_name(report->final),
                   run->ctx->verbose ? INT_MAX : (int)strcspn(report->diagnostics, "\n"),
                   report->diagnostics);
    cli_stop(run->ctx, code);
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
            print_line(run, "%s %s", run->app_text, cli_app_state_name(report->state));
    }
    snprintf(run->url, sizeof(run->url), "%s",
             report->state == CLI_APP_RUNNING ? report->tracking_url : "");
    if (cli_app_ended(report->state) && !wait_for_output(run))
        finish(run, report);
}

/* ---- Interruption ---- */

static void on_killed(int status, bool killed, const struct sv_error *err, void *userdata)
{
    struct run *run = userdata;

    (void)killed; /* the report shows the end */
    (void)err;
    run->kill_open = false;
    run->kill_answered = run->kill_answered || status == 0;
}

static void request_kill(struct run *run)
{
    if (!run->kill_open)
        run->kill_open =
            cli_rm_kill(run->ctx->rm, run->app, "interrupted by the user", on_killed, run) >= 0;
}

static void interrupt(struct run *run, int number)
{
    run->interrupted = number;
    print_line(run, "%skilling %s (once more: leave it)",
               number == SIGPIPE ? "the output cannot be written: " : "", run->app_text);
    if (run->state != 0) /* else it is submitted first */
        request_kill(run);
}

/* After a second signal, once the ResourceManager has the kill, or does not take it. */
static void leave_if_due(struct run *run)
{
    if (!run->leaving_at || (!run->kill_answered && sv_now_ms() - run->leaving_at < LEAVE_MS))
        return;
    if (!run->kill_answered)
        (void)cli_fail("the ResourceManager has not answered: %s may go on; selvedge kill ends it",
                       run->app_text);
    cli_stop(run->ctx, interrupted_code(run));
}

static int on_signal(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
    struct run *run = userdata;

    (void)s;
    if (!run->submitting) { /* nothing is there yet */
        cli_stop(run->ctx, 128 + (int)si->ssi_signo);
        return 0;
    }
    if (!run->interrupted) {
        interrupt(run, (int)si->ssi_signo);
        return 0;
    }
    if (run->leaving_at)
        run->kill_answered = true; /* a third one: at once */
    else
        run->leaving_at = sv_now_ms();
    if (run->state == 0)
        (void)cli_fail("the ResourceManager has not answered: %s may start; selvedge kill ends it",
                       run->app_text);
    if (run->state == 0)
        cli_stop(run->ctx, interrupted_code(run));
    else
        leave_if_due(run);
    return 0;
}

static int catch_signals(struct run *run)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction hangup;
    sigset_t set;
    int r = 0;

    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || sigaction(SIGHUP, NULL, &hangup) < 0)
        return -errno;
    sigemptyset(&set);
    for (size_t i = 0; i < SV_ARRAY_LEN(numbers); i++)
        if (numbers[i] != SIGHUP || hangup.sa_handler != SIG_IGN) /* of nohup */
            sigaddset(&set, numbers[i]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return -errno;
    for (size_t i = 0; r >= 0 && i < SV_ARRAY_LEN(numbers); i++)
        if (sigismember(&set, numbers[i]))
            r = sd_event_add_signal(run->ctx->event, NULL, numbers[i], on_signal, run);
    return r;
}

/* ---- Timer ---- */

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
    struct run *run = userdata;
    int64_t now = sv_now_ms();
    bool logs = now - run->polled_at >= LOG_POLL_MS;

    if (!run->report_open)
        run->report_open = cli_rm_report(run->ctx->rm, run->app, on_report, run) >= 0;
    if (!run->interrupted && (ferror(stdout) || ferror(stderr)))
        interrupt(run, SIGPIPE);
    if (run->interrupted)
        request_kill(run);
    leave_if_due(run);
    if (strncmp(run->url, "http", 4) == 0 && !run->status_open && !run->finished_at)
        run->status_open =
            cli_fetch_get(run->ctx->fetch, run->url, CLI_BODY_MAX, on_status, run) >= 0;
    run->output_complete = follow_all(run, logs);
    run_localizing_poll(run->localizing, &run->status);
    if (logs)
        run->polled_at = now;
    if (run->finished_at && !run->end_sent && !run->status_open &&
        (run->output_complete || now - run->finished_at > DRAIN_MS))
        send_end(run);
    (void)sd_event_source_set_time(source, usec + CLI_POLL_MS * 1000);
    (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
    return 0;
}

/* ---- Submitting ---- */

static void on_submitted(int status, const struct sv_error *err, void *userdata)
{
    struct run *run = userdata;
    int r;

    if (status < 0) {
        cli_stop_error(run->ctx, status, err);
        return;
    }
    if (run->options.detach && !run->interrupted) {
        cli_stage_keep(run->stage);
        if (run->ctx->json)
            cli_output_json(&run->ctx->output, json_pack("{s:s}", "application", run->app_text),
                            stdout);
        else
            puts(run->app_text);
        if (run->hint && !run->ctx->json && !run->ctx->output.quiet)
            fprintf(stderr,
                    "selvedge wait %s ends with its exit code, selvedge logs shows its "
                    "output, selvedge stop ends it\n",
                    run->app_text);
        cli_stop(run->ctx, 0);
        return;
    }
    print_line(run, "%s submitted: %d container%s of %lld MiB, %d vcore%s", run->app_text,
               run->job.instances, run->job.instances == 1 ? "" : "s",
               (long long)run->job.resource.memory_mb, run->job.resource.vcores,
               run->job.resource.vcores == 1 ? "" : "s");
    run->state = CLI_APP_SUBMITTED;
    cli_sweep_staging(run->ctx, run->stage);
    r = sd_event_add_time_relative(run->ctx->event, &run->tick, CLOCK_MONOTONIC, 0, 0, on_tick,
                                   run);
    if (r < 0)
        cli_stop_error(run->ctx, r, NULL);
}

static void on_new_app(int status, struct yarn_app_id app, struct yarn_resource maximum,
                       const struct sv_error *err, void *userdata)
{
    struct run *run = userdata;
    const struct yarn_resource *r = &run->options.resource;
    struct cli_resource files[2];
    struct cli_submission s = {
        .app = app,
        .name = run->options.name,
        .queue = run->options.queue,
        .type = "SELVEDGE",
        .lifetime_s = run->options.lifetime_s,
        .rolled_logs = run->options.rolled_logs,
        .resource = run->options.am_resource,
        .launch = { .resources = files,
                    .n_resources = SV_ARRAY_LEN(files),
                    .command =
                        "exec ./" CLI_AM_FILE " <LOG_DIR> 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr" },
    };
    struct sv_error own = { 0 };

    if (status < 0) {
        cli_stop_error(run->ctx, status, err);
        return;
    }
    run->app = app;
    yarn_app_id_text(app, run->app_text);
    if ((maximum.memory_mb > 0 && r->memory_mb > maximum.memory_mb) ||
        (maximum.vcores > 0 && r->vcores > maximum.vcores)) {
        (void)cli_fail("run: a container of %lld MiB and %d vcores: the cluster gives at most "
                       "%lld MiB and %d vcores",
                       (long long)r->memory_mb, r->vcores, (long long)maximum.memory_mb,
                       maximum.vcores);
        cli_stop(run->ctx, 2);
        return;
    }
    if (status == 0)
        status = cli_stage_new(run->ctx->conf, run->ctx->user, app, &run->stage, &own);
    if (status == 0)
        status = cli_run_stage(&run->options, run->ctx->conf, run->stage, run->arena, &run->job,
                               files, &own);
    if (status == 0 && run->options.detach)
        status = cli_stage_sync(run->stage, &own);
    if (status == 0)
        status = cli_rm_submit(run->ctx->rm, &s, on_submitted, run);
    run->submitting = status >= 0;
    if (status < 0)
        cli_stop_error(run->ctx, status, own.code ? &own : NULL);
}

static void on_preflight(void *userdata)
{
    struct run *run = userdata;
    int r = cli_rm_new_application(run->ctx->rm, on_new_app, run);

    if (r < 0)
        cli_stop_error(run->ctx, r, NULL);
}

static int start(struct run *run)
{
    int r;

    run->began = sv_now_ms();
    run->arena = sv_arena_new(0);
    run->streams = calloc((size_t)run->options.instances, sizeof(*run->streams));
    if (isatty(STDERR_FILENO))
        run->localizing =
            run_localizing_new(run->ctx, (size_t)run->options.instances, print_localizing, run);
    if (!run->arena || !run->streams)
        return -ENOMEM;
    r = catch_signals(run);
    if (r >= 0)
        r = cli_preflight_cluster(run->ctx, &run->options, on_preflight, run);
    return r;
}

static int run_job(struct cli_ctx *ctx, int argc, char **argv, bool submit)
{
    struct run run = { .ctx = ctx, .hint = submit };
    int code = cli_run_parse(ctx, argc, argv, &run.options), r;

    run.options.detach = run.options.detach || submit;
    if (code == 0)
        code = cli_run_become(run.options.user);
    if (code == 0)
        code = cli_preflight_files(&run.options);
    if (code == 0)
        code = cli_connect(ctx);
    if (code != 0) {
        cli_run_options_free(&run.options);
        return code;
    }
    r = start(&run);
    code = r < 0 ? cli_fail("run: %s", strerror(-r)) : cli_loop(ctx);
    ctx->fetch = cli_fetch_free(ctx->fetch); /* before the objects of its callbacks */
    ctx->rm = cli_rm_free(ctx->rm);
    sd_event_source_disable_unref(run.tick);
    for (int32_t i = 0; run.streams && i < run.options.instances; i++) {
        cli_follow_free(run.streams[i].out);
        cli_follow_free(run.streams[i].err);
    }
    free(run.streams);
    run_localizing_free(run.localizing);
    cli_status_free(&run.status);
    cli_stage_free(run.stage);
    sv_arena_free(run.arena);
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
