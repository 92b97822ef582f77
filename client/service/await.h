/* --wait of the service commands: asks for the status until a goal is reached, with the progress
 * line. */
#ifndef SELVEDGE_CLIENT_SERVICE_AWAIT_H
#define SELVEDGE_CLIENT_SERVICE_AWAIT_H

#include "client/core/session.h"

enum cli_goal {
    CLI_GOAL_STABLE,   /* or SUCCEEDED: every instance has ended well */
    CLI_GOAL_STOPPED,  /* no application any more */
    CLI_GOAL_UPGRADED, /* no instance is being upgraded; `only`: and none of these needs it */
};

struct cli_await {
    bool wanted;      /* --wait was given */
    int64_t limit_ms; /* 0: none */
    enum cli_goal goal;
    const json_t *only;  /* CLI_GOAL_UPGRADED: an object, keys are components or instances */
    struct cli_ctx *ctx; /* the service is ctx->subject; set by cli_await() */
    int64_t began_ms;
    sd_event_source *timer;
    char state[400]; /* as the progress line has it */
};

/* The value of --wait[=TIME], NULL for none. 0, or 2 after an error message. */
int cli_await_option(const struct cli_ctx *ctx, struct cli_await *a, const char *value) _must_use_;
/* Ends the loop: with 0 when the goal is reached or nothing is awaited, with 1 after a message if
 * the service failed or time is over. */
void cli_await(struct cli_ctx *ctx, struct cli_await *a);
void cli_await_end(struct cli_await *a);

/* Counts of a status, for the progress line. Pure. */
struct cli_readiness {
    int64_t wanted, ready;
    bool upgrading; /* an instance is being upgraded */
    bool needed;    /* one of `only` waits for its upgrade, or its upgrade failed */
    bool failed;
};
void cli_readiness(const json_t *status, const json_t *only, struct cli_readiness *ret);
/* 1: the goal is reached; 0: not yet; -1: it will not be. */
int cli_goal_reached(enum cli_goal goal, const json_t *status, const struct cli_readiness *r);

#endif
