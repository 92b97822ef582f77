/* Bounded byte buffer. Hostile: bytes of unauthenticated peers, decoded by the wire codecs; the
 * length checks of all those parsers are here. */
#include "common/buf.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BUF_DEFAULT_MAX ((size_t)128 << 20)
#define BUF_FIRST 256u

void sv_buf_free(struct sv_buf *b)
{
    /* a view has no capacity: its memory is not owned */
    if (b->cap)
        free(b->data);
    *b = SV_BUF_INIT(b->max);
}

void sv_buf_wipe(struct sv_buf *b)
{
    if (b->cap)
        explicit_bzero(b->data, b->cap);
    sv_buf_free(b);
}

int sv_buf_reserve(struct sv_buf *b, size_t extra)
{
    size_t max = b->max ? b->max : BUF_DEFAULT_MAX, need, cap;
    uint8_t *p;

    if (b->data && !b->cap)
        return -EMSGSIZE; /* a view never grows */
    if (__builtin_add_overflow(b->len, extra, &need) || need > max)
        return -EMSGSIZE;
    if (need <= b->cap)
        return 0;
    cap = b->cap ? b->cap : BUF_FIRST;
    while (cap < need)
        cap = cap > max / 2 ? max : cap * 2;
    if (cap > max)
        cap = max;
    p = realloc(b->data, cap);
    if (!p)
        return -ENOMEM;
    b->data = p;
    b->cap = cap;
    return 0;
}

int sv_buf_put(struct sv_buf *b, const void *p, size_t n)
{
    int r = sv_buf_reserve(b, n);

    if (r < 0)
        return r;
    if (n)
        memcpy(b->data + b->len, p, n);
    b->len += n;
    return 0;
}

int sv_buf_put_u8(struct sv_buf *b, uint8_t v)
{
    return sv_buf_put(b, &v, sizeof(v));
}

int sv_buf_put_u16(struct sv_buf *b, uint16_t v)
{
    v = htobe16(v);
    return sv_buf_put(b, &v, sizeof(v));
}

int sv_buf_put_u32(struct sv_buf *b, uint32_t v)
{
    v = htobe32(v);
    return sv_buf_put(b, &v, sizeof(v));
}

int sv_buf_put_u64(struct sv_buf *b, uint64_t v)
{
    v = htobe64(v);
    return sv_buf_put(b, &v, sizeof(v));
}

int sv_buf_put_str(struct sv_buf *b, const char *s)
{
    return sv_buf_put(b, s, strlen(s));
}

int sv_buf_printf(struct sv_buf *b, const char *fmt, ...)
{
    va_list ap;
    int n, r;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return -EMSGSIZE;
    /* the NUL that vsnprintf writes must fit as well, and is not counted */
    _cleanup_free_ char *text = malloc((size_t)n + 1);
    if (!text)
        return -ENOMEM;
    va_start(ap, fmt);
    (void)vsnprintf(text, (size_t)n + 1, fmt, ap);
    va_end(ap);
    r = sv_buf_put(b, text, (size_t)n);
    return r;
}

int sv_buf_get_ref(struct sv_buf *b, const uint8_t **ret, size_t n)
{
    if (n > sv_buf_left(b))
        return -EBADMSG;
    *ret = b->data ? b->data + b->pos : (const uint8_t *)"";
    b->pos += n;
    return 0;
}

int sv_buf_get(struct sv_buf *b, void *ret, size_t n)
{
    const uint8_t *p;
    int r = sv_buf_get_ref(b, &p, n);

    if (r < 0)
        return r;
    if (n)
        memcpy(ret, p, n);
    return 0;
}

int sv_buf_get_u8(struct sv_buf *b, uint8_t *ret)
{
    return sv_buf_get(b, ret, sizeof(*ret));
}

int sv_buf_get_u16(struct sv_buf *b, uint16_t *ret)
{
    uint16_t v;
    int r = sv_buf_get(b, &v, sizeof(v));

    if (r == 0)
        *ret = be16toh(v);
    return r;
}

int sv_buf_get_u32(struct sv_buf *b, uint32_t *ret)
{
    uint32_t v;
    int r = sv_buf_get(b, &v, sizeof(v));

    if (r == 0)
        *ret = be32toh(v);
    return r;
}

int sv_buf_get_u64(struct sv_buf *b, uint64_t *ret)
{
    uint64_t v;
    int r = sv_buf_get(b, &v, sizeof(v));

    if (r == 0)
        *ret = be64toh(v);
    return r;
}

void sv_buf_compact(struct sv_buf *b)
{
    if (!b->pos || (b->data && !b->cap))
        return; /* a view only moves its cursor */
    b->len -= b->pos;
    if (b->len)
        memmove(b->data, b->data + b->pos, b->len);
    b->pos = 0;
}
