/* A byte buffer with a hard maximum and a read cursor, for wire formats. Getters check the length;
 * none reads past the end. Multi-byte numbers are big-endian. */
#ifndef SELVEDGE_COMMON_BUF_H
#define SELVEDGE_COMMON_BUF_H

#include "common/base.h"

struct sv_buf {
    uint8_t *data; /* owned; NULL while empty */
    size_t len;    /* bytes valid */
    size_t cap;
    size_t max; /* never grows beyond; 0 = 128 MiB */
    size_t pos; /* read cursor, <= len */
};

#define SV_BUF_INIT(limit) ((struct sv_buf){ .max = (limit) })

void sv_buf_free(struct sv_buf *b); /* leaves an empty buffer with the same maximum */
#define _cleanup_buf_ _cleanup_(sv_buf_free)
/* As sv_buf_free(), for secrets: overwrites the memory first. A buffer that grows is moved: reserve
 * the capacity before the first secret. */
void sv_buf_wipe(struct sv_buf *b);
#define _cleanup_buf_wipe_ _cleanup_(sv_buf_wipe)

/* All writers return 0, -EMSGSIZE (over the maximum) or -ENOMEM; on failure the buffer is
 * unchanged. */
int sv_buf_reserve(struct sv_buf *b, size_t extra) _must_use_;
int sv_buf_put(struct sv_buf *b, const void *p, size_t n) _must_use_;
int sv_buf_put_u8(struct sv_buf *b, uint8_t v) _must_use_;
int sv_buf_put_u16(struct sv_buf *b, uint16_t v) _must_use_;
int sv_buf_put_u32(struct sv_buf *b, uint32_t v) _must_use_;
int sv_buf_put_u64(struct sv_buf *b, uint64_t v) _must_use_;
int sv_buf_put_str(struct sv_buf *b, const char *s) _must_use_; /* without the NUL */
int sv_buf_printf(struct sv_buf *b, const char *fmt, ...) _must_use_ _printf_(2, 3);

static inline size_t sv_buf_left(const struct sv_buf *b)
{
    return b->len - b->pos;
}
/* All readers return 0, or -EBADMSG when fewer bytes are left; on failure the cursor is
 * unchanged. */
int sv_buf_get(struct sv_buf *b, void *ret, size_t n) _must_use_;
int sv_buf_get_ref(struct sv_buf *b, const uint8_t **ret, size_t n) _must_use_; /* no copy */
int sv_buf_get_u8(struct sv_buf *b, uint8_t *ret) _must_use_;
int sv_buf_get_u16(struct sv_buf *b, uint16_t *ret) _must_use_;
int sv_buf_get_u32(struct sv_buf *b, uint32_t *ret) _must_use_;
int sv_buf_get_u64(struct sv_buf *b, uint64_t *ret) _must_use_;
/* Drops the bytes before the cursor and moves the rest to the front. */
void sv_buf_compact(struct sv_buf *b);
/* A read-only view of memory owned elsewhere; never freed or grown. */
#define SV_BUF_VIEW(p, n) ((struct sv_buf){ .data = (uint8_t *)(uintptr_t)(p), .len = (n) })

#endif
