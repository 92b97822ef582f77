/* Subcommands that ask the NodeManager of this machine over D-Bus instead of the ResourceManager:
 * docs/operate/dbus.md has the interface. They need neither the ResourceManager nor a port. Those
 * that also ask the cluster call these functions where cli_local_wanted(). argv[0] is the
 * subcommand; results are exit codes: 1 where there is no bus or no daemon or it refuses, 2 for
 * wrong usage; a message was printed. */
#ifndef SELVEDGE_CLIENT_LOCAL_H
#define SELVEDGE_CLIENT_LOCAL_H

#include "client/commands.h"

enum { CLI_LOCAL_OPT = CLI_OPT_OWN, CLI_LOCAL_OPT_WAIT };

/* Whether --local stands among the options. */
bool cli_local_wanted(int argc, char **argv);
int cli_local_ps(struct cli_ctx *ctx, int argc, char **argv);
int cli_local_inspect(struct cli_ctx *ctx, int argc, char **argv);
int cli_local_top(struct cli_ctx *ctx, int argc, char **argv);

#endif
