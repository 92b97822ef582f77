/* See webhdfs-call.h. */
#include "fs/webhdfs-call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fs/webhdfs-json.h"

#define PREFIX "/webhdfs/v1"

int webhdfs_url(struct fs *fs, const char *path, const char *op, const char *more,
                char ret[FS_WEB_URL_MAX], struct sv_error *err)
{
    const struct webhdfs *w = fs->data;
    char full[FS_PATH_MAX], encoded[FS_WEB_URL_MAX];
    int r = fs_path(fs, path, full, err), n;

    if (r < 0)
        return r;
    r = fs_url_encode(full, encoded, sizeof(encoded));
    n = r < 0 ? r
              : snprintf(ret, FS_WEB_URL_MAX, "%s" PREFIX "%s?op=%s%s%s", w->server, encoded, op,
                         w->who, more);
    return n < 0 || n >= FS_WEB_URL_MAX ? sv_error_errno(err, -ENAMETOOLONG, "%s", full) : 0;
}

int webhdfs_refused(const struct fs *fs, int status, const char *path, struct sv_error *err)
{
    const struct webhdfs *w = fs->data;
    char text[300];
    int r = fs_webhdfs_parse_exception(w->web.answer, w->web.answer_n, text, sizeof(text));

    if (r == -EBADMSG)
        r = fs_web_refused(status, NULL);
    return sv_error_set(err, r, "%s%s%s%s: %s (HTTP status %d)", w->server, fs->root,
                        *path ? "/" : "", path, *text ? text : "refused", status);
}

/* Passes on the result of a request that wants the status 200. */
static int done(const struct fs *fs, int r, const char *path, struct sv_error *err)
{
    if (r < 0)
        return sv_error_wrap(err, "%s", ((const struct webhdfs *)fs->data)->server);
    return r == 200 ? 0 : webhdfs_refused(fs, r, path, err);
}

int webhdfs_call(struct fs *fs, const char *method, const char *path, const char *op,
                 const char *more, struct sv_error *err)
{
    struct webhdfs *w = fs->data;
    char url[FS_WEB_URL_MAX];
    const struct fs_web_get g = { .url = url, .timeout_ms = w->timeout_ms };
    int r = webhdfs_url(fs, path, op, more, url, err);

    if (r < 0)
        return r;
    r = strcmp(method, "GET") == 0 ? fs_web_get(&w->web, &g, err)
                                   : fs_web_request(&w->web, method, url, w->timeout_ms, err);
    return done(fs, r, path, err);
}

int webhdfs_open(struct fs *fs, const char *path, const char *more, struct fs_stream *to,
                 uint64_t max, uint32_t timeout_ms, struct sv_error *err)
{
    struct webhdfs *w = fs->data;
    char url[FS_WEB_URL_MAX];
    const struct fs_web_get g = { .url = url, .timeout_ms = timeout_ms, .to = to, .max = max };
    int r = webhdfs_url(fs, path, "OPEN", more, url, err);

    if (r < 0)
        return r;
    r = fs_web_get(&w->web, &g, err);
    if (r == -EFBIG && !to->sink_failed)
        r = sv_error_set(err, -ESTALE, "the server sent more than the file has");
    return done(fs, r, path, err);
}
