/* See delimited.h. */
#include "hdfs/delimited.h"

#include <errno.h>

int hdfs_delimited(const uint8_t *p, size_t n, size_t *ret_skip, size_t *ret_len)
{
    uint32_t v = 0;

    for (size_t i = 0; i < 5; i++) {
        if (i == n)
            return 0;
        v |= (uint32_t)(p[i] & 0x7f) << 7 * i;
        if (p[i] & 0x80)
            continue;
        if (v > HDFS_ANSWER_MAX)
            return -EMSGSIZE;
        *ret_skip = i + 1;
        *ret_len = v;
        return 1;
    }
    return -EBADMSG;
}

int hdfs_put_delimited(struct sv_buf *b, const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    int r = 0;

    if (n > HDFS_ANSWER_MAX)
        return -EMSGSIZE;
    for (size_t v = n; r == 0; v >>= 7) {
        r = sv_buf_put_u8(b, (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0)));
        if (v <= 0x7f)
            break;
    }
    if (r == 0)
        r = sv_buf_reserve(b, n);
    if (r < 0)
        return r;
    b->len += protobuf_c_message_pack(m, b->data + b->len);
    return 0;
}
