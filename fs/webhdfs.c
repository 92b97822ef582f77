/* webhdfs: and swebhdfs:, HDFS over HTTP: the NameNode's REST API, with a delegation token of the
 * job or simple authentication. Hostile: answers of NameNodes and DataNodes, and where they
 * redirect to. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "fs/credentials.h"
#include "fs/webhdfs-call.h"
#include "fs/webhdfs-json.h"

#define TIMEOUT_MS 60000 /* of one call, where the caller gives none */
#define READ_TIMES 10    /* a read may take so many times the limit of a call */

/* ---- The file system ---- */

/* Says who the caller is: the job's token for this server, or else the user of simple
 * authentication. */
static int identify(const struct fs *fs, char ret[FS_URL_MAX + 1], struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct fs_url *url = fs->options.url;
    const struct fs_identity *i = &fs->options.identity;
    const char *kind =
                   url->scheme == FS_SCHEME_SWEBHDFS ? "SWEBHDFS delegation" : "WEBHDFS delegation",
               *token = NULL, *key = "&delegation=";
    int r = a ? fs_credentials_token(i->credentials, kind, url->host, fs_url_web_port(url), a,
                                     &token, err)
              : sv_error_errno(err, -ENOMEM, "WebHDFS");

    if (r < 0)
        return r;
    if (!token) {
        key = "&user.name=";
        token = i->user ? i->user : "";
    }
    r = *token ? snprintf(ret, FS_URL_MAX, "%s", key) : 0;
    return fs_url_encode(token, ret + r, FS_URL_MAX + 1 - (size_t)r) < 0
               ? sv_error_set(err, -ENAMETOOLONG, "WebHDFS: too long a token or user name")
               : 0;
}

static int open_fs(struct fs *fs, struct sv_error *err)
{
    struct webhdfs *w = fs->data = calloc(1, sizeof(*w));
    int r = w ? fs_url_server(fs->options.url, w->server, err)
              : sv_error_errno(err, -ENOMEM, "WebHDFS");

    if (r == 0)
        r = identify(fs, w->who, err);
    if (r < 0)
        return r;
    w->timeout_ms =
        fs->options.limits.io_timeout_ms ? fs->options.limits.io_timeout_ms : TIMEOUT_MS;
    return fs_web_open(&w->web, &fs->options, fs->options.url->scheme == FS_SCHEME_SWEBHDFS, err);
}

static void close_fs(struct fs *fs)
{
    struct webhdfs *w = fs->data;

    if (w)
        fs_web_close(&w->web);
    free(w);
    fs->data = NULL;
}

static int malformed(const struct fs *fs, const char *what, const char *path, struct sv_error *err)
{
    return sv_error_set(err, -EBADMSG, "%s%s%s%s: the server's %s is malformed",
                        ((const struct webhdfs *)fs->data)->server, fs->root, *path ? "/" : "",
                        path, what);
}

static struct fs_status status_of(const struct webhdfs_status *s)
{
    return (struct fs_status){ .kind = s->file        ? FS_FILE
                                       : s->directory ? FS_DIRECTORY
                                                      : FS_NEITHER,
                               .mode = s->mode,
                               .length = s->file ? (uint64_t)s->length : 0,
                               .mtime_ms = s->mtime_ms,
                               .encrypted = s->encrypted };
}

static int status(struct fs *fs, const char *path, struct fs_status *ret,
                  struct fs_owner *ret_owner, struct sv_error *err)
{
    const struct webhdfs *w = fs->data;
    struct webhdfs_status st;
    struct webhdfs_owner o;
    int r = webhdfs_call(fs, "GET", path, "GETFILESTATUS", "", err);

    if (r < 0)
        return r;
    if (fs_webhdfs_parse_status(w->web.answer, w->web.answer_n, &st) < 0)
        return malformed(fs, "status of the file", path, err);
    *ret = status_of(&st);
    if (!ret_owner)
        return 0;
    if (fs_webhdfs_parse_owner(w->web.answer, w->web.answer_n, &o) < 0)
        return malformed(fs, "owner of the file", path, err);
    *ret_owner =
        (struct fs_owner){ .acl = o.acl, .own = sv_streq(o.user, fs->options.identity.user) };
    memcpy(ret_owner->user, o.user, sizeof(ret_owner->user));
    memcpy(ret_owner->group, o.group, sizeof(ret_owner->group));
    return 0;
}

_Static_assert(WEBHDFS_OWNER_MAX == FS_OWNER_MAX, "names of owners");

static int list_part(struct fs *fs, const char *path, char after[FS_NAME_MAX + 1],
                     int (*child)(void *userdata, const struct fs_child *c), void *userdata,
                     struct sv_error *err)
{
    const struct webhdfs *w = fs->data;
    struct webhdfs_listing l;
    char more[3 * FS_NAME_MAX + 20] = "";
    int r = 0;

    if (*after) {
        (void)snprintf(more, sizeof(more), "&startAfter=");
        r = fs_url_encode(after, more + strlen(more), sizeof(more) - strlen(more));
    }
    r = r < 0 ? sv_error_errno(err, r, "%s", path)
              : webhdfs_call(fs, "GET", path, "LISTSTATUS_BATCH", more, err);
    if (r < 0)
        return r;
    r = fs_webhdfs_parse_listing(w->web.answer, w->web.answer_n, &l);
    if (r < 0)
        return r == -EBADMSG ? malformed(fs, "listing", path, err)
                             : sv_error_errno(err, r, "%s%s/%s", w->server, fs->root, path);
    for (size_t i = 0; r == 0 && i < l.n; i++) {
        const struct fs_child c = { l.children[i].name, status_of(&l.children[i].st) };

        r = child(userdata, &c);
    }
    if (r == 0 && l.more)
        memcpy(after, l.children[l.n - 1].name, FS_NAME_MAX + 1);
    free(l.children);
    return r < 0 ? r : l.more;
}

static int list(struct fs *fs, const char *path,
                int (*child)(void *userdata, const struct fs_child *c), void *userdata,
                struct sv_error *err)
{
    char after[FS_NAME_MAX + 1] = "";
    int r = 1;

    while (r > 0)
        r = list_part(fs, path, after, child, userdata, err);
    return r;
}

/* ---- Reading ---- */

static int open_file(struct fs_file *f, struct fs_status *ret, struct sv_error *err)
{
    int r = status(f->fs, f->path, ret, NULL, err);

    if (r == 0 && (ret->kind != FS_FILE || ret->encrypted))
        return sv_error_set(err, -EINVAL, "%s: no regular file, or in an encryption zone", f->path);
    return r;
}

static void file_free(struct fs_file *f)
{
    (void)f;
}

struct room {
    uint8_t *p;
};

static int put(void *userdata, const void *p, size_t n)
{
    struct room *room = userdata;

    memcpy(room->p, p, n); /* at most the stream's limit */
    room->p += n;
    return 0;
}

static int read_bytes(struct fs_file *f, uint64_t offset, void *p, size_t n, struct sv_error *err)
{
    const struct webhdfs *w = f->fs->data;
    struct room room = { p };
    struct fs_stream s = { .sink = put, .userdata = &room };
    char more[80];
    int r;

    (void)snprintf(more, sizeof(more), "&offset=%llu&length=%zu", (unsigned long long)offset, n);
    r = webhdfs_open(f->fs, f->path, more, &s, n, w->timeout_ms * READ_TIMES, err);
    return r < 0 || s.bytes == n ? r
                                 : sv_error_set(err, -EBADMSG, "%s%s: %zu bytes in place of %zu",
                                                w->server, f->path, (size_t)s.bytes, n);
}

static int stream(struct fs *fs, const char *path, const struct fs_status *st, struct fs_stream *s,
                  struct sv_error *err)
{
    struct fs_status after;
    int r =
        st->encrypted
            ? sv_error_set(err, -EOPNOTSUPP, "it is in an encryption zone, which is not supported")
            : webhdfs_open(fs, path, "", s, st->length, fs->options.limits.deadline_ms, err);

    if (r == 0)
        r = status(fs, path, &after, NULL, err);
    if (r < 0)
        return r;
    return s->bytes == st->length && fs_same(st, &after)
               ? 0
               : sv_error_set(err, -ESTALE, "it changed while it was read");
}

const struct fs_ops fs_webhdfs = {
    .name = "WebHDFS",
    .open = open_fs,
    .close = close_fs,
    .status = status,
    .list = list,
};
const struct fs_read_ops fs_webhdfs_reading = {
    .open_file = open_file,
    .file_free = file_free,
    .read = read_bytes,
    .stream = stream,
};
