/* How far the files are that containers of `selvedge run` wait for, from the nodes of a few of
 * them. On a terminal only: run-progress.c. */
#ifndef SELVEDGE_CLIENT_RUN_RUN_LOCALIZING_H
#define SELVEDGE_CLIENT_RUN_RUN_LOCALIZING_H

#include "client/core/session.h"
#include "client/views/localizing.h"
#include "client/views/status.h"

struct run_localizing;

/* The sum of so many containers; 0: none waits any more. */
typedef void (*run_localizing_fn)(unsigned containers, const struct cli_localizing *sum,
                                  void *userdata);

/* A look at the nodes every `round_ms`. NULL: no memory. */
struct run_localizing *run_localizing_new(struct cli_ctx *ctx, size_t instances, int64_t round_ms,
                                          run_localizing_fn tell, void *userdata);
/* After the end of ctx->fetch. Accepts NULL. */
void run_localizing_free(struct run_localizing *l);
/* Asks now and then; called often. Accepts NULL. */
void run_localizing_poll(struct run_localizing *l, const struct cli_status *s);

#endif
