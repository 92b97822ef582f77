/* See rest-paths.h. */
#include "nodemanager/web/rest-paths.h"

#include <string.h>

#include "common/str.h"
#include "common/web/rest-path.h"
#include "nodemanager/web/web-reply.h"

#define RESOURCES "/resources/"
#define NO_MANIFEST "auxiliary services are those of the configuration: there is no manifest"

static int no_manifest(struct sv_http_response *ret)
{
    return nm_web_exception(ret, 400, "BadRequestException",
                            "Auxiliary services manifest is not enabled");
}

static int no_sysfs(struct sv_http_response *ret)
{
    return nm_web_exception(ret, 400, "BadRequestException",
                            "containers have no sysfs directory of YARN services on this node");
}

static const struct row {
    const char *method, *path;
    int (*answer)(struct sv_http_response *ret); /* of a feature that is off */
    const char *off;                             /* the reason; NULL: as in Hadoop */
    bool refused;                                /* off: an error, else an empty answer */
} rows[] = {
    { "GET", "/" },
    { "GET", "/info" },
    { "GET", "/apps" },
    { "GET", "/apps/{appid}" },
    { "GET", "/containers" },
    { "GET", "/containers/{containerid}" },
    { "GET", "/containers/{containerid}/logs" },
    { "GET", "/containers/{containerid}/logs/{filename}" },
    { "GET", "/containerlogs/{containerid}/{filename}" },
    { "GET", "/auxiliaryservices" },
    { "PUT", "/auxiliaryservices", no_manifest, NO_MANIFEST, true },
    { "GET", "/resources/{resourcename}" },
    { "PUT", "/yarn/sysfs/{user}/{appId}", no_sysfs, "YARN services are not supported", true },
};

int nm_rest_check(const struct sv_http_request *req, const char *path, struct sv_http_response *ret)
{
    const char *method = strcmp(req->method, "HEAD") == 0 ? "GET" : req->method, *rest;
    bool known = false;

    path = *path ? path : "/";
    if (sv_has_prefix(path, RESOURCES) && path[strlen(RESOURCES)])
        path = RESOURCES "name"; /* yarn.io%2Fgpu has a slash in it */
    for (const struct row *r = rows; r < rows + SV_ARRAY_LEN(rows); r++) {
        if (!sv_rest_matches(r->path, path, &rest))
            continue;
        known = true;
        if (strcmp(method, r->method) == 0)
            return r->answer ? r->answer(ret) : 1;
    }
    ret->status = known ? 405 : 404;
    return 0;
}

void nm_rest_print(FILE *out)
{
    for (const struct row *r = rows; r < rows + SV_ARRAY_LEN(rows); r++)
        fprintf(out, "REST\t%s %s\t%s\t%s\n", r->method, r->path,
                !r->off      ? "honoured"
                : r->refused ? "refused"
                             : "ignored",
                r->off ?: "");
}
