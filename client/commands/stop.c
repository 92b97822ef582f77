/* `selvedge stop APPLICATION`: sends SIGTERM to its processes, waits, then kills it. For a job of
 * `selvedge run` the instances are signalled, so that its ApplicationMaster reports their exit
 * codes; for any other application the ApplicationMaster. Of a container that container alone. */
#include <errno.h>
#include <string.h>

#include "client/core/app-argument.h"
#include "client/core/container-end.h"
#include "client/core/options.h"
#include "common/clock.h"
#include "common/str.h"

#define GRACE_MS 30000

struct stop {
    struct cli_ctx *ctx;
    struct yarn_app_id app;
    struct yarn_attempt_id attempt;
    bool instances; /* signal the instances, not the master */
    int64_t grace_ms, kill_at;
    size_t asked, open;
    struct yarn_container_id master;
    bool has_master, killing;
    sd_event_source *timer;
};

static void poll_later(struct stop *s);

static void stop_killed(struct stop *s)
{
    cli_stop(s->ctx, cli_fail("%s did not end within %lld s and was killed", s->ctx->subject,
                              (long long)s->grace_ms / 1000));
}

static void on_killed(int status, bool killed, const struct sv_error *err, void *userdata)
{
    struct stop *s = userdata;

    if (status < 0)
        cli_stop_error(s->ctx, status, err);
    else if (killed)
        stop_killed(s);
    else
        poll_later(s);
}

static void on_report(int status, const struct cli_report *report, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct stop *s = userdata;
    int r = 0;

    if (status < 0 || n == 0) {
        cli_stop_error(s->ctx, status, err);
    } else if (cli_app_ended(report->state) && s->killing) {
        stop_killed(s);
    } else if (cli_app_ended(report->state)) {
        if (!s->ctx->json && !s->ctx->output.quiet)
            printf("%s is over\n", s->ctx->subject);
        cli_stop(s->ctx, 0);
    } else if (sv_now_ms() >= s->kill_at) {
        s->killing = true;
        r = cli_rm_kill(s->ctx->rm, s->app, "did not stop in time", on_killed, s);
    } else {
        poll_later(s);
    }
    if (r < 0)
        cli_stop_error(s->ctx, r, NULL);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    struct stop *s = userdata;
    int r = cli_rm_report(s->ctx->rm, s->app, on_report, s);

    (void)source;
    (void)usec;
    if (r < 0)
        cli_stop_error(s->ctx, r, NULL);
    return 0;
}

static void poll_later(struct stop *s)
{
    int r;

    sd_event_source_disable_unref(s->timer);
    s->timer = NULL;
    r = sd_event_add_time_relative(s->ctx->event, &s->timer, CLOCK_MONOTONIC, CLI_POLL_MS * 1000, 0,
                                   on_timer, s);
    if (r < 0)
        cli_stop_error(s->ctx, r, NULL);
}

/* The container may have ended meanwhile; one that ignores the signal is killed later. */
static void on_signalled(int status, const struct sv_error *err, void *userdata)
{
    struct stop *s = userdata;

    if (status < 0 && s->ctx->verbose && err)
        (void)cli_fail("%s", err->text);
    if (status == -ECANCELED || --s->open > 0)
        return;
    s->kill_at = sv_now_ms() + s->grace_ms;
    poll_later(s);
}

static void ask(struct stop *s, struct yarn_container_id id)
{
    if (cli_rm_signal(s->ctx->rm, id, CLI_SIGNAL_TERM, on_signalled, s) < 0)
        return;
    s->open++;
    s->asked++;
}

static void on_containers(int status, const struct cli_container_report *list, size_t n,
                          const struct sv_error *err, void *userdata)
{
    struct stop *s = userdata;

    if (status < 0) {
        cli_stop_error(s->ctx, status, err);
        return;
    }
    s->open = 1; /* held while the signals are being sent */
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].state, "COMPLETE") != 0 &&
            !(s->has_master && yarn_container_id_cmp(list[i].id, s->master) == 0))
            ask(s, list[i].id);
    if (s->asked == 0 && s->has_master)
        ask(s, s->master);
    on_signalled(0, NULL, s);
}

static void on_attempts(int status, const struct cli_attempt_report *attempts, size_t n,
                        const struct sv_error *err, void *userdata)
{
    struct stop *s = userdata;
    int r = 0;

    if (status < 0) {
        cli_stop_error(s->ctx, status, err);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (attempts[i].id.attempt == s->attempt.attempt && attempts[i].has_master) {
            s->has_master = true;
            s->master = attempts[i].master;
        }
    s->open = 1;
    if (s->instances) {
        r = cli_rm_containers(s->ctx->rm, s->attempt, on_containers, s);
    } else {
        if (s->has_master)
            ask(s, s->master);
        on_signalled(0, NULL, s);
    }
    if (r < 0)
        cli_stop_error(s->ctx, r, NULL);
}

static void on_first_report(int status, const struct cli_report *report, size_t n,
                            const struct sv_error *err, void *userdata)
{
    struct stop *s = userdata;
    int r;

    if (status < 0 || n == 0 || cli_app_ended(report->state)) {
        on_report(status, report, n, err, s);
        return;
    }
    s->attempt = report->attempt;
    s->instances = strcmp(report->type, "SELVEDGE") == 0;
    if (report->attempt.attempt == 0) /* nothing is running, so nothing to signal */
        r = cli_rm_kill(s->ctx->rm, s->app, "stopped by the user", on_killed, s);
    else
        r = cli_rm_attempts(s->ctx->rm, s->app, on_attempts, s);
    if (r < 0)
        cli_stop_error(s->ctx, r, NULL);
}

static int stop_application(struct stop *s, const char *text)
{
    int code = cli_connect_app(s->ctx, text, &s->app), r;

    if (code != 0)
        return code;
    r = cli_rm_report(s->ctx->rm, s->app, on_first_report, s);
    code = r < 0 ? cli_fail("stop: %s", strerror(-r)) : cli_loop(s->ctx);
    sd_event_source_disable_unref(s->timer);
    return code;
}

static void on_container_ended(bool killed, void *userdata)
{
    struct stop *s = userdata;

    if (killed) {
        stop_killed(s);
        return;
    }
    if (!s->ctx->json && !s->ctx->output.quiet)
        printf("%s is over\n", s->ctx->subject);
    cli_stop(s->ctx, 0);
}

static int stop_container(struct stop *s, const char *text, struct yarn_container_id id)
{
    struct cli_container_end *e;
    int code = cli_connect(s->ctx);

    if (code != 0)
        return code;
    s->ctx->subject = text;
    e = cli_container_end(s->ctx, id, SV_MAX(s->grace_ms, 1), on_container_ended, s);
    code = e ? cli_loop(s->ctx) : cli_fail("stop: out of memory");
    s->ctx->rm = cli_rm_free(s->ctx->rm); /* an open call has its answer here */
    cli_container_end_free(e);
    return code;
}

int cli_cmd_stop(struct cli_ctx *ctx, int argc, char **argv)
{
    struct stop s = { .ctx = ctx, .grace_ms = GRACE_MS };
    struct yarn_container_id container;
    int c;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c == '?')
            return 2;
        if (sv_parse_duration_ms(optarg, 1000, &s.grace_ms) < 0 || s.grace_ms < 0) {
            (void)cli_fail("stop: --timeout %s: expected a time, such as 30 (seconds) or 5m",
                           optarg);
            return 2;
        }
    }
    if (argc - optind != 1)
        return cli_usage(ctx);
    return yarn_container_id_parse(argv[optind], &container) >= 0
               ? stop_container(&s, argv[optind], container)
               : stop_application(&s, argv[optind]);
}
