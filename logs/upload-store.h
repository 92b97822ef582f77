/* One remote file of log-uploader: where it is written as "NAME.tmp", and the other files beside
 * it. Acts as the job's account, in a directory that upload-remote-dirs.h has verified. */
#ifndef SELVEDGE_LOGS_UPLOAD_STORE_H
#define SELVEDGE_LOGS_UPLOAD_STORE_H

#include "fs/fs.h"
#include "hdfs/servers.h"
#include "logs/upload-pace.h"
#include "logs/upload-request.h"

#define LOGS_DIR_MODE 0770u
#define LOGS_FILE_MODE 0640u
#define LOGS_ROOT_MODE 01777u
#define LOGS_STORE_NAME_MAX 320

struct logs_store {
    const struct logs_upload *u;
    struct sv_error *err;                                     /* set by logs_store_write() */
    char name[LOGS_STORE_NAME_MAX], tmp[LOGS_STORE_NAME_MAX]; /* final name; until then */
    struct logs_pace pace;
    struct fs *fs;
    struct fs_file *file;
    /* Options of `fs`. */
    struct fs_url url;
    struct hdfs_site site;
};

/* Descriptors that came with the request; the caller's. */
struct logs_given {
    int root;        /* the remote directory, or -1 if it is not of this machine */
    int credentials; /* of the application; -1: none */
};
/* Opens the remote root of the request, enters the application's directory and removes nothing.
 * *ret_note: as logs_remote_dirs(). */
int logs_store_open(struct logs_store *s, const struct logs_upload *u,
                    const struct logs_given *given, char ret_note[LOGS_UPLOAD_TEXT_MAX],
                    struct sv_error *err) _must_use_;
void logs_store_close(struct logs_store *s);
/* Creates the empty file "NAME.tmp"; called again after a failure. */
int logs_store_begin(struct logs_store *s, struct sv_error *err) _must_use_;
int logs_store_write(void *store, const void *p, size_t n); /* a logs_sink, at the pace */
int logs_store_publish(struct logs_store *s, struct sv_error *err) _must_use_; /* renames it */
void logs_store_discard(struct logs_store *s);
/* 1: there is a file of this name; 0: there is none. */
int logs_store_exists(struct logs_store *s, const char *name, struct sv_error *err) _must_use_;

#endif
