/* See websocket.h. */
#include "common/web/websocket.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* RFC 6455, 1.3 */
#define KEY_BYTES 16
#define CONTROL_MAX 125

#define FIN 0x80u
#define RESERVED 0x70u
#define MASKED 0x80u

int sv_ws_accept(const char *key, char ret[SV_WS_ACCEPT_MAX])
{
    _cleanup_free_ uint8_t *bytes = NULL;
    _cleanup_free_ char *text = NULL;
    char joined[64];
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    size_t len;

    if (strlen(key) > 24 || sv_base64_decode(key, strlen(key), KEY_BYTES, &bytes, &len) < 0 ||
        len != KEY_BYTES)
        return -EINVAL;
    (void)snprintf(joined, sizeof(joined), "%s" GUID, key);
    if (EVP_Digest(joined, strlen(joined), digest, &n, EVP_sha1(), NULL) != 1)
        return -ENOMEM;
    int r = sv_base64_encode(digest, n, &text);
    if (r >= 0)
        (void)snprintf(ret, SV_WS_ACCEPT_MAX, "%s", text);
    return r;
}

/* A frame's head: 1, 0 (more bytes are needed) or negative. */
struct head {
    uint8_t flags, opcode;
    bool masked;
    uint64_t len;
    uint8_t mask[4];
};

static int read_head(struct sv_buf *in, struct head *h)
{
    uint8_t first, second;
    uint16_t two;

    if (sv_buf_left(in) < 2)
        return 0;
    if (sv_buf_get_u8(in, &first) < 0 || sv_buf_get_u8(in, &second) < 0)
        return 0;
    h->flags = first & (FIN | RESERVED);
    h->opcode = first & 0x0f;
    h->masked = second & MASKED;
    h->len = second & 0x7f;
    if (h->len == 126) {
        if (sv_buf_get_u16(in, &two) < 0)
            return 0;
        h->len = two;
        if (two < 126) /* one length has one form */
            return -EBADMSG;
    } else if (h->len == 127) {
        if (sv_buf_get_u64(in, &h->len) < 0)
            return 0;
        if (h->len <= UINT16_MAX || h->len >> 63)
            return -EBADMSG;
    }
    if (h->masked && sv_buf_get(in, h->mask, sizeof(h->mask)) < 0)
        return 0;
    return 1;
}

/* Whether this frame may come now. */
static int check(const struct sv_ws_reader *r, const struct head *h)
{
    const bool control = h->opcode & 8, last = h->flags & FIN;

    if (h->flags & RESERVED || h->masked != r->masked)
        return -EBADMSG;
    if (control)
        return h->opcode > SV_WS_PONG || !last || h->len > CONTROL_MAX ? -EBADMSG : 0;
    if (h->opcode > SV_WS_BINARY ||
        (h->opcode == SV_WS_CONTINUATION) != (r->under != SV_WS_CONTINUATION))
        return -EBADMSG;
    return h->len > SV_WS_FRAME_MAX ? -EMSGSIZE : 0;
}

static void apply_mask(uint8_t *data, size_t n, const uint8_t mask[4])
{
    for (size_t i = 0; i < n; i++)
        data[i] ^= mask[i % 4];
}

int sv_ws_read(struct sv_ws_reader *r, struct sv_buf *in, struct sv_ws_frame *ret)
{
    const size_t begin = in->pos;
    struct head h = { 0 };
    int k = read_head(in, &h);

    if (k > 0 && check(r, &h) < 0)
        k = check(r, &h);
    if (k > 0 && h.len > sv_buf_left(in))
        k = 0;
    if (k <= 0) {
        in->pos = begin;
        return k;
    }
    uint8_t *data = in->data + in->pos;
    in->pos += h.len;
    if (h.masked)
        apply_mask(data, h.len, h.mask);
    const bool control = h.opcode & 8, last = h.flags & FIN;
    *ret = (struct sv_ws_frame){ .opcode = h.opcode == SV_WS_CONTINUATION ? r->under : h.opcode,
                                 .first = h.opcode != SV_WS_CONTINUATION,
                                 .last = last,
                                 .data = data,
                                 .len = h.len };
    if (!control)
        r->under = last ? SV_WS_CONTINUATION : ret->opcode;
    return 1;
}

int sv_ws_put(struct sv_buf *out, enum sv_ws_opcode opcode, const uint8_t *mask, const void *data,
              size_t n)
{
    const uint8_t bit = mask ? MASKED : 0;
    uint8_t head[SV_WS_HEAD_MAX] = { (uint8_t)(FIN | opcode) };
    size_t k = 2;
    int r;

    if (n > SV_WS_FRAME_MAX)
        return -EMSGSIZE;
    if (n < 126) {
        head[1] = (uint8_t)(bit | n);
    } else if (n <= UINT16_MAX) {
        head[1] = bit | 126;
        head[k++] = (uint8_t)(n >> 8);
        head[k++] = (uint8_t)n;
    } else {
        head[1] = bit | 127;
        for (int shift = 56; shift >= 0; shift -= 8)
            head[k++] = (uint8_t)((uint64_t)n >> shift);
    }
    for (size_t i = 0; mask && i < 4; i++)
        head[k++] = mask[i];
    if (out->max && k + n > out->max - SV_MIN(out->len, out->max))
        return -EMSGSIZE;
    r = sv_buf_reserve(out, k + n);
    if (r >= 0)
        r = sv_buf_put(out, head, k);
    if (r >= 0)
        r = sv_buf_put(out, data, n);
    if (r >= 0 && mask)
        apply_mask(out->data + out->len - n, n, mask);
    return r;
}

int sv_ws_put_close(struct sv_buf *out, const uint8_t *mask, unsigned code, const char *words)
{
    char text[CONTROL_MAX] = { (char)(code >> 8), (char)code };
    const size_t n = SV_MIN(strlen(words), sizeof(text) - 2);

    memcpy(text + 2, words, n);
    return sv_ws_put(out, SV_WS_CLOSE, mask, text, 2 + n);
}
