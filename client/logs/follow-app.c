/* See follow-app.h. Hostile: the ApplicationMaster's answers and the nodes'. */
#include "client/logs/follow-app.h"

#include <errno.h>

#define POLL_USEC (500 * 1000)
#define END_POLL_USEC (50 * 1000) /* polling interval for the last answers */
#define TABLE_POLLS 4             /* log polls per read of a large table */
#define LARGE 100                 /* rows */

/* True for a table of another kind. While the ApplicationMaster of `selvedge run` does not answer,
 * the ResourceManager lists its containers, with other numbers and itself among them: such a table
 * is used only if there was no other until the end. */
static bool is_other(const struct cli_follow_app *f, const struct cli_rows *rows)
{
    return rows->no_instances && (f->seen || !f->ended);
}

static void take_table(struct cli_follow_app *f, struct cli_rows *rows)
{
    const struct cli_status *table = &rows->status;

    for (size_t i = 0; i < table->n; i++) {
        f->ops->row(&table->rows[i], table->n, !f->seen, f->userdata);
        if (table->rows[i].done && *table->rows[i].container)
            cli_streams_end(f->streams, table->rows[i].container);
    }
    f->seen = f->seen || table->n > 0;
    f->large = table->n > LARGE;
    if (f->ops->table && table->n > 0)
        f->ops->table(&rows->status, f->userdata);
}

static void on_table(int status, struct cli_rows *rows, const struct sv_error *err, void *userdata)
{
    struct cli_follow_app *f = userdata;

    f->asking = false;
    if (status < 0) {
        cli_stop_error(f->ctx, status, err);
        return;
    }
    f->ended = cli_app_ended(rows->state);
    if (!is_other(f, rows))
        take_table(f, rows);
    if (f->ended)
        cli_streams_end(f->streams, NULL);
    (void)cli_streams_poll(f->streams, true); /* on_timer() checks progress, ignoring */
    if (f->ended)
        (void)sd_event_source_set_time(f->timer, 0); /* else half a second later, ignoring */
}

static int on_timer(sd_event_source *t, uint64_t usec, void *userdata)
{
    struct cli_follow_app *f = userdata;
    int r = 0;

    if (cli_streams_poll(f->streams, true) && f->ended) {
        f->ops->ended(f->userdata);
        return 0;
    }
    if (!f->ended && !f->asking && ++f->polls >= (f->large ? TABLE_POLLS : 1)) {
        r = cli_rows_get(f->ctx, f->app, false, on_table, f);
        f->asking = r >= 0;
        f->polls = 0;
    }
    if (r < 0)
        cli_stop_error(f->ctx, r, NULL);
    (void)sd_event_source_set_time(
        t, usec + (f->ended ? END_POLL_USEC : POLL_USEC)); /* cannot fail here, ignoring */
    (void)sd_event_source_set_enabled(t, SD_EVENT_ONESHOT);
    return 0;
}

int cli_follow_app_start(struct cli_follow_app *f)
{
    return sd_event_add_time_relative(f->ctx->event, &f->timer, CLOCK_MONOTONIC, 0, 1000, on_timer,
                                      f);
}

void cli_follow_app_stop(struct cli_follow_app *f)
{
    f->timer = sd_event_source_disable_unref(f->timer);
}
