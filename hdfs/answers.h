/* Checks of what a NameNode answers, before anybody uses it. Pure. Hostile: every field; messages
 * come unpacked within the limits of wire/frame.h. */
#ifndef SELVEDGE_HDFS_ANSWERS_H
#define SELVEDGE_HDFS_ANSWERS_H

#include "common/base.h"
#include "common/error.h"
#include "hdfs/limits.h"
#include "proto/hdfs.pb-c.h"

enum hdfs_kind { HDFS_DIRECTORY = 1, HDFS_FILE, HDFS_SYMLINK };

struct hdfs_status {
    enum hdfs_kind kind;
    uint64_t length;
    int64_t mtime_ms;
    uint64_t id;    /* of the inode; 0 = the NameNode gives none */
    uint32_t mode;  /* 01777 */
    bool encrypted; /* in an encryption zone, or the zone's root */
    bool striped;   /* erasure-coded */
    uint64_t block_size;
};

int hdfs_answer_status(const Hadoop__Hdfs__HdfsFileStatusProto *m, struct hdfs_status *ret,
                       struct sv_error *err) _must_use_;
/* Blocks from offset `from` of a file of `length` bytes: the first holds `from`, each begins where
 * the one before ends, and the file is one that this client can read: -EOPNOTSUPP else. -ESTALE:
 * the length is another one. -EBADMSG. */
int hdfs_answer_blocks(const Hadoop__Hdfs__LocatedBlocksProto *m, uint64_t from, uint64_t length,
                       struct sv_error *err) _must_use_;

#endif
