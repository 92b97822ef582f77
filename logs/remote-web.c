/* See remote.h: WebHDFS back end. Hostile: answers of NameNodes and DataNodes; web-client.c bounds
 * them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "logs/remote-store.h"
#include "logs/web-client.h"

#define TIMEOUT_MS 60000

struct logs_remote_web_file {
    char path[LOGS_REMOTE_PATH_MAX];
};

static int connect_to(struct logs_remote *r, struct sv_conf *c, const struct fs_url *url,
                      const char *user, struct sv_error *err)
{
    char server[FS_SERVER_MAX + 1];
    const struct sv_curl *curl;
    int k;

    (void)c;
    k = fs_url_server(url, server, err);
    if (k >= 0)
        k = sv_curl_load(&curl, err);
    return k < 0 ? k : logs_web_new(curl, server, user, TIMEOUT_MS, &r->web, err);
}

static void disconnect(struct logs_remote *r)
{
    r->web = logs_web_free(r->web);
}

static int path_of(const struct logs_remote *r, const char *below, char ret[LOGS_REMOTE_PATH_MAX],
                   struct sv_error *err)
{
    const char *root = strcmp(r->path, "/") == 0 ? "" : r->path;
    int n = snprintf(ret, LOGS_REMOTE_PATH_MAX, "%s/%s", root, below);

    return n < 0 || n >= LOGS_REMOTE_PATH_MAX
               ? sv_error_set(err, -ENAMETOOLONG, "%s: too long a path", below)
               : 0;
}

static int add_name(void *userdata, const struct webhdfs_child *c)
{
    return c->st.file ? logs_names_add(userdata, c->name) : 0;
}

static int list(struct logs_remote *r, const char *dir, struct logs_names *names,
                struct sv_error *err)
{
    char path[LOGS_REMOTE_PATH_MAX];
    int k = path_of(r, dir, path, err);

    return k < 0 ? k : logs_web_list(r->web, path, add_name, names, err);
}

static int open_file(struct logs_remote *r, const char *below, struct logs_remote_file *f,
                     struct sv_error *err)
{
    struct logs_remote_web_file *h = f->web = calloc(1, sizeof(*h));
    struct webhdfs_status st;
    int k = h ? path_of(r, below, h->path, err) : sv_error_errno(err, -ENOMEM, "%s", below);

    if (k == 0)
        k = logs_web_status(r->web, h->path, &st, err);
    if (k < 0)
        return k;
    if (!st.file || st.encrypted)
        return sv_error_set(err, -EINVAL, "%s: no regular file, or in an encryption zone", h->path);
    f->source.length = (uint64_t)st.length;
    f->modified_ms = st.mtime_ms;
    return 0;
}

static int read_bytes(struct logs_remote_file *f, uint64_t offset, void *p, size_t n,
                      struct sv_error *err)
{
    return logs_web_read(f->r->web, f->web->path, offset, p, n, err);
}

static void close_file(struct logs_remote_file *f)
{
    free(f->web);
    f->web = NULL;
}

const struct logs_remote_ops logs_remote_web = {
    .open = connect_to,
    .close = disconnect,
    .list = list,
    .file = open_file,
    .read = read_bytes,
    .file_close = close_file,
};
