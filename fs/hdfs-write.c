/* hdfs:, changes. */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "fs/hdfs-calls.h"

#define CLIENT_MAX 80

struct file {
    char path[FS_PATH_MAX], client[CLIENT_MAX];
    struct hdfs_writer *writer;
};

static int create(struct fs_file *f, uint32_t mode, struct sv_error *err)
{
    struct fs_hdfs_state *s = f->fs->data;
    struct file *h = f->data = calloc(1, sizeof(*h));
    uint64_t random;
    int r = h ? fs_path(f->fs, f->path, h->path, err) : sv_error_errno(err, -ENOMEM, "%s", f->path);

    if (r < 0)
        return r;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return sv_error_errno(err, -EIO, "getrandom");
    if (s->created++ > 1) /* all DataNodes may be on the list by now */
        hdfs_avoided_clear(&s->avoided);
    (void)snprintf(h->client, sizeof(h->client), "DFSClient_%.40s_%016llx", f->fs->options.program,
                   (unsigned long long)random);
    return hdfs_writer_new(s->namenode, &s->site, h->path, h->client, mode, &s->avoided, &h->writer,
                           err);
}

static int write_bytes(struct fs_file *f, const void *p, size_t n, struct sv_error *err)
{
    return hdfs_writer_put(((struct file *)f->data)->writer, p, n, err);
}

static int finish(struct fs_file *f, struct sv_error *err)
{
    return hdfs_writer_finish(((struct file *)f->data)->writer, err);
}

static void file_free(struct fs_file *f)
{
    struct file *h = f->data;

    if (h)
        h->writer = hdfs_writer_free(h->writer);
    free(h);
    f->data = NULL;
}

static int rename_file(struct fs *fs, const char *from, const char *to, struct sv_error *err)
{
    char full[FS_PATH_MAX], full_to[FS_PATH_MAX];
    int r = fs_path(fs, from, full, err);

    if (r == 0)
        r = fs_path(fs, to, full_to, err);
    return r < 0 ? r : hdfs_rename(fs_hdfs_namenode(fs), full, full_to, err);
}

static int remove_path(struct fs *fs, const char *path, bool tree, struct sv_error *err)
{
    char full[FS_PATH_MAX];
    int r = fs_path(fs, path, full, err);

    return r < 0 ? r : hdfs_delete(fs_hdfs_namenode(fs), full, tree, err);
}

static int make_dir(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    char full[FS_PATH_MAX];
    int r = fs_path(fs, path, full, err);

    return r < 0 ? r : hdfs_mkdir(fs_hdfs_namenode(fs), full, mode, err);
}

static int set_mode(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    char full[FS_PATH_MAX];
    int r = fs_path(fs, path, full, err);

    return r < 0 ? r : hdfs_set_permission(fs_hdfs_namenode(fs), full, mode, err);
}

static int set_group(struct fs *fs, const char *path, const char *group, struct sv_error *err)
{
    char full[FS_PATH_MAX];
    int r = fs_path(fs, path, full, err);

    return r < 0 ? r : hdfs_set_group(fs_hdfs_namenode(fs), full, group, err);
}

const struct fs_write_ops fs_hdfs_writing = {
    .create = create,
    .file_free = file_free,
    .write = write_bytes,
    .finish = finish,
    .rename = rename_file,
    .remove = remove_path,
    .mkdir = make_dir,
    .set_mode = set_mode,
    .set_group = set_group,
};
