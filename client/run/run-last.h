/* How the containers of `selvedge run` ended that its ApplicationMaster can no longer tell, because
 * it was killed with them: the nodes are asked, for 5 s at most. */
#ifndef SELVEDGE_CLIENT_RUN_RUN_LAST_H
#define SELVEDGE_CLIENT_RUN_RUN_LAST_H

#include "client/core/session.h"
#include "client/views/status.h"

struct run_last;

/* For the rows of *s that are not done; their states are changed in place. NULL: out of
 * memory, and they are marked as unknown. */
struct run_last *run_last_new(struct cli_ctx *ctx, struct cli_status *s);
/* After the end of ctx->fetch. Accepts NULL. */
void run_last_free(struct run_last *l);
/* Asks for the rows that are still open. True once none is, or the time is over: the rows that are
 * not done by then are marked as unknown. */
bool run_last_poll(struct run_last *l);

#endif
