/* Hadoop's tokenInfo of a token that a Router has issued: its password, and until when it is valid.
 * Hostile: the text, which a store answers. */
#ifndef SELVEDGE_FEDERATION_STORE_TOKEN_INFO_H
#define SELVEDGE_FEDERATION_STORE_TOKEN_INFO_H

#include "common/arena.h"
#include "common/base.h"

struct fed_token_info {
    const uint8_t *password; /* secret; at most YARN_TOKEN_PASSWORD_MAX bytes */
    size_t password_len;     /* > 0 */
    int64_t renew_ms;        /* wall clock */
};

/* A text in the arena, of which the caller wipes it; NULL without memory. */
const char *fed_token_info_write(struct sv_arena *a, const struct fed_token_info *info);
/* Into the arena. -EBADMSG: the text is none; -ENOMEM. */
int fed_token_info_read(struct sv_arena *a, const char *text, struct fed_token_info *ret)
    _must_use_;

#endif
