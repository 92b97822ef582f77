/* The table of REST methods and paths below /ws/v1/node: what is answered here, and how Hadoop's
 * are answered whose feature is off. Hostile: paths and methods. */
#ifndef SELVEDGE_NODEMANAGER_WEB_REST_PATHS_H
#define SELVEDGE_NODEMANAGER_WEB_REST_PATHS_H

#include <stdio.h>

#include "common/web/http.h"

/* `path`: below /ws/v1/node. 1: the caller answers it. 0: it is answered: no such path (404) or
 * method (405), or a feature that is off. */
int nm_rest_check(const struct sv_http_request *req, const char *path, struct sv_http_response *ret)
    _must_use_;
/* Prints a line per row for docs/compat.md, as ipc_print_methods(). */
void nm_rest_print(FILE *out);

#endif
