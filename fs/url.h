/* Validation of resource URLs, before the NodeManager accepts a resource, before
 * container-localizer fetches it, and after each redirect. Pure.
 *
 * Accepted: file:/path, file:///path, http://host[:port]/path[?query], https://…,
 * hdfs://[host[:port]]/path, webhdfs://host[:port]/path, swebhdfs://…, s3a://bucket/key,
 * s3://bucket/key. Rejected: other schemes, user names and passwords, fragments, control bytes and
 * blanks, "%00", bad percent escapes, "." and ".." components (also escaped), a file path that is
 * not absolute, more than FS_URL_MAX bytes. */
#ifndef SELVEDGE_FS_URL_H
#define SELVEDGE_FS_URL_H

#include "common/base.h"
#include "common/error.h"

#define FS_URL_MAX 4096 /* bytes without the NUL */
#define FS_NAME_MAX 255 /* of one path component */

enum fs_scheme {
    FS_SCHEME_FILE = 1,
    FS_SCHEME_HTTP,
    FS_SCHEME_HTTPS,
    FS_SCHEME_HDFS,
    FS_SCHEME_WEBHDFS,
    FS_SCHEME_SWEBHDFS,
    FS_SCHEME_S3, /* s3a: and s3: */
};

struct fs_url {
    enum fs_scheme scheme;
    char host[256];             /* "" for file and fs.defaultFS; IPv6 without brackets */
    uint16_t port;              /* 0: the scheme's default */
    char path[FS_URL_MAX + 1];  /* decoded, absolute, no "//" */
    char name[FS_NAME_MAX + 1]; /* last component of path */
};

/* -EINVAL with a text, -ENAMETOOLONG. */
int fs_url_parse(const char *url, struct fs_url *ret, struct sv_error *err) _must_use_;

/* Formats a URLProto: scheme, host (NULL or "" for none), port (<= 0 for none) and the file, which
 * Hadoop does not percent-encode; the result is encoded. -EINVAL or -ENAMETOOLONG. */
int fs_url_make(const char *scheme, const char *host, int port, const char *file,
                char ret[FS_URL_MAX + 1]) _must_use_;

/* Percent-encodes all bytes but letters, digits, "-._~" and '/': for the path and the values of a
 * query. -ENAMETOOLONG. */
int fs_url_encode(const char *text, char *ret, size_t size) _must_use_;

/* The port of a webhdfs: or swebhdfs: url, or its default. */
int fs_url_web_port(const struct fs_url *url);
#define FS_SERVER_MAX 300 /* "https://host:port" */
/* Its server. -EINVAL: no host. */
int fs_url_server(const struct fs_url *url, char ret[FS_SERVER_MAX + 1], struct sv_error *err)
    _must_use_;

/* True for one path component other than "." and "..", without '/' and control bytes. */
bool fs_name_valid(const char *name);

#endif
