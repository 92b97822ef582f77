/* REST requests to the ResourceManager, for data that its RPC lacks. */
#ifndef SELVEDGE_CLIENT_CORE_RM_REST_H
#define SELVEDGE_CLIENT_CORE_RM_REST_H

#include "client/core/session.h"

/* GET /ws/v1/cluster/`path`, or `path` itself if it begins with a slash, from the first
 * ResourceManager that answers with neither a redirect to the active one nor a connection error.
 * `fn` as in fetch.h. -errno: `fn` is not called. */
int cli_rm_rest_get(struct cli_ctx *ctx, const char *path, cli_fetch_fn fn, void *userdata)
    _must_use_;

#endif
