/* See node-url.h. */
#include "client/http/node-url.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

/* Percent-encodes everything but letters, digits and "-_."; NULL when out of memory. */
static char *percent_encode(const char *s)
{
    static const char hex[] = "0123456789ABCDEF";
    char *encoded = malloc(3 * strlen(s) + 1), *p = encoded;

    if (!p)
        return NULL;
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;

        if (isascii(c) && (isalnum(c) || strchr("-_.", c))) {
            *p++ = *s;
            continue;
        }
        *p++ = '%';
        *p++ = hex[c >> 4];
        *p++ = hex[c & 15];
    }
    *p = 0;
    return encoded;
}

int cli_query_user(const char *user, char **ret)
{
    _cleanup_free_ char *name = percent_encode(user);

    return name ? sv_asprintf(ret, "?user.name=%s", name) : -ENOMEM;
}

int cli_node_url(const char *http, const char *id, const char *rest, const char *user, char **ret)
{
    _cleanup_free_ char *query = NULL;
    int r = cli_query_user(user, &query);

    return r < 0
               ? r
               : sv_asprintf(ret, "http://%s/ws/v1/node/containers/%s%s%s", http, id, rest, query);
}
