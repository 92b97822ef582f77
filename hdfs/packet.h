/* Stream of a DataNode that sends a block: its answer to READ_BLOCK, then packets.
 *
 * Wire: the answer is a delimited BlockOpResponseProto. A packet is int32 length (itself, checksums
 * and data), int16 length of the header, PacketHeaderProto, checksums, data; the last one is empty
 * and flagged in its header. Pure: no sockets. Hostile: every byte. */
#ifndef SELVEDGE_HDFS_PACKET_H
#define SELVEDGE_HDFS_PACKET_H

#include "common/base.h"
#include "common/error.h"
#include "hdfs/checksum.h"
#include "hdfs/limits.h"

#define HDFS_PACKET_PREFIX 6 /* both lengths */

/* A read of bytes [from, end) of one block. */
struct hdfs_stream {
    uint64_t from, end;
    enum hdfs_checksum type;
    uint32_t chunk;  /* bytes per checksum; 1 without checksums */
    uint64_t next;   /* offset in the block of the next packet; starts at a chunk, <= from */
    int64_t seqno;   /* of the next packet */
    uint64_t wanted; /* bytes of [from, end) received so far */
    bool last;       /* the final, empty packet has arrived */
};

struct hdfs_packet {
    uint32_t sums;   /* bytes of checksums */
    uint32_t data;   /* bytes of data after them */
    uint32_t skip;   /* bytes of data before the wanted ones */
    uint32_t wanted; /* wanted bytes of data after `skip`; may be 0 */
    bool last;
};

/* Starts the stream with the DataNode's answer (without its length). `from` < `end`. 0, or
 * -EBADMSG, -EKEYEXPIRED (the block token), -EIO (the DataNode's own error), with a text. */
int hdfs_stream_begin(struct hdfs_stream *s, uint64_t from, uint64_t end, const uint8_t *answer,
                      size_t n, struct sv_error *err) _must_use_;
/* Decodes the two lengths. -EBADMSG. */
int hdfs_packet_prefix(const uint8_t p[HDFS_PACKET_PREFIX], uint32_t *ret_payload,
                       uint32_t *ret_header, struct sv_error *err) _must_use_;
/* Decodes the header of the next packet, which is followed by `payload` bytes of checksums and
 * data, and checks that it continues the stream. -EBADMSG. */
int hdfs_packet_header(struct hdfs_stream *s, const uint8_t *p, size_t n, uint32_t payload,
                       struct hdfs_packet *ret, struct sv_error *err) _must_use_;
/* Verifies the packet's checksums. -EILSEQ. */
int hdfs_packet_verify(const struct hdfs_stream *s, const struct hdfs_packet *k,
                       const uint8_t *payload, struct sv_error *err) _must_use_;
static inline bool hdfs_stream_complete(const struct hdfs_stream *s)
{
    return s->last && s->wanted == s->end - s->from;
}

#endif
