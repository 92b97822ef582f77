/* Wire format of a pipeline that writes a block: packets to the first DataNode, and its
 * acknowledgements, with one status per DataNode. Pure. Hostile: every byte of an
 * acknowledgement. */
#ifndef SELVEDGE_HDFS_ACK_H
#define SELVEDGE_HDFS_ACK_H

#include "common/buf.h"
#include "common/error.h"
#include "hdfs/limits.h"

#define HDFS_WRITE_CHUNK 512                        /* bytes per checksum, CRC-32C */
#define HDFS_WRITE_PACKET (126u * HDFS_WRITE_CHUNK) /* data: Hadoop's packets of 64 KiB */

/* Appends a packet with its checksums; `last`: the empty packet after the data. */
int hdfs_packet_put(struct sv_buf *b, uint64_t offset, int64_t seqno, bool last, const void *p,
                    size_t n) _must_use_;

/* Checks an acknowledgement, without its length, from a pipeline of `nodes` DataNodes. 1:
 * acknowledges packet `seqno`; 0: a keep-alive. -EIO: a DataNode failed, *ret_bad is its index.
 * -EBADMSG: malformed, or of another packet; *ret_bad is 0. */
int hdfs_ack_check(const uint8_t *p, size_t n, size_t nodes, int64_t seqno, size_t *ret_bad,
                   struct sv_error *err) _must_use_;

#endif
