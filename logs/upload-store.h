/* Interface of log-uploader's back ends: HDFS, WebHDFS, or a directory of this machine. Each is a
 * small struct of functions that acts as the job's account, below the remote root. */
#ifndef SELVEDGE_LOGS_UPLOAD_STORE_H
#define SELVEDGE_LOGS_UPLOAD_STORE_H

#include "logs/remote-store.h"
#include "logs/upload-pace.h"
#include "logs/upload-request.h"

#define LOGS_DIR_MODE 0770u
#define LOGS_FILE_MODE 0640u
#define LOGS_ROOT_MODE 01777u
#define LOGS_STORE_NAME_MAX 320

struct logs_store {
    const struct logs_store_ops *ops;
    const struct logs_upload *u;
    struct sv_error *err;           /* set by the sink, whose interface has no error argument */
    char name[LOGS_STORE_NAME_MAX]; /* final name of the file */
    struct logs_pace pace;
    /* State of the back end. */
    int root, dir, file;
    bool root_acl; /* the remote root has an ACL */
    gid_t group;   /* of `dir` */
    struct hdfs_state *hdfs;
    struct web_state *web;
};

/* All return 0, or -errno with a text. */
struct logs_store_ops {
    /* Creates the directories {user}/{suffix}/{bucket}/{app}, except empty parts. *ret_note: a
     * problem that the operator should fix, or "". */
    int (*prepare)(struct logs_store *s, char ret_note[LOGS_UPLOAD_TEXT_MAX], struct sv_error *err);
    /* Creates the empty file "NAME.tmp"; called again after a failure. */
    int (*begin)(struct logs_store *s, struct sv_error *err);
    int (*write)(void *userdata, const void *p, size_t n); /* a logs_sink; userdata: the store */
    int (*publish)(struct logs_store *s, struct sv_error *err); /* syncs and renames it */
    void (*discard)(struct logs_store *s);                      /* deletes "NAME.tmp" */
    /* Other files in the directory: test existence (1, 0), list, delete. */
    int (*exists)(struct logs_store *s, const char *name, struct sv_error *err);
    int (*list)(struct logs_store *s, struct logs_names *names, struct sv_error *err);
    int (*remove)(struct logs_store *s, const char *name, struct sv_error *err);
    void (*close)(struct logs_store *s);
    /* True if another attempt may succeed after this error. */
    bool (*retry)(int error);
};

extern const struct logs_store_ops logs_store_directory, logs_store_hdfs, logs_store_web;

#endif
