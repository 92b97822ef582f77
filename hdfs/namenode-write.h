/* ClientProtocol's calls that change the name space or write a file; see namenode.h, whose errors
 * these share. Further ones: -EEXIST, -ENOTDIR, -EDQUOT, -EROFS (safe mode), -EAGAIN (the blocks
 * before have too few replicas yet). */
#ifndef SELVEDGE_HDFS_NAMENODE_WRITE_H
#define SELVEDGE_HDFS_NAMENODE_WRITE_H

#include "hdfs/namenode.h"

#define HDFS_EXCLUDED_MAX 16

struct hdfs_defaults {
    uint64_t block_size;
    uint32_t replication;
    bool encrypted; /* data transfer must be */
};

/* A file that one client writes. */
struct hdfs_lease {
    const char *path, *client;
    uint64_t id; /* of the inode */
};

/* Checked: a block size and a replication that a file may have. */
int hdfs_get_defaults(struct hdfs_namenode *n, struct hdfs_defaults *ret, struct sv_error *err)
    _must_use_;
/* A directory, whose parent exists; one that exists is left alone. */
int hdfs_mkdir(struct hdfs_namenode *n, const char *path, uint32_t mode, struct sv_error *err)
    _must_use_;
int hdfs_set_permission(struct hdfs_namenode *n, const char *path, uint32_t mode,
                        struct sv_error *err) _must_use_;
int hdfs_set_group(struct hdfs_namenode *n, const char *path, const char *group,
                   struct sv_error *err) _must_use_;
/* Replaces `to`. */
int hdfs_rename(struct hdfs_namenode *n, const char *from, const char *to, struct sv_error *err)
    _must_use_;
/* A file; one that does not exist is success. */
int hdfs_delete(struct hdfs_namenode *n, const char *path, struct sv_error *err) _must_use_;

/* An empty file, in place of one that exists, whoever writes that. */
int hdfs_create(struct hdfs_namenode *n, struct hdfs_lease *l, uint32_t mode,
                const struct hdfs_defaults *d, struct sv_error *err) _must_use_;
/* The next block, in `a`, checked. `previous`: NULL for the first. */
int hdfs_add_block(struct hdfs_namenode *n, const struct hdfs_lease *l,
                   const Hadoop__Hdfs__ExtendedBlockProto *previous,
                   Hadoop__Hdfs__DatanodeInfoProto *const *excluded, size_t n_excluded,
                   struct sv_arena *a, const Hadoop__Hdfs__LocatedBlockProto **ret,
                   struct sv_error *err) _must_use_;
int hdfs_abandon_block(struct hdfs_namenode *n, const struct hdfs_lease *l,
                       const Hadoop__Hdfs__ExtendedBlockProto *b, struct sv_error *err) _must_use_;
/* -EAGAIN: not yet, its last block has too few replicas. */
int hdfs_complete(struct hdfs_namenode *n, const struct hdfs_lease *l,
                  const Hadoop__Hdfs__ExtendedBlockProto *last, struct sv_error *err) _must_use_;
int hdfs_renew_lease(struct hdfs_namenode *n, const char *client, struct sv_error *err) _must_use_;

#endif
