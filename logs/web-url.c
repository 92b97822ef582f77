/* See web-url.h. */
#include "logs/web-url.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PORT 9870        /* dfs.namenode.http-address */
#define SECURE_PORT 9871 /* dfs.namenode.https-address */

int logs_web_server(const struct loc_url *url, char ret[LOGS_WEB_SERVER_MAX + 1],
                    struct sv_error *err)
{
    bool secure = url->scheme == LOC_SCHEME_SWEBHDFS, v6 = strchr(url->host, ':');

    if (!*url->host)
        return sv_error_set(err, -EINVAL, "%s: expected webhdfs://HOST:PORT/PATH", url->path);
    (void)snprintf(ret, LOGS_WEB_SERVER_MAX + 1, "%s://%s%s%s:%d", secure ? "https" : "http",
                   v6 ? "[" : "", url->host, v6 ? "]" : "",
                   url->port ? url->port
                   : secure  ? SECURE_PORT
                             : PORT);
    return 0;
}
