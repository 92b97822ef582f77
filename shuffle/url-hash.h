/* Hadoop's proof of a reducer, and the answer to it: base64 of HMAC-SHA1 with the job token's
 * password, over the port and the request's target as it was sent (SecureShuffleUtils). */
#ifndef SELVEDGE_SHUFFLE_URL_HASH_H
#define SELVEDGE_SHUFFLE_URL_HASH_H

#include "common/base.h"

#define SHF_HASH_TEXT 28 /* 20 bytes in base64 */

/* `ret` is NUL-terminated. 0, or -ENOMEM. */
int shf_hash(const void *secret, size_t secret_len, const void *data, size_t n,
             char ret[SHF_HASH_TEXT + 1]) _must_use_;
/* Whether `hash` proves the secret for this target at this port; takes the same time for every
 * hash.
 */
bool shf_url_hash_verify(const void *secret, size_t secret_len, uint16_t port, const char *uri,
                         size_t uri_len, const char *hash) _must_use_;

#endif
