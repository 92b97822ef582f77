/* What the ended containers of `selvedge run` used, asked once from the node of each. */
#ifndef SELVEDGE_CLIENT_RUN_RUN_USAGE_H
#define SELVEDGE_CLIENT_RUN_RUN_USAGE_H

#include "client/core/session.h"
#include "client/views/status.h"

struct run_usage;

struct run_usage *run_usage_new(struct cli_ctx *ctx, size_t instances); /* NULL: out of memory */
/* After the end of ctx->fetch. Accepts NULL. */
void run_usage_free(struct run_usage *u);
/* Asks the node of the ended row `i`, once a container. True once its answer is there, or that
 * there is none. */
bool run_usage_ask(struct run_usage *u, size_t i, const struct cli_row *row);
/* Into the rows of the containers that are known. */
void run_usage_copy(const struct run_usage *u, struct cli_status *s);

#endif
