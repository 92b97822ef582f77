/* Shared by token-ids.c, token-users.c and token-old.c: identifier bytes ⇄ message. All input is
 * hostile until its password is verified. */
#ifndef SELVEDGE_WIRE_TOKEN_TOKEN_INTERNAL_H
#define SELVEDGE_WIRE_TOKEN_TOKEN_INTERNAL_H

#include <protobuf-c/protobuf-c.h>

#include "wire/token/token.h"

/* Unpacks identifier bytes into the arena; err names the kind. */
int yarn_token_unpack(struct sv_arena *a, const ProtobufCMessageDescriptor *d, const uint8_t *id,
                      size_t len, ProtobufCMessage **ret, const char *kind, struct sv_error *err)
    _must_use_;
int yarn_token_pack(struct sv_arena *a, const ProtobufCMessage *m, const uint8_t **ret,
                    size_t *ret_len) _must_use_;
/* Returns false when the text does not fit; NULL becomes "". */
bool yarn_token_copy_text(char *dst, size_t size, const char *src);
static inline char *yarn_token_chars(const char *s)
{
    return s[0] ? (char *)(uintptr_t)s : NULL;
}

/* True if the bytes are a Writable: its first field is a date in milliseconds or version 0. */
static inline bool yarn_token_is_old(const uint8_t *id, size_t len)
{
    return len > 0 && id[0] == 0;
}
/* Decodes a Writable of Hadoop before 2.6. -EBADMSG unless all bytes are used. */
int yarn_container_token_old(const uint8_t *id, size_t len, struct yarn_container_token *ret)
    _must_use_;
int yarn_nm_token_old(const uint8_t *id, size_t len, struct yarn_nm_token *ret) _must_use_;
int yarn_amrm_token_old(const uint8_t *id, size_t len, struct yarn_amrm_token *ret) _must_use_;

#endif
