/* Writes a whole file sequentially, with the file system's default block size and replication.
 *
 * Recovery is minimal: a pipeline that cannot be opened is retried with other DataNodes; one that
 * fails later aborts the file with -EIO, and the caller, which can produce the bytes again,
 * rewrites the file without the failed DataNodes. */
#ifndef SELVEDGE_HDFS_FILE_WRITER_H
#define SELVEDGE_HDFS_FILE_WRITER_H

#include "hdfs/namenode-write.h"

/* Failed DataNodes; kept by the caller across attempts. */
struct hdfs_avoided {
    struct sv_arena *a;
    Hadoop__Hdfs__DatanodeInfoProto *nodes[HDFS_EXCLUDED_MAX];
    size_t n;
};
void hdfs_avoided_clear(struct hdfs_avoided *v);

struct hdfs_writer;
/* Creates the file, replacing an existing one. `client` must be unique in the cluster; like the
 * other pointers it must outlive the writer. -EOPNOTSUPP with the reason if this client cannot
 * write. */
int hdfs_writer_new(struct hdfs_namenode *n, const struct hdfs_site *site, const char *path,
                    const char *client, uint32_t mode, struct hdfs_avoided *avoided,
                    struct hdfs_writer **ret, struct sv_error *err) _must_use_;
int hdfs_writer_put(struct hdfs_writer *w, const void *p, size_t n, struct sv_error *err)
    _must_use_;
/* Completes the file; returns once its last block has the minimum number of replicas. */
int hdfs_writer_finish(struct hdfs_writer *w, struct sv_error *err) _must_use_;
/* Leaves an unfinished file as it is, until someone deletes or replaces it. */
struct hdfs_writer *hdfs_writer_free(struct hdfs_writer *w);
static inline void hdfs_writer_freep(struct hdfs_writer **w)
{
    *w = hdfs_writer_free(*w);
}

#endif
