/* See ack.h. */
#include "hdfs/ack.h"

#include <errno.h>
#include <string.h>

#include "common/arena.h"
#include "hdfs/checksum.h"
#include "proto/hdfs_datanode.pb-c.h"
#include "wire/frame.h"

#define ALIVE_SEQNO (-1) /* of a keep-alive */

int hdfs_packet_put(struct sv_buf *b, uint64_t offset, int64_t seqno, bool last, const void *p,
                    size_t n)
{
    Hadoop__Hdfs__PacketHeaderProto h = HADOOP__HDFS__PACKET_HEADER_PROTO__INIT;
    size_t chunks = (n + HDFS_WRITE_CHUNK - 1) / HDFS_WRITE_CHUNK, header;
    int r;

    h.offsetinblock = (int64_t)offset;
    h.seqno = seqno;
    h.lastpacketinblock = last;
    h.datalen = (int32_t)n;
    header = protobuf_c_message_get_packed_size(&h.base);
    r = sv_buf_put_u32(b, (uint32_t)(4 + chunks * HDFS_CHECKSUM_BYTES + n));
    if (r == 0)
        r = sv_buf_put_u16(b, (uint16_t)header);
    if (r == 0)
        r = sv_buf_reserve(b, header);
    if (r < 0)
        return r;
    b->len += protobuf_c_message_pack(&h.base, b->data + b->len);
    for (size_t i = 0; r == 0 && i < chunks; i++) {
        const uint8_t *chunk = (const uint8_t *)p + i * HDFS_WRITE_CHUNK;

        r = sv_buf_put_u32(
            b, hdfs_crc32c(chunk, SV_MIN((size_t)HDFS_WRITE_CHUNK, n - i * HDFS_WRITE_CHUNK)));
    }
    return r < 0 || n == 0 ? r : sv_buf_put(b, p, n);
}

static int check(const Hadoop__Hdfs__PipelineAckProto *m, size_t nodes, int64_t seqno,
                 size_t *ret_bad, struct sv_error *err)
{
    *ret_bad = 0;
    for (size_t i = 0; i < m->n_reply && i < nodes; i++)
        if (m->reply[i] != HADOOP__HDFS__STATUS__SUCCESS) {
            *ret_bad = i;
            return sv_error_set(err, -EIO, "DataNode %zu of the pipeline answered status %d", i + 1,
                                (int)m->reply[i]);
        }
    if (m->n_reply != nodes)
        return sv_error_set(err, -EBADMSG, "an acknowledgement of %zu DataNodes, not %zu",
                            m->n_reply, nodes);
    if (m->seqno == ALIVE_SEQNO)
        return 0;
    if (m->seqno != seqno)
        return sv_error_set(err, -EBADMSG, "an acknowledgement of packet %lld, not %lld",
                            (long long)m->seqno, (long long)seqno);
    return 1;
}

int hdfs_ack_check(const uint8_t *p, size_t n, size_t nodes, int64_t seqno, size_t *ret_bad,
                   struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ipc_arena_max(n));
    ProtobufCMessage *m = NULL;
    int r = a ? ipc_unpack(a, &hadoop__hdfs__pipeline_ack_proto__descriptor, p, n, &m) : -ENOMEM;

    *ret_bad = 0;
    if (r < 0)
        return sv_error_set(err, r == -ENOMEM ? r : -EBADMSG,
                            "the DataNode's acknowledgement is malformed");
    return check((const Hadoop__Hdfs__PipelineAckProto *)m, nodes, seqno, ret_bad, err);
}
