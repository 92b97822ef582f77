/* Subcommands that query the NodeManager of this machine over D-Bus instead of the ResourceManager:
 * docs/operate/dbus.md has the interface. They need neither the ResourceManager nor a port.
 *
 * selvedge.c calls them if `--local` is among the options (the table's `local`); argv[0] is the
 * subcommand. Results are exit codes: 1 if the bus or the daemon is missing or refuses, 2 for wrong
 * usage; a message was printed. */
#ifndef SELVEDGE_CLIENT_LOCAL_LOCAL_H
#define SELVEDGE_CLIENT_LOCAL_LOCAL_H

#include "client/core/session.h"

int cli_local_ps(struct cli_ctx *ctx, int argc, char **argv);
int cli_local_inspect(struct cli_ctx *ctx, int argc, char **argv);
int cli_local_exec(struct cli_ctx *ctx, int argc, char **argv);
int cli_local_top(struct cli_ctx *ctx, int argc, char **argv);
/* `selvedge node drain`, `undrain`, `status --local`; */
int cli_local_node(struct cli_ctx *ctx, int argc, char **argv);

#endif
