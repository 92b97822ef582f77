/* Parses answers of a NameNode's REST API (WebHDFS): the status of a file, the children of a
 * directory. Pure. Hostile: every byte; integers are range-checked, and missing fields are
 * errors. */
#ifndef SELVEDGE_FS_WEBHDFS_JSON_H
#define SELVEDGE_FS_WEBHDFS_JSON_H

#include "common/base.h"
#include "fs/url.h"

struct webhdfs_status {
    bool file, directory;
    bool encrypted; /* in an encryption zone */
    int64_t length, mtime_ms;
    uint32_t mode; /* up to 07777 */
};
#define WEBHDFS_OWNER_MAX 255
struct webhdfs_owner { /* of a file */
    char user[WEBHDFS_OWNER_MAX + 1], group[WEBHDFS_OWNER_MAX + 1];
    bool acl; /* it has access or default entries beside its mode */
};
struct webhdfs_child {
    char name[FS_NAME_MAX + 1];
    struct webhdfs_status st;
};
struct webhdfs_listing {
    struct webhdfs_child *children; /* malloc'd */
    size_t n;
    bool more; /* further children follow the last one, of which there is one */
};

/* GETFILESTATUS. -EBADMSG. */
int fs_webhdfs_parse_status(const char *text, size_t n, struct webhdfs_status *ret) _must_use_;
/* The owner in the same answer. -EBADMSG. */
int fs_webhdfs_parse_owner(const char *text, size_t n, struct webhdfs_owner *ret) _must_use_;
/* LISTSTATUS_BATCH. -ENOTDIR: the path is a file. -EBADMSG, -ENOMEM. */
int fs_webhdfs_parse_listing(const char *text, size_t n, struct webhdfs_listing *ret) _must_use_;

/* Parses an error: the -errno of its cause (fs.h), -EREMOTEIO for another exception, with the first
 * line of its message, printable; -EBADMSG: there is no exception, and the text is "". */
int fs_webhdfs_parse_exception(const char *text, size_t n, char *ret_text, size_t size) _must_use_;

#endif
