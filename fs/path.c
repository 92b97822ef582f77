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
