/* The containers of an ended job of `selvedge run`: reads the table that its ApplicationMaster left
 * among its logs, found through the ResourceManager's REST, from the node that ran it. */
#ifndef SELVEDGE_CLIENT_VIEWS_ENDED_H
#define SELVEDGE_CLIENT_VIEWS_ENDED_H

#include "client/core/session.h"
#include "client/views/status.h"

/* status 0: the callback owns *table and frees it by cli_status_free(). -ENOENT: the table is gone
 * with the node's logs, or there was none; -ECANCELED: the program is ending. */
typedef void (*cli_ended_fn)(int status, struct cli_status *table, void *userdata);
int cli_ended_get(struct cli_ctx *ctx, const char *app, cli_ended_fn fn, void *userdata) _must_use_;

#endif
