/* Hadoop's keys of the s3a: file system: a bucket's endpoint, and the cluster's own access keys,
 * which only PUBLIC resources may use. Read for each resource; the bucket's name is a job's. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_S3_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_S3_H

#include "common/conf.h"
#include "localizer/channel.h"

/* Sets servers, region and options of `f`; fs.s3a.bucket.BUCKET.… takes precedence over
 * fs.s3a.…. */
int nm_conf_s3_place(struct sv_conf *c, const char *bucket, struct loc_fetch *f,
                     struct sv_error *err) _must_use_;
/* The cluster's access keys, if configured. */
int nm_conf_s3_keys_of_cluster(struct sv_conf *c, const char *bucket, struct loc_fetch *f,
                               struct sv_error *err) _must_use_;
/* Looks up "fs.s3a.bucket.BUCKET.access.key", then "fs.s3a.access.key", by `find`, which returns a
 * value and its length, or NULL. 0, or -EINVAL for half a pair or one too long. */
int nm_conf_s3_keys(const char *bucket,
                    const char *(*find)(void *userdata, const char *name, size_t *ret_len),
                    void *userdata, struct loc_fetch *f, struct sv_error *err) _must_use_;
const struct sv_conf_key *nm_conf_s3_table(size_t *ret_n);

#endif
