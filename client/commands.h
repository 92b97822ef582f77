/* The subcommands of `selvedge`: one file each, listed in the table of selvedge.c. */
#ifndef SELVEDGE_CLIENT_COMMANDS_H
#define SELVEDGE_CLIENT_COMMANDS_H

#include "client/session.h"

struct cli_command {
    const char *name;
    int (*run)(struct cli_ctx *ctx, int argc, char **argv);
    const char *synopsis, *summary, *help;
};

/* argv[0] is the subcommand. Results are exit codes; 2 = wrong usage. */
int cli_cmd_run(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_ps(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_logs(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_kill(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_node(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_app(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_queue(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_wait(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_localize(struct cli_ctx *ctx, int argc, char **argv); /* local */
int cli_cmd_doctor(struct cli_ctx *ctx, int argc, char **argv);   /* local */

#endif
