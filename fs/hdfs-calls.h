/* Private to the back end of HDFS, whose three parts are hdfs.c, hdfs-read.c and hdfs-write.c. */
#ifndef SELVEDGE_FS_HDFS_CALLS_H
#define SELVEDGE_FS_HDFS_CALLS_H

#include "fs/backend.h"
#include "fs/kms.h"
#include "hdfs/file-writer.h"
#include "hdfs/zone.h"

struct fs_hdfs_state {
    struct hdfs_site site;
    struct hdfs_namenode *namenode;
    struct hdfs_avoided avoided; /* DataNodes that failed a writing */
    unsigned created;            /* files */
    struct hdfs_keys keys;       /* of files in encryption zones, from: */
    struct fs_kms kms;
};

static inline const struct hdfs_site *fs_hdfs_site(const struct fs *fs)
{
    return &((const struct fs_hdfs_state *)fs->data)->site;
}

static inline struct hdfs_namenode *fs_hdfs_namenode(const struct fs *fs)
{
    return ((const struct fs_hdfs_state *)fs->data)->namenode;
}

static inline struct fs_status fs_hdfs_status(const struct hdfs_status *st)
{
    return (struct fs_status){ .kind = st->kind == HDFS_FILE        ? FS_FILE
                                       : st->kind == HDFS_DIRECTORY ? FS_DIRECTORY
                                                                    : FS_LINK,
                               .mode = st->mode,
                               .length = st->kind == HDFS_FILE ? st->length : 0,
                               .mtime_ms = st->mtime_ms,
                               .id = st->id,
                               .encrypted = st->encrypted,
                               .striped = st->striped,
                               .block_size = st->block_size };
}

#endif
