/* File systems of jobs and logs: one interface to file:, hdfs:, webhdfs:, swebhdfs:, http:, https:,
 * s3a: and s3:. Back ends are structs of functions (backend.h), of which some may be absent: such a
 * call fails with -EOPNOTSUPP in words. The last four have fs_stream() alone.
 *
 * Blocking, one call at a time: for processes of their own (container-localizer's workers,
 * log-uploader, the command line). A daemon calls it from a worker thread, never on its loop.
 *
 * Paths are relative to the root that the file system was opened at: "" is the root itself, "a/b"
 * an entry below; no ".", ".." or "//". Hostile: servers and what they answer, names in listings,
 * and for file: everybody who may write below the root.
 *
 * Every function returns 0 or more, or -errno with a text; fs_cause() says what the -errno means.
 */
#ifndef SELVEDGE_FS_FS_H
#define SELVEDGE_FS_FS_H

#include "common/base.h"
#include "common/error.h"
#include "fs/policy.h"
#include "fs/url.h"

struct fs_sigv4_key;
struct hdfs_site;
struct hdfs_tickets;
struct sv_curl;

/* ---- Errors ---- */

enum fs_cause {
    FS_CAUSE_OTHER,       /* the network, another exception of the server */
    FS_CAUSE_NOT_FOUND,   /* -ENOENT */
    FS_CAUSE_DENIED,      /* -EACCES, -EPERM */
    FS_CAUSE_SAFE_MODE,   /* -EROFS */
    FS_CAUSE_QUOTA,       /* -EDQUOT */
    FS_CAUSE_NO_SPACE,    /* -ENOSPC */
    FS_CAUSE_STANDBY,     /* -EHOSTDOWN: no NameNode is active */
    FS_CAUSE_CHECKSUM,    /* -EILSEQ */
    FS_CAUSE_AUTH,        /* -EKEYREJECTED: who the caller is was not accepted */
    FS_CAUSE_PROTOCOL,    /* -EBADMSG, -EPROTO: an answer breaks the rules */
    FS_CAUSE_TIMEOUT,     /* -ETIMEDOUT */
    FS_CAUSE_CHANGED,     /* -ESTALE: the file is another one than before */
    FS_CAUSE_UNSUPPORTED, /* -EOPNOTSUPP, -EINVAL, -ENAMETOOLONG: it can never work */
    FS_CAUSE_EXISTS,      /* -EEXIST, -ENOTDIR, -EISDIR, -ELOOP, -ENOTEMPTY: another kind of file
                           * has the name, or a directory that has children */
};
/* The cause of a -errno of this interface. Pure. */
enum fs_cause fs_cause(int error);
/* True if the same operation may succeed later. */
bool fs_cause_retry(enum fs_cause cause);

/* ---- The file system ---- */

/* The caller, as servers see it; all pointers are borrowed. */
struct fs_identity {
    const char *user; /* of simple authentication; "" or NULL: none */
    int credentials;  /* the job's credentials file ("HDTS…"); -1: none */
    /* hdfs: the tickets of this process, where the job has no token (hdfs/namenode.h); NULL: none.
     */
    const struct hdfs_tickets *tickets;
};

struct fs_limits {
    uint32_t io_timeout_ms; /* for a silent server */
    uint32_t deadline_ms;   /* for a whole fs_stream(); 0: none */
    uint32_t slowest_rate;  /* web servers: minimum bytes per second; 0: none */
};

/* The operator's endpoint of a bucket. */
struct fs_s3 {
    const char *endpoint;           /* "https://host:port" */
    bool path_style;                /* the bucket is in the path */
    const struct fs_sigv4_key *key; /* fs/sigv4.h; NULL: requests are not signed */
    const char *whose;              /* the key is, for messages */
};

struct fs_options {
    const struct fs_url *url; /* its path is the root, but for: */
    const char *path;         /* the root; NULL: the url's path */
    int root;                 /* file: the root directory's descriptor; -1: it is opened by path */
    const char *text;         /* http: the whole url, of the file "", which is all it has */
    const struct hdfs_site *site; /* hdfs: its NameNodes (hdfs/servers.h) */
    const struct fs_s3 *s3;
    const struct sv_curl *curl; /* web: the library's functions (common/web/curl.h) */
    /* hdfs: where `curl` is NULL, loads the library for the first file in an encryption zone; may
     * be NULL, and such files are refused. */
    int (*load_curl)(const struct sv_curl **ret, struct sv_error *err);
    const char *program; /* "selvedge-log-uploader": for servers' logs */
    struct fs_identity identity;
    const struct fs_policy *policy; /* NULL: fs_policy_jobs */
    bool no_sync;                   /* file: fs_finish() does not wait for the disk */
    struct fs_limits limits;
};

struct fs;
/* Opens it; a server may be asked by the first call only. -EOPNOTSUPP: no back end has the scheme.
 * The objects that the options point to must outlive it, except the site. */
int fs_open(const struct fs_options *o, struct fs **ret, struct sv_error *err) _must_use_;
struct fs *fs_close(struct fs *fs);
static inline void fs_closep(struct fs **fs)
{
    *fs = fs_close(*fs);
}

enum fs_kind { FS_FILE = 1, FS_DIRECTORY, FS_LINK, FS_FIFO, FS_SOCKET, FS_DEVICE, FS_NEITHER };

struct fs_status {
    enum fs_kind kind;
    uint32_t mode;   /* 07777 */
    uint64_t length; /* of a file, else 0 */
    int64_t mtime_ms;
    uint64_t id;         /* of the inode; 0: not known */
    bool encrypted;      /* in an encryption zone */
    bool striped;        /* erasure-coded */
    uint64_t block_size; /* of HDFS; 0: not known */
};

#define FS_OWNER_MAX 255
struct fs_owner {
    char user[FS_OWNER_MAX + 1];  /* a name; "uid 7" where there is none */
    char group[FS_OWNER_MAX + 1]; /* as above */
    bool own;                     /* the caller is the owner */
    bool root;                    /* file: root is */
    bool acl;                     /* it has access or default entries beside its mode */
};

/* False where files have no status before they are read: HTTP, S3. */
bool fs_has_status(const struct fs *fs);
/* True if two statuses are of the same file with the same content. */
static inline bool fs_same(const struct fs_status *a, const struct fs_status *b)
{
    return a->kind == b->kind && a->length == b->length && a->mtime_ms == b->mtime_ms &&
           a->id == b->id;
}
/* Does not follow a link at the end of the path. ret_owner: NULL if not wanted. */
int fs_status(struct fs *fs, const char *path, struct fs_status *ret, struct fs_owner *ret_owner,
              struct sv_error *err) _must_use_;
/* Makes the directory `name` of the root the new root, and returns what it is. For file: the root
 * is a descriptor from then on: what is checked is what is used. */
int fs_enter(struct fs *fs, const char *name, struct fs_status *ret, struct fs_owner *ret_owner,
             struct sv_error *err) _must_use_;
/* True if everybody can read the file of this status and search every directory above it up to the
 * root, and none of them is in an encryption zone: YARN's rule for the PUBLIC cache
 * (CVE-2017-3166). */
int fs_is_public(struct fs *fs, const char *path, const struct fs_status *st, bool *ret,
                 struct sv_error *err) _must_use_;
/* Group of what this account makes, once an owner was asked for; "" where that is the group of the
 * directory above. */
const char *fs_own_group(const struct fs *fs);

struct fs_child {
    const char *name; /* one component; its bytes are the server's: fs_name_valid() */
    struct fs_status st;
    const char *target; /* of a link of file:; else NULL */
};
/* Calls `child` for each entry of a directory, in parts as the server gives them; its error
 * (-errno) ends it, and has the text that `child` sets. It may read files of the same `fs`. */
int fs_list(struct fs *fs, const char *path, int (*child)(void *userdata, const struct fs_child *c),
            void *userdata, struct sv_error *err) _must_use_;

/* ---- Reading ---- */

struct fs_file;
/* Opens a regular file that this client can read; ret_st: NULL if not wanted. `fs` must outlive
 * it. */
int fs_open_file(struct fs *fs, const char *path, struct fs_file **ret, struct fs_status *ret_st,
                 struct sv_error *err) _must_use_;
/* Reads exactly n bytes within the file. */
int fs_read(struct fs_file *f, uint64_t offset, void *p, size_t n, struct sv_error *err) _must_use_;
/* A descriptor of a file opened for reading, which remains the file's; -1 for any but file:. */
int fs_descriptor(const struct fs_file *f);
/* Also ends an unfinished writing, and keeps the partial file. */
struct fs_file *fs_file_free(struct fs_file *f);
static inline void fs_file_freep(struct fs_file **f)
{
    *f = fs_file_free(*f);
}

/* A whole file. */
struct fs_stream {
    int (*sink)(void *userdata, const void *p, size_t n); /* 0, or -errno, which ends it */
    /* Discards what the sink took, before one more try at a broken transfer over HTTP; 0 or -errno.
     * NULL: it is not retried. */
    int (*restart)(void *userdata);
    void *userdata;
    /* Results. */
    uint64_t bytes;   /* that the sink took */
    bool sink_failed; /* the error is the sink's */
    int64_t mtime_ms; /* of HTTP: Last-Modified, whole seconds; -1: none */
};
/* Passes the file's bytes to the sink, verified where the protocol has checksums. `st`: what
 * fs_status() or fs_list() said; -ESTALE if the file is another one at the start or at the end.
 * Where files have no status, only its length counts, and is the most that is taken: -EFBIG. */
int fs_stream(struct fs *fs, const char *path, const struct fs_status *st, struct fs_stream *s,
              struct sv_error *err) _must_use_;

/* ---- Writing ---- */

/* Creates a file, replacing an existing one; it is complete after fs_finish(). */
int fs_create(struct fs *fs, const char *path, uint32_t mode, struct fs_file **ret,
              struct sv_error *err) _must_use_;
int fs_append(struct fs *fs, const char *path, struct fs_file **ret, struct sv_error *err)
    _must_use_;
int fs_write(struct fs_file *f, const void *p, size_t n, struct sv_error *err) _must_use_;
/* Writes what a descriptor of this machine has, up to its end. */
int fs_write_from(struct fs_file *f, int fd, struct sv_error *err) _must_use_;
/* 1: the bytes are on disk (the name is after fs_rename()); 0: the file is complete. */
int fs_finish(struct fs_file *f, struct sv_error *err) _must_use_;
/* Waits until a file's bytes or a directory's names are on the disk of this machine; nothing where
 * they are a server's. */
int fs_sync(struct fs *fs, const char *path, struct sv_error *err) _must_use_;

/* Replaces a file, or an empty directory by a directory; to its own name it changes nothing.
 * -EINVAL: `to` is below `from`. */
int fs_rename(struct fs *fs, const char *from, const char *to, struct sv_error *err) _must_use_;
/* Removes a file or an empty directory; a missing one is success. */
int fs_remove(struct fs *fs, const char *path, struct sv_error *err) _must_use_;
/* Removes a file, or a directory with all that it has; a missing one is success. */
int fs_remove_tree(struct fs *fs, const char *path, struct sv_error *err) _must_use_;
/* Makes a directory in an existing one; the server may reduce the mode. A directory that exists is
 * success, and unchanged. */
int fs_mkdir(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err) _must_use_;
int fs_set_mode(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err) _must_use_;
int fs_set_group(struct fs *fs, const char *path, const char *group, struct sv_error *err)
    _must_use_;
int fs_set_time(struct fs *fs, const char *path, int64_t mtime_ms, struct sv_error *err) _must_use_;
int fs_set_replication(struct fs *fs, const char *path, uint32_t replicas, struct sv_error *err)
    _must_use_;

#endif
