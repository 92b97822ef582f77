/* See await.h. */
#include "client/service/await.h"

#include <errno.h>
#include <string.h>

#include "client/core/commands.h"
#include "client/service/call.h"
#include "client/ui/progress.h"
#include "common/clock.h"
#include "common/str.h"

#define POLL_MS 500 /* a process of the server's each */

int cli_await_option(const struct cli_ctx *ctx, struct cli_await *a, const char *value)
{
    a->wanted = true;
    if (!value || (sv_parse_duration_ms(value, 1000, &a->limit_ms) == 0 && a->limit_ms > 0))
        return 0;
    (void)cli_fail("%s: --wait=%s: expected a time, such as 30 (seconds) or 5m", ctx->command->name,
                   value);
    return 2;
}

/* ---- A status, judged ---- */

static bool among(const json_t *only, const char *component, const char *instance)
{
    return !only || json_object_get(only, component) || json_object_get(only, instance);
}

static void add_instance(const json_t *one, const json_t *only, const char *component,
                         struct cli_readiness *ret)
{
    const char *state = cli_service_text(one, "state");
    bool meant = among(only, component, cli_service_text(one, "component_instance_name"));

    if (strcmp(state, "READY") == 0)
        ret->ready++;
    else if (strcmp(state, "UPGRADING") == 0)
        ret->upgrading = true;
    else if (strcmp(state, "RUNNING_BUT_UNREADY") == 0)
        ret->upgrading = ret->upgrading || meant;
    else if (strcmp(state, "FAILED_UPGRADE") == 0)
        ret->failed = ret->failed || meant;
    else if (strcmp(state, "NEEDS_UPGRADE") == 0)
        ret->needed = ret->needed || (only && meant);
}

void cli_readiness(const json_t *status, const json_t *only, struct cli_readiness *ret)
{
    const json_t *component, *one;
    size_t i, k;

    *ret = (struct cli_readiness){ 0 };
    json_array_foreach(json_object_get(status, "components"), i, component)
    {
        int64_t n = json_integer_value(json_object_get(component, "number_of_containers"));

        if (n > 0 && __builtin_add_overflow(ret->wanted, n, &ret->wanted))
            ret->wanted = INT64_MAX;
        json_array_foreach(json_object_get(component, "containers"), k, one)
            add_instance(one, only, cli_service_text(component, "name"), ret);
    }
}

static bool is_one_of(const char *state, const char *const *states, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(state, states[i]) == 0)
            return true;
    return false;
}

int cli_goal_reached(enum cli_goal goal, const json_t *status, const struct cli_readiness *r)
{
    static const char *const over[] = { "STOPPED", "FAILED", "SUCCEEDED" };
    const char *state = cli_service_text(status, "state");
    bool ended = is_one_of(state, over, SV_ARRAY_LEN(over));

    if (goal == CLI_GOAL_STOPPED) /* a master that is still there tells its components */
        return ended && json_array_size(json_object_get(status, "components")) == 0;
    if (strcmp(state, "SUCCEEDED") == 0)
        return 1;
    if (ended)
        return -1;
    if (goal == CLI_GOAL_STABLE)
        return strcmp(state, "STABLE") == 0;
    if (r->failed)
        return -1;
    return !r->upgrading && !r->needed;
}

/* ---- The loop ---- */

static void ask(struct cli_await *a);

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    (void)s;
    (void)usec;
    ask(userdata);
    return 0;
}

static void stop(struct cli_await *a, int code)
{
    cli_progress_end();
    cli_stop(a->ctx, code);
}

static void later(struct cli_await *a)
{
    int64_t left = a->limit_ms - (sv_now_ms() - a->began_ms);
    int r;

    if (a->limit_ms > 0 && left <= 0) {
        stop(a, cli_fail("%s; --wait=%g is over, selvedge service status %s tells more", a->state,
                         (double)a->limit_ms / 1000, a->ctx->subject));
        return;
    }
    left = a->limit_ms > 0 ? SV_MIN(left, (int64_t)POLL_MS) : POLL_MS;
    sd_event_source_disable_unref(a->timer);
    a->timer = NULL;
    r = sd_event_add_time_relative(a->ctx->event, &a->timer, CLOCK_MONOTONIC, (uint64_t)left * 1000,
                                   0, on_timer, a);
    if (r < 0)
        stop(a, cli_fail("%s", strerror(-r)));
}

static void show(struct cli_await *a, const json_t *status, const struct cli_readiness *r)
{
    char state[120];

    sv_escape(state, sizeof(state), cli_service_text(status, "state"));
    snprintf(a->state, sizeof(a->state), "%s is %s, %lld of %lld instances are ready",
             a->ctx->subject, state, (long long)r->ready, (long long)r->wanted);
    cli_progress_show(r->wanted > 0 ? (double)r->ready / (double)r->wanted : -1, a->state);
}

static void judge(struct cli_await *a, const json_t *status)
{
    struct cli_readiness r;
    int reached;

    cli_readiness(status, a->only, &r);
    show(a, status, &r);
    reached = cli_goal_reached(a->goal, status, &r);
    if (reached > 0)
        stop(a, 0);
    else if (reached < 0)
        stop(a, cli_fail("%s; selvedge service logs %s shows why", a->state, a->ctx->subject));
    else
        later(a);
}

/* A ResourceManager, a server or a master that is away does not end the wait. */
static void on_status(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct cli_await *a = userdata;
    json_t *answer = status > 0 ? json_loadb(body, len, 0, NULL) : NULL;

    if (status == -ECANCELED)
        return;
    if (status == 200 && json_is_object(answer)) {
        judge(a, answer);
    } else if (status == 404 && answer && a->goal == CLI_GOAL_STOPPED) {
        stop(a, 0);
    } else if (status < 0 || status >= 500) {
        snprintf(a->state, sizeof(a->state), "%s: the services API does not answer",
                 a->ctx->subject);
        cli_progress_show(-1, a->state);
        later(a);
    } else {
        stop(a, cli_service_refused(a->ctx, status, answer, why));
    }
    json_decref(answer);
}

static void ask(struct cli_await *a)
{
    int r = cli_service_get(a->ctx, on_status, a);

    if (r < 0)
        stop(a, cli_fail("%s: %s", a->ctx->subject, strerror(-r)));
}

void cli_await(struct cli_ctx *ctx, struct cli_await *a)
{
    if (!a->wanted) {
        cli_stop(ctx, 0);
        return;
    }
    a->ctx = ctx;
    a->began_ms = sv_now_ms();
    snprintf(a->state, sizeof(a->state), "%s: the services API does not answer", ctx->subject);
    (void)fflush(stdout);
    (void)cli_progress_begin(&ctx->output, stderr);
    ask(a);
}

void cli_await_end(struct cli_await *a)
{
    sd_event_source_disable_unref(a->timer);
    a->timer = NULL;
}
