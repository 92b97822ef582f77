/* Paths of REST as tables write them: "/apps/{appid}/state", where {name} stands for any text
 * without a slash. Hostile: the path of a request. */
#ifndef SELVEDGE_COMMON_WEB_REST_PATH_H
#define SELVEDGE_COMMON_WEB_REST_PATH_H

#include "common/base.h"

/* *ret_rest: position of the first {name} in `path`, or its end. */
bool sv_rest_matches(const char *pattern, const char *path, const char **ret_rest);

#endif
