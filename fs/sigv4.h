/* Signature Version 4 of a GET from S3: headers that prove knowledge of a secret key. Pure.
 * libcurl's own implementation lacks the header x-amz-content-sha256 in Debian 12. */
#ifndef SELVEDGE_FS_SIGV4_H
#define SELVEDGE_FS_SIGV4_H

#include "common/base.h"

#define FS_SIGV4_REGION_MAX 64 /* bytes */
#define FS_SIGV4_SECRET_MAX 256

struct fs_sigv4_key {
    const char *region, *access_key, *secret_key;
    const char *session_token; /* or "" */
};

struct fs_sigv4_request {
    const char *host;  /* value of the header Host */
    const char *path;  /* escaped as sent: every byte but A-Z a-z 0-9 - . _ ~ and / */
    const char *range; /* value of the header Range, or NULL */
    int64_t time_s;    /* since 1970 */
};

/* SHA-256 of the empty body, for x-amz-content-sha256. */
#define FS_SIGV4_EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct fs_sigv4 {
    char date[17];           /* x-amz-date */
    char authorization[512]; /* Authorization */
};

/* x-amz-security-token is the unmodified session token, if any. -EINVAL: the time, or a text too
 * long; -EIO: the library failed. */
int fs_sigv4_sign(const struct fs_sigv4_key *k, const struct fs_sigv4_request *q,
                  struct fs_sigv4 *ret) _must_use_;

#endif
