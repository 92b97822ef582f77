/* The back ends of remote.h. */
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
    int (*open)(struct logs_remote *r, struct sv_conf *c, const struct loc_url *url,
                const char *user, struct sv_error *err);
    void (*close)(struct logs_remote *r);
    /* Adds the names of regular files; unsorted. */
    int (*list)(struct logs_remote *r, const char *dir, struct logs_names *names,
                struct sv_error *err);
    /* Sets the file's length and time, and what it needs to be read. */
    int (*file)(struct logs_remote *r, const char *path, struct logs_remote_file *f,
                struct sv_error *err);
    /* Exactly n bytes, within the length. */
    int (*read)(struct logs_remote_file *f, uint64_t offset, void *p, size_t n,
                struct sv_error *err);
    void (*file_close)(struct logs_remote_file *f);
};

struct logs_remote {
    const struct logs_remote_ops *ops;
    int root;                        /* of this machine, or -1 */
    struct logs_remote_hdfs *hdfs;   /* or NULL */
    struct logs_web *web;            /* or NULL */
    char path[LOGS_REMOTE_PATH_MAX]; /* of the root */
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
    struct logs_piece tail; /* the last bytes, where all indexes are: read at once, and kept */
    struct logs_piece
        ahead; /* of what is before: few after a seek, more while the reader goes on */
    size_t window;
};

extern const struct logs_remote_ops logs_remote_directory, logs_remote_hdfs, logs_remote_web;

#endif
