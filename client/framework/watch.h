/* Waiting for a framework's end: asks for its state, with the progress line. */
#ifndef SELVEDGE_CLIENT_FRAMEWORK_WATCH_H
#define SELVEDGE_CLIENT_FRAMEWORK_WATCH_H

#include "client/core/session.h"

struct cli_watch {
    bool wanted, lines; /* --wait was given; a line each change on the standard output */
    bool any_end;       /* a stopped or failed one is as good */
    int64_t limit_ms;   /* 0: none */
    struct cli_ctx *ctx;
    int64_t began_ms;
    sd_event_source *timer;
    char state[600];
};
/* The value of --wait[=TIME], NULL for none. 0, or 2 after an error message. */
int cli_watch_option(const struct cli_ctx *ctx, struct cli_watch *w, const char *value) _must_use_;
/* Ends the loop with 0 when the framework has ended with 0, with 1 if it failed or time is over; at
 * once, with 0, where nothing is awaited. */
void cli_watch(struct cli_ctx *ctx, struct cli_watch *w);
void cli_watch_end(struct cli_watch *w);

#endif
