/* Hadoop's proof of a reducer's identity, and its reply: base64 of HMAC-SHA1 with the job token's
 * password, over the port and the request's undecoded target (SecureShuffleUtils). */
#ifndef SELVEDGE_SHUFFLE_URL_HASH_H
#define SELVEDGE_SHUFFLE_URL_HASH_H

#include "common/base.h"

#define SHF_HASH_TEXT 28 /* 20 bytes in base64 */

/* `ret` is NUL-terminated. 0, or -ENOMEM. */
int shf_hash(const void *secret, size_t secret_len, const void *data, size_t n,
             char ret[SHF_HASH_TEXT + 1]) _must_use_;
/* True if `hash` proves knowledge of the secret for this target and port; constant-time. */
bool shf_url_hash_verify(const void *secret, size_t secret_len, uint16_t port, const char *uri,
                         size_t uri_len, const char *hash) _must_use_;

#endif
