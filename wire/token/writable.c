/* Hadoop's Writable encodings. Hostile: the bytes, which come from a job's launch context. A length
 * is accepted only if that many bytes are present. */
#include "wire/token/writable.h"

#include <errno.h>
#include <string.h>

#include "wire/depth.h"
#include "wire/token/token.h"

int ipc_writable_put_vlong(struct sv_buf *b, int64_t v)
{
    if (v >= -112 && v <= 127)
        return sv_buf_put_u8(b, (uint8_t)v);
    uint8_t out[9];
    uint64_t u = v < 0 ? ~(uint64_t)v : (uint64_t)v;
    size_t n = 1;
    while (n < 8 && u >> (8 * n))
        n++;
    out[0] = (uint8_t)((v < 0 ? -120 : -112) - (int)n);
    for (size_t i = 0; i < n; i++)
        out[1 + i] = (uint8_t)(u >> (8 * (n - 1 - i)));
    return sv_buf_put(b, out, n + 1);
}

int ipc_writable_get_vlong(struct sv_buf *b, int64_t *ret)
{
    uint8_t first, byte;
    int r = sv_buf_get_u8(b, &first);
    if (r < 0)
        return r;
    int8_t head = (int8_t)first;
    if (head >= -112) {
        *ret = head;
        return 0;
    }
    bool negative = head < -120;
    uint64_t u = 0;
    for (int n = negative ? -120 - head : -112 - head; n > 0; n--) {
        r = sv_buf_get_u8(b, &byte);
        if (r < 0)
            return r;
        u = u << 8 | byte;
    }
    *ret = (int64_t)(negative ? ~u : u);
    return 0;
}

int ipc_writable_get_len(struct sv_buf *b, size_t *ret)
{
    int64_t v;
    int r = ipc_writable_get_vlong(b, &v);
    if (r < 0)
        return r;
    if (v < 0 || (uint64_t)v > sv_buf_left(b))
        return -EBADMSG;
    *ret = (size_t)v;
    return 0;
}

int ipc_writable_put_bytes(struct sv_buf *b, const void *p, size_t n)
{
    int r = sv_buf_reserve(b, n + 9); /* all or nothing */
    if (r >= 0)
        r = ipc_writable_put_vlong(b, (int64_t)n);
    if (r >= 0 && n > 0)
        r = sv_buf_put(b, p, n);
    return r;
}

/* A length and that many bytes, not copied. */
static int get_ref(struct sv_buf *b, const uint8_t **ret, size_t *ret_len)
{
    size_t n;
    int r = ipc_writable_get_len(b, &n);
    if (r >= 0)
        r = sv_buf_get_ref(b, ret, n);
    if (r >= 0)
        *ret_len = n;
    return r;
}

int ipc_writable_get_bytes(struct sv_buf *b, struct sv_arena *a, const uint8_t **ret,
                           size_t *ret_len)
{
    const uint8_t *p;
    size_t n;
    int r = get_ref(b, &p, &n);
    if (r < 0)
        return r;
    const uint8_t *copy = sv_arena_memdup(a, p, n);
    if (!copy)
        return -ENOMEM;
    *ret = copy;
    *ret_len = n;
    return 0;
}

int ipc_writable_put_text(struct sv_buf *b, const char *s)
{
    return ipc_writable_put_bytes(b, s ? s : "", s ? strlen(s) : 0);
}

int ipc_writable_get_text(struct sv_buf *b, struct sv_arena *a, const char **ret)
{
    const uint8_t *p;
    size_t n;
    int r = get_ref(b, &p, &n);
    if (r < 0)
        return r;
    if (!ipc_text_ok(p, n))
        return -EBADMSG;
    char *s = sv_arena_alloc(a, n + 1); /* zeroed */
    if (!s)
        return -ENOMEM;
    if (n > 0)
        memcpy(s, p, n);
    *ret = s;
    return 0;
}

int ipc_writable_put_token(struct sv_buf *b, const struct yarn_token *t)
{
    int r = ipc_writable_put_bytes(b, t->id, t->id_len);
    if (r >= 0)
        r = ipc_writable_put_bytes(b, t->password, t->password_len);
    if (r >= 0)
        r = ipc_writable_put_text(b, t->kind);
    if (r >= 0)
        r = ipc_writable_put_text(b, t->service);
    return r;
}

int ipc_writable_get_token(struct sv_buf *b, struct sv_arena *a, struct yarn_token *ret)
{
    struct yarn_token t = { 0 };
    int r = ipc_writable_get_bytes(b, a, &t.id, &t.id_len);
    if (r >= 0)
        r = ipc_writable_get_bytes(b, a, &t.password, &t.password_len);
    if (r >= 0)
        r = ipc_writable_get_text(b, a, &t.kind);
    if (r >= 0)
        r = ipc_writable_get_text(b, a, &t.service);
    if (r < 0)
        return r;
    *ret = t;
    return 0;
}
