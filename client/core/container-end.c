#include "client/core/container-end.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

struct cli_container_end {
    struct cli_ctx *ctx;
    struct yarn_container_id id;
    int64_t kill_at; /* CLOCK_MONOTONIC, ms */
    bool killing;
    sd_event_source *timer;
    cli_container_ended_fn fn;
    void *userdata;
};

static int send_signal(struct cli_container_end *e, enum cli_signal signal);

static void on_containers(int status, const struct cli_container_report *list, size_t n,
                          const struct sv_error *err, void *userdata)
{
    struct cli_container_end *e = userdata;
    bool ended = true;
    int r;

    if (status < 0) {
        cli_stop_error(e->ctx, status, err);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (yarn_container_id_cmp(list[i].id, e->id) == 0)
            ended = strcmp(list[i].state, "COMPLETE") == 0;
    if (ended) {
        e->fn(e->killing, e->userdata);
        return;
    }
    if (!e->killing && sv_now_ms() >= e->kill_at) {
        e->killing = true;
        r = send_signal(e, CLI_SIGNAL_KILL);
    } else {
        r = sd_event_source_set_time_relative(e->timer, CLI_POLL_MS * 1000);
        r = r < 0 ? r : sd_event_source_set_enabled(e->timer, SD_EVENT_ONESHOT);
    }
    if (r < 0)
        cli_stop_error(e->ctx, r, NULL);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct cli_container_end *e = userdata;
    int r = cli_rm_containers(e->ctx->rm, e->id.attempt, on_containers, e);

    (void)s;
    (void)usec;
    if (r < 0)
        cli_stop_error(e->ctx, r, NULL);
    return 0;
}

static void on_signalled(int status, const struct sv_error *err, void *userdata)
{
    struct cli_container_end *e = userdata;

    if (status < 0)
        cli_stop_error(e->ctx, status, err);
    else
        (void)on_timer(NULL, 0, e);
}

static int send_signal(struct cli_container_end *e, enum cli_signal signal)
{
    return cli_rm_signal(e->ctx->rm, e->id, signal, on_signalled, e);
}

struct cli_container_end *cli_container_end_free(struct cli_container_end *e)
{
    if (e)
        sd_event_source_disable_unref(e->timer);
    free(e);
    return NULL;
}

struct cli_container_end *cli_container_end(struct cli_ctx *ctx, struct yarn_container_id id,
                                            int64_t grace_ms, cli_container_ended_fn fn,
                                            void *userdata)
{
    struct cli_container_end *e = calloc(1, sizeof(*e));

    if (!e)
        return NULL;
    *e = (struct cli_container_end){ .ctx = ctx,
                                     .id = id,
                                     .kill_at = sv_now_ms() + grace_ms,
                                     .killing = grace_ms == 0,
                                     .fn = fn,
                                     .userdata = userdata };
    if (sd_event_add_time_relative(ctx->event, &e->timer, CLOCK_MONOTONIC, CLI_POLL_MS * 1000, 0,
                                   on_timer, e) < 0 ||
        sd_event_source_set_enabled(e->timer, SD_EVENT_OFF) < 0 ||
        send_signal(e, e->killing ? CLI_SIGNAL_KILL : CLI_SIGNAL_TERM) < 0)
        return cli_container_end_free(e);
    return e;
}
