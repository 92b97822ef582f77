/* See web-client.h. */
#include "logs/web-client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/clock.h"
#include "common/str.h"

#define PREFIX "/webhdfs/v1"
#define URL_MAX 8192
#define ANSWER_MAX ((size_t)8 << 20) /* one part of a listing; Hadoop returns 1000 children */
#define POLL_MS 1000

struct logs_web {
    const struct sv_curl *curl;
    char server[FS_SERVER_MAX + 1];
    char *who; /* "&user.name=…" */
    uint32_t timeout_ms;
    CURL *easy;
    CURLM *multi;
    char *answer; /* ANSWER_MAX + 1 bytes */
    size_t answer_n, answer_max;
    uint8_t *to; /* if set, receives the answer instead (reads) */
    /* State of a write: the file's URL at a DataNode and its data. */
    char place[URL_MAX];
    const uint8_t *p;
    size_t n;
    bool end, over, writing;
    CURLcode result;
    char why[CURL_ERROR_SIZE]; /* libcurl's error text, or "" */
};

/* Percent-encoded; malloc'd. `n` 0: to its end. NULL: out of memory. */
static char *escape(const struct sv_curl *curl, const char *text, size_t n)
{
    char *escaped = curl->easy_escape(NULL, text, (int)n), *copy = escaped ? strdup(escaped) : NULL;

    curl->free(escaped);
    return copy;
}

int logs_web_new(const struct sv_curl *curl, const char *server, const char *user,
                 uint32_t timeout_ms, struct logs_web **ret, struct sv_error *err)
{
    _cleanup_(logs_web_freep) struct logs_web *w = calloc(1, sizeof(*w));
    _cleanup_free_ char *escaped = NULL;

    if (strlen(server) > FS_SERVER_MAX)
        return sv_error_set(err, -ENAMETOOLONG, "%s: too long an address", server);
    if (curl->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return sv_error_set(err, -ELIBACC, "WebHDFS needs libcurl, which does not start");
    escaped = escape(curl, user, 0);
    if (w)
        w->curl = curl;
    if (!w || !escaped || sv_asprintf(&w->who, "&user.name=%s", escaped) < 0 ||
        !(w->easy = curl->easy_init()) || !(w->multi = curl->multi_init()) ||
        !(w->answer = malloc(ANSWER_MAX + 1)))
        return sv_error_errno(err, -ENOMEM, "WebHDFS");
    (void)snprintf(w->server, sizeof(w->server), "%s", server);
    w->timeout_ms = timeout_ms;
    *ret = SV_TAKE(w);
    return 0;
}

struct logs_web *logs_web_free(struct logs_web *w)
{
    if (!w)
        return NULL;
    logs_web_abandon(w);
    if (w->multi)
        (void)w->curl->multi_cleanup(w->multi); /* only frees, ignoring */
    if (w->easy)
        w->curl->easy_cleanup(w->easy);
    free(w->who);
    free(w->answer);
    free(w);
    return NULL;
}

/* ---- One call ---- */

static size_t on_answer(char *p, size_t one, size_t n, void *userdata)
{
    struct logs_web *w = userdata;

    (void)one;
    if (n > w->answer_max - w->answer_n)
        return 0; /* aborts the transfer */
    memcpy((w->to ? (char *)w->to : w->answer) + w->answer_n, p, n);
    w->answer_n += n;
    return n;
}

static CURLcode common(struct logs_web *w, const char *url)
{
    CURL *c = w->easy;
    CURLcode r = CURLE_OK;

#define SET(option, value) (r = r == CURLE_OK ? w->curl->easy_setopt(c, option, value) : r)
    w->curl->easy_reset(c);
    *w->why = '\0';
    SET(CURLOPT_ERRORBUFFER, w->why);
    SET(CURLOPT_URL, url);
    SET(CURLOPT_PROTOCOLS_STR, strncmp(w->server, "https:", 6) == 0 ? "https" : "http");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(CURLOPT_HTTP09_ALLOWED, 0L);
    SET(CURLOPT_HTTP_CONTENT_DECODING, 0L);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)w->timeout_ms);
    SET(CURLOPT_WRITEFUNCTION, on_answer);
    SET(CURLOPT_WRITEDATA, w);
    w->to = NULL;
    w->answer_n = 0;
    w->answer_max = ANSWER_MAX;
    return r;
}

/* Builds SERVER/webhdfs/v1PATH?op=OP&user.name=…MORE; escapes each component of the path. */
static int make_url(const struct logs_web *w, const char *path, const char *op, const char *more,
                    char ret[URL_MAX])
{
    size_t n = (size_t)snprintf(ret, URL_MAX, "%s" PREFIX, w->server);

    while (*path && n < URL_MAX) {
        size_t slashes = strspn(path, "/"), length = strcspn(path + slashes, "/");
        _cleanup_free_ char *name = escape(w->curl, path + slashes, length);

        if (!name && length > 0)
            return -ENOMEM;
        if (length > 0)
            n += (size_t)snprintf(ret + n, URL_MAX - n, "/%s", name);
        path += slashes + length;
    }
    if (n < URL_MAX)
        n += (size_t)snprintf(ret + n, URL_MAX - n, "?op=%s%s%s", op, w->who, more);
    return n < URL_MAX ? 0 : -ENAMETOOLONG;
}

static int transport(const struct logs_web *w, CURLcode code, struct sv_error *err)
{
    if (code == CURLE_WRITE_ERROR)
        return sv_error_set(err, -EBADMSG, "%s: its answer is too long", w->server);
    return sv_error_set(err, -EIO, "%s: %s", w->server,
                        *w->why ? w->why : w->curl->easy_strerror(code));
}

/* Reports an unexpected status with the server's exception. */
static int refused(struct logs_web *w, long status, const char *path, struct sv_error *err)
{
    char text[300];
    int r = fs_webhdfs_parse_exception(w->answer, w->answer_n, text, sizeof(text));

    if (r == -EBADMSG)
        r = status == 404 ? -ENOENT : status == 401 || status == 403 ? -EACCES : -EREMOTEIO;
    return sv_error_set(err, r, "%s%s: %s (HTTP status %ld)", w->server, path,
                        *text ? text : "refused", status);
}

static long status_of(struct logs_web *w)
{
    long status = 0;

    (void)w->curl->easy_getinfo(w->easy, CURLINFO_RESPONSE_CODE, &status); /* 0 else, ignoring */
    return status;
}

static int perform(struct logs_web *w, const char *method, const char *url, long *ret_status,
                   struct sv_error *err)
{
    CURL *c = w->easy;
    CURLcode r;

    r = common(w, url);
    SET(CURLOPT_CUSTOMREQUEST, method);
    SET(CURLOPT_TIMEOUT_MS, (long)w->timeout_ms);
    if (r == CURLE_OK)
        r = w->curl->easy_perform(c);
    if (r != CURLE_OK)
        return transport(w, r, err);
    *ret_status = status_of(w);
    return 0;
}

static int call(struct logs_web *w, const char *method, const char *path, const char *op,
                const char *more, struct sv_error *err)
{
    char url[URL_MAX];
    long status = 0;
    int r = make_url(w, path, op, more, url);

    if (r < 0)
        return sv_error_errno(err, r, "%s", path);
    r = perform(w, method, url, &status, err);
    if (r < 0)
        return r;
    w->answer[w->answer_n] = 0;
    return status == 200 ? 0 : refused(w, status, path, err);
}

/* ---- Namespace ---- */

int logs_web_status(struct logs_web *w, const char *path, struct webhdfs_status *ret,
                    struct sv_error *err)
{
    int r = call(w, "GET", path, "GETFILESTATUS", "", err);

    if (r == 0 && fs_webhdfs_parse_status(w->answer, w->answer_n, ret) < 0)
        return sv_error_set(err, -EBADMSG, "%s%s: a malformed status", w->server, path);
    return r;
}

int logs_web_owned_status(struct logs_web *w, const char *path, struct webhdfs_status *ret,
                          struct webhdfs_owner *ret_owner, struct sv_error *err)
{
    int r = logs_web_status(w, path, ret, err);

    if (r == 0 && fs_webhdfs_parse_owner(w->answer, w->answer_n, ret_owner) < 0)
        return sv_error_set(err, -EBADMSG, "%s%s: a status without an owner", w->server, path);
    return r;
}

int logs_web_list(struct logs_web *w, const char *path,
                  int (*child)(void *userdata, const struct webhdfs_child *c), void *userdata,
                  struct sv_error *err)
{
    struct webhdfs_listing l = { .more = true };
    char more[4096] = "";
    int r = 0;

    while (r == 0 && l.more) {
        r = call(w, "GET", path, "LISTSTATUS_BATCH", more, err);
        if (r == 0 && fs_webhdfs_parse_listing(w->answer, w->answer_n, &l) < 0)
            return sv_error_set(err, -EBADMSG, "%s%s: a malformed listing", w->server, path);
        for (size_t i = 0; r == 0 && i < l.n; i++)
            r = child(userdata, &l.children[i]);
        if (r == 0 && l.more) {
            _cleanup_free_ char *after = escape(w->curl, l.children[l.n - 1].name, 0);

            r = after ? 0 : -ENOMEM;
            (void)snprintf(more, sizeof(more), "&startAfter=%s", after ? after : "");
        }
        free(l.children);
        l.children = NULL;
    }
    return r < 0 && !err->code ? sv_error_errno(err, r, "%s", path) : r;
}

/* A change is answered with {"boolean":true} or an empty body. */
static int change(struct logs_web *w, const char *method, const char *path, const char *op,
                  const char *more, struct sv_error *err)
{
    int r = call(w, method, path, op, more, err);

    if (r == 0 && strstr(w->answer, "false"))
        return sv_error_set(err, -EREMOTEIO, "%s%s: %s failed", w->server, path, op);
    return r;
}

int logs_web_mkdir(struct logs_web *w, const char *path, uint32_t mode, struct sv_error *err)
{
    char more[40];

    (void)snprintf(more, sizeof(more), "&permission=%o", mode);
    return change(w, "PUT", path, "MKDIRS", more, err);
}

int logs_web_set_permission(struct logs_web *w, const char *path, uint32_t mode,
                            struct sv_error *err)
{
    char more[40];

    (void)snprintf(more, sizeof(more), "&permission=%o", mode);
    return change(w, "PUT", path, "SETPERMISSION", more, err);
}

static int change_to(struct logs_web *w, const char *path, const char *op, const char *key,
                     const char *value, struct sv_error *err)
{
    _cleanup_free_ char *escaped = escape(w->curl, value, 0);
    char more[URL_MAX];

    if (!escaped || snprintf(more, sizeof(more), "%s%s", key, escaped) >= (int)sizeof(more))
        return sv_error_errno(err, -ENAMETOOLONG, "%s", value);
    return change(w, "PUT", path, op, more, err);
}

int logs_web_set_group(struct logs_web *w, const char *path, const char *group,
                       struct sv_error *err)
{
    return change_to(w, path, "SETOWNER", "&group=", group, err);
}

int logs_web_rename(struct logs_web *w, const char *from, const char *to, struct sv_error *err)
{
    return change_to(w, from, "RENAME", "&renameoptions=OVERWRITE&destination=", to, err);
}

int logs_web_delete(struct logs_web *w, const char *path, struct sv_error *err)
{
    int r = call(w, "DELETE", path, "DELETE", "&recursive=false", err);

    return r == -ENOENT ? 0 : r;
}

/* ---- Reading and writing: the NameNode redirects to a DataNode ---- */

static int redirect(struct logs_web *w, const char *path, char ret[URL_MAX], struct sv_error *err)
{
    size_t scheme = strcspn(w->server, ":") + 3;
    char *to = NULL;
    long status = status_of(w);

    w->answer[w->answer_n] = 0;
    if (status != 307)
        return refused(w, status, path, err);
    (void)w->curl->easy_getinfo(w->easy, CURLINFO_REDIRECT_URL, &to); /* NULL else, ignoring */
    if (!to || strncasecmp(to, w->server, scheme) != 0 || strlen(to) >= URL_MAX)
        return sv_error_set(err, -EBADMSG, "%s%s: it redirects to another scheme", w->server, path);
    (void)snprintf(ret, URL_MAX, "%s", to);
    return 0;
}

static int ask_redirect(struct logs_web *w, const char *method, const char *path, const char *op,
                        const char *more, char ret[URL_MAX], struct sv_error *err)
{
    char url[URL_MAX];
    long status;
    int r = make_url(w, path, op, more, url);

    if (r < 0)
        return sv_error_errno(err, r, "%s", path);
    r = perform(w, method, url, &status, err);
    return r < 0 ? r : redirect(w, path, ret, err);
}

int logs_web_read(struct logs_web *w, const char *path, uint64_t offset, void *p, size_t n,
                  struct sv_error *err)
{
    char more[80], url[URL_MAX];
    CURLcode code;
    long status;
    int r;

    (void)snprintf(more, sizeof(more), "&offset=%llu&length=%zu", (unsigned long long)offset, n);
    r = ask_redirect(w, "GET", path, "OPEN", more, url, err);
    if (r < 0)
        return r;
    code = common(w, url);
    w->to = p;
    w->answer_max = n;
    if (code == CURLE_OK)
        code = w->curl->easy_setopt(w->easy, CURLOPT_TIMEOUT_MS, (long)w->timeout_ms * 10);
    if (code == CURLE_OK)
        code = w->curl->easy_perform(w->easy);
    w->to = NULL;
    if (code != CURLE_OK)
        return transport(w, code, err);
    status = status_of(w);
    return status == 200 && w->answer_n == n
               ? 0
               : sv_error_set(err, -EBADMSG, "%s%s: %zu bytes in place of %zu (HTTP status %ld)",
                              w->server, path, w->answer_n, n, status);
}

static size_t on_body(char *p, size_t one, size_t n, void *userdata)
{
    struct logs_web *w = userdata;

    (void)one;
    n = SV_MIN(n, w->n);
    if (n == 0)
        return w->end ? 0 : CURL_READFUNC_PAUSE;
    memcpy(p, w->p, n);
    w->p += n;
    w->n -= n;
    return n;
}

int logs_web_create(struct logs_web *w, const char *path, uint32_t mode, struct sv_error *err)
{
    static struct curl_slist
        content = { (char *)(uintptr_t) "Content-Type: application/octet-stream", NULL },
        headers = { (char *)(uintptr_t) "Expect:", &content };
    char more[60], url[URL_MAX];
    CURL *c = w->easy;
    CURLcode r;
    int k;

    logs_web_abandon(w);
    (void)snprintf(more, sizeof(more), "&overwrite=true&permission=%o", mode);
    k = ask_redirect(w, "PUT", path, "CREATE", more, url, err);
    if (k < 0)
        return k;
    w->p = NULL;
    w->n = 0;
    w->end = w->over = false;
    memcpy(w->place, url, sizeof(w->place));
    r = common(w, url);
    SET(CURLOPT_UPLOAD, 1L);
    SET(CURLOPT_READFUNCTION, on_body);
    SET(CURLOPT_READDATA, w);
    SET(CURLOPT_HTTPHEADER, &headers);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    if (r == CURLE_OK && w->curl->multi_add_handle(w->multi, c) != CURLM_OK)
        r = CURLE_OUT_OF_MEMORY;
    if (r != CURLE_OK)
        return transport(w, r, err);
    w->writing = true;
    return 0;
}

/* Runs one step of the transfer. */
static void step(struct logs_web *w)
{
    const CURLMsg *m;
    int n;

    if (w->curl->multi_perform(w->multi, &n) != CURLM_OK)
        w->over = true;
    while ((m = w->curl->multi_info_read(w->multi, &n)))
        if (m->msg == CURLMSG_DONE) {
            w->over = true;
            w->result = m->data.result;
        }
}

/* Runs until the bytes are sent or the transfer has ended. Fails if the server accepts nothing
 * within the time limit. */
static int run(struct logs_web *w, bool to_end, struct sv_error *err)
{
    int64_t last = sv_now_ms();
    size_t left = w->n;

    w->result = CURLE_SEND_ERROR;
    (void)w->curl->easy_pause(w->easy, CURLPAUSE_CONT); /* step() reports it, ignoring */
    for (step(w); !w->over && (to_end || w->n > 0); step(w)) {
        if (w->n != left)
            last = sv_now_ms();
        left = w->n;
        if (sv_now_ms() - last > w->timeout_ms)
            return sv_error_set(err, -ETIMEDOUT, "%s: a DataNode accepts no data", w->server);
        (void)w->curl->multi_poll(w->multi, NULL, 0, POLL_MS,
                                  NULL); /* step() reports it, ignoring */
    }
    return 0;
}

/* Reports why a transfer ended early. A DataNode that refuses closes the connection with unread
 * data, which may discard its answer; a repeated request for an empty file gets the answer
 * again. */
static int failed(struct logs_web *w, struct sv_error *err)
{
    CURLcode result = w->result == CURLE_OK ? CURLE_SEND_ERROR : w->result;
    long status = status_of(w);

    logs_web_abandon(w);
    if (status < 300 && perform(w, "PUT", w->place, &status, err) < 0)
        status = 0;
    w->answer[w->answer_n] = 0;
    return status >= 300 ? refused(w, status, "", err) : transport(w, result, err);
}

int logs_web_write(struct logs_web *w, const void *p, size_t n, struct sv_error *err)
{
    int r;

    if (!w->writing)
        return sv_error_set(err, -EBADF, "%s: no file is written", w->server);
    w->p = p;
    w->n = n;
    r = run(w, false, err);
    return r < 0 || w->n == 0 ? r : failed(w, err);
}

int logs_web_finish(struct logs_web *w, struct sv_error *err)
{
    int r;

    if (!w->writing)
        return sv_error_set(err, -EBADF, "%s: no file is written", w->server);
    w->end = true;
    r = run(w, true, err);
    if (r == 0 && (w->result != CURLE_OK || status_of(w) != 201))
        r = failed(w, err);
    logs_web_abandon(w);
    return r;
}

void logs_web_abandon(struct logs_web *w)
{
    if (w->writing)
        (void)w->curl->multi_remove_handle(w->multi, w->easy); /* it was added, ignoring */
    w->writing = false;
}
