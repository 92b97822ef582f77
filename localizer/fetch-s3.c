/* s3a: and s3: URLs: one GET of an object, signed (sigv4.h) with the request's keys, unsigned if it
 * has none. The endpoint is the operator's and redirects are not followed: a signature is for one
 * host. Objects have no permissions to check: everything that the cluster's keys can read is
 * PUBLIC, as in Hadoop. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "localizer/fetch-common.h"
#include "localizer/http-get.h"

/* Encodes the path as signatures require: every byte but unreserved ones and '/' is escaped. */
static int put_path(const char *path, char *buf, size_t size)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    size_t n = 0;

    for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
        bool keep = strchr(plain, *p);

        if (size - n < 4)
            return -ENAMETOOLONG;
        n += (size_t)snprintf(buf + n, size - n, keep ? "%c" : "%%%02X", *p);
    }
    return 0;
}

/* http(s)://bucket.host:port/key, or http(s)://host:port/bucket/key */
static int make_url(const struct loc_source *s, char ret[LOC_HTTP_URL_MAX + 1], bool *ret_secure)
{
    const char *endpoint = s->request->servers, *host = strstr(endpoint, "://");
    bool path_style = s->request->options & LOC_OPTION_PATH_STYLE;
    size_t n;
    int k;

    if (!host || !host[3])
        return -EINVAL;
    host += 3;
    *ret_secure = sv_has_prefix(endpoint, "https:");
    if (!*ret_secure && !sv_has_prefix(endpoint, "http:"))
        return -EINVAL;
    k = snprintf(ret, LOC_HTTP_URL_MAX + 1, "%s://%s%s%s%s%s", *ret_secure ? "https" : "http",
                 path_style ? "" : s->url.host, path_style ? "" : ".", host, path_style ? "/" : "",
                 path_style ? s->url.host : "");
    if (k < 0 || k > LOC_HTTP_URL_MAX)
        return -ENAMETOOLONG;
    n = (size_t)k;
    return put_path(s->url.path, ret + n, LOC_HTTP_URL_MAX + 1 - n);
}

static int fetch(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    const struct loc_fetch *q = s->request;
    char url[LOC_HTTP_URL_MAX + 1];
    const struct fs_sigv4_key sign = { .region = q->region,
                                        .access_key = q->access_key,
                                        .secret_key = q->secret_key,
                                        .session_token = q->session_token };
    struct loc_http_get g = { .url = url,
                              .sign = q->access_key[0] ? &sign : NULL,
                              .one_host = true };
    int r = make_url(s, url, &g.secure);

    *ret_reason = LOC_FAIL_URL;
    if (r < 0)
        return sv_error_errno(err, r, "Resource %s: the endpoint of the request", q->url);
    r = loc_http_copy(s, &g, ret_reason, err);
    if (r == 0 || g.status == 200 || g.status == 0)
        return r;
    if (g.status == 404)
        return sv_error_set(err, -ENOENT, "File does not exist: %s", q->url);
    if (g.status == 403 || g.status == 401)
        return sv_error_set(err, -EACCES, "Resource %s: access denied; the keys were %s", q->url,
                            !q->access_key[0]             ? "none: the request was not signed"
                            : q->visibility == LOC_PUBLIC ? "the cluster's (fs.s3a.access.key)"
                                                          : "those of the job's credentials");
    if (g.status >= 300 && g.status < 400)
        return sv_error_set(
            err, -EXDEV,
            "Resource %s: the bucket is at another endpoint; set fs.s3a.endpoint and "
            "fs.s3a.endpoint.region, or fs.s3a.bucket.%s.endpoint…",
            q->url, s->url.host);
    return r;
}

const struct loc_fetcher loc_fetcher_s3 = { .fetch = fetch };
