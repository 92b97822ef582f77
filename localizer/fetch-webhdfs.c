/* webhdfs: and swebhdfs: URLs: HDFS over HTTP, the NameNode's REST API. Hostile: its answers, and
 * the DataNode that it redirects to. */
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "fs/credentials.h"
#include "fs/webhdfs-json.h"
#include "localizer/fetch-tree.h"
#include "localizer/http-get.h"

#define PORT 9870        /* dfs.namenode.http-address */
#define SECURE_PORT 9871 /* dfs.namenode.https-address */
#define PREFIX "/webhdfs/v1"
#define STATUS_MAX (64u << 10)
#define LISTING_MAX (8u << 20) /* one part; Hadoop returns 1000 children */

struct state {
    struct sv_arena *arena;   /* memory of `who` */
    const char *who;          /* query parameter that authenticates the caller */
    struct webhdfs_status st; /* of the source */
};

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

static bool is_secure(const struct loc_source *s)
{
    return s->url.scheme == FS_SCHEME_SWEBHDFS;
}

static int port_of(const struct loc_source *s)
{
    return s->url.port ? s->url.port : is_secure(s) ? SECURE_PORT : PORT;
}

/* Builds the authentication parameter: the job's delegation token for this server, or else the user
 * name of simple authentication. */
static int say_who(struct loc_source *s, struct sv_error *err)
{
    struct state *k = s->state;
    const char *kind = is_secure(s) ? "SWEBHDFS delegation" : "WEBHDFS delegation", *token;
    _cleanup_(curl_text_freep) char *login = NULL;
    int r =
        fs_credentials_token(s->credentials, kind, s->url.host, port_of(s), k->arena, &token, err);

    if (r < 0)
        return sv_error_wrap(err, "Resource %s", s->request->url);
    k->who = token ? sv_arena_printf(k->arena, "&delegation=%s", token) : "";
    if (!token && s->request->login[0]) {
        login = curl_easy_escape(NULL, s->request->login, 0);
        k->who = login ? sv_arena_printf(k->arena, "&user.name=%s", login) : NULL;
    }
    return k->who ? 0 : sv_error_errno(err, -ENOMEM, "Resource %s", s->request->url);
}

/* Builds http://host:port/webhdfs/v1PATH?op=OPWHO&startAfter=AFTER. */
static int make_url(const struct loc_source *s, const char *path, const char *op, const char *after,
                    char ret[LOC_HTTP_URL_MAX + 1])
{
    _cleanup_(curl_text_freep) char *from = after ? curl_easy_escape(NULL, after, 0) : NULL;
    const struct state *k = s->state;
    bool v6 = strchr(s->url.host, ':');
    _cleanup_free_ char *host = NULL, *file = NULL;
    char url[FS_URL_MAX + 1];
    int n;

    if (after && !from)
        return -ENOMEM;
    if (sv_asprintf(&host, "%s%s%s", v6 ? "[" : "", s->url.host, v6 ? "]" : "") < 0 ||
        sv_asprintf(&file, PREFIX "%s", path) < 0)
        return -ENOMEM;
    n = fs_url_make(is_secure(s) ? "https" : "http", host, port_of(s), file, url);
    if (n < 0)
        return n;
    n = snprintf(ret, LOC_HTTP_URL_MAX + 1, "%s?op=%s%s%s%s", url, op, k->who,
                 from ? "&startAfter=" : "", from ? from : "");
    return n < 0 || n > LOC_HTTP_URL_MAX ? -ENAMETOOLONG : 0;
}

static int get(const struct loc_source *s, const char *path, const char *op, const char *after,
               uint64_t limit, int (*sink)(void *, const void *, size_t), void *userdata,
               enum loc_fail *ret_reason, struct sv_error *err)
{
    char url[LOC_HTTP_URL_MAX + 1];
    struct loc_http_get g = { .source = s,
                              .url = url,
                              .secure = s->url.scheme == FS_SCHEME_SWEBHDFS,
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
    return fs_webhdfs_parse_status(t.p, t.n, ret) < 0
               ? sv_error_set(err, -EBADMSG,
                              "Resource %s: the server's status of the file is "
                              "malformed",
                              s->request->url)
               : 0;
}

/* As hdfs_is_public(). */
static int is_public(struct loc_source *s, bool *ret, enum loc_fail *ret_reason,
                     struct sv_error *err)
{
    const struct state *k = s->state;
    _cleanup_free_ char *dir = strdup(s->url.path);
    bool open = k->st.mode & 04 && !k->st.encrypted;

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

static int same(const struct loc_source *s, const struct webhdfs_status *a,
                const struct webhdfs_status *b, struct sv_error *err)
{
    if (a->file == b->file && a->length == b->length && a->mtime_ms == b->mtime_ms)
        return 0;
    return sv_error_set(err, -ESTALE, "Resource %s: it changed while it was read", s->request->url);
}

static int fetch(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    const struct state *k = s->state;
    const struct webhdfs_status *st = &k->st;
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

static int join(const struct loc_source *s, const char *path, char **ret)
{
    return sv_asprintf(ret, "%s%s%s", s->url.path, path[0] ? "/" : "", path);
}

static int add_part(struct loc_tree *t, const struct webhdfs_listing *l, enum loc_fail *ret_reason,
                    struct sv_error *err)
{
    int r = 0;

    for (size_t i = 0; i < l->n && r == 0; i++) {
        const struct webhdfs_child *h = &l->children[i];
        const struct loc_tree_child c = {
            .name = h->name, /* neither: a link, which the policy rejects */
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
    r = fs_webhdfs_parse_listing(t.p, t.n, ret);
    return r < 0 ? sv_error_set(err, r, "Resource %s: the server's listing is malformed",
                                s->request->url)
                 : 0;
}

static int list(struct loc_source *s, struct loc_tree *t, const char *dir,
                enum loc_fail *ret_reason, struct sv_error *err)
{
    _cleanup_free_ char *path = NULL;
    char after[FS_NAME_MAX + 1] = "";

    if (join(s, dir, &path) < 0)
        return sv_error_errno(err, -ENOMEM, "listing");
    for (;;) {
        struct webhdfs_listing l;
        int r = get_part(s, path, after, &l, ret_reason, err);

        if (r < 0)
            return r;
        r = add_part(t, &l, ret_reason, err);
        if (r == 0 && l.more)
            memcpy(after, l.children[l.n - 1].name, sizeof(after));
        free(l.children);
        if (r < 0 || !l.more)
            return r;
    }
}

static int read_file(struct loc_source *s, struct loc_tree *t, const char *path,
                     const struct loc_tree_child *c, enum loc_fail *ret_reason,
                     struct sv_error *err)
{
    _cleanup_free_ char *full = NULL;
    struct webhdfs_status after;
    int r = join(s, path, &full);

    if (r < 0)
        return sv_error_errno(err, -ENOMEM, "path");
    r = get(s, full, "OPEN", NULL, c->size, loc_tree_write, t, ret_reason, err);
    if (r == 0)
        r = get_status(s, full, &after, ret_reason, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_CHANGED;
    return same(s, c->more, &after, err);
}

static int unchanged(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    const struct state *k = s->state;
    struct webhdfs_status now;
    int r = get_status(s, s->url.path, &now, ret_reason, err);

    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_CHANGED;
    return same(s, &k->st, &now, err);
}

static const struct loc_tree_backend tree = {
    .list = list,
    .read = read_file,
    .unchanged = unchanged,
};

/* ---- the source ---- */

static int open_source(struct loc_source *s, struct loc_found *ret, enum loc_fail *ret_reason,
                       struct sv_error *err)
{
    struct state *k = s->state = calloc(1, sizeof(*k));
    int r;

    *ret_reason = LOC_FAIL_INTERNAL;
    if (!k || !(k->arena = sv_arena_new(0)))
        return sv_error_errno(err, -ENOMEM, "Resource %s", s->request->url);
    r = say_who(s, err);
    if (r == 0)
        r = get_status(s, s->url.path, &k->st, ret_reason, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_SOURCE;
    if (!k->st.file && !k->st.directory)
        return sv_error_set(err, -EINVAL, "Resource %s is not a regular file or a directory",
                            s->request->url);
    if (k->st.file && k->st.encrypted)
        return sv_error_set(err, -EOPNOTSUPP,
                            "Resource %s: it is in an encryption zone, which is "
                            "not supported",
                            s->request->url);
    *ret = (struct loc_found){
        .directory = k->st.directory,
        .size = (uint64_t)k->st.length,
        .mode = (k->st.mode & 0777) | S_IFDIR,
        .mtime_ms = k->st.mtime_ms,
    };
    return 0;
}

static void close_source(struct loc_source *s)
{
    struct state *k = s->state;

    s->state = NULL;
    if (k)
        sv_arena_free(k->arena);
    free(k);
}

const struct loc_fetcher loc_fetcher_webhdfs = {
    .open = open_source,
    .close = close_source,
    .is_public = is_public,
    .fetch = fetch,
    .tree = &tree,
};
