/* Follows the output of an application's containers, including later ones, until it ends: for
 * `attach` and `logs --follow`. */
#ifndef SELVEDGE_CLIENT_LOGS_FOLLOW_APP_H
#define SELVEDGE_CLIENT_LOGS_FOLLOW_APP_H

#include "client/logs/streams.h"
#include "client/views/rows.h"

struct cli_follow_app_ops {
    /* Called for each container in each table: may open its logs with cli_streams_add. `first`:
     * from the first table that was read. */
    void (*row)(const struct cli_row *row, size_t rows, bool first, void *userdata);
    /* Called with each table, which it may take over. May be NULL. */
    void (*table)(struct cli_status *table, void *userdata);
    /* The last call: the application has ended and its output was printed. */
    void (*ended)(void *userdata);
};

struct cli_follow_app {
    struct cli_ctx *ctx;
    struct yarn_app_id app;
    struct cli_streams *streams; /* the caller's; outlives this */
    const struct cli_follow_app_ops *ops;
    void *userdata;
    /* Private. */
    sd_event_source *timer;
    unsigned polls;
    bool asking, seen, large, ended;
};

/* Errors print a message and end the loop. 0 or -errno. */
int cli_follow_app_start(struct cli_follow_app *f) _must_use_;
/* Call after ctx->fetch and ctx->rm have ended, or before their start. */
void cli_follow_app_stop(struct cli_follow_app *f);

#endif
