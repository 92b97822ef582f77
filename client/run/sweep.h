/* Removes staging directories of ended jobs: left by killed and detached `selvedge run`. */
#ifndef SELVEDGE_CLIENT_RUN_SWEEP_H
#define SELVEDGE_CLIENT_RUN_SWEEP_H

#include "client/core/session.h"
#include "client/run/stage.h"

/* Queries the ResourceManager for the user's other jobs, at most 64; `ctx` and `stage` must outlive
 * the answers. */
void cli_sweep_staging(struct cli_ctx *ctx, struct cli_stage *stage);

#endif
