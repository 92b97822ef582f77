/* Validation of resource URLs, before the NodeManager accepts a resource, before
 * container-localizer fetches it, and after each redirect. Pure.
 *
 * Accepted: file:/path, file:///path, http://host[:port]/path[?query], https://…,
 * hdfs://[host[:port]]/path, webhdfs://host[:port]/path, swebhdfs://…, s3a://bucket/key,
 * s3://bucket/key. Rejected: other schemes, user names and passwords, fragments, control bytes and
 * blanks, "%00", bad percent escapes, "." and ".." components (also escaped), a file path that is
 * not absolute, more than LOC_URL_MAX bytes. */
#ifndef SELVEDGE_LOCALIZER_URL_H
#define SELVEDGE_LOCALIZER_URL_H

#include "common/base.h"
#include "common/error.h"
#include "localizer/channel.h"

enum loc_scheme {
    LOC_SCHEME_FILE = 1,
    LOC_SCHEME_HTTP,
    LOC_SCHEME_HTTPS,
    LOC_SCHEME_HDFS,
    LOC_SCHEME_WEBHDFS,
    LOC_SCHEME_SWEBHDFS,
    LOC_SCHEME_S3, /* s3a: and s3: */
};

struct loc_url {
    enum loc_scheme scheme;
    char host[256];              /* "" for file and fs.defaultFS; IPv6 without brackets */
    uint16_t port;               /* 0: the scheme's default */
    char path[LOC_URL_MAX + 1];  /* decoded, absolute, no "//" */
    char name[LOC_NAME_MAX + 1]; /* last component of path */
};

/* -EINVAL with a text, -ENAMETOOLONG. */
int loc_url_parse(const char *url, struct loc_url *ret, struct sv_error *err) _must_use_;

/* Formats a URLProto: scheme, host (NULL or "" for none), port (<= 0 for none) and the file, which
 * Hadoop does not percent-encode; the result is encoded. -EINVAL or -ENAMETOOLONG. */
int loc_url_make(const char *scheme, const char *host, int port, const char *file,
                 char ret[LOC_URL_MAX + 1]) _must_use_;

#endif
