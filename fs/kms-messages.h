/* Messages of Hadoop's Key Management Server (KMS): its uri as a key provider, the request that
 * decrypts a file's key, and the answer. Pure. Hostile: the uri, which a NameNode or a job names,
 * and every byte of an answer. */
#ifndef SELVEDGE_FS_KMS_MESSAGES_H
#define SELVEDGE_FS_KMS_MESSAGES_H

#include "common/base.h"
#include "common/error.h"
#include "fs/url.h"
#include "hdfs/answers.h"

#define FS_KMS_HOSTS_MAX 16
#define FS_KMS_PATH_MAX 255
#define FS_KMS_ANSWER_MAX 4096 /* bytes of an answer that has a key */

/* A provider "kms://http@host1;host2:9600/kms": servers of one service, all at one port. */
struct fs_kms_uri {
    bool secure; /* https */
    uint16_t port;
    unsigned n; /* > 0 */
    char hosts[FS_KMS_HOSTS_MAX][HDFS_HOST_MAX + 1];
    char path[FS_KMS_PATH_MAX + 1]; /* "/kms", without a slash at its end */
};

/* -EOPNOTSUPP: another kind of provider, or "" for none; -EINVAL. */
int fs_kms_uri_parse(const char *provider, struct fs_kms_uri *ret, struct sv_error *err) _must_use_;
/* The url of one server that decrypts keys of version e->version. `user`: of simple authentication;
 * "": another one is used. -ENAMETOOLONG. */
int fs_kms_url(const struct fs_kms_uri *u, unsigned host, const struct hdfs_edek *e,
               const char *user, char ret[FS_URL_MAX + 1]) _must_use_;
/* The body of the request: JSON, malloc'd. */
int fs_kms_request(const struct hdfs_edek *e, char **ret) _must_use_;
/* Takes the decrypted key, of `want` bytes, from an answer, and overwrites what it copied on the
 * way. -EBADMSG. */
int fs_kms_answer(const char *text, size_t n, size_t want, uint8_t ret[HDFS_KEY_MAX]) _must_use_;

#endif
