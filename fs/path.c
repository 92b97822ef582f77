/* See backend.h. */
#include <errno.h>
#include <stdio.h>

#include "fs/backend.h"

int fs_path(const struct fs *fs, const char *path, char ret[FS_PATH_MAX], struct sv_error *err)
{
    int n = snprintf(ret, FS_PATH_MAX, "%s%s%s", fs->root, *path || !*fs->root ? "/" : "", path);

    return n < 0 || n >= FS_PATH_MAX ? sv_error_set(err, -ENAMETOOLONG, "%s: too long a path", path)
                                     : 0;
}

int fs_absent(const struct fs *fs, const char *what, const char *path, struct sv_error *err)
{
    return sv_error_set(err, -EOPNOTSUPP, "%s/%s: %s is not supported on %s", fs->root, path, what,
                        fs->ops->name);
}

int fs_file_new(struct fs *fs, const char *path, void (*free_file)(struct fs_file *f),
                struct fs_file **ret, struct sv_error *err)
{
    struct fs_file *f = calloc(1, sizeof(*f));

    if (!f)
        return sv_error_errno(err, -ENOMEM, "%s", path);
    f->fs = fs;
    f->free = free_file;
    *ret = f;
    return snprintf(f->path, sizeof(f->path), "%s", path) >= (int)sizeof(f->path)
               ? sv_error_set(err, -ENAMETOOLONG, "%s: too long a path", path)
               : 0;
}
