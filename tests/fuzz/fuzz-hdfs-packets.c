/* Fuzzes the stream of a DataNode: its answer, then packets. For any input, the wanted bytes are
 * delivered once and in order, never more than requested, and only from inside the packet.
 *
 * The first 4 bytes of the input are the wanted range; the rest is the stream from its first
 * byte. */
#include <string.h>

#include "hdfs/delimited.h"
#include "hdfs/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* Bytes that one packet takes, 0 = refused or not complete. */
static size_t packet(struct hdfs_stream *s, const uint8_t *p, size_t n, struct sv_error *err)
{
    uint64_t before = s->wanted;
    uint32_t payload, header;
    struct hdfs_packet k;

    if (n < HDFS_PACKET_PREFIX || hdfs_packet_prefix(p, &payload, &header, err) < 0)
        return 0;
    MUST(payload <= HDFS_PACKET_MAX && header <= HDFS_HEADER_MAX);
    n -= HDFS_PACKET_PREFIX;
    if (n < header || hdfs_packet_header(s, p + HDFS_PACKET_PREFIX, header, payload, &k, err) < 0)
        return 0;
    MUST(k.sums + k.data == payload && k.skip + k.wanted <= k.data);
    MUST(s->wanted == before + k.wanted && s->wanted <= s->end - s->from);
    if (n - header < payload || hdfs_packet_verify(s, &k, p + HDFS_PACKET_PREFIX + header, err) < 0)
        return 0;
    return HDFS_PACKET_PREFIX + header + payload;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t skip = 0, len = 0, used = 0;
    struct sv_error err = { 0 };
    struct hdfs_stream s;
    uint16_t from, n;

    if (size < 4)
        return 0;
    memcpy(&from, data, 2);
    memcpy(&n, data + 2, 2);
    data += 4;
    size -= 4;
    if (hdfs_delimited(data, size, &skip, &len) <= 0 || len > size - skip)
        return 0;
    if (hdfs_stream_begin(&s, from, (uint64_t)from + n + 1, data + skip, len, &err) < 0) {
        MUST(err.text[0]);
        return 0;
    }
    used = skip + len;
    while (!s.last) {
        size_t k = packet(&s, data + used, size - used, &err);

        if (k == 0)
            break;
        used += k;
    }
    MUST(!hdfs_stream_complete(&s) || s.wanted == (uint64_t)n + 1);
    return 0;
}
