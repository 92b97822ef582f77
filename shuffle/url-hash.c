/* See url-hash.h. */
#include "shuffle/url-hash.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "shuffle/limits.h"

int shf_hash(const void *secret, size_t secret_len, const void *data, size_t n,
             char ret[SHF_HASH_TEXT + 1])
{
    uint8_t mac[EVP_MAX_MD_SIZE];
    unsigned len = 0;

    if (!HMAC(EVP_sha1(), secret, (int)secret_len, data, n, mac, &len) || len != 20)
        return -ENOMEM;
    (void)EVP_EncodeBlock((uint8_t *)ret, mac, (int)len); /* 28 characters and a NUL, ignoring */
    return 0;
}

bool shf_url_hash_verify(const void *secret, size_t secret_len, uint16_t port, const char *uri,
                         size_t uri_len, const char *hash)
{
    char message[SHF_REQUEST_MAX + 8], wanted[SHF_HASH_TEXT + 1];
    int n = snprintf(message, sizeof(message), "%u%.*s", port, (int)uri_len, uri);

    if (n < 0 || (size_t)n >= sizeof(message) ||
        shf_hash(secret, secret_len, message, (size_t)n, wanted) < 0)
        return false;
    return strlen(hash) == SHF_HASH_TEXT && CRYPTO_memcmp(hash, wanted, SHF_HASH_TEXT) == 0;
}
