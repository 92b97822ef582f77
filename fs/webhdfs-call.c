/* See webhdfs-call.h. */
#include "fs/webhdfs-call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fs/webhdfs-json.h"

#define PREFIX "/webhdfs/v1"
#define SLOW_SECONDS 30L /* a transfer below the slowest rate for so long is aborted */

int webhdfs_url(struct fs *fs, const char *path, const char *op, const char *more,
                char ret[WEBHDFS_URL_MAX], struct sv_error *err)
{
    const struct webhdfs *w = fs->data;
    char full[FS_PATH_MAX], encoded[WEBHDFS_URL_MAX];
    int r = fs_path(fs, path, full, err), n;

    if (r < 0)
        return r;
    r = fs_url_encode(full, encoded, sizeof(encoded));
    n = r < 0 ? r
              : snprintf(ret, WEBHDFS_URL_MAX, "%s" PREFIX "%s?op=%s%s%s", w->server, encoded, op,
                         w->who, more);
    return n < 0 || n >= WEBHDFS_URL_MAX ? sv_error_errno(err, -ENAMETOOLONG, "%s", full) : 0;
}

static long status_of(const struct webhdfs *w)
{
    long status = 0;

    (void)w->web.curl->easy_getinfo(w->easy, CURLINFO_RESPONSE_CODE,
                                    &status); /* 0 else, ignoring */
    return status;
}

static size_t to_sink(struct webhdfs *w, const char *p, size_t n)
{
    struct fs_stream *s = w->to;

    if (n > w->max - s->bytes) {
        w->over = true;
        return 0;
    }
    w->sink_error = s->sink(s->userdata, p, n);
    if (w->sink_error < 0) {
        s->sink_failed = true;
        return 0;
    }
    s->bytes += n;
    return n;
}

size_t webhdfs_on_data(char *p, size_t one, size_t n, void *userdata)
{
    struct webhdfs *w = userdata;

    (void)one; /* always 1 */
    if (w->to && status_of(w) == 200)
        return to_sink(w, p, n);
    if (n > WEBHDFS_ANSWER_MAX - w->answer_n) {
        w->over = true;
        return 0;
    }
    memcpy(w->answer + w->answer_n, p, n);
    w->answer_n += n;
    w->answer[w->answer_n] = 0;
    return n;
}

int webhdfs_broken(const struct fs *fs, CURLcode code, struct sv_error *err)
{
    const struct webhdfs *w = fs->data;

    if (w->sink_error < 0)
        return sv_error_errno(err, w->sink_error, "write");
    if (w->over)
        return sv_error_set(err, w->to ? -ESTALE : -EBADMSG, "%s: %s", w->server,
                            w->to ? "the server sent more than the file has"
                                  : "its answer is too long");
    return sv_error_set(err, code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -EIO, "%s: %s",
                        w->server, *w->why ? w->why : w->web.curl->easy_strerror(code));
}

int webhdfs_refused(const struct fs *fs, long status, const char *path, struct sv_error *err)
{
    const struct webhdfs *w = fs->data;
    char text[300];
    int r = fs_webhdfs_parse_exception(w->answer, w->answer_n, text, sizeof(text));

    if (r == -EBADMSG)
        r = status == 404   ? -ENOENT
            : status == 401 ? -EKEYREJECTED
            : status == 403 ? -EACCES
                            : -EREMOTEIO;
    return sv_error_set(err, r, "%s%s%s%s: %s (HTTP status %ld)", w->server, fs->root,
                        *path ? "/" : "", path, *text ? text : "refused", status);
}

static int perform(struct fs *fs, const char *method, const char *url, uint32_t timeout_ms,
                   struct sv_error *err)
{
    struct webhdfs *w = fs->data;
    CURLcode r = fs_web_setup(&w->web, w->easy, url, w->why);

#define SET(option, value)                                                                         \
    (r = r == CURLE_OK ? w->web.curl->easy_setopt(w->easy, option, value) : r)
    SET(CURLOPT_CUSTOMREQUEST, method);
    SET(CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    SET(CURLOPT_LOW_SPEED_LIMIT, (long)w->slowest_rate);
    SET(CURLOPT_LOW_SPEED_TIME, SLOW_SECONDS);
    SET(CURLOPT_WRITEFUNCTION, webhdfs_on_data);
    SET(CURLOPT_WRITEDATA, w);
#undef SET
    w->answer_n = 0;
    w->answer[0] = 0;
    w->over = false;
    w->sink_error = 0;
    if (r == CURLE_OK)
        r = w->web.curl->easy_perform(w->easy);
    return r == CURLE_OK ? (int)status_of(w) : webhdfs_broken(fs, r, err);
}

int webhdfs_request(struct fs *fs, const char *method, const char *url, struct sv_error *err)
{
    struct webhdfs *w = fs->data;

    w->to = NULL;
    return perform(fs, method, url, w->timeout_ms, err);
}

int webhdfs_redirect(struct fs *fs, unsigned hops, char ret[WEBHDFS_URL_MAX], struct sv_error *err)
{
    const struct webhdfs *w = fs->data;
    char *to = NULL;
    int r;

    (void)w->web.curl->easy_getinfo(w->easy, CURLINFO_REDIRECT_URL, &to); /* NULL else, ignoring */
    r = fs_policy_redirect(w->web.policy, to, w->web.secure ? FS_SCHEME_HTTPS : FS_SCHEME_HTTP,
                           hops, err);
    if (r == 0)
        (void)snprintf(ret, WEBHDFS_URL_MAX, "%s", to);
    return r;
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* A GET with its redirects. Returns the HTTP status. */
static int get(struct fs *fs, char url[WEBHDFS_URL_MAX], uint32_t timeout_ms, struct sv_error *err)
{
    for (unsigned hops = 0;; hops++) {
        int r = perform(fs, "GET", url, timeout_ms, err);

        if (!is_redirect(r))
            return r;
        r = webhdfs_redirect(fs, hops, url, err);
        if (r < 0)
            return sv_error_wrap(err, "%s", ((const struct webhdfs *)fs->data)->server);
    }
}

int webhdfs_call(struct fs *fs, const char *method, const char *path, const char *op,
                 const char *more, struct sv_error *err)
{
    struct webhdfs *w = fs->data;
    char url[WEBHDFS_URL_MAX];
    int r = webhdfs_url(fs, path, op, more, url, err);

    w->to = NULL;
    if (r == 0)
        r = strcmp(method, "GET") == 0 ? get(fs, url, w->timeout_ms, err)
                                       : perform(fs, method, url, w->timeout_ms, err);
    return r < 0 ? r : r == 200 ? 0 : webhdfs_refused(fs, r, path, err);
}

int webhdfs_open(struct fs *fs, const char *path, const char *more, struct fs_stream *to,
                 uint64_t max, uint32_t timeout_ms, struct sv_error *err)
{
    struct webhdfs *w = fs->data;
    char url[WEBHDFS_URL_MAX];
    int r = webhdfs_url(fs, path, "OPEN", more, url, err);

    if (r < 0)
        return r;
    w->to = to;
    w->max = max;
    r = get(fs, url, timeout_ms, err);
    w->to = NULL;
    return r < 0 ? r : r == 200 ? 0 : webhdfs_refused(fs, r, path, err);
}
