/* Private to the back end of WebHDFS: one call of a NameNode's REST API and its redirects. Hostile:
 * answers of NameNodes and DataNodes. */
#ifndef SELVEDGE_FS_WEBHDFS_CALL_H
#define SELVEDGE_FS_WEBHDFS_CALL_H

#include "fs/web.h"

struct webhdfs {
    struct fs_web web;
    char server[FS_SERVER_MAX + 1]; /* "https://host:port" */
    char who[FS_URL_MAX + 1];       /* the query's part that says who the caller is */
    uint32_t timeout_ms;
};

/* Builds SERVER/webhdfs/v1PATH?op=OPWHOMORE; `path` is below the root. -ENAMETOOLONG. */
int webhdfs_url(struct fs *fs, const char *path, const char *op, const char *more,
                char ret[FS_WEB_URL_MAX], struct sv_error *err) _must_use_;
/* The error of an answer of another status than is wanted; `path`: for the text. */
int webhdfs_refused(const struct fs *fs, int status, const char *path, struct sv_error *err);

/* A call that is answered with 200; a GET follows redirects. */
int webhdfs_call(struct fs *fs, const char *method, const char *path, const char *op,
                 const char *more, struct sv_error *err) _must_use_;
/* OPEN, its bytes to a stream: at most `max`, in `timeout_ms` (0: any time). -ESTALE: more. */
int webhdfs_open(struct fs *fs, const char *path, const char *more, struct fs_stream *to,
                 uint64_t max, uint32_t timeout_ms, struct sv_error *err) _must_use_;

#endif
