/* webhdfs: and swebhdfs:, changes. To write a file the NameNode redirects to a DataNode, which gets
 * the bytes as they come, in one chunked request. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "fs/webhdfs-call.h"

#define POLL_MS 1000

struct upload {
    CURL *easy;
    CURLM *multi;
    char place[FS_WEB_URL_MAX]; /* the file's url at a DataNode */
    const uint8_t *p;           /* not yet sent */
    size_t n;
    bool end, over; /* no byte follows; the transfer has ended */
    CURLcode result;
    char why[CURL_ERROR_SIZE];
};

static size_t on_body(char *p, size_t one, size_t n, void *userdata)
{
    struct upload *u = userdata;

    (void)one;
    n = SV_MIN(n, u->n);
    if (n == 0)
        return u->end ? 0 : CURL_READFUNC_PAUSE;
    memcpy(p, u->p, n);
    u->p += n;
    u->n -= n;
    return n;
}

/* Asks the NameNode for a DataNode. */
static int find_place(struct fs_file *f, uint32_t mode, char ret[FS_WEB_URL_MAX],
                      struct sv_error *err)
{
    struct webhdfs *w = f->fs->data;
    char more[80], url[FS_WEB_URL_MAX];
    int r;

    (void)snprintf(more, sizeof(more), "&overwrite=true&createparent=false&permission=%o", mode);
    r = webhdfs_url(f->fs, f->path, "CREATE", more, url, err);
    if (r == 0)
        r = fs_web_request(&w->web, "PUT", url, w->timeout_ms, err);
    if (r < 0)
        return sv_error_wrap(err, "%s", w->server);
    if (r != 307)
        return webhdfs_refused(f->fs, r, f->path, err);
    r = fs_web_redirect(&w->web, 0, ret, err);
    if (r == -EPROTO)
        return sv_error_set(err, r, "%s: it redirects to another scheme", w->server);
    return r < 0 ? sv_error_wrap(err, "%s", w->server) : 0;
}

static CURLcode set_options(struct webhdfs *w, struct upload *u)
{
    static struct curl_slist
        content = { (char *)(uintptr_t) "Content-Type: application/octet-stream", NULL },
        headers = { (char *)(uintptr_t) "Expect:", &content };
    CURLcode r = fs_web_setup(&w->web, u->easy, u->place, u->why);

#define SET(option, value)                                                                         \
    (r = r == CURLE_OK ? w->web.curl->easy_setopt(u->easy, option, value) : r)
    SET(CURLOPT_UPLOAD, 1L);
    SET(CURLOPT_READFUNCTION, on_body);
    SET(CURLOPT_READDATA, u);
    SET(CURLOPT_WRITEFUNCTION, fs_web_on_data);
    SET(CURLOPT_WRITEDATA, &w->web);
    SET(CURLOPT_HTTPHEADER, &headers);
#undef SET
    return r;
}

static int create(struct fs_file *f, uint32_t mode, struct sv_error *err)
{
    struct webhdfs *w = f->fs->data;
    struct upload *u = f->data = calloc(1, sizeof(*u));
    int r;

    if (!u || !(u->easy = w->web.curl->easy_init()) || !(u->multi = w->web.curl->multi_init()))
        return sv_error_errno(err, -ENOMEM, "WebHDFS");
    r = find_place(f, mode, u->place, err);
    if (r < 0)
        return r;
    fs_web_forget(&w->web);
    if (set_options(w, u) != CURLE_OK ||
        w->web.curl->multi_add_handle(u->multi, u->easy) != CURLM_OK)
        return sv_error_errno(err, -ENOMEM, "WebHDFS");
    return 0;
}

/* Runs one step of the transfer. */
static void step(const struct sv_curl *curl, struct upload *u)
{
    const CURLMsg *m;
    int n;

    if (curl->multi_perform(u->multi, &n) != CURLM_OK)
        u->over = true;
    while ((m = curl->multi_info_read(u->multi, &n)))
        if (m->msg == CURLMSG_DONE) {
            u->over = true;
            u->result = m->data.result;
        }
}

/* Runs until the bytes are sent or the transfer has ended. Fails if the server accepts nothing
 * within the time limit. */
static int run(const struct webhdfs *w, struct upload *u, bool to_end, struct sv_error *err)
{
    int64_t last = sv_now_ms();
    size_t left = u->n;

    u->result = CURLE_SEND_ERROR;
    (void)w->web.curl->easy_pause(u->easy, CURLPAUSE_CONT); /* step() reports it, ignoring */
    for (step(w->web.curl, u); !u->over && (to_end || u->n > 0); step(w->web.curl, u)) {
        if (u->n != left)
            last = sv_now_ms();
        left = u->n;
        if (sv_now_ms() - last > w->timeout_ms)
            return sv_error_set(err, -ETIMEDOUT, "%s: a DataNode accepts no data", w->server);
        (void)w->web.curl->multi_poll(u->multi, NULL, 0, POLL_MS,
                                      NULL); /* step() reports it, ignoring */
    }
    return 0;
}

static int status_of(const struct webhdfs *w, const struct upload *u)
{
    long status = 0;

    (void)w->web.curl->easy_getinfo(u->easy, CURLINFO_RESPONSE_CODE,
                                    &status); /* 0 else, ignoring */
    return (int)status;
}

/* Reports why a transfer ended early. A DataNode that refuses closes the connection with unread
 * data, which may discard its answer; a repeated request for an empty file gets the answer
 * again. */
static int failed(struct fs_file *f, struct sv_error *err)
{
    struct webhdfs *w = f->fs->data;
    struct upload *u = f->data;
    int status = status_of(w, u);

    f->written = false;
    if (status < 300)
        status = fs_web_request(&w->web, "PUT", u->place, w->timeout_ms, err);
    if (status >= 300)
        return webhdfs_refused(f->fs, status, f->path, err);
    status =
        fs_web_broken(&w->web, u->result == CURLE_OK ? CURLE_SEND_ERROR : u->result, u->why, err);
    return sv_error_wrap(err, "%s", w->server);
}

static int write_bytes(struct fs_file *f, const void *p, size_t n, struct sv_error *err)
{
    struct upload *u = f->data;
    int r;

    u->p = p;
    u->n = n;
    r = run(f->fs->data, u, false, err);
    return r < 0 || u->n == 0 ? r : failed(f, err);
}

static int finish(struct fs_file *f, struct sv_error *err)
{
    struct upload *u = f->data;
    int r;

    u->end = true;
    r = run(f->fs->data, u, true, err);
    if (r == 0 && (u->result != CURLE_OK || status_of(f->fs->data, u) != 201))
        r = failed(f, err);
    return r;
}

static void file_free(struct fs_file *f)
{
    const struct webhdfs *w = f->fs->data;
    struct upload *u = f->data;

    if (!u)
        return;
    if (u->multi && u->easy)
        (void)w->web.curl->multi_remove_handle(u->multi, u->easy); /* or was not added, ignoring */
    if (u->multi)
        (void)w->web.curl->multi_cleanup(u->multi); /* only frees, ignoring */
    if (u->easy)
        w->web.curl->easy_cleanup(u->easy);
    free(u);
    f->data = NULL;
}

/* ---- Changes ---- */

/* A change is answered with {"boolean":true} or an empty body. */
static int change(struct fs *fs, const char *path, const char *op, const char *more,
                  struct sv_error *err)
{
    const struct webhdfs *w = fs->data;
    int r = webhdfs_call(fs, "PUT", path, op, more, err);

    if (r == 0 && strstr(w->web.answer, "false"))
        return sv_error_set(err, -EINVAL, "%s%s/%s: %s has no effect there", w->server, fs->root,
                            path, op);
    return r;
}

static int change_to(struct fs *fs, const char *path, const char *op, const char *key,
                     const char *value, struct sv_error *err)
{
    char more[FS_WEB_URL_MAX];
    int n = snprintf(more, sizeof(more), "%s", key);

    if (fs_url_encode(value, more + n, sizeof(more) - (size_t)n) < 0)
        return sv_error_errno(err, -ENAMETOOLONG, "%s", value);
    return change(fs, path, op, more, err);
}

static int rename_file(struct fs *fs, const char *from, const char *to, struct sv_error *err)
{
    char full[FS_PATH_MAX];
    int r = fs_path(fs, to, full, err);

    return r < 0
               ? r
               : change_to(fs, from, "RENAME", "&renameoptions=OVERWRITE&destination=", full, err);
}

static int remove_path(struct fs *fs, const char *path, bool tree, struct sv_error *err)
{
    int r = webhdfs_call(fs, "DELETE", path, "DELETE",
                         tree ? "&recursive=true" : "&recursive=false", err);

    return r == -ENOENT ? 0 : r;
}

static int with_mode(struct fs *fs, const char *path, const char *op, uint32_t mode,
                     struct sv_error *err)
{
    char more[40];

    (void)snprintf(more, sizeof(more), "&permission=%o", mode);
    return change(fs, path, op, more, err);
}

static int make_dir(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    return with_mode(fs, path, "MKDIRS", mode, err);
}

static int set_mode(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    return with_mode(fs, path, "SETPERMISSION", mode, err);
}

static int set_group(struct fs *fs, const char *path, const char *group, struct sv_error *err)
{
    return change_to(fs, path, "SETOWNER", "&group=", group, err);
}

static int set_replication(struct fs *fs, const char *path, uint32_t replicas, struct sv_error *err)
{
    char more[40];

    (void)snprintf(more, sizeof(more), "&replication=%u", replicas);
    return change(fs, path, "SETREPLICATION", more, err);
}

const struct fs_write_ops fs_webhdfs_writing = {
    .create = create,
    .file_free = file_free,
    .write = write_bytes,
    .finish = finish,
    .rename = rename_file,
    .remove = remove_path,
    .mkdir = make_dir,
    .set_mode = set_mode,
    .set_group = set_group,
    .set_replication = set_replication,
};
