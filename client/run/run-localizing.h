/* Localization progress of containers of `selvedge run`, from the nodes of a few of them. On a
 * terminal only: run-progress.c. */
#ifndef SELVEDGE_CLIENT_RUN_RUN_LOCALIZING_H
#define SELVEDGE_CLIENT_RUN_RUN_LOCALIZING_H

#include "client/core/session.h"
#include "client/views/localizing.h"
#include "client/views/status.h"

struct run_localizing;

/* The sum over this many containers; 0: none is waiting any more. */
typedef void (*run_localizing_fn)(unsigned containers, const struct cli_localizing *sum,
                                  void *userdata);

/* Queries the nodes every `round_ms`. NULL: out of memory. */
struct run_localizing *cli_run_localizing_new(struct cli_ctx *ctx, size_t instances,
                                              int64_t round_ms, run_localizing_fn tell,
                                              void *userdata);
/* Call after ctx->fetch has ended. Accepts NULL. */
void cli_run_localizing_free(struct run_localizing *l);
/* Call frequently; sends queries when due. Accepts NULL. */
void cli_run_localizing_poll(struct run_localizing *l, const struct cli_status *s);

#endif
