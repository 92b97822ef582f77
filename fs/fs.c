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
    { FS_SCHEME_FILE, &fs_local },      { FS_SCHEME_HDFS, &fs_hdfs },
    { FS_SCHEME_WEBHDFS, &fs_webhdfs }, { FS_SCHEME_SWEBHDFS, &fs_webhdfs },
    { FS_SCHEME_HTTP, &fs_http },       { FS_SCHEME_HTTPS, &fs_http },
    { FS_SCHEME_S3, &fs_s3 },
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

bool fs_has_status(const struct fs *fs)
{
    return fs->ops->status;
}

int fs_status(struct fs *fs, const char *path, struct fs_status *ret, struct fs_owner *ret_owner,
              struct sv_error *err)
{
    return fs->ops->status ? fs->ops->status(fs, path, ret, ret_owner, err)
                           : fs_absent(fs, "a status", path, err);
}

int fs_enter(struct fs *fs, const char *name, struct fs_status *ret, struct fs_owner *ret_owner,
             struct sv_error *err)
{
    char path[FS_PATH_MAX];
    int r = fs_path(fs, name, path, err);

    if (r < 0)
        return r;
    r = fs->ops->enter ? fs->ops->enter(fs, name, ret, ret_owner, err)
                       : fs_status(fs, name, ret, ret_owner, err);
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
                         : fs_absent(fs, "listing", path, err);
}

struct fs_file *fs_file_free(struct fs_file *f)
{
    if (!f)
        return NULL;
    f->free(f);
    free(f);
    return NULL;
}
