/* The stream of a DataNode that sends a block: its answer to READ_BLOCK, then packets.
 *
 * Wire: the answer is a delimited BlockOpResponseProto. A packet is int32 length (itself,
 * checksums and data), int16 length of the header, PacketHeaderProto, checksums, data; the last
 * one is empty and says so. Pure: no sockets. Every byte is hostile. */
#ifndef SELVEDGE_HDFS_PACKET_H
#define SELVEDGE_HDFS_PACKET_H

#include "common/base.h"
#include "common/error.h"
#include "hdfs/checksum.h"
#include "hdfs/limits.h"

#define HDFS_PACKET_PREFIX 6 /* both lengths */

/* Bytes [from, end) of one block are wanted. */
struct hdfs_stream {
    uint64_t from, end;
    enum hdfs_checksum type;
    uint32_t chunk;  /* bytes under a checksum; 1 without checksums */
    uint64_t next;   /* offset in the block of the next packet; starts at a chunk, <= from */
    int64_t seqno;   /* of the next packet */
    uint64_t wanted; /* of [from, end) so far */
    bool last;       /* the empty packet has arrived */
};

struct hdfs_packet {
    uint32_t sums;   /* bytes of checksums */
    uint32_t data;   /* bytes of data behind them */
    uint32_t skip;   /* of data: before the wanted bytes */
    uint32_t wanted; /* of data, behind `skip`; may be 0 */
    bool last;
};

/* Bytes of the delimited message that begins with p[0..n): 0 = more bytes are needed to tell;
 * -EMSGSIZE when it is longer than HDFS_ANSWER_MAX, -EBADMSG for a malformed length. *ret_skip:
 * bytes of the length itself. */
int hdfs_delimited(const uint8_t *p, size_t n, size_t *ret_skip, size_t *ret_len) _must_use_;

/* Starts the stream with the DataNode's answer (without its length). `from` < `end`. 0, or
 * -EBADMSG, -EKEYEXPIRED (the block token), -EIO (the DataNode's own error), with a text. */
int hdfs_stream_begin(struct hdfs_stream *s, uint64_t from, uint64_t end, const uint8_t *answer,
                      size_t n, struct sv_error *err) _must_use_;
/* The two lengths. -EBADMSG. */
int hdfs_packet_prefix(const uint8_t p[HDFS_PACKET_PREFIX], uint32_t *ret_payload,
                       uint32_t *ret_header, struct sv_error *err) _must_use_;
/* The header of the next packet, with `payload` bytes of checksums and data behind it: checks that
 * it continues the stream. -EBADMSG. */
int hdfs_packet_header(struct hdfs_stream *s, const uint8_t *p, size_t n, uint32_t payload,
                       struct hdfs_packet *ret, struct sv_error *err) _must_use_;
/* Are the bytes of the packet what their checksums say? -EILSEQ. */
int hdfs_packet_verify(const struct hdfs_stream *s, const struct hdfs_packet *k,
                       const uint8_t *payload, struct sv_error *err) _must_use_;
static inline bool hdfs_stream_complete(const struct hdfs_stream *s)
{
    return s->last && s->wanted == s->end - s->from;
}

#endif
