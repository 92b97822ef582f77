/* See packet.h. */
#include "hdfs/packet.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "common/arena.h"
#include "common/str.h"
#include "proto/hdfs_datanode.pb-c.h"
#include "wire/frame.h"

/* Unpacks into an arena of the message's own size. */
static int unpack(struct sv_arena **ret_arena, const ProtobufCMessageDescriptor *d,
                  const uint8_t *p, size_t n, ProtobufCMessage **ret)
{
    struct sv_arena *a = sv_arena_new(ipc_arena_max(n));
    int r = a ? ipc_unpack(a, d, p, n, ret) : -ENOMEM;

    if (r < 0) {
        sv_arena_free(a);
        return r;
    }
    *ret_arena = a;
    return 0;
}

static const char *status_name(int status)
{
    const ProtobufCEnumValue *v =
        protobuf_c_enum_descriptor_get_value(&hadoop__hdfs__status__descriptor, status);

    return v ? v->name : "an unknown status";
}

static int answer_failed(const Hadoop__Hdfs__BlockOpResponseProto *m, struct sv_error *err)
{
    int code = m->status == HADOOP__HDFS__STATUS__ERROR_ACCESS_TOKEN ? -EKEYEXPIRED : -EIO;
    char text[300] = "";

    if (m->message)
        sv_escape(text, sizeof(text), m->message);
    return sv_error_set(err, code, "the DataNode answered %s%s%s", status_name((int)m->status),
                        *text ? ": " : "", text);
}

static int begin(struct hdfs_stream *s, const Hadoop__Hdfs__BlockOpResponseProto *m,
                 struct sv_error *err)
{
    const Hadoop__Hdfs__ReadOpChecksumInfoProto *info = m->readopchecksuminfo;
    uint32_t chunk;

    if (m->status != HADOOP__HDFS__STATUS__SUCCESS)
        return answer_failed(m, err);
    if (!info || !info->checksum)
        return sv_error_set(err, -EBADMSG, "the DataNode's answer has no checksum type");
    s->type = (enum hdfs_checksum)info->checksum->type;
    if (s->type != HDFS_CHECKSUM_NULL && s->type != HDFS_CHECKSUM_CRC32 &&
        s->type != HDFS_CHECKSUM_CRC32C)
        return sv_error_set(err, -EBADMSG, "the DataNode's checksum type %d is unknown",
                            (int)s->type);
    chunk = info->checksum->bytesperchecksum;
    if (s->type == HDFS_CHECKSUM_NULL)
        chunk = 1;
    if (chunk == 0 || chunk > HDFS_CHUNK_MAX)
        return sv_error_set(err, -EBADMSG,
                            "the DataNode's checksums are over %u bytes each, not "
                            "between 1 and %u",
                            chunk, HDFS_CHUNK_MAX);
    if (info->chunkoffset > s->from ||
        (s->type != HDFS_CHECKSUM_NULL && s->from - info->chunkoffset >= chunk) ||
        info->chunkoffset % chunk != 0)
        return sv_error_set(err, -EBADMSG, "the DataNode begins at offset %llu, %llu was asked for",
                            (unsigned long long)info->chunkoffset, (unsigned long long)s->from);
    s->chunk = chunk;
    s->next = info->chunkoffset;
    return 0;
}

int hdfs_stream_begin(struct hdfs_stream *s, uint64_t from, uint64_t end, const uint8_t *answer,
                      size_t n, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = NULL;
    ProtobufCMessage *m;
    int r;

    *s = (struct hdfs_stream){ .from = from, .end = end };
    r = unpack(&a, &hadoop__hdfs__block_op_response_proto__descriptor, answer, n, &m);
    if (r < 0)
        return sv_error_set(err, r == -ENOMEM ? r : -EBADMSG, "the DataNode's answer is malformed");
    return begin(s, (const Hadoop__Hdfs__BlockOpResponseProto *)m, err);
}

int hdfs_packet_prefix(const uint8_t p[HDFS_PACKET_PREFIX], uint32_t *ret_payload,
                       uint32_t *ret_header, struct sv_error *err)
{
    uint32_t length;
    uint16_t header;

    memcpy(&length, p, 4);
    memcpy(&header, p + 4, 2);
    length = be32toh(length);
    header = be16toh(header);
    if (length < 4 || length - 4 > HDFS_PACKET_MAX)
        return sv_error_set(err, -EBADMSG,
                            "the DataNode's packet has %d bytes, at most %u are "
                            "accepted",
                            (int)length, HDFS_PACKET_MAX);
    if (header == 0 || header > HDFS_HEADER_MAX)
        return sv_error_set(err, -EBADMSG,
                            "the DataNode's packet has a header of %u bytes, at "
                            "most %u are accepted",
                            header, HDFS_HEADER_MAX);
    *ret_payload = length - 4;
    *ret_header = header;
    return 0;
}

/* End of the last chunk that contains a wanted byte: a DataNode sends whole chunks. */
static uint64_t sent_end(const struct hdfs_stream *s)
{
    return s->type == HDFS_CHECKSUM_NULL ? s->end : (s->end + s->chunk - 1) / s->chunk * s->chunk;
}

static const char *refused(const struct hdfs_stream *s, const Hadoop__Hdfs__PacketHeaderProto *h,
                           uint32_t payload)
{
    uint64_t n = h->datalen, sums;

    if (s->last)
        return "follows the last one";
    if (h->seqno != s->seqno)
        return "is out of sequence";
    if (h->offsetinblock < 0 || (uint64_t)h->offsetinblock != s->next)
        return "has another offset than the end of the one before";
    if (h->datalen < 0 || n > payload)
        return "has a wrong length of data";
    if (h->lastpacketinblock)
        return n != 0 || payload != 0 ? "is the last one and has data" : NULL;
    if (n == 0)
        return "is empty";
    if (n > sent_end(s) - s->next)
        return "goes beyond what was asked for";
    if (n % s->chunk != 0 && s->next + n < s->end)
        return "ends inside a chunk";
    sums = s->type == HDFS_CHECKSUM_NULL ? 0 : (n + s->chunk - 1) / s->chunk * HDFS_CHECKSUM_BYTES;
    return sums + n != payload ? "has a wrong length of checksums" : NULL;
}

int hdfs_packet_header(struct hdfs_stream *s, const uint8_t *p, size_t n, uint32_t payload,
                       struct hdfs_packet *ret, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = NULL;
    const Hadoop__Hdfs__PacketHeaderProto *h;
    ProtobufCMessage *m;
    const char *why;
    uint64_t data, begin_at, stop_at;
    int r = unpack(&a, &hadoop__hdfs__packet_header_proto__descriptor, p, n, &m);

    if (r < 0)
        return sv_error_set(err, r == -ENOMEM ? r : -EBADMSG,
                            "the header of the DataNode's packet is malformed");
    h = (const Hadoop__Hdfs__PacketHeaderProto *)m;
    why = refused(s, h, payload);
    if (why)
        return sv_error_set(err, -EBADMSG,
                            "the DataNode's packet %s (offset %lld, sequence number "
                            "%lld, %d bytes)",
                            why, (long long)h->offsetinblock, (long long)h->seqno, h->datalen);
    data = (uint64_t)h->datalen;
    *ret = (struct hdfs_packet){ .sums = payload - (uint32_t)data,
                                 .data = (uint32_t)data,
                                 .last = h->lastpacketinblock };
    begin_at = SV_MAX(s->next, s->from);
    stop_at = SV_MIN(s->next + data, s->end);
    if (begin_at < stop_at) {
        ret->skip = (uint32_t)(begin_at - s->next);
        ret->wanted = (uint32_t)(stop_at - begin_at);
    }
    s->next += data;
    s->wanted += ret->wanted;
    s->seqno++;
    s->last = ret->last;
    return 0;
}

int hdfs_packet_verify(const struct hdfs_stream *s, const struct hdfs_packet *k,
                       const uint8_t *payload, struct sv_error *err)
{
    size_t bad = 0;
    int r = hdfs_checksum_verify(s->type, s->chunk, payload, payload + k->sums, k->data, &bad);

    if (r < 0)
        return sv_error_set(err, r, "checksum error at offset %llu of the block",
                            (unsigned long long)(s->next - k->data + bad));
    return 0;
}
