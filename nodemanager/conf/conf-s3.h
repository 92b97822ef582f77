/* Hadoop's keys of the s3a: file system: where a bucket is, and the cluster's own access keys,
 * which only PUBLIC resources may use. Read for each resource; the bucket's name is a job's. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_S3_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_S3_H

#include "common/conf.h"
#include "localizer/channel.h"

/* The endpoint and the region, with fs.s3a.bucket.BUCKET.… before fs.s3a.…; `f`: servers, region
 * and options. */
int nm_conf_s3_place(struct sv_conf *c, const char *bucket, struct loc_fetch *f,
                     struct sv_error *err) _must_use_;
/* The cluster's access keys, if it has any. */
int nm_conf_s3_keys_of_cluster(struct sv_conf *c, const char *bucket, struct loc_fetch *f,
                               struct sv_error *err) _must_use_;
/* "fs.s3a.bucket.BUCKET.access.key" is looked for before "fs.s3a.access.key" by `find`, which
 * returns a value and its length, or NULL. 0, or -EINVAL for half a pair or one too long. */
int nm_conf_s3_keys(const char *bucket,
                    const char *(*find)(void *userdata, const char *name, size_t *ret_len),
                    void *userdata, struct loc_fetch *f, struct sv_error *err) _must_use_;
const struct sv_conf_key *nm_conf_s3_table(size_t *ret_n);

#endif
