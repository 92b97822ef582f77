/* webhdfs: and swebhdfs: urls: HDFS over HTTP, the NameNode's REST API. Its answers are hostile, as
 * is the DataNode that it redirects to. */
#include <curl/curl.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "localizer/fetch-common.h"
#include "localizer/http-get.h"

#define PORT 9870        /* dfs.namenode.http-address */
#define SECURE_PORT 9871 /* dfs.namenode.https-address */
#define PREFIX "/webhdfs/v1"
#define STATUS_MAX (64u << 10)

struct status {
    bool file, directory;
    bool encrypted; /* in an encryption zone */
    int64_t length, mtime_ms;
    uint32_t mode;
};

struct text {
    char *p;
    size_t n;
};

static int append(void *userdata, const void *p, size_t n)
{
    struct text *t = userdata;

    memcpy(t->p + t->n, p, n); /* at most STATUS_MAX, the get's limit */
    t->n += n;
    return 0;
}

static void json_freep(json_t **j)
{
    json_decref(*j);
}

static void curl_text_freep(char **s)
{
    curl_free(*s);
}

/* Integers in range, and nothing guessed. */
static int parse_status(const struct text *t, struct status *ret)
{
    _cleanup_(json_freep) json_t *j = json_loadb(t->p, t->n, JSON_REJECT_DUPLICATES, NULL);
    json_t *s = json_object_get(j, "FileStatus");
    const char *type = json_string_value(json_object_get(s, "type"));
    const char *mode = json_string_value(json_object_get(s, "permission"));
    json_t *length = json_object_get(s, "length"), *time = json_object_get(s, "modificationTime");
    uint32_t v = 0;

    if (!type || !mode || !json_is_integer(length) || !json_is_integer(time) ||
        json_integer_value(length) < 0 || json_integer_value(time) < 0 || !mode[0] ||
        strlen(mode) > 4)
        return -EBADMSG;
    for (const char *p = mode; *p; p++) {
        if (*p < '0' || *p > '7')
            return -EBADMSG;
        v = v << 3 | (uint32_t)(*p - '0');
    }
    *ret = (struct status){ .file = sv_streq(type, "FILE"),
                            .directory = sv_streq(type, "DIRECTORY"),
                            .encrypted = json_is_true(json_object_get(s, "encBit")),
                            .length = json_integer_value(length),
                            .mtime_ms = json_integer_value(time),
                            .mode = v };
    return 0;
}

/* http://host:port/webhdfs/v1PATH?op=OP&user.name=LOGIN */
static int make_url(const struct loc_source *s, const char *path, const char *op,
                    char ret[LOC_HTTP_URL_MAX + 1])
{
    _cleanup_(curl_text_freep) char *login =
        s->request->login[0] ? curl_easy_escape(NULL, s->request->login, 0) : NULL;
    bool secure = s->url.scheme == LOC_SCHEME_SWEBHDFS, v6 = strchr(s->url.host, ':');
    _cleanup_free_ char *host = NULL, *file = NULL;
    char url[LOC_URL_MAX + 1];
    int port = s->url.port ? s->url.port : secure ? SECURE_PORT : PORT, n;

    if (s->request->login[0] && !login)
        return -ENOMEM;
    if (sv_asprintf(&host, "%s%s%s", v6 ? "[" : "", s->url.host, v6 ? "]" : "") < 0 ||
        sv_asprintf(&file, PREFIX "%s", path) < 0)
        return -ENOMEM;
    n = loc_url_make(secure ? "https" : "http", host, port, file, url);
    if (n < 0)
        return n;
    n = snprintf(ret, LOC_HTTP_URL_MAX + 1, "%s?op=%s%s%s", url, op, login ? "&user.name=" : "",
                 login ? login : "");
    return n < 0 || n > LOC_HTTP_URL_MAX ? -ENAMETOOLONG : 0;
}

static int get(const struct loc_source *s, const char *path, const char *op, uint64_t limit,
               int (*sink)(void *, const void *, size_t), void *userdata, enum loc_fail *ret_reason,
               struct sv_error *err)
{
    char url[LOC_HTTP_URL_MAX + 1];
    struct loc_http_get g = { .source = s,
                              .url = url,
                              .secure = s->url.scheme == LOC_SCHEME_SWEBHDFS,
                              .limit = limit,
                              .sink = sink,
                              .userdata = userdata };
    int r = make_url(s, path, op, url);

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

static int get_status(const struct loc_source *s, const char *path, struct status *ret,
                      enum loc_fail *ret_reason, struct sv_error *err)
{
    _cleanup_free_ char *buf = malloc(STATUS_MAX);
    struct text t = { .p = buf };
    int r;

    *ret_reason = LOC_FAIL_INTERNAL;
    if (!buf)
        return sv_error_errno(err, -ENOMEM, "Resource %s", s->request->url);
    r = get(s, path, "GETFILESTATUS", STATUS_MAX, append, &t, ret_reason, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_SOURCE;
    return parse_status(&t, ret) < 0
               ? sv_error_set(err, -EBADMSG,
                              "Resource %s: the server's status of the file is "
                              "malformed",
                              s->request->url)
               : 0;
}

/* As hdfs_is_public. */
static int is_public(const struct loc_source *s, const struct status *st, bool *ret,
                     enum loc_fail *ret_reason, struct sv_error *err)
{
    _cleanup_free_ char *dir = strdup(s->url.path);
    bool open = st->mode & 04 && !st->encrypted;

    if (!dir)
        return sv_error_errno(err, -ENOMEM, "path");
    while (open && dir[1]) {
        char *slash = strrchr(dir, '/');
        struct status up;
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

static int check(const struct loc_source *s, const struct status *st, enum loc_fail *ret_reason,
                 struct sv_error *err)
{
    bool open = true;
    int r;

    *ret_reason = LOC_FAIL_SOURCE;
    if (!st->file)
        return sv_error_set(err, -EINVAL, "Resource %s is not a regular file", s->request->url);
    if (st->encrypted)
        return sv_error_set(err, -EOPNOTSUPP,
                            "Resource %s: it is in an encryption zone, which is "
                            "not supported",
                            s->request->url);
    *ret_reason = LOC_FAIL_CHANGED;
    r = loc_check_time(s, st->mtime_ms, err);
    if (r == 0)
        r = loc_check_size(s, (uint64_t)st->length, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_LIMIT;
    if ((uint64_t)st->length > s->request->max_bytes)
        return sv_error_set(err, -EFBIG, "Resource %s is larger than the limit of %llu bytes",
                            s->request->url, (unsigned long long)s->request->max_bytes);
    if (s->request->visibility == LOC_PUBLIC) {
        r = is_public(s, st, &open, ret_reason, err);
        if (r < 0)
            return r;
    }
    return open ? 0 : loc_not_public(s, ret_reason, err);
}

int loc_fetch_webhdfs(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    struct status st, after;
    int r = get_status(s, s->url.path, &st, ret_reason, err);

    if (r == 0)
        r = check(s, &st, ret_reason, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_DISK;
    s->fd = loc_make_copy(s, err);
    if (s->fd < 0)
        return s->fd;
    r = get(s, s->url.path, "OPEN", (uint64_t)st.length, loc_copy_append, s, ret_reason, err);
    if (r == 0)
        r = get_status(s, s->url.path, &after, ret_reason, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_CHANGED;
    if (s->size != (uint64_t)st.length || after.length != st.length ||
        after.mtime_ms != st.mtime_ms)
        return sv_error_set(err, -ESTALE, "Resource %s: it changed while it was read",
                            s->request->url);
    return loc_copy_finish(s, ret_reason, err);
}
