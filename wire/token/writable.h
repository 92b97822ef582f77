/* Hadoop's Writable encodings, used by token files and token strings: zero-compressed integers and
 * Text. Readers: 0, or -EBADMSG with only the cursor changed. */
#ifndef SELVEDGE_WIRE_TOKEN_WRITABLE_H
#define SELVEDGE_WIRE_TOKEN_WRITABLE_H

#include "common/arena.h"
#include "common/base.h"
#include "common/buf.h"

struct yarn_token;

int ipc_writable_put_vlong(struct sv_buf *b, int64_t v) _must_use_;
int ipc_writable_get_vlong(struct sv_buf *b, int64_t *ret) _must_use_;
/* Reads a length or count, at most the number of bytes left in the buffer. */
int ipc_writable_get_len(struct sv_buf *b, size_t *ret) _must_use_;
int ipc_writable_put_bytes(struct sv_buf *b, const void *p, size_t n) _must_use_; /* VInt + bytes */
int ipc_writable_get_bytes(struct sv_buf *b, struct sv_arena *a, const uint8_t **ret,
                           size_t *ret_len) _must_use_;
int ipc_writable_put_text(struct sv_buf *b, const char *s) _must_use_;
/* Reads UTF-8 without NUL, else -EBADMSG. */
int ipc_writable_get_text(struct sv_buf *b, struct sv_arena *a, const char **ret) _must_use_;

/* org.apache.hadoop.security.token.Token. */
int ipc_writable_put_token(struct sv_buf *b, const struct yarn_token *t) _must_use_;
int ipc_writable_get_token(struct sv_buf *b, struct sv_arena *a, struct yarn_token *ret) _must_use_;

#endif
