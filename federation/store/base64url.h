/* URL-safe base64 with padding, as Java's Base64.getUrlEncoder() writes it. */
#ifndef SELVEDGE_FEDERATION_STORE_BASE64URL_H
#define SELVEDGE_FEDERATION_STORE_BASE64URL_H

#include "common/arena.h"
#include "common/base.h"

/* A text in the arena; NULL without memory. */
char *fed_base64url_encode(struct sv_arena *a, const void *p, size_t n);
/* Bytes in the arena; the padding may lack. -EINVAL: another character, or more than `max` bytes;
 * -ENOMEM. */
int fed_base64url_decode(struct sv_arena *a, const char *s, size_t len, size_t max,
                         const uint8_t **ret, size_t *ret_len) _must_use_;

#endif
