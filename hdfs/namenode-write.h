/* ClientProtocol's calls that change the namespace or write a file. Errors as in namenode.h, and:
 * -EEXIST, -ENOTDIR, -EDQUOT, -EROFS (safe mode), -EAGAIN (previous blocks still lack replicas). */
#ifndef SELVEDGE_HDFS_NAMENODE_WRITE_H
#define SELVEDGE_HDFS_NAMENODE_WRITE_H

#include "hdfs/namenode.h"

#define HDFS_EXCLUDED_MAX 16

struct hdfs_defaults {
    uint64_t block_size;
    uint32_t replication;
};

/* A file being written by one client. */
struct hdfs_lease {
    const char *path, *client;
    uint64_t id; /* of the inode */
};

/* Returns validated values of block size and replication. */
int hdfs_get_defaults(struct hdfs_namenode *n, struct hdfs_defaults *ret, struct sv_error *err)
    _must_use_;
/* Creates a directory in an existing parent; an existing directory is unchanged. */
int hdfs_mkdir(struct hdfs_namenode *n, const char *path, uint32_t mode, struct sv_error *err)
    _must_use_;
int hdfs_set_permission(struct hdfs_namenode *n, const char *path, uint32_t mode,
                        struct sv_error *err) _must_use_;
int hdfs_set_group(struct hdfs_namenode *n, const char *path, const char *group,
                   struct sv_error *err) _must_use_;
/* Replaces `to` if it exists. */
int hdfs_rename(struct hdfs_namenode *n, const char *from, const char *to, struct sv_error *err)
    _must_use_;
/* Deletes a file, or, if `tree` is set, a directory with all that it has; a missing one is
 * success. */
int hdfs_delete(struct hdfs_namenode *n, const char *path, bool tree, struct sv_error *err)
    _must_use_;

/* Creates an empty file, replacing an existing one even if someone else is writing it. *ret_edek:
 * its key, which its bytes must be encrypted with. */
int hdfs_create(struct hdfs_namenode *n, struct hdfs_lease *l, uint32_t mode,
                const struct hdfs_defaults *d, struct hdfs_edek *ret_edek, struct sv_error *err)
    _must_use_;
/* Allocates the next block, in `a`, validated. `previous`: NULL for the first. */
int hdfs_add_block(struct hdfs_namenode *n, const struct hdfs_lease *l,
                   const Hadoop__Hdfs__ExtendedBlockProto *previous,
                   Hadoop__Hdfs__DatanodeInfoProto *const *excluded, size_t n_excluded,
                   struct sv_arena *a, const Hadoop__Hdfs__LocatedBlockProto **ret,
                   struct sv_error *err) _must_use_;
int hdfs_abandon_block(struct hdfs_namenode *n, const struct hdfs_lease *l,
                       const Hadoop__Hdfs__ExtendedBlockProto *b, struct sv_error *err) _must_use_;
/* -EAGAIN: the last block still lacks replicas. */
int hdfs_complete(struct hdfs_namenode *n, const struct hdfs_lease *l,
                  const Hadoop__Hdfs__ExtendedBlockProto *last, struct sv_error *err) _must_use_;
int hdfs_renew_lease(struct hdfs_namenode *n, const char *client, struct sv_error *err) _must_use_;

#endif
