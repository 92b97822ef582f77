/* http: and https:, one file without a status: the url that the file system is opened with.
 * Hostile: the server, and where it redirects to. */
#include <errno.h>
#include <string.h>

#include "fs/web.h"

static int open_fs(struct fs *fs, struct sv_error *err)
{
    const struct fs_options *o = &fs->options;
    struct fs_web *w = fs->data = calloc(1, sizeof(*w));

    if (!w)
        return sv_error_errno(err, -ENOMEM, "HTTP");
    if (!o->text || strlen(o->text) >= FS_WEB_URL_MAX)
        return sv_error_errno(err, o->text ? -ENAMETOOLONG : -EINVAL, "HTTP: its url");
    return fs_web_open(w, o, o->url->scheme == FS_SCHEME_HTTPS, err);
}

static void close_fs(struct fs *fs)
{
    if (fs->data)
        fs_web_close(fs->data);
    free(fs->data);
    fs->data = NULL;
}

static int stream(struct fs *fs, const char *path, const struct fs_status *st, struct fs_stream *s,
                  struct sv_error *err)
{
    const struct fs_web_get g = { .url = fs->options.text,
                                  .timeout_ms = fs->options.limits.deadline_ms,
                                  .to = s,
                                  .max = st->length };
    int r = fs_web_get(fs->data, &g, err);

    (void)path; /* there is one file */
    return r < 0 ? r : r == 200 ? 0 : fs_web_refused(r, err);
}

const struct fs_ops fs_http = { .name = "HTTP", .open = open_fs, .close = close_fs };
const struct fs_read_ops fs_http_reading = { .stream = stream };
