/* Frames of Hadoop IPC: finds them in received bytes, builds them, unpacks their messages. Hostile:
 * every byte read here: no allocation trusts a claimed length, and a message is validated
 * (wire/depth.h) before protobuf-c unpacks it. */
#include "wire/frame.h"

#include <errno.h>
#include <string.h>

#include "wire/depth.h"
#include "wire/enums.h"

int ipc_frame_next(const uint8_t *p, size_t n, size_t max, const uint8_t **ret, size_t *ret_len,
                   size_t *ret_used)
{
    if (n < 4)
        return 0;
    uint32_t len = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    if (len == 0 || len > INT32_MAX || len > max)
        return -EMSGSIZE;
    if (n - 4 < len)
        return 0;
    *ret = p + 4;
    *ret_len = len;
    *ret_used = 4 + (size_t)len;
    return 1;
}

/* A varint of at most `max_bytes` bytes. Returns the bytes used, 0 if truncated or too long. */
static size_t varint_get(const uint8_t *p, size_t n, size_t max_bytes, uint64_t *ret)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n && i < max_bytes; i++) {
        v |= (uint64_t)(p[i] & 0x7f) << (7 * i);
        if (!(p[i] & 0x80)) {
            *ret = v;
            return i + 1;
        }
    }
    return 0;
}

int ipc_delimited_get(struct sv_buf *b, const uint8_t **ret, size_t *ret_len)
{
    uint64_t len;
    size_t left = sv_buf_left(b);
    if (left == 0)
        return -EBADMSG;
    size_t used = varint_get(b->data + b->pos, left, 5, &len);
    if (used == 0 || len > left - used)
        return -EBADMSG;
    *ret = b->data + b->pos + used;
    *ret_len = (size_t)len;
    b->pos += used + (size_t)len;
    return 0;
}

static size_t varint_size(size_t v)
{
    size_t n = 1;
    while (v >= 0x80) {
        v >>= 7;
        n++;
    }
    return n;
}

static uint8_t *varint_put(uint8_t *p, size_t v)
{
    while (v >= 0x80) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

static uint8_t *message_put(uint8_t *p, const ProtobufCMessage *m, size_t size)
{
    p = varint_put(p, size);
    return p + (m ? protobuf_c_message_pack(m, p) : 0);
}

static uint8_t *length_put(uint8_t *p, size_t total)
{
    *p++ = (uint8_t)(total >> 24);
    *p++ = (uint8_t)(total >> 16);
    *p++ = (uint8_t)(total >> 8);
    *p++ = (uint8_t)total;
    return p;
}

/* Reserves space for a frame of `total` bytes and writes its length. */
static int frame_begin(struct sv_buf *out, size_t total, uint8_t **ret)
{
    if (total > INT32_MAX)
        return -EMSGSIZE;
    int r = sv_buf_reserve(out, 4 + total);
    if (r < 0)
        return r;
    *ret = length_put(out->data + out->len, total);
    out->len += 4 + total;
    return 0;
}

int ipc_frame_put(struct sv_buf *out, const ProtobufCMessage *header,
                  const ProtobufCMessage *second, const uint8_t *body, size_t body_len)
{
    size_t hs = protobuf_c_message_get_packed_size(header);
    size_t ss = second ? protobuf_c_message_get_packed_size(second) : 0;
    size_t total = varint_size(hs) + hs;
    if (second)
        total += varint_size(ss) + ss;
    if (body && (body_len > INT32_MAX || __builtin_add_overflow(total, body_len + 10, &total)))
        return -EMSGSIZE;
    if (body)
        total -= 10 - varint_size(body_len);
    uint8_t *p;
    int r = frame_begin(out, total, &p);
    if (r < 0)
        return r;
    p = message_put(p, header, hs);
    if (second)
        p = message_put(p, second, ss);
    if (body) {
        p = varint_put(p, body_len);
        memcpy(p, body, body_len);
    }
    return 0;
}

int ipc_frame_put_message(struct sv_buf *out, const ProtobufCMessage *header,
                          const ProtobufCMessage *body)
{
    size_t hs = protobuf_c_message_get_packed_size(header);
    size_t bs = body ? protobuf_c_message_get_packed_size(body) : 0;
    uint8_t *p;
    int r = frame_begin(out, varint_size(hs) + hs + varint_size(bs) + bs, &p);
    if (r < 0)
        return r;
    p = message_put(p, header, hs);
    (void)message_put(p, body, bs);
    return 0;
}

int ipc_frame_put_front(struct sv_buf *body, const ProtobufCMessage *header)
{
    size_t hs = protobuf_c_message_get_packed_size(header), n = sv_buf_left(body);
    size_t front = varint_size(hs) + hs + varint_size(n);
    if (n > INT32_MAX - front || body->pos < 4 + front)
        return -EMSGSIZE;
    body->pos -= 4 + front;
    uint8_t *p = length_put(body->data + body->pos, front + n);
    p = message_put(p, header, hs);
    (void)varint_put(p, n);
    return 0;
}

int ipc_frame_put_wrap(struct sv_buf *out, const ProtobufCMessage *header, size_t token_len,
                       uint8_t **ret)
{
    /* Fields 2 (state) and 3 (token) of RpcSaslProto with their wire types. */
    static const uint8_t state_wrap[] = { 2 << 3 | 0, 5 }, token_tag = 3 << 3 | 2;
    if (token_len > INT32_MAX - 64)
        return -EMSGSIZE;
    size_t hs = protobuf_c_message_get_packed_size(header);
    size_t ms = sizeof(state_wrap) + 1 + varint_size(token_len) + token_len;
    uint8_t *p;
    int r = frame_begin(out, varint_size(hs) + hs + varint_size(ms) + ms, &p);
    if (r < 0)
        return r;
    p = message_put(p, header, hs);
    p = varint_put(p, ms);
    memcpy(p, state_wrap, sizeof(state_wrap));
    p += sizeof(state_wrap);
    *p++ = token_tag;
    *ret = varint_put(p, token_len);
    return 0;
}

size_t ipc_arena_max(size_t n)
{
    return SV_MIN((size_t)IPC_ARENA_BASE + n * IPC_ARENA_FACTOR, (size_t)IPC_ARENA_MAX);
}

int ipc_unpack(struct sv_arena *a, const ProtobufCMessageDescriptor *d, const uint8_t *p, size_t n,
               ProtobufCMessage **ret)
{
    return ipc_unpack_items(a, d, p, n, SIZE_MAX, ret);
}

int ipc_unpack_items(struct sv_arena *a, const ProtobufCMessageDescriptor *d, const uint8_t *p,
                     size_t n, size_t max_items, ProtobufCMessage **ret)
{
    bool odd_enum = false;
    *ret = NULL;
    int r = ipc_depth_look(p, n, d, IPC_DEPTH_MAX, max_items, &odd_enum);
    if (r < 0)
        return r == -EMSGSIZE ? r : -EBADMSG;
    ProtobufCMessage *m = protobuf_c_message_unpack(d, sv_arena_protobuf(a), n, p);
    if (!m || (odd_enum && ipc_enums_settle(m) < 0))
        return -EBADMSG;
    *ret = m;
    return 0;
}
