/* Follows the output of an application's containers, also of those that start later, until it ends:
 * for `attach` and `logs --follow`. */
#ifndef SELVEDGE_CLIENT_LOGS_FOLLOW_APP_H
#define SELVEDGE_CLIENT_LOGS_FOLLOW_APP_H

#include "client/logs/streams.h"
#include "client/views/rows.h"

struct cli_follow_app_ops {
    /* A container of the table: opens its logs with cli_streams_add, or does not. `first`: it is in
     * the first table that was read. Called again with each table. */
    void (*row)(const struct cli_row *row, size_t rows, bool first, void *userdata);
    /* Each table, which may be taken. May be NULL. */
    void (*table)(struct cli_status *table, void *userdata);
    /* The application has ended and its output was printed. The last call. */
    void (*ended)(void *userdata);
};

struct cli_follow_app {
    struct cli_ctx *ctx;
    struct yarn_app_id app;
    struct cli_streams *streams; /* the caller's; outlives this */
    const struct cli_follow_app_ops *ops;
    void *userdata;
    /* Its own. */
    sd_event_source *timer;
    unsigned polls;
    bool asking, seen, large, ended;
};

/* Errors end the loop with their message. 0 or -errno. */
int cli_follow_app_start(struct cli_follow_app *f) _must_use_;
/* After the end of ctx->fetch and ctx->rm, or before their start. */
void cli_follow_app_stop(struct cli_follow_app *f);

#endif
