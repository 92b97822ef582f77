/* Where log-uploader writes: HDFS, or a directory of this machine. A back end is a small struct of
 * functions; all of them act as the job's account, below the remote root. */
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
    struct sv_error *err;           /* of the sink, which has no place for it */
    char name[LOGS_STORE_NAME_MAX]; /* of the file when it is published */
    struct logs_pace pace;
    /* Back ends' own. */
    int root, dir, file;
    struct hdfs_state *hdfs;
    struct web_state *web;
};

/* All: 0 or -errno with a text. */
struct logs_store_ops {
    /* Directories {user}/{suffix}/{bucket}/{app}, without those that are ""; *ret_note: what an
     * operator should mend, or "". */
    int (*prepare)(struct logs_store *s, char ret_note[LOGS_UPLOAD_TEXT_MAX], struct sv_error *err);
    /* The file "NAME.tmp", empty; again after a failure. */
    int (*begin)(struct logs_store *s, struct sv_error *err);
    int (*write)(void *userdata, const void *p, size_t n); /* a logs_sink; userdata: the store */
    int (*publish)(struct logs_store *s, struct sv_error *err); /* all is on disk: the final name */
    void (*discard)(struct logs_store *s);                      /* "NAME.tmp" goes */
    /* Of files beside it: is one there (1, 0)? their names; one is deleted. */
    int (*exists)(struct logs_store *s, const char *name, struct sv_error *err);
    int (*list)(struct logs_store *s, struct logs_names *names, struct sv_error *err);
    int (*remove)(struct logs_store *s, const char *name, struct sv_error *err);
    void (*close)(struct logs_store *s);
    /* Would another attempt help? */
    bool (*retry)(int error);
};

extern const struct logs_store_ops logs_store_directory, logs_store_hdfs, logs_store_web;

#endif
