/* YARN's rule for the PUBLIC cache (CVE-2017-3166): others may read the file and search every
 * directory above it, and none of them is in an encryption zone. */
#ifndef SELVEDGE_HDFS_PUBLIC_H
#define SELVEDGE_HDFS_PUBLIC_H

#include "hdfs/namenode.h"

/* `st`: the file's own status; `path` is absolute, without "//", "." or "..". */
int hdfs_is_public(struct hdfs_namenode *n, const char *path, const struct hdfs_status *st,
                   bool *ret, struct sv_error *err) _must_use_;

#endif
