/* The line of `selvedge run` while containers wait for their files: on a terminal only, from the
 * nodes of a few of them. */
#ifndef SELVEDGE_CLIENT_RUN_LOCALIZING_H
#define SELVEDGE_CLIENT_RUN_LOCALIZING_H

#include "client/session.h"
#include "client/status.h"

struct run_localizing;

typedef void (*run_localizing_fn)(const char *line, void *userdata);

/* `say` prints a line. NULL when out of memory: then there are no such lines. */
struct run_localizing *run_localizing_new(struct cli_ctx *ctx, size_t instances,
                                          run_localizing_fn say, void *userdata);
/* After the end of ctx->fetch. Accepts NULL. */
void run_localizing_free(struct run_localizing *l);
/* Asks now and then; called often. Accepts NULL. */
void run_localizing_poll(struct run_localizing *l, const struct cli_status *s);

#endif
