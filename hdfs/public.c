/* See public.h. The result is not cached between requests: a worker serves one request, and data
 * that it left for the next one could have been forged by a hostile archive. */
#include "hdfs/public.h"

#include <errno.h>
#include <string.h>

#define OTHERS_READ 04u
#define OTHERS_SEARCH 01u

int hdfs_is_public(struct hdfs_namenode *n, const char *path, const struct hdfs_status *st,
                   bool *ret, struct sv_error *err)
{
    _cleanup_free_ char *dir = strdup(path);
    bool open = st->mode & OTHERS_READ && !st->encrypted;

    if (!dir)
        return sv_error_errno(err, -ENOMEM, "path");
    while (open && dir[1]) {
        char *slash = strrchr(dir, '/');
        struct hdfs_status up;
        int r;

        slash[slash == dir ? 1 : 0] = 0;
        r = hdfs_get_file_info(n, dir, &up, err);
        if (r == -EACCES)
            open = false;
        else if (r < 0)
            return r;
        else
            open = up.kind == HDFS_DIRECTORY && up.mode & OTHERS_SEARCH && !up.encrypted;
    }
    *ret = open;
    return 0;
}
