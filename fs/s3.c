/* s3a: and s3:, whole objects without a status: one GET, signed (sigv4.h) with the caller's keys.
 * The endpoint is the operator's, and redirects are not followed: a signature is for one host.
 * Hostile: the server's answers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/str.h"
#include "fs/sigv4.h"
#include "fs/web.h"

struct bucket {
    struct fs_web web;
    char base[FS_WEB_URL_MAX]; /* http(s)://bucket.host:port, or http(s)://host:port/bucket */
};

/* One object's GET. */
struct object {
    struct bucket *bucket;
    const struct fs_sigv4_key *key;
    char url[FS_WEB_URL_MAX];
};

static int open_fs(struct fs *fs, struct sv_error *err)
{
    const struct fs_s3 *o = fs->options.s3;
    const char *name = fs->options.url->host, *host = o ? strstr(o->endpoint, "://") : NULL;
    struct bucket *b = fs->data = calloc(1, sizeof(*b));
    bool secure = host && sv_has_prefix(o->endpoint, "https:");
    int n;

    if (!b)
        return sv_error_errno(err, -ENOMEM, "S3");
    if (!host || !host[3] || (!secure && !sv_has_prefix(o->endpoint, "http:")))
        return sv_error_errno(err, -EINVAL, "the endpoint of the request");
    n = snprintf(b->base, sizeof(b->base), "%s://%s%s%s%s%s", secure ? "https" : "http",
                 o->path_style ? "" : name, o->path_style ? "" : ".", host + 3,
                 o->path_style ? "/" : "", o->path_style ? name : "");
    if (n < 0 || n >= (int)sizeof(b->base))
        return sv_error_errno(err, -ENAMETOOLONG, "the endpoint of the request");
    return fs_web_open(&b->web, &fs->options, secure, err);
}

static void close_fs(struct fs *fs)
{
    struct bucket *b = fs->data;

    if (b)
        fs_web_close(&b->web);
    free(b);
    fs->data = NULL;
}

/* Signs a GET; the url is "scheme://host/path", without a query. */
static CURLcode sign(void *userdata, const char *range, struct curl_slist **headers)
{
    const struct object *o = userdata;
    const struct fs_web *w = &o->bucket->web;
    const char *host = strstr(o->url, "://") + 3, *path = strchr(host, '/');
    char name[300];
    const struct fs_sigv4_request q = {
        .host = name, .path = path, .range = range, .time_s = sv_wall_ms() / 1000
    };
    struct fs_sigv4 s;
    CURLcode r;

    if (snprintf(name, sizeof(name), "%.*s", (int)(path - host), host) >= (int)sizeof(name))
        return CURLE_URL_MALFORMAT;
    if (fs_sigv4_sign(o->key, &q, &s) < 0)
        return CURLE_FAILED_INIT;
    r = fs_web_header(w, headers, "Host", name);
    if (r == CURLE_OK)
        r = fs_web_header(w, headers, "x-amz-date", s.date);
    if (r == CURLE_OK)
        r = fs_web_header(w, headers, "x-amz-content-sha256", FS_SIGV4_EMPTY);
    if (r == CURLE_OK && o->key->session_token[0])
        r = fs_web_header(w, headers, "x-amz-security-token", o->key->session_token);
    return r == CURLE_OK ? fs_web_header(w, headers, "Authorization", s.authorization) : r;
}

static int refused(const struct fs *fs, int status, struct sv_error *err)
{
    const struct fs_s3 *o = fs->options.s3;

    if (status == 401 || status == 403)
        return sv_error_set(err, -EACCES, "access denied; the keys were %s",
                            o->key ? o->whose : "none: the request was not signed");
    if (status >= 300 && status < 400)
        return sv_error_set(err, -EXDEV,
                            "the bucket is at another endpoint; set fs.s3a.endpoint and "
                            "fs.s3a.endpoint.region, or fs.s3a.bucket.%s.endpoint…",
                            fs->options.url->host);
    return fs_web_refused(status, err);
}

static int stream(struct fs *fs, const char *path, const struct fs_status *st, struct fs_stream *s,
                  struct sv_error *err)
{
    struct object o = { .bucket = fs->data, .key = fs->options.s3->key };
    const struct fs_web_get g = { .url = o.url,
                                  .timeout_ms = fs->options.limits.deadline_ms,
                                  .to = s,
                                  .max = st->length,
                                  .one_host = true,
                                  .sign = o.key ? sign : NULL,
                                  .userdata = &o };
    size_t n = strlen(o.bucket->base);
    char full[FS_PATH_MAX];
    int r = fs_path(fs, path, full, err);

    if (r < 0)
        return r;
    memcpy(o.url, o.bucket->base, n);
    if (fs_url_encode(full, o.url + n, sizeof(o.url) - n) < 0)
        return sv_error_errno(err, -ENAMETOOLONG, "%s", full);
    r = fs_web_get(&o.bucket->web, &g, err);
    return r < 0 ? r : r == 200 ? 0 : refused(fs, r, err);
}

const struct fs_ops fs_s3 = { .name = "S3", .open = open_fs, .close = close_fs };
const struct fs_read_ops fs_s3_reading = { .stream = stream };
