/* `selvedge federation`: the state store that the clusters of a federation share, from the command
 * line of an operator who may read its configuration. */
#ifndef SELVEDGE_CLIENT_FEDERATION_FEDERATION_H
#define SELVEDGE_CLIENT_FEDERATION_FEDERATION_H

#include "client/core/session.h"
#include "federation/store/store.h"

#define FEDERATION_OPT_APPLY CLI_OPT_OWN

int cli_cmd_federation_members(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_federation_apps(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_federation_policy(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_federation_deregister(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_federation_schema(struct cli_ctx *ctx, int argc, char **argv);

/* Reads the configuration and makes one call to the store, whose version is checked before. An
 * error is printed; else `done` runs, which may be NULL and calls cli_stop(). Returns the exit
 * code. */
int cli_federation_call(struct cli_ctx *ctx, const struct fed_request *q,
                        void (*done)(struct cli_ctx *ctx, const struct fed_answer *a));

#endif
