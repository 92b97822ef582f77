/* Reads a block from one DataNode: DataTransferProtocol's READ_BLOCK over a blocking socket with
 * timeouts. Every byte is verified before it is passed to the sink. Hostile: the DataNode, and the
 * address that the NameNode gave for it. */
#ifndef SELVEDGE_HDFS_DATANODE_H
#define SELVEDGE_HDFS_DATANODE_H

#include "common/base.h"
#include "common/error.h"
#include "hdfs/access.h"
#include "proto/hdfs.pb-c.h"

/* Returns 0, or -errno to abort the whole read. */
typedef int (*hdfs_sink)(void *userdata, const void *p, size_t n);

struct hdfs_transfer {
    const Hadoop__Hdfs__LocatedBlockProto *block; /* validated by hdfs_answer_blocks */
    const struct hdfs_access *access;
    hdfs_sink sink;
    void *userdata;
    uint64_t done;  /* bytes of the block passed to the sink; a read continues there */
    uint64_t end;   /* offset in the block at which the read stops; > done */
    int sink_error; /* error returned by the sink, or 0 */
};

#define HDFS_NODE_TEXT_MAX 128
/* "10.0.0.7:9866", for messages and comparisons. */
const char *hdfs_datanode_text(const Hadoop__Hdfs__DatanodeInfoProto *d,
                               char buf[HDFS_NODE_TEXT_MAX]);

/* Reads from `done` to `end` of the block from replica `index`. -EILSEQ: the replica is corrupt;
 * -EKEYEXPIRED: the block's token is refused, and new locations may help; other errors: the
 * DataNode or the network. */
int hdfs_datanode_read(struct hdfs_transfer *t, size_t index, struct sv_error *err) _must_use_;

#endif
