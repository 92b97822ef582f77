/* Writes one block: DataTransferProtocol's WRITE_BLOCK to the first DataNode, which forwards
 * everything to the others. Packets are sent ahead of their acknowledgements, up to a window. A
 * failed pipeline is not repaired: the caller starts again. Hostile: the DataNodes. */
#ifndef SELVEDGE_HDFS_PIPELINE_H
#define SELVEDGE_HDFS_PIPELINE_H

#include "common/buf.h"
#include "common/error.h"
#include "hdfs/access.h"

struct hdfs_pipeline {
    struct hdfs_connection *connection; /* NULL: none */
    size_t nodes;
    uint64_t offset;      /* bytes sent */
    int64_t seqno, acked; /* next packet, and next acknowledgement */
    size_t bad;           /* after a failure: index of the DataNode to avoid */
    struct sv_buf out;
};

#define HDFS_PIPELINE_INIT ((struct hdfs_pipeline){ .out = SV_BUF_INIT(128u << 10) })

/* Opens a pipeline. `b`: validated by hdfs_add_block. 0: the DataNodes are ready for a block of at
 * most `size` bytes. -EKEYEXPIRED: the first one refuses the block's token, and is not to blame. */
int hdfs_pipeline_open(struct hdfs_pipeline *p, const Hadoop__Hdfs__LocatedBlockProto *b,
                       const char *client, uint64_t size, const struct hdfs_access *access,
                       struct sv_error *err) _must_use_;
/* Sends at most HDFS_WRITE_PACKET bytes; all packets but the last must hold a multiple of
 * HDFS_WRITE_CHUNK. */
int hdfs_pipeline_put(struct hdfs_pipeline *p, const void *data, size_t n, struct sv_error *err)
    _must_use_;
/* Returns once every DataNode has acknowledged every byte. */
int hdfs_pipeline_finish(struct hdfs_pipeline *p, struct sv_error *err) _must_use_;
void hdfs_pipeline_close(struct hdfs_pipeline *p);

#endif
