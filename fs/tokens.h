/* The tokens of file systems among a job's credentials: what a process gets that reads or writes
 * files for the job, and nothing else of its secrets. Pure. Hostile: the credentials. */
#ifndef SELVEDGE_FS_TOKENS_H
#define SELVEDGE_FS_TOKENS_H

#include "common/base.h"
#include "common/buf.h"
#include "common/error.h"

#define FS_TOKENS_MAX 256
#define FS_TOKENS_BYTES_MAX (256u << 10) /* of them together */

struct fs_credentials {
    const void *p; /* "HDTS…" */
    size_t n;      /* 0: none */
};

/* Appends credentials with the tokens of HDFS, WebHDFS and key servers that the parts have, and the
 * urls of those servers: those of later parts first, and the latest of an alias alone, as if Hadoop
 * had added one part after the other. Appends nothing where there is no token. -EBADMSG: malformed;
 * -EMSGSIZE: more than the limits; -ENOMEM. `out` is best wiped. */
int fs_tokens_gather(const struct fs_credentials *parts, size_t n, struct sv_buf *out,
                     struct sv_error *err) _must_use_;

#endif
