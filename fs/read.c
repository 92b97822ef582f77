/* See fs.h: the half that reads files. */
#include <errno.h>

#include "fs/backend.h"

/* NULL: there are none. */
static const struct fs_read_ops *reading(struct fs *fs)
{
    static const struct {
        const struct fs_ops *ops;
        const struct fs_read_ops *reading;
    } back_ends[] = {
        { &fs_local, &fs_local_reading },     { &fs_hdfs, &fs_hdfs_reading },
        { &fs_webhdfs, &fs_webhdfs_reading }, { &fs_http, &fs_http_reading },
        { &fs_s3, &fs_s3_reading },
    };

    for (size_t i = 0; !fs->reading && i < SV_ARRAY_LEN(back_ends); i++)
        if (back_ends[i].ops == fs->ops)
            fs->reading = back_ends[i].reading;
    return fs->reading;
}

int fs_open_file(struct fs *fs, const char *path, struct fs_file **ret, struct fs_status *ret_st,
                 struct sv_error *err)
{
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    const struct fs_read_ops *ops = reading(fs);
    struct fs_status st = { 0 };
    int r = ops && ops->open_file ? fs_file_new(fs, path, ops->file_free, &f, err)
                                  : fs_absent(fs, "reading", path, err);

    if (r == 0)
        r = ops->open_file(f, &st, err);
    if (r < 0)
        return r;
    if (ret_st)
        *ret_st = st;
    *ret = SV_TAKE(f);
    return 0;
}

int fs_read(struct fs_file *f, uint64_t offset, void *p, size_t n, struct sv_error *err)
{
    return f->fs->reading->read(f, offset, p, n, err);
}

int fs_descriptor(const struct fs_file *f)
{
    return f->fs->reading->descriptor ? f->fs->reading->descriptor(f) : -1;
}

int fs_stream(struct fs *fs, const char *path, const struct fs_status *st, struct fs_stream *s,
              struct sv_error *err)
{
    const struct fs_read_ops *ops = reading(fs);

    return ops && ops->stream ? ops->stream(fs, path, st, s, err)
                              : fs_absent(fs, "reading", path, err);
}
