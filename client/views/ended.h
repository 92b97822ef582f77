/* The containers of a job of `selvedge run` that is over: the table that its ApplicationMaster left
 * among its logs, found through the ResourceManager's REST and read from the node that ran it. */
#ifndef SELVEDGE_CLIENT_VIEWS_ENDED_H
#define SELVEDGE_CLIENT_VIEWS_ENDED_H

#include "client/core/session.h"
#include "client/views/status.h"

/* status 0: *table is the callback's, to be freed by cli_status_free(). -ENOENT: the table is gone
 * with the node's logs, or there was none; -ECANCELED: the program ends. */
typedef void (*cli_ended_fn)(int status, struct cli_status *table, void *userdata);
int cli_ended_get(struct cli_ctx *ctx, const char *app, cli_ended_fn fn, void *userdata) _must_use_;

#endif
