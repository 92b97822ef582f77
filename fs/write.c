/* See fs.h: the half that changes files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/backend.h"

#define COPY_BYTES ((size_t)64 << 10) /* of a descriptor, at once */

/* NULL: there are none. */
static const struct fs_write_ops *writing(struct fs *fs)
{
    static const struct {
        const struct fs_ops *ops;
        const struct fs_write_ops *writing;
    } back_ends[] = {
        { &fs_local, &fs_local_writing },
        { &fs_hdfs, &fs_hdfs_writing },
        { &fs_webhdfs, &fs_webhdfs_writing },
    };

    for (size_t i = 0; !fs->writing && i < SV_ARRAY_LEN(back_ends); i++)
        if (back_ends[i].ops == fs->ops)
            fs->writing = back_ends[i].writing;
    return fs->writing;
}

/* Calls a function of the back end, or says that it lacks it. */
#define CALL(fs, function, what, path, ...)                                                        \
    (writing(fs) && writing(fs)->function ? writing(fs)->function(__VA_ARGS__)                     \
                                          : fs_absent(fs, what, path, err))

static int made(struct fs_file *f, int r, struct fs_file **ret)
{
    if (r < 0) {
        fs_file_free(f);
        return r;
    }
    f->written = true;
    *ret = f;
    return 0;
}

int fs_create(struct fs *fs, const char *path, uint32_t mode, struct fs_file **ret,
              struct sv_error *err)
{
    struct fs_file *f = NULL;
    int r = writing(fs) ? fs_file_new(fs, path, writing(fs)->file_free, &f, err) : 0;

    return made(f, r < 0 ? r : CALL(fs, create, "writing", path, f, mode, err), ret);
}

int fs_append(struct fs *fs, const char *path, struct fs_file **ret, struct sv_error *err)
{
    struct fs_file *f = NULL;
    int r = writing(fs) ? fs_file_new(fs, path, writing(fs)->file_free, &f, err) : 0;

    return made(f, r < 0 ? r : CALL(fs, append, "append", path, f, err), ret);
}

static int not_written(const struct fs_file *f, struct sv_error *err)
{
    return f->written ? 0 : sv_error_set(err, -EBADF, "%s: no file is written", f->path);
}

int fs_write(struct fs_file *f, const void *p, size_t n, struct sv_error *err)
{
    int r = not_written(f, err);

    return r < 0 ? r : f->fs->writing->write(f, p, n, err);
}

int fs_write_from(struct fs_file *f, int fd, struct sv_error *err)
{
    _cleanup_free_ char *buf = NULL;
    int r = not_written(f, err);

    if (r == 0 && f->fs->writing->write_from)
        return f->fs->writing->write_from(f, fd, err);
    if (r == 0 && !(buf = malloc(COPY_BYTES)))
        r = sv_error_errno(err, -ENOMEM, "%s", f->path);
    while (r == 0) {
        ssize_t n = read(fd, buf, COPY_BYTES);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? sv_error_errno(err, -errno, "read") : 0;
        r = f->fs->writing->write(f, buf, (size_t)n, err);
    }
    return r;
}

int fs_finish(struct fs_file *f, struct sv_error *err)
{
    int r = not_written(f, err);

    if (r == 0)
        r = f->fs->writing->finish(f, err);
    f->written = false;
    return r;
}

int fs_rename(struct fs *fs, const char *from, const char *to, struct sv_error *err)
{
    struct fs_status st;
    int r;

    if (strcmp(from, to) == 0)
        return fs_status(fs, from, &st, NULL, err);
    if (strncmp(from, to, strlen(from)) == 0 && to[strlen(from)] == '/')
        return sv_error_set(err, -EINVAL, "%s: rename to %s, which is below it", from, to);
    r = CALL(fs, rename, "a rename", from, fs, from, to, err);
    /* HDFS names no cause where something stands in the way. */
    if (r == -EREMOTEIO && fs_status(fs, to, &st, NULL, NULL) == 0)
        r = -EEXIST;
    if (r < 0 && err)
        err->code = r;
    return r;
}

int fs_remove(struct fs *fs, const char *path, struct sv_error *err)
{
    return CALL(fs, remove, "removal", path, fs, path, false, err);
}

int fs_remove_tree(struct fs *fs, const char *path, struct sv_error *err)
{
    return CALL(fs, remove, "removal", path, fs, path, true, err);
}

int fs_mkdir(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    return CALL(fs, mkdir, "a new directory", path, fs, path, mode, err);
}

int fs_set_mode(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    return CALL(fs, set_mode, "a mode", path, fs, path, mode, err);
}

int fs_set_group(struct fs *fs, const char *path, const char *group, struct sv_error *err)
{
    return CALL(fs, set_group, "a group", path, fs, path, group, err);
}

int fs_sync(struct fs *fs, const char *path, struct sv_error *err)
{
    return writing(fs) && writing(fs)->sync ? writing(fs)->sync(fs, path, err) : 0;
}

int fs_set_time(struct fs *fs, const char *path, int64_t mtime_ms, struct sv_error *err)
{
    return CALL(fs, set_time, "a time", path, fs, path, mtime_ms, err);
}

int fs_set_replication(struct fs *fs, const char *path, uint32_t replicas, struct sv_error *err)
{
    return CALL(fs, set_replication, "replication", path, fs, path, replicas, err);
}
