/* The `selvedge` command: what its subcommands share. */
#ifndef SELVEDGE_CLIENT_CMD_H
#define SELVEDGE_CLIENT_CMD_H

#include <stdio.h>
#include <systemd/sd-event.h>

#include "client/client.h"
#include "client/fetch.h"

#define CLI_POLL_MS 200
#define CLI_BODY_MAX (16u << 20) /* an answer that is kept as a whole */

struct cli_ctx {
    sd_event *event;
    struct sv_conf *conf;
    struct cli_rm *rm;
    struct cli_fetch *fetch;
    char *user;
    const char *conf_dir;   /* --conf, or NULL */
    char *const *overrides; /* -D, "KEY=VALUE", NULL-terminated */
    bool json;
    int code;             /* of the command, once its loop has ended */
    int64_t away_told_ms; /* when it was last said that the ResourceManager is away; 0 = never */
};

/* argv[0] is the subcommand. Results are exit codes; 2 = used wrongly. */
int cli_cmd_run(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_ps(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_logs(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_kill(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_node(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_doctor(struct cli_ctx *ctx, int argc, char **argv); /* without event loop and rm */

/* Runs the loop until cli_stop(). */
int cli_loop(struct cli_ctx *ctx);
void cli_stop(struct cli_ctx *ctx, int code);
/* "selvedge: …" on stderr; returns 1. */
int cli_fail(const char *fmt, ...) _printf_(1, 2);
/* The same and ends the loop: for callbacks. `err` may be NULL. */
void cli_stop_error(struct cli_ctx *ctx, int status, const struct sv_error *err);
int cli_usage(const char *command); /* how to use it, on stderr; returns 2 */
int cli_parse_app(const char *text, struct yarn_app_id *ret); /* says what is wrong; 0 or 2 */

#endif
