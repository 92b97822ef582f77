/* Resource usage of the ended containers of `selvedge run`, queried once from the node of each. */
#ifndef SELVEDGE_CLIENT_RUN_RUN_USAGE_H
#define SELVEDGE_CLIENT_RUN_RUN_USAGE_H

#include "client/core/session.h"
#include "client/views/status.h"

struct run_usage;

struct run_usage *cli_run_usage_new(struct cli_ctx *ctx,
                                    size_t instances); /* NULL: out of memory */
/* Call after ctx->fetch has ended. Accepts NULL. */
void cli_run_usage_free(struct run_usage *u);
/* Queries the node of the ended row `i`, once per container. True once the answer has arrived, or
 * failed. */
bool cli_run_usage_ask(struct run_usage *u, size_t i, const struct cli_row *row);
/* Copies known figures into the rows. */
void cli_run_usage_copy(const struct run_usage *u, struct cli_status *s);

#endif
