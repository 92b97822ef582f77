/* Reads a file or a range of it: its blocks in order, each from the first replica that delivers it.
 * For single-purpose processes: the fetcher of hdfs: URLs and `selvedge logs`. */
#ifndef SELVEDGE_HDFS_FILE_H
#define SELVEDGE_HDFS_FILE_H

#include "hdfs/datanode.h"
#include "hdfs/namenode.h"

/* Passes the `st->length` bytes of the file to the sink. `st`: the file's status; -ESTALE if its
 * length or inode differs at the start or end of the read. -EOPNOTSUPP with the reason if this
 * client cannot read the file. A sink failure aborts the read with its error and *ret_sink. */
int hdfs_file_read(struct hdfs_namenode *n, const struct hdfs_site *site, const char *path,
                   const struct hdfs_status *st, hdfs_sink sink, void *userdata, bool *ret_sink,
                   struct sv_error *err) _must_use_;

/* Checks that this client can read the file, before reading ranges; -EOPNOTSUPP with the reason. */
int hdfs_file_check(struct hdfs_namenode *n, const char *path, const struct hdfs_status *st,
                    struct sv_error *err) _must_use_;
/* Reads bytes [from, from + size), within the file's length; -ESTALE for a file replaced since is
 * only detected if its length or blocks do not match. */
int hdfs_file_read_range(struct hdfs_namenode *n, const struct hdfs_site *site, const char *path,
                         const struct hdfs_status *st, uint64_t from, uint64_t size, hdfs_sink sink,
                         void *userdata, struct sv_error *err) _must_use_;

#endif
