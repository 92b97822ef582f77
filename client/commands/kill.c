/* `selvedge kill`: for each application in turn, repeats the kill request until it has ended. Of a
 * container's id that container alone is killed. */
#include <stdlib.h>
#include <string.h>

#include "client/core/app-argument.h"
#include "client/core/container-end.h"
#include "client/core/options.h"

struct target {
    struct cli_app_argument app;
    const char *container; /* its id; NULL: the application */
};

struct kills {
    struct cli_ctx *ctx;
    struct target *targets;
    size_t n, next;
    struct cli_container_end *end; /* of the container that is killed now */
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

static void over(struct kills *k)
{
    if (!k->ctx->json && !k->ctx->output.quiet)
        printf("%s is over\n", k->ctx->subject);
    k->next++;
    send_kill(k);
}

static void on_container_ended(bool killed, void *userdata)
{
    struct kills *k = userdata;

    (void)killed;
    k->end = cli_container_end_free(k->end);
    over(k);
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
        over(k);
        return;
    }
    sd_event_source_disable_unref(k->timer);
    r = sd_event_add_time_relative(k->ctx->event, &k->timer, CLOCK_MONOTONIC, CLI_POLL_MS * 1000, 0,
                                   on_timer, k);
    if (r < 0)
        cli_stop_error(k->ctx, r, NULL);
}

static void kill_container(struct kills *k, const char *text)
{
    struct yarn_container_id id;

    k->ctx->subject = text;
    k->end = yarn_container_id_parse(text, &id) < 0
                 ? NULL
                 : cli_container_end(k->ctx, id, 0, on_container_ended, k);
    if (!k->end)
        cli_stop(k->ctx, cli_fail("%s: out of memory", text));
}

static void send_kill(struct kills *k)
{
    const struct target *t = &k->targets[k->next];
    int r;

    if (k->next == k->n) {
        cli_stop(k->ctx, 0);
        return;
    }
    if (t->container) {
        kill_container(k, t->container);
        return;
    }
    k->ctx->subject = t->app.text;
    r = cli_rm_kill(k->ctx->rm, t->app.id, "killed by the user", on_answer, k);
    if (r < 0)
        cli_stop_error(k->ctx, r, NULL);
}

/* Reads all texts before the first is killed: a wrong one ends nothing. 0 or the exit code. */
static int read_targets(struct kills *k, char **texts)
{
    struct yarn_container_id container;
    int code = 0;

    for (size_t i = 0; i < k->n && code <= 0; i++)
        code = cli_app_parse(texts[i], &k->targets[i].app);
    if (code <= 0)
        code = cli_connect(k->ctx);
    for (size_t i = 0; i < k->n && code == 0; i++) {
        code = cli_app_resolve(k->ctx, texts[i], &k->targets[i].app);
        if (yarn_container_id_parse(texts[i], &container) >= 0)
            k->targets[i].container = texts[i];
    }
    return code;
}

int cli_cmd_kill(struct cli_ctx *ctx, int argc, char **argv)
{
    struct kills k = { .ctx = ctx };
    int code = cli_option_none(ctx, argc, argv);

    if (code != 0)
        return code;
    if (optind == argc)
        return cli_usage(ctx);
    k.n = (size_t)(argc - optind);
    k.targets = calloc(k.n + 1, sizeof(*k.targets));
    code = k.targets ? read_targets(&k, argv + optind) : cli_fail("out of memory");
    if (code == 0) {
        send_kill(&k);
        code = cli_loop(ctx);
    }
    ctx->rm = cli_rm_free(ctx->rm); /* an open call has its answer here */
    cli_container_end_free(k.end);
    sd_event_source_disable_unref(k.timer);
    free(k.targets);
    return code;
}
