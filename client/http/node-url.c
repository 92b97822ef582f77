/* See node-url.h. */
#include "client/http/node-url.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/conf.h"
#include "common/str.h"

static const char *scheme = "http";

void cli_scheme_set(struct sv_conf *conf)
{
    const char *policy = sv_conf_raw(conf, "yarn.http.policy");

    scheme = policy && sv_streq(policy, "HTTPS_ONLY") ? "https" : "http";
}

const char *cli_scheme(void)
{
    return scheme;
}

const char *cli_without_scheme(const char *http)
{
    const char *rest = strstr(http, "://");

    return rest && (sv_has_prefix(http, "http:") || sv_has_prefix(http, "https:")) ? rest + 3
                                                                                   : http;
}

char *cli_percent_encode(const char *s)
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
    _cleanup_free_ char *name = cli_percent_encode(user);

    return name ? sv_asprintf(ret, "?user.name=%s", name) : -ENOMEM;
}

int cli_node_url(const char *http, const char *id, const char *rest, const char *user, char **ret)
{
    _cleanup_free_ char *query = NULL;
    int r = cli_query_user(user, &query);

    return r < 0 ? r
                 : sv_asprintf(ret, "%s://%s/ws/v1/node/containers/%s%s%s", scheme, http, id, rest,
                               query);
}
