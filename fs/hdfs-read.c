/* hdfs:, reading. Every byte is verified before the caller gets it (hdfs/file.h). */
#include <errno.h>
#include <string.h>

#include "fs/hdfs-calls.h"
#include "hdfs/file.h"

struct file {
    char path[FS_PATH_MAX];
    struct hdfs_status st;
};

static int open_file(struct fs_file *f, struct fs_status *ret, struct sv_error *err)
{
    struct file *h = f->data = calloc(1, sizeof(*h));
    int r = h ? fs_path(f->fs, f->path, h->path, err) : sv_error_errno(err, -ENOMEM, "%s", f->path);

    if (r == 0)
        r = hdfs_get_file_info(fs_hdfs_namenode(f->fs), h->path, &h->st, err);
    if (r == 0 && h->st.kind != HDFS_FILE)
        return sv_error_set(err, -EINVAL, "%s: no regular file", h->path);
    if (r == 0)
        r = hdfs_file_check(fs_hdfs_namenode(f->fs), h->path, &h->st, err);
    if (r < 0)
        return r;
    *ret = fs_hdfs_status(&h->st);
    return 0;
}

struct room {
    uint8_t *p;
    size_t left;
};

static int put(void *userdata, const void *p, size_t n)
{
    struct room *room = userdata;

    if (n > room->left)
        return -EBADMSG;
    memcpy(room->p, p, n);
    room->p += n;
    room->left -= n;
    return 0;
}

static int read_bytes(struct fs_file *f, uint64_t offset, void *p, size_t n, struct sv_error *err)
{
    const struct file *h = f->data;
    struct room room = { p, n };
    int r = hdfs_file_read_range(fs_hdfs_namenode(f->fs), fs_hdfs_site(f->fs), h->path, &h->st,
                                 offset, n, put, &room, err);

    return r < 0 || room.left == 0 ? r : sv_error_set(err, -EBADMSG, "a block has too few bytes");
}

static int count(void *userdata, const void *p, size_t n)
{
    struct fs_stream *s = userdata;
    int r = s->sink(s->userdata, p, n);

    s->bytes += r == 0 ? n : 0;
    return r;
}

static int stream(struct fs *fs, const char *path, const struct fs_status *st, struct fs_stream *s,
                  struct sv_error *err)
{
    const struct hdfs_status known = { .kind = HDFS_FILE,
                                       .length = st->length,
                                       .mtime_ms = st->mtime_ms,
                                       .id = st->id,
                                       .mode = st->mode,
                                       .encrypted = st->encrypted,
                                       .striped = st->striped,
                                       .block_size = st->block_size };
    char full[FS_PATH_MAX];
    int r = fs_path(fs, path, full, err);

    return r < 0 ? r
                 : hdfs_file_read(fs_hdfs_namenode(fs), fs_hdfs_site(fs), full, &known, count, s,
                                  &s->sink_failed, err);
}

static void file_free(struct fs_file *f)
{
    free(f->data);
    f->data = NULL;
}

const struct fs_read_ops fs_hdfs_reading = {
    .open_file = open_file,
    .file_free = file_free,
    .read = read_bytes,
    .stream = stream,
};
