/* Requests to the ResourceManager's web port: its REST, for data that its RPC lacks, and the
 * services API. */
#ifndef SELVEDGE_CLIENT_CORE_RM_REST_H
#define SELVEDGE_CLIENT_CORE_RM_REST_H

#include "client/core/session.h"

/* GET /ws/v1/cluster/`path`, or `path` itself if it begins with a slash, from the first
 * ResourceManager that answers with neither a redirect to the active one nor a connection error.
 * `fn` as in fetch.h. -errno: `fn` is not called. */
int cli_rm_rest_get(struct cli_ctx *ctx, const char *path, cli_fetch_fn fn, void *userdata)
    _must_use_;

struct cli_rest {
    const char *address; /* "host:port" to ask instead of the ResourceManagers, or NULL */
    const char *method;  /* a literal */
    const char *path;    /* begins with a slash; the query with the user's name is added */
    const char *query;   /* more of it: "" or "&name=value…" */
    const char *json;    /* the body, or NULL */
    size_t max;          /* bytes of an answer; 0: CLI_BODY_MAX */
};
/* Sends any request, likewise. One that changes something goes to another ResourceManager only if
 * none was reached or the first one is not active. */
int cli_rm_rest(struct cli_ctx *ctx, const struct cli_rest *q, cli_fetch_fn fn, void *userdata)
    _must_use_;

#endif
