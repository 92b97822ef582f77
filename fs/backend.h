/* Private to fs/: the functions of a back end. fs.h says what each does; one that is NULL is not
 * supported. */
#ifndef SELVEDGE_FS_BACKEND_H
#define SELVEDGE_FS_BACKEND_H

#include "fs/fs.h"

#define FS_PATH_MAX 4096 /* bytes of an absolute path with its NUL */

struct fs {
    const struct fs_ops *ops;
    const struct fs_read_ops *reading;  /* NULL until the first use, or if there are none */
    const struct fs_write_ops *writing; /* as above */
    struct fs_options options;
    char root[FS_PATH_MAX]; /* absolute; "" for "/"; file: for messages */
    char own_group[FS_OWNER_MAX + 1];
    void *data; /* the back end's */
};

struct fs_file {
    struct fs *fs;
    char path[FS_PATH_MAX]; /* below the root */
    bool written;
    void *data;                      /* the back end's */
    void (*free)(struct fs_file *f); /* its file_free() */
};

struct fs_ops {
    const char *name; /* "HDFS": for messages */
    /* Sets fs->data. close() is called after a failure, too. */
    int (*open)(struct fs *fs, struct sv_error *err);
    void (*close)(struct fs *fs);
    int (*status)(struct fs *fs, const char *path, struct fs_status *ret,
                  struct fs_owner *ret_owner, struct sv_error *err);
    /* NULL: status() is all that there is to do. */
    int (*enter)(struct fs *fs, const char *name, struct fs_status *ret, struct fs_owner *ret_owner,
                 struct sv_error *err);
    int (*list)(struct fs *fs, const char *path,
                int (*child)(void *userdata, const struct fs_child *c), void *userdata,
                struct sv_error *err);
};

/* Reading and writing are apart, so that a program links what it calls: read.c, write.c. */
struct fs_read_ops {
    /* Sets f->data. file_free() is called after a failure, too. */
    int (*open_file)(struct fs_file *f, struct fs_status *ret, struct sv_error *err);
    void (*file_free)(struct fs_file *f);
    int (*descriptor)(const struct fs_file *f);
    int (*read)(struct fs_file *f, uint64_t offset, void *p, size_t n, struct sv_error *err);
    int (*stream)(struct fs *fs, const char *path, const struct fs_status *st, struct fs_stream *s,
                  struct sv_error *err);
};

struct fs_write_ops {
    /* Both set f->data. file_free() is called after a failure, too. */
    int (*create)(struct fs_file *f, uint32_t mode, struct sv_error *err);
    int (*append)(struct fs_file *f, struct sv_error *err);
    void (*file_free)(struct fs_file *f);
    int (*write)(struct fs_file *f, const void *p, size_t n, struct sv_error *err);
    int (*write_from)(struct fs_file *f, int fd, struct sv_error *err); /* NULL: by write() */
    int (*finish)(struct fs_file *f, struct sv_error *err);
    int (*rename)(struct fs *fs, const char *from, const char *to, struct sv_error *err);
    int (*remove)(struct fs *fs, const char *path, bool tree, struct sv_error *err);
    int (*mkdir)(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err);
    int (*set_mode)(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err);
    int (*set_group)(struct fs *fs, const char *path, const char *group, struct sv_error *err);
    int (*sync)(struct fs *fs, const char *path, struct sv_error *err); /* NULL: nothing to do */
    int (*set_time)(struct fs *fs, const char *path, int64_t mtime_ms, struct sv_error *err);
    int (*set_replication)(struct fs *fs, const char *path, uint32_t replicas,
                           struct sv_error *err);
};
extern const struct fs_ops fs_local, fs_hdfs, fs_webhdfs, fs_http, fs_s3;
extern const struct fs_read_ops fs_local_reading, fs_hdfs_reading, fs_webhdfs_reading,
    fs_http_reading, fs_s3_reading;
extern const struct fs_write_ops fs_local_writing, fs_hdfs_writing, fs_webhdfs_writing;

/* For read.c and write.c. */
int fs_file_new(struct fs *fs, const char *path, void (*free_file)(struct fs_file *f),
                struct fs_file **ret, struct sv_error *err) _must_use_;
int fs_absent(const struct fs *fs, const char *what, const char *path, struct sv_error *err);
/* The absolute path of `path` below the root. -ENAMETOOLONG. */
int fs_path(const struct fs *fs, const char *path, char ret[FS_PATH_MAX], struct sv_error *err)
    _must_use_;

#endif
