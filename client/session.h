/* One run of the `selvedge` command: its options and connections, its event loop, its error
 * messages. Shared by all subcommands. */
#ifndef SELVEDGE_CLIENT_SESSION_H
#define SELVEDGE_CLIENT_SESSION_H

#include <stdio.h>
#include <systemd/sd-event.h>

#include "client/client.h"
#include "client/fetch.h"

#define CLI_POLL_MS 200
#define CLI_BODY_MAX (16u << 20) /* an answer that is kept as a whole */

struct cli_command;

struct cli_ctx {
    const struct cli_command *command; /* the subcommand */
    sd_event *event;
    struct sv_conf *conf;
    struct cli_rm *rm;
    struct cli_fetch *fetch;
    char *user;
    const char *conf_dir;   /* --conf, or NULL */
    char *const *overrides; /* -D, "KEY=VALUE", NULL-terminated */
    bool json;
    int code;               /* exit code of the subcommand, set by cli_stop() */
    int64_t away_logged_ms; /* last message that the ResourceManager is away; 0 = none */
};

/* Runs the loop until cli_stop(). */
int cli_loop(struct cli_ctx *ctx);
void cli_stop(struct cli_ctx *ctx, int code);
/* Prints "selvedge: …" on stderr; returns 1. */
int cli_fail(const char *fmt, ...) _printf_(1, 2);
/* cli_fail() and the end of the loop: for callbacks. `err` may be NULL. */
void cli_stop_error(struct cli_ctx *ctx, int status, const struct sv_error *err);
/* Prints the synopsis of the subcommand on stderr; returns 2. */
int cli_usage(const struct cli_ctx *ctx);
/* 0, or 2 after an error message. */
int cli_parse_app(const char *text, struct yarn_app_id *ret);
/* For subcommands with the single option -a, --all: leaves optind at the first argument; 0 or 2. */
int cli_parse_all(const struct cli_ctx *ctx, int argc, char **argv, bool *ret_all);

#endif
