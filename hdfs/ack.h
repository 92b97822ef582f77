/* The bytes of a pipeline that writes a block: packets to the first DataNode, and its
 * acknowledgements, which have a status of each DataNode. Pure. Every byte of an acknowledgement is
 * hostile. */
#ifndef SELVEDGE_HDFS_ACK_H
#define SELVEDGE_HDFS_ACK_H

#include "common/buf.h"
#include "common/error.h"
#include "hdfs/limits.h"

#define HDFS_WRITE_CHUNK 512                        /* bytes under a checksum, CRC-32C */
#define HDFS_WRITE_PACKET (126u * HDFS_WRITE_CHUNK) /* of data: Hadoop's packets of 64 KiB */

/* Appends a packet with its checksums; `last`: without data, behind the last one. */
int hdfs_packet_put(struct sv_buf *b, uint64_t offset, int64_t seqno, bool last, const void *p,
                    size_t n) _must_use_;

/* An acknowledgement, without its length, from a pipeline of `nodes` DataNodes. 1: of packet
 * `seqno`; 0: of none, it only keeps the connection alive. -EIO: a DataNode failed, *ret_bad is its
 * index. -EBADMSG: it is malformed or of another packet; *ret_bad is 0. */
int hdfs_ack_check(const uint8_t *p, size_t n, size_t nodes, int64_t seqno, size_t *ret_bad,
                   struct sv_error *err) _must_use_;

#endif
