/* Interface of the back ends of remote.h. */
#ifndef SELVEDGE_LOGS_REMOTE_STORE_H
#define SELVEDGE_LOGS_REMOTE_STORE_H

#include "logs/remote.h"

#define LOGS_REMOTE_PATH_MAX 4096

struct logs_names {
    char **v; /* NULL-terminated */
    size_t n;
};
int logs_names_add(struct logs_names *names, const char *name) _must_use_;

struct logs_remote_ops {
    int (*open)(struct logs_remote *r, struct sv_conf *c, const struct fs_url *url,
                const char *user, struct sv_error *err);
    void (*close)(struct logs_remote *r);
    /* Appends the names of regular files; unsorted. */
    int (*list)(struct logs_remote *r, const char *dir, struct logs_names *names,
                struct sv_error *err);
    /* Sets the file's length and modification time, and the back end's state for reading. */
    int (*file)(struct logs_remote *r, const char *path, struct logs_remote_file *f,
                struct sv_error *err);
    /* Reads exactly n bytes within the file's length. */
    int (*read)(struct logs_remote_file *f, uint64_t offset, void *p, size_t n,
                struct sv_error *err);
    void (*file_close)(struct logs_remote_file *f);
};

struct logs_remote {
    const struct logs_remote_ops *ops;
    int root;                        /* of this machine, or -1 */
    struct logs_remote_hdfs *hdfs;   /* or NULL */
    struct logs_web *web;            /* or NULL */
    char path[LOGS_REMOTE_PATH_MAX]; /* of the root directory */
};

struct logs_piece { /* bytes of a file */
    uint8_t *p;
    uint64_t at;
    size_t n;
};

struct logs_remote_file {
    struct logs_remote *r;
    struct logs_source source;
    int64_t modified_ms;
    struct sv_error problem;
    int fd;
    struct logs_remote_hdfs_file *hdfs;
    struct logs_remote_web_file *web;
    struct logs_piece tail; /* the end of the file with all indexes, read at once and cached */
    struct logs_piece
        ahead; /* cache for the rest: short after a seek, longer while reading sequentially */
    size_t window;
};

extern const struct logs_remote_ops logs_remote_directory, logs_remote_hdfs, logs_remote_web;

#endif
