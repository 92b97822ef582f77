/* Final states of containers of `selvedge run` that its ApplicationMaster cannot report, because it
 * was killed with them: queries the nodes, for 5 s at most. */
#ifndef SELVEDGE_CLIENT_RUN_RUN_LAST_H
#define SELVEDGE_CLIENT_RUN_RUN_LAST_H

#include "client/core/session.h"
#include "client/views/status.h"

struct run_last;

/* For the rows of *s that are not done; updates their states in place. NULL: out of memory; they
 * are then marked as unknown. */
struct run_last *cli_run_last_new(struct cli_ctx *ctx, struct cli_status *s);
/* Call after ctx->fetch has ended. Accepts NULL. */
void cli_run_last_free(struct run_last *l);
/* Queries the open rows. True once none is left, or on timeout: rows not done by then are marked as
 * unknown. */
bool cli_run_last_poll(struct run_last *l);

#endif
