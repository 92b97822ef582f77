/* The ResourceManager's REST: for what its RPC does not tell. */
#ifndef SELVEDGE_CLIENT_CORE_RM_REST_H
#define SELVEDGE_CLIENT_CORE_RM_REST_H

#include "client/core/session.h"

/* GET /ws/v1/cluster/`path`, or of a path that begins with a slash as it stands, of the first
 * ResourceManager whose answer is not a redirect to the active one nor an error of the connection.
 * `fn` as in fetch.h. -errno: `fn` is not called. */
int cli_rm_rest_get(struct cli_ctx *ctx, const char *path, cli_fetch_fn fn, void *userdata)
    _must_use_;

#endif
