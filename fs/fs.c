/* See fs.h: finds the back end of a scheme, and says so where it lacks a function. */
#include "fs/fs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fs/backend.h"

/* A row for each scheme. */
static const struct {
    enum fs_scheme scheme;
    const struct fs_ops *ops;
} back_ends[] = {
    { FS_SCHEME_FILE, &fs_local },
    { FS_SCHEME_HDFS, &fs_hdfs },
    { FS_SCHEME_WEBHDFS, &fs_webhdfs },
    { FS_SCHEME_SWEBHDFS, &fs_webhdfs },
};

static const struct fs_ops *ops_of(enum fs_scheme scheme)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(back_ends); i++)
        if (back_ends[i].scheme == scheme)
            return back_ends[i].ops;
    return NULL;
}

int fs_open(const struct fs_options *o, struct fs **ret, struct sv_error *err)
{
    const char *root = o->path ? o->path : o->url->path;
    _cleanup_(fs_closep) struct fs *fs = calloc(1, sizeof(*fs));
    const struct fs_ops *ops = ops_of(o->url->scheme);
    int r;

    if (!fs)
        return sv_error_errno(err, -ENOMEM, "%s", root);
    if (!ops)
        return sv_error_set(err, -EOPNOTSUPP, "%s: no file system has its scheme", root);
    if (snprintf(fs->root, sizeof(fs->root), "%s", strcmp(root, "/") == 0 ? "" : root) >=
        (int)sizeof(fs->root))
        return sv_error_set(err, -ENAMETOOLONG, "%s: too long a path", root);
    fs->options = *o;
    if (!fs->options.policy)
        fs->options.policy = &fs_policy_jobs;
    r = fs_policy_url(fs->options.policy, o->url, err);
    if (r < 0)
        return sv_error_wrap(err, "%s", root);
    fs->ops = ops;
    r = ops->open(fs, err);
    if (r < 0)
        return r;
    *ret = SV_TAKE(fs);
    return 0;
}

struct fs *fs_close(struct fs *fs)
{
    if (!fs)
        return NULL;
    if (fs->ops)
        fs->ops->close(fs);
    free(fs);
    return NULL;
}

static int absent(const struct fs *fs, const char *what, const char *path, struct sv_error *err)
{
    return sv_error_set(err, -EOPNOTSUPP, "%s/%s: %s is not supported on %s", fs->root, path, what,
                        fs->ops->name);
}

int fs_status(struct fs *fs, const char *path, struct fs_status *ret, struct fs_owner *ret_owner,
              struct sv_error *err)
{
    return fs->ops->status(fs, path, ret, ret_owner, err);
}

int fs_enter(struct fs *fs, const char *name, struct fs_status *ret, struct fs_owner *ret_owner,
             struct sv_error *err)
{
    char path[FS_PATH_MAX];
    int r = fs_path(fs, name, path, err);

    if (r < 0)
        return r;
    r = fs->ops->enter ? fs->ops->enter(fs, name, ret, ret_owner, err)
                       : fs->ops->status(fs, name, ret, ret_owner, err);
    if (r < 0)
        return r;
    if (ret->kind != FS_DIRECTORY)
        return sv_error_set(err, -ENOTDIR, "it is no directory");
    memcpy(fs->root, path, sizeof(fs->root));
    return 0;
}

const char *fs_own_group(const struct fs *fs)
{
    return fs->own_group;
}

int fs_list(struct fs *fs, const char *path, int (*child)(void *userdata, const struct fs_child *c),
            void *userdata, struct sv_error *err)
{
    return fs->ops->list ? fs->ops->list(fs, path, child, userdata, err)
                         : absent(fs, "listing", path, err);
}

static int new_file(struct fs *fs, const char *path, struct fs_file **ret, struct sv_error *err)
{
    struct fs_file *f = calloc(1, sizeof(*f));

    if (!f)
        return sv_error_errno(err, -ENOMEM, "%s", path);
    f->fs = fs;
    *ret = f;
    if (snprintf(f->path, sizeof(f->path), "%s", path) >= (int)sizeof(f->path))
        return sv_error_set(err, -ENAMETOOLONG, "%s: too long a path", path);
    return 0;
}

int fs_open_file(struct fs *fs, const char *path, struct fs_file **ret, struct fs_status *ret_st,
                 struct sv_error *err)
{
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    struct fs_status st = { 0 };
    int r = fs->ops->open_file ? new_file(fs, path, &f, err) : absent(fs, "reading", path, err);

    if (r == 0)
        r = fs->ops->open_file(f, &st, err);
    if (r < 0)
        return r;
    if (ret_st)
        *ret_st = st;
    *ret = SV_TAKE(f);
    return 0;
}

int fs_read(struct fs_file *f, uint64_t offset, void *p, size_t n, struct sv_error *err)
{
    return f->fs->ops->read(f, offset, p, n, err);
}

struct fs_file *fs_file_free(struct fs_file *f)
{
    if (!f)
        return NULL;
    f->fs->ops->file_free(f);
    free(f);
    return NULL;
}

int fs_stream(struct fs *fs, const char *path, const struct fs_status *st, struct fs_stream *s,
              struct sv_error *err)
{
    return fs->ops->stream ? fs->ops->stream(fs, path, st, s, err)
                           : absent(fs, "reading", path, err);
}

int fs_create(struct fs *fs, const char *path, uint32_t mode, struct fs_file **ret,
              struct sv_error *err)
{
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    int r = fs->ops->create ? new_file(fs, path, &f, err) : absent(fs, "writing", path, err);

    if (r == 0)
        r = fs->ops->create(f, mode, err);
    if (r < 0)
        return r;
    f->writing = true;
    *ret = SV_TAKE(f);
    return 0;
}

int fs_append(struct fs *fs, const char *path, struct fs_file **ret, struct sv_error *err)
{
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    int r = fs->ops->append ? new_file(fs, path, &f, err) : absent(fs, "append", path, err);

    if (r == 0)
        r = fs->ops->append(f, err);
    if (r < 0)
        return r;
    f->writing = true;
    *ret = SV_TAKE(f);
    return 0;
}

static int not_written(const struct fs_file *f, struct sv_error *err)
{
    return f->writing ? 0 : sv_error_set(err, -EBADF, "%s: no file is written", f->path);
}

int fs_write(struct fs_file *f, const void *p, size_t n, struct sv_error *err)
{
    int r = not_written(f, err);

    return r < 0 ? r : f->fs->ops->write(f, p, n, err);
}

int fs_finish(struct fs_file *f, struct sv_error *err)
{
    int r = not_written(f, err);

    f->writing = false;
    return r < 0 ? r : f->fs->ops->finish(f, err);
}

int fs_rename(struct fs *fs, const char *from, const char *to, struct sv_error *err)
{
    return fs->ops->rename ? fs->ops->rename(fs, from, to, err) : absent(fs, "a rename", from, err);
}

int fs_remove(struct fs *fs, const char *path, struct sv_error *err)
{
    return fs->ops->remove ? fs->ops->remove(fs, path, err) : absent(fs, "removal", path, err);
}

int fs_mkdir(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    return fs->ops->mkdir ? fs->ops->mkdir(fs, path, mode, err)
                          : absent(fs, "a new directory", path, err);
}

int fs_set_mode(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    return fs->ops->set_mode ? fs->ops->set_mode(fs, path, mode, err)
                             : absent(fs, "a mode", path, err);
}

int fs_set_group(struct fs *fs, const char *path, const char *group, struct sv_error *err)
{
    return fs->ops->set_group ? fs->ops->set_group(fs, path, group, err)
                              : absent(fs, "a group", path, err);
}

int fs_set_replication(struct fs *fs, const char *path, uint32_t replicas, struct sv_error *err)
{
    return fs->ops->set_replication ? fs->ops->set_replication(fs, path, replicas, err)
                                    : absent(fs, "replication", path, err);
}
