/* Private to the back end of HDFS: a client of the cluster's Key Management Servers, which decrypt
 * the keys of files in encryption zones. The caller is known by a delegation token of the job, or
 * by its name where authentication is simple. Hostile: the servers, and who names them: the job's
 * credentials and the NameNode. */
#ifndef SELVEDGE_FS_KMS_H
#define SELVEDGE_FS_KMS_H

#include "fs/web.h"
#include "hdfs/answers.h"

struct fs_kms {
    const struct fs_options *options; /* of the file system */
    /* Private: between requests, so that connections stay open. */
    bool open;
    struct fs_web web;
};

/* The function of struct hdfs_keys; `userdata`: the struct fs_kms. Tries the servers in turn, from
 * a random one on. -EACCES: the KMS refuses the key to the caller; -EKEYREJECTED: it does not know
 * the caller; both end the tries. -EOPNOTSUPP: another kind of provider. */
int fs_kms_decrypt(void *userdata, const char *provider, const struct hdfs_edek *e,
                   uint8_t ret[HDFS_KEY_MAX], struct sv_error *err);
void fs_kms_close(struct fs_kms *k);

#endif
