/* Private to the back end of WebHDFS: one call of a NameNode's REST API and its redirects. Hostile:
 * answers of NameNodes and DataNodes. */
#ifndef SELVEDGE_FS_WEBHDFS_CALL_H
#define SELVEDGE_FS_WEBHDFS_CALL_H

#include "fs/web.h"

#define WEBHDFS_URL_MAX 8192
#define WEBHDFS_ANSWER_MAX                                                                         \
    ((size_t)8 << 20) /* a part of a listing; Hadoop returns 1000 children                         \
                       */

struct webhdfs {
    struct fs_web web;
    char server[FS_SERVER_MAX + 1]; /* "https://host:port" */
    char who[FS_URL_MAX + 1];       /* the query's part that says who the caller is */
    CURL *easy;
    char *answer; /* WEBHDFS_ANSWER_MAX + 1 bytes, ends with NUL; not of a stream */
    size_t answer_n;
    uint32_t timeout_ms, slowest_rate;
    /* State of a transfer. */
    struct fs_stream *to; /* gets the body of a 200, at most `max` bytes; NULL: the answer does */
    uint64_t max;
    bool over;
    int sink_error;
    char why[CURL_ERROR_SIZE];
};

/* Builds SERVER/webhdfs/v1PATH?op=OPWHOMORE; `path` is below the root. -ENAMETOOLONG. */
int webhdfs_url(struct fs *fs, const char *path, const char *op, const char *more,
                char ret[WEBHDFS_URL_MAX], struct sv_error *err) _must_use_;
/* One request without a body, whose answer is kept. Returns the HTTP status. */
int webhdfs_request(struct fs *fs, const char *method, const char *url, struct sv_error *err)
    _must_use_;
/* The target of the last answer, a redirect, copied. */
int webhdfs_redirect(struct fs *fs, unsigned hops, char ret[WEBHDFS_URL_MAX], struct sv_error *err)
    _must_use_;
/* The error of an answer of another status than is wanted; `path`: for the text. */
int webhdfs_refused(const struct fs *fs, long status, const char *path, struct sv_error *err);
/* The error of a transfer that libcurl ended. */
int webhdfs_broken(const struct fs *fs, CURLcode code, struct sv_error *err);

/* libcurl's function for an answer; `userdata`: the struct webhdfs. */
size_t webhdfs_on_data(char *p, size_t one, size_t n, void *userdata);

/* A call that is answered with 200; a GET follows redirects. */
int webhdfs_call(struct fs *fs, const char *method, const char *path, const char *op,
                 const char *more, struct sv_error *err) _must_use_;
/* OPEN, its bytes to a sink: at most `max`, in `timeout_ms` (0: any time). */
int webhdfs_open(struct fs *fs, const char *path, const char *more, struct fs_stream *to,
                 uint64_t max, uint32_t timeout_ms, struct sv_error *err) _must_use_;

#endif
