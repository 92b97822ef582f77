/* webhdfs: and swebhdfs: urls: HDFS over HTTP, the NameNode's REST API. Its answers are hostile, as
 * is the DataNode that it redirects to. */
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "localizer/fetch-tree.h"
#include "localizer/http-get.h"
#include "localizer/webhdfs-json.h"

#define PORT 9870        /* dfs.namenode.http-address */
#define SECURE_PORT 9871 /* dfs.namenode.https-address */
#define PREFIX "/webhdfs/v1"
#define STATUS_MAX (64u << 10)
#define LISTING_MAX (8u << 20) /* a part; Hadoop's has 1000 children */

struct text {
    char *p;
    size_t n;
};

static int append(void *userdata, const void *p, size_t n)
{
    struct text *t = userdata;

    memcpy(t->p + t->n, p, n); /* at most the get's limit */
    t->n += n;
    return 0;
}

static void curl_text_freep(char **s)
{
    curl_free(*s);
}

/* http://host:port/webhdfs/v1PATH?op=OP&user.name=LOGIN&startAfter=AFTER */
static int make_url(const struct loc_source *s, const char *path, const char *op, const char *after,
                    char ret[LOC_HTTP_URL_MAX + 1])
{
    _cleanup_(curl_text_freep) char *login =
        s->request->login[0] ? curl_easy_escape(NULL, s->request->login, 0) : NULL;
    _cleanup_(curl_text_freep) char *from = after ? curl_easy_escape(NULL, after, 0) : NULL;
    bool secure = s->url.scheme == LOC_SCHEME_SWEBHDFS, v6 = strchr(s->url.host, ':');
    _cleanup_free_ char *host = NULL, *file = NULL;
    char url[LOC_URL_MAX + 1];
    int port = s->url.port ? s->url.port : secure ? SECURE_PORT : PORT, n;

    if ((s->request->login[0] && !login) || (after && !from))
        return -ENOMEM;
    if (sv_asprintf(&host, "%s%s%s", v6 ? "[" : "", s->url.host, v6 ? "]" : "") < 0 ||
        sv_asprintf(&file, PREFIX "%s", path) < 0)
        return -ENOMEM;
    n = loc_url_make(secure ? "https" : "http", host, port, file, url);
    if (n < 0)
        return n;
    n = snprintf(ret, LOC_HTTP_URL_MAX + 1, "%s?op=%s%s%s%s%s", url, op, login ? "&user.name=" : "",
                 login ? login : "", from ? "&startAfter=" : "", from ? from : "");
    return n < 0 || n > LOC_HTTP_URL_MAX ? -ENAMETOOLONG : 0;
}

static int get(const struct loc_source *s, const char *path, const char *op, const char *after,
               uint64_t limit, int (*sink)(void *, const void *, size_t), void *userdata,
               enum loc_fail *ret_reason, struct sv_error *err)
{
    char url[LOC_HTTP_URL_MAX + 1];
    struct loc_http_get g = { .source = s,
                              .url = url,
                              .secure = s->url.scheme == LOC_SCHEME_SWEBHDFS,
                              .limit = limit,
                              .sink = sink,
                              .userdata = userdata };
    int r = make_url(s, path, op, after, url);

    *ret_reason = LOC_FAIL_URL;
    if (r < 0)
        return sv_error_errno(err, r, "Resource %s", s->request->url);
    r = loc_http_get(&g, ret_reason, err);
    if (r < 0 && g.over) {
        *ret_reason = LOC_FAIL_CHANGED;
        return sv_error_set(err, -ESTALE, "Resource %s: the server sent more than the file has",
                            s->request->url);
    }
    if (r < 0 && g.status == 404)
        return sv_error_set(err, -ENOENT, "File does not exist: %s", s->request->url);
    if (r < 0 && (g.status == 401 || g.status == 403))
        return sv_error_set(err, -EACCES, "Resource %s: permission denied: user=%s",
                            s->request->url, s->request->login);
    return r;
}

static int get_status(const struct loc_source *s, const char *path, struct webhdfs_status *ret,
                      enum loc_fail *ret_reason, struct sv_error *err)
{
    _cleanup_free_ char *buf = malloc(STATUS_MAX);
    struct text t = { .p = buf };
    int r;

    *ret_reason = LOC_FAIL_INTERNAL;
    if (!buf)
        return sv_error_errno(err, -ENOMEM, "Resource %s", s->request->url);
    r = get(s, path, "GETFILESTATUS", NULL, STATUS_MAX, append, &t, ret_reason, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_SOURCE;
    return webhdfs_parse_status(t.p, t.n, ret) < 0
               ? sv_error_set(err, -EBADMSG,
                              "Resource %s: the server's status of the file is "
                              "malformed",
                              s->request->url)
               : 0;
}

/* As hdfs_is_public. */
static int is_public(const struct loc_source *s, const struct webhdfs_status *st, bool *ret,
                     enum loc_fail *ret_reason, struct sv_error *err)
{
    _cleanup_free_ char *dir = strdup(s->url.path);
    bool open = st->mode & 04 && !st->encrypted;

    if (!dir)
        return sv_error_errno(err, -ENOMEM, "path");
    while (open && dir[1]) {
        char *slash = strrchr(dir, '/');
        struct webhdfs_status up;
        int r;

        slash[slash == dir ? 1 : 0] = 0;
        r = get_status(s, dir, &up, ret_reason, err);
        if (r == -EACCES)
            open = false;
        else if (r < 0)
            return r;
        else
            open = up.directory && up.mode & 01 && !up.encrypted;
    }
    *ret = open;
    return 0;
}

static int check(const struct loc_source *s, const struct webhdfs_status *st,
                 enum loc_fail *ret_reason, struct sv_error *err)
{
    bool open = true;
    int r;

    *ret_reason = LOC_FAIL_SOURCE;
    if (!st->file && !st->directory)
        return sv_error_set(err, -EINVAL, "Resource %s is not a regular file or a directory",
                            s->request->url);
    if (st->file && st->encrypted)
        return sv_error_set(err, -EOPNOTSUPP,
                            "Resource %s: it is in an encryption zone, which is "
                            "not supported",
                            s->request->url);
    *ret_reason = LOC_FAIL_CHANGED;
    r = loc_check_time(s, st->mtime_ms, err);
    if (r == 0 && st->file)
        r = loc_check_size(s, (uint64_t)st->length, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_LIMIT;
    if ((uint64_t)st->length > s->request->limits.bytes)
        return sv_error_set(err, -EFBIG, "Resource %s is larger than the limit of %llu bytes",
                            s->request->url, (unsigned long long)s->request->limits.bytes);
    if (s->request->visibility == LOC_PUBLIC) {
        r = is_public(s, st, &open, ret_reason, err);
        if (r < 0)
            return r;
    }
    return open ? 0 : loc_not_public(s, ret_reason, err);
}

static int same(const struct loc_source *s, const struct webhdfs_status *a,
                const struct webhdfs_status *b, struct sv_error *err)
{
    if (a->file == b->file && a->length == b->length && a->mtime_ms == b->mtime_ms)
        return 0;
    return sv_error_set(err, -ESTALE, "Resource %s: it changed while it was read", s->request->url);
}

static int copy(struct loc_source *s, const struct webhdfs_status *st, enum loc_fail *ret_reason,
                struct sv_error *err)
{
    struct webhdfs_status after;
    int r;

    *ret_reason = LOC_FAIL_DISK;
    s->fd = loc_make_copy(s, err);
    if (s->fd < 0)
        return s->fd;
    r = get(s, s->url.path, "OPEN", NULL, (uint64_t)st->length, loc_copy_append, s, ret_reason,
            err);
    if (r == 0)
        r = get_status(s, s->url.path, &after, ret_reason, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_CHANGED;
    if (s->size != (uint64_t)st->length)
        return sv_error_set(err, -ESTALE, "Resource %s: it changed while it was read",
                            s->request->url);
    r = same(s, st, &after, err);
    return r < 0 ? r : loc_copy_finish(s, ret_reason, err);
}

/* ---- a directory ---- */

struct tree {
    struct loc_source *s;
    const struct webhdfs_status *st; /* of the directory itself */
};

static int join(const struct tree *k, const char *path, char **ret)
{
    return sv_asprintf(ret, "%s%s%s", k->s->url.path, path[0] ? "/" : "", path);
}

static int add_part(struct loc_tree *t, const struct webhdfs_listing *l, enum loc_fail *ret_reason,
                    struct sv_error *err)
{
    int r = 0;

    for (size_t i = 0; i < l->n && r == 0; i++) {
        const struct webhdfs_child *h = &l->children[i];
        const struct loc_tree_child c = {
            .name = h->name, /* neither: a link, which the rules refuse */
            .mode = (h->st.mode & 0777) | (h->st.directory ? S_IFDIR
                                           : h->st.file    ? S_IFREG
                                                           : 0),
            .size = h->st.file ? (uint64_t)h->st.length : 0,
            .closed = h->st.encrypted,
            .more = &h->st,
        };

        r = loc_tree_add(t, &c, ret_reason, err);
    }
    return r;
}

static int get_part(const struct loc_source *s, const char *dir, const char *after,
                    struct webhdfs_listing *ret, enum loc_fail *ret_reason, struct sv_error *err)
{
    _cleanup_free_ char *buf = malloc(LISTING_MAX);
    struct text t = { .p = buf };
    int r;

    *ret_reason = LOC_FAIL_INTERNAL;
    if (!buf)
        return sv_error_errno(err, -ENOMEM, "Resource %s", s->request->url);
    r = get(s, dir, "LISTSTATUS_BATCH", after, LISTING_MAX, append, &t, ret_reason, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_SOURCE;
    r = webhdfs_parse_listing(t.p, t.n, ret);
    return r < 0 ? sv_error_set(err, r, "Resource %s: the server's listing is malformed",
                                s->request->url)
                 : 0;
}

static int list(void *userdata, struct loc_tree *t, const char *dir, enum loc_fail *ret_reason,
                struct sv_error *err)
{
    struct tree *k = userdata;
    _cleanup_free_ char *path = NULL;
    char after[LOC_NAME_MAX + 1] = "";

    if (join(k, dir, &path) < 0)
        return sv_error_errno(err, -ENOMEM, "listing");
    for (;;) {
        struct webhdfs_listing l;
        int r = get_part(k->s, path, after, &l, ret_reason, err);

        if (r < 0)
            return r;
        r = add_part(t, &l, ret_reason, err);
        if (r == 0 && l.more)
            memcpy(after, l.children[l.n - 1].name, sizeof after);
        free(l.children);
        if (r < 0 || !l.more)
            return r;
    }
}

static int read_file(void *userdata, struct loc_tree *t, const char *path,
                     const struct loc_tree_child *c, enum loc_fail *ret_reason,
                     struct sv_error *err)
{
    struct tree *k = userdata;
    _cleanup_free_ char *full = NULL;
    struct webhdfs_status after;
    int r = join(k, path, &full);

    if (r < 0)
        return sv_error_errno(err, -ENOMEM, "path");
    r = get(k->s, full, "OPEN", NULL, c->size, loc_tree_write, t, ret_reason, err);
    if (r == 0)
        r = get_status(k->s, full, &after, ret_reason, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_CHANGED;
    return same(k->s, c->more, &after, err);
}

static int unchanged(void *userdata, enum loc_fail *ret_reason, struct sv_error *err)
{
    struct tree *k = userdata;
    struct webhdfs_status now;
    int r = get_status(k->s, k->s->url.path, &now, ret_reason, err);

    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_CHANGED;
    return same(k->s, k->st, &now, err);
}

static int copy_tree(struct loc_source *s, const struct webhdfs_status *st,
                     enum loc_fail *ret_reason, struct sv_error *err)
{
    struct tree k = { s, st };
    const struct loc_tree_backend b = {
        .list = list, .read = read_file, .unchanged = unchanged, .userdata = &k
    };

    return loc_tree_fetch(s, &b, (st->mode & 0777) | S_IFDIR, ret_reason, err);
}

int loc_fetch_webhdfs(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    struct webhdfs_status st;
    int r = get_status(s, s->url.path, &st, ret_reason, err);

    if (r == 0)
        r = check(s, &st, ret_reason, err);
    if (r < 0)
        return r;
    return st.file ? copy(s, &st, ret_reason, err) : copy_tree(s, &st, ret_reason, err);
}
