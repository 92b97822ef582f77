/* See fs.h. The result is not cached between requests: a worker serves one request, and data that
 * it left for the next one could have been forged by a hostile archive. */
#include <errno.h>
#include <string.h>

#include "fs/backend.h"

#define OTHERS_READ 04u
#define OTHERS_SEARCH 01u

int fs_is_public(struct fs *fs, const char *path, const struct fs_status *st, bool *ret,
                 struct sv_error *err)
{
    _cleanup_free_ char *dir = strdup(path);
    bool open = st->mode & OTHERS_READ && !st->encrypted;

    if (!dir)
        return sv_error_errno(err, -ENOMEM, "path");
    while (open && dir[0]) {
        char *slash = strrchr(dir, '/');
        struct fs_status up;
        int r;

        *(slash ? slash : dir) = 0;
        r = fs_status(fs, dir, &up, NULL, err);
        if (r == -EACCES)
            open = false;
        else if (r < 0)
            return r;
        else
            open = up.kind == FS_DIRECTORY && up.mode & OTHERS_SEARCH && !up.encrypted;
    }
    *ret = open;
    return 0;
}
