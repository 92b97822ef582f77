/* REST under /ws/v1/cluster: the table of methods and paths that answers requests and that
 * docs/compat.md prints. It names every path of Hadoop's RMWebServices. Hostile: requests. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_REST_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_REST_H

#include <stdio.h>

#include "common/web/http.h"
#include "rm-lite/core/context.h"

/* A path at or below /ws/v1/cluster. */
bool rm_rest_takes(const struct sv_http_request *req);
/* 404 for a path without a row, 405 for another method of one. */
int rm_rest(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
    _must_use_;
/* Prints a line per row as ipc_print_methods: "REST", method and path, its treatment, reason. */
void rm_rest_print(FILE *out);

#endif
