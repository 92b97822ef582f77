/* Private to fs/: the functions of a back end. fs.h says what each does; one that is NULL is not
 * supported. */
#ifndef SELVEDGE_FS_BACKEND_H
#define SELVEDGE_FS_BACKEND_H

#include "fs/fs.h"

#define FS_PATH_MAX 4096 /* bytes of an absolute path with its NUL */

struct fs {
    const struct fs_ops *ops;
    struct fs_options options;
    char root[FS_PATH_MAX]; /* absolute; "" for "/"; file: for messages */
    char own_group[FS_OWNER_MAX + 1];
    void *data; /* the back end's */
};

struct fs_file {
    struct fs *fs;
    char path[FS_PATH_MAX]; /* below the root */
    bool writing;
    void *data; /* the back end's */
};

struct fs_ops {
    const char *name; /* "HDFS": for messages */
    /* Sets fs->data. close() is called after a failure, too. */
    int (*open)(struct fs *fs, struct sv_error *err);
    void (*close)(struct fs *fs);
    int (*status)(struct fs *fs, const char *path, struct fs_status *ret,
                  struct fs_owner *ret_owner, struct sv_error *err);
    /* NULL: status() is all that is to do. */
    int (*enter)(struct fs *fs, const char *name, struct fs_status *ret, struct fs_owner *ret_owner,
                 struct sv_error *err);
    int (*list)(struct fs *fs, const char *path,
                int (*child)(void *userdata, const struct fs_child *c), void *userdata,
                struct sv_error *err);
    /* This, create() and append() set f->data. file_free() is called after a failure, too. */
    int (*open_file)(struct fs_file *f, struct fs_status *ret, struct sv_error *err);
    int (*read)(struct fs_file *f, uint64_t offset, void *p, size_t n, struct sv_error *err);
    int (*stream)(struct fs *fs, const char *path, const struct fs_status *st, struct fs_stream *s,
                  struct sv_error *err);
    int (*create)(struct fs_file *f, uint32_t mode, struct sv_error *err);
    int (*append)(struct fs_file *f, struct sv_error *err);
    int (*write)(struct fs_file *f, const void *p, size_t n, struct sv_error *err);
    int (*finish)(struct fs_file *f, struct sv_error *err);
    void (*file_free)(struct fs_file *f);
    int (*rename)(struct fs *fs, const char *from, const char *to, struct sv_error *err);
    int (*remove)(struct fs *fs, const char *path, struct sv_error *err);
    int (*mkdir)(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err);
    int (*set_mode)(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err);
    int (*set_group)(struct fs *fs, const char *path, const char *group, struct sv_error *err);
    int (*set_replication)(struct fs *fs, const char *path, uint32_t replicas,
                           struct sv_error *err);
};
extern const struct fs_ops fs_local, fs_hdfs, fs_webhdfs;

/* The absolute path of `path` below the root. -ENAMETOOLONG. */
int fs_path(const struct fs *fs, const char *path, char ret[FS_PATH_MAX], struct sv_error *err)
    _must_use_;

#endif
