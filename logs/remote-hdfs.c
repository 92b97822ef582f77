/* See remote.h: HDFS back end. Hostile: answers of NameNodes and DataNodes; hdfs/ bounds them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hdfs/conf.h"
#include "hdfs/file.h"
#include "logs/remote-store.h"

struct logs_remote_hdfs {
    struct hdfs_site site;
    struct hdfs_namenode *namenode;
};

struct logs_remote_hdfs_file {
    struct hdfs_status st;
    char path[LOGS_REMOTE_PATH_MAX];
};

static int connect_to(struct logs_remote *r, struct sv_conf *c, const struct fs_url *url,
                      const char *user, struct sv_error *err)
{
    struct logs_remote_hdfs *h = r->hdfs = calloc(1, sizeof(*h));
    int k = h ? hdfs_conf_load(c, err) : sv_error_errno(err, -ENOMEM, "HDFS");

    if (k == 0)
        k = hdfs_conf_site(c, url->host, url->port, &h->site, err);
    return k < 0 ? k : hdfs_namenode_new(&h->site, user, &h->namenode, err);
}

static void disconnect(struct logs_remote *r)
{
    if (!r->hdfs)
        return;
    r->hdfs->namenode = hdfs_namenode_free(r->hdfs->namenode);
    free(r->hdfs);
    r->hdfs = NULL;
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

/* Lists one part of the children, in an arena of its own; `after` is the last name of the previous
 * part. */
static int list_part(struct logs_remote *r, const char *path, char after[HDFS_NAME_MAX + 1],
                     struct logs_names *names, bool *ret_more, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct hdfs_listing part = { 0 };
    int k = a ? hdfs_get_listing(r->hdfs->namenode, path, after, a, &part, err)
              : sv_error_errno(err, -ENOMEM, "%s", path);

    for (size_t i = 0; k == 0 && i < part.n; i++)
        if (part.children[i].st.kind == HDFS_FILE) {
            k = logs_names_add(names, part.children[i].name);
            if (k < 0)
                (void)sv_error_errno(err, k, "%s", path);
        }
    if (k < 0)
        return k;
    *ret_more = part.more;
    if (part.more)
        (void)snprintf(after, HDFS_NAME_MAX + 1, "%s", part.children[part.n - 1].name);
    return 0;
}

static int list(struct logs_remote *r, const char *dir, struct logs_names *names,
                struct sv_error *err)
{
    char path[LOGS_REMOTE_PATH_MAX], after[HDFS_NAME_MAX + 1] = "";
    bool more = true;
    int k = path_of(r, dir, path, err);

    while (k == 0 && more)
        k = list_part(r, path, after, names, &more, err);
    return k;
}

static int open_file(struct logs_remote *r, const char *below, struct logs_remote_file *f,
                     struct sv_error *err)
{
    struct logs_remote_hdfs_file *h = f->hdfs = calloc(1, sizeof(*h));
    int k = h ? path_of(r, below, h->path, err) : sv_error_errno(err, -ENOMEM, "%s", below);

    if (k == 0)
        k = hdfs_get_file_info(r->hdfs->namenode, h->path, &h->st, err);
    if (k == 0 && h->st.kind != HDFS_FILE)
        return sv_error_set(err, -EINVAL, "%s: no regular file", h->path);
    if (k == 0)
        k = hdfs_file_check(r->hdfs->namenode, h->path, &h->st, err);
    if (k < 0)
        return k;
    f->source.length = h->st.length;
    f->modified_ms = h->st.mtime_ms;
    return 0;
}

struct room {
    uint8_t *p;
    size_t left;
};

static int take(void *userdata, const void *p, size_t n)
{
    struct room *room = userdata;

    if (n > room->left)
        return -EBADMSG;
    memcpy(room->p, p, n);
    room->p += n;
    room->left -= n;
    return 0;
}

static int read_bytes(struct logs_remote_file *f, uint64_t offset, void *p, size_t n,
                      struct sv_error *err)
{
    const struct logs_remote_hdfs *h = f->r->hdfs;
    struct room room = { p, n };
    int k = hdfs_file_read_range(h->namenode, &h->site, f->hdfs->path, &f->hdfs->st, offset, n,
                                 take, &room, err);

    return k < 0 || room.left == 0 ? k : sv_error_set(err, -EBADMSG, "a block has too few bytes");
}

static void close_file(struct logs_remote_file *f)
{
    free(f->hdfs);
    f->hdfs = NULL;
}

const struct logs_remote_ops logs_remote_hdfs = {
    .open = connect_to,
    .close = disconnect,
    .list = list,
    .file = open_file,
    .read = read_bytes,
    .file_close = close_file,
};
