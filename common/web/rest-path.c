/* See rest-path.h. */
#include "common/web/rest-path.h"

#include <string.h>

bool sv_rest_matches(const char *pattern, const char *path, const char **ret_rest)
{
    const char *rest = NULL;

    while (*pattern && *path) {
        if (*pattern == '{') {
            size_t n = strcspn(path, "/");

            if (!n)
                return false;
            rest = rest ?: path;
            path += n;
            pattern = strchr(pattern, '}') + 1;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    *ret_rest = rest ?: path;
    return !*pattern && !*path;
}
