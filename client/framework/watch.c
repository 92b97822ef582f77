/* See watch.h, and `selvedge framework watch NAME`. */
#include "client/framework/watch.h"

#include <errno.h>
#include <string.h>

#include "client/core/commands.h"
#include "client/core/options.h"
#include "client/framework/call.h"
#include "client/framework/views.h"
#include "client/ui/progress.h"
#include "common/clock.h"
#include "common/str.h"

#define POLL_MS 1000

int cli_watch_option(const struct cli_ctx *ctx, struct cli_watch *w, const char *value)
{
    w->wanted = true;
    if (!value || (sv_parse_duration_ms(value, 1000, &w->limit_ms) == 0 && w->limit_ms > 0))
        return 0;
    (void)cli_fail("%s: --wait=%s: expected a time, such as 30 (seconds) or 5m", ctx->command->name,
                   value);
    return 2;
}

static void ask(struct cli_watch *w);

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    (void)s;
    (void)usec;
    ask(userdata);
    return 0;
}

static void stop(struct cli_watch *w, int code)
{
    cli_progress_end();
    cli_stop(w->ctx, code);
}

static void later(struct cli_watch *w)
{
    int64_t left = w->limit_ms - (sv_now_ms() - w->began_ms);
    int r;

    if (w->limit_ms > 0 && left <= 0) {
        stop(w, cli_fail("%s; --wait=%g is over, selvedge framework tasks %s tells more", w->state,
                         (double)w->limit_ms / 1000, w->ctx->subject));
        return;
    }
    left = w->limit_ms > 0 ? SV_MIN(left, (int64_t)POLL_MS) : POLL_MS;
    w->timer = sd_event_source_disable_unref(w->timer);
    r = sd_event_add_time_relative(w->ctx->event, &w->timer, CLOCK_MONOTONIC, (uint64_t)left * 1000,
                                   0, on_timer, w);
    if (r < 0)
        stop(w, cli_fail("%s", strerror(-r)));
}

/* A line of it, when it has changed. */
static void show(struct cli_watch *w, const json_t *info)
{
    struct cli_framework_counts n;
    char state[64], text[sizeof(w->state)];

    sv_escape(state, sizeof(state), cli_framework_state(info));
    cli_framework_counts(info, NULL, &n);
    snprintf(text, sizeof(text),
             "%s is %s: of %lld tasks %lld run, %lld succeeded, %lld failed, %lld retries",
             w->ctx->subject, state, (long long)n.wanted, (long long)n.running,
             (long long)n.succeeded, (long long)n.failed, (long long)n.retried);
    if (w->lines && strcmp(text, w->state) != 0) {
        cli_progress_yield(stdout, true);
        printf("%s\n", text);
        (void)fflush(stdout);
    }
    memcpy(w->state, text, sizeof(text));
    cli_progress_show(n.wanted > 0 ? (double)(n.succeeded + n.failed) / (double)n.wanted : -1,
                      w->state);
}

static void judge(struct cli_watch *w, const json_t *info)
{
    const char *state = cli_framework_state(info);
    const char *why = cli_member_text(
        info, "aggregatedFrameworkStatus.frameworkStatus.applicationExitTriggerMessage");

    show(w, info);
    if (strcmp(state, "SUCCEEDED") == 0)
        stop(w, 0);
    else if (strcmp(state, "STOPPED") != 0 && strcmp(state, "FAILED") != 0)
        later(w);
    else if (w->any_end)
        stop(w, 0);
    else
        stop(w, cli_fail("%s%s%s; selvedge framework tasks -o wide %s shows why", w->state,
                         *why ? ": " : "", why, w->ctx->subject));
}

/* A launcher that is away does not end the wait. */
static void on_info(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct cli_watch *w = userdata;
    json_t *answer = status > 0 ? json_loadb(body, len, 0, NULL) : NULL;

    if (status == -ECANCELED)
        return;
    if (status == 200 && json_is_object(answer))
        judge(w, answer);
    else if (status < 0 || status >= 500)
        later(w);
    else
        stop(w, cli_framework_refused(w->ctx, status, answer, why));
    json_decref(answer);
}

static void ask(struct cli_watch *w)
{
    int r = cli_framework_poll(w->ctx, on_info, w);

    if (r < 0)
        stop(w, cli_fail("%s: %s", w->ctx->subject, strerror(-r)));
}

void cli_watch(struct cli_ctx *ctx, struct cli_watch *w)
{
    if (!w->wanted) {
        cli_stop(ctx, 0);
        return;
    }
    w->ctx = ctx;
    w->began_ms = sv_now_ms();
    snprintf(w->state, sizeof(w->state), "%s: selvedge-services does not answer", ctx->subject);
    (void)fflush(stdout);
    (void)cli_progress_begin(&ctx->output, stderr);
    ask(w);
}

void cli_watch_end(struct cli_watch *w)
{
    w->timer = sd_event_source_disable_unref(w->timer);
}

int cli_cmd_framework_watch(struct cli_ctx *ctx, int argc, char **argv)
{
    struct cli_watch w = { .wanted = true, .lines = true };
    int code = cli_option_none(ctx, argc, argv);

    if (code == 0)
        code = cli_framework_begin(ctx, argc, argv, NULL, 1, 1);
    if (code != 0)
        return code;
    w.lines = !ctx->output.quiet;
    cli_watch(ctx, &w);
    code = cli_loop(ctx);
    ctx->fetch = cli_fetch_free(ctx->fetch); /* an open request has its answer here */
    cli_watch_end(&w);
    return code;
}
