/* Reads a file, whole or a part: its blocks in order, each from the first replica that delivers it.
 * Callers: the fetcher of hdfs: urls, in a process of its own, and `selvedge logs`. */
#ifndef SELVEDGE_HDFS_FILE_H
#define SELVEDGE_HDFS_FILE_H

#include "hdfs/datanode.h"
#include "hdfs/namenode.h"

/* Delivers the `st->length` bytes of the file to the sink. `st`: the file's status; a file that has
 * another length or inode when the read begins or ends is -ESTALE. -EOPNOTSUPP with the reason for
 * files that this client cannot read. A failed sink ends the read with its error and *ret_sink. */
int hdfs_file_read(struct hdfs_namenode *n, const struct hdfs_site *site, const char *path,
                   const struct hdfs_status *st, hdfs_sink sink, void *userdata, bool *ret_sink,
                   struct sv_error *err) _must_use_;

/* Is it one that this client can read? -EOPNOTSUPP with the reason. Before reading parts. */
int hdfs_file_check(struct hdfs_namenode *n, const char *path, const struct hdfs_status *st,
                    struct sv_error *err) _must_use_;
/* Bytes [from, from + size), within the file's length; a file that was replaced since is -ESTALE
 * only if its length or blocks do not match. */
int hdfs_file_read_range(struct hdfs_namenode *n, const struct hdfs_site *site, const char *path,
                         const struct hdfs_status *st, uint64_t from, uint64_t size, hdfs_sink sink,
                         void *userdata, struct sv_error *err) _must_use_;

#endif
