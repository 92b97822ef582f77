/* Writes a whole file: blocks of the file system's default size and replication, one after the
 * other.
 *
 * Recovery is the simplest that is right: a pipeline that cannot be opened is tried with other
 * DataNodes; one that fails later ends the writing with -EIO, and the caller, who can produce the
 * bytes again, writes the file anew, without the DataNodes that have failed. Callers: log-uploader.
 */
#ifndef SELVEDGE_HDFS_FILE_WRITER_H
#define SELVEDGE_HDFS_FILE_WRITER_H

#include "hdfs/namenode-write.h"

/* DataNodes that have failed; kept by the caller from one attempt to the next. */
struct hdfs_avoided {
    struct sv_arena *a;
    Hadoop__Hdfs__DatanodeInfoProto *nodes[HDFS_EXCLUDED_MAX];
    size_t n;
};
void hdfs_avoided_clear(struct hdfs_avoided *v);

struct hdfs_writer;
/* Creates the file, in place of one that exists. `client` names this writer in the whole cluster
 * and, like the others, outlives it. -EOPNOTSUPP with the reason where this client cannot write. */
int hdfs_writer_new(struct hdfs_namenode *n, const struct hdfs_site *site, const char *path,
                    const char *client, uint32_t mode, struct hdfs_avoided *avoided,
                    struct hdfs_writer **ret, struct sv_error *err) _must_use_;
int hdfs_writer_put(struct hdfs_writer *w, const void *p, size_t n, struct sv_error *err)
    _must_use_;
/* The file has all its bytes, on as many DataNodes as it needs at least. */
int hdfs_writer_finish(struct hdfs_writer *w, struct sv_error *err) _must_use_;
/* An unfinished file stays as it is, until somebody deletes or replaces it. */
struct hdfs_writer *hdfs_writer_free(struct hdfs_writer *w);
static inline void hdfs_writer_freep(struct hdfs_writer **w)
{
    *w = hdfs_writer_free(*w);
}

#endif
