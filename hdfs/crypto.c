/* See crypto.h. */
#include "hdfs/crypto.h"

#include <errno.h>
#include <openssl/evp.h>

#define PIECE ((size_t)1 << 30) /* OpenSSL counts in int */

struct hdfs_crypto {
    EVP_CIPHER_CTX *evp;
};

static const EVP_CIPHER *cipher_of(size_t n)
{
    return n == 16   ? EVP_aes_128_ctr()
           : n == 24 ? EVP_aes_192_ctr()
           : n == 32 ? EVP_aes_256_ctr()
                     : NULL;
}

/* The counter after a number of blocks: their sum, as numbers of HDFS_IV bytes. */
static void counter_at(const uint8_t iv[HDFS_IV], uint64_t blocks, uint8_t ret[HDFS_IV])
{
    unsigned sum = 0;

    for (size_t i = HDFS_IV; i-- > 0; blocks >>= 8) {
        sum += iv[i] + (unsigned)(blocks & 0xff);
        ret[i] = (uint8_t)sum;
        sum >>= 8;
    }
}

int hdfs_crypto_new(const uint8_t *key, size_t n, const uint8_t iv[HDFS_IV], uint64_t offset,
                    struct hdfs_crypto **ret)
{
    _cleanup_(hdfs_crypto_freep) struct hdfs_crypto *c = calloc(1, sizeof(*c));
    const EVP_CIPHER *cipher = cipher_of(n);
    uint8_t counter[HDFS_IV], skipped[HDFS_IV] = { 0 };

    if (!cipher)
        return -EINVAL;
    if (!c || !(c->evp = EVP_CIPHER_CTX_new()))
        return -ENOMEM;
    counter_at(iv, offset / HDFS_IV, counter);
    if (EVP_EncryptInit_ex(c->evp, cipher, NULL, key, counter) != 1 ||
        hdfs_crypto_next(c, skipped, skipped, offset % HDFS_IV) < 0)
        return -EIO;
    *ret = SV_TAKE(c);
    return 0;
}

struct hdfs_crypto *hdfs_crypto_free(struct hdfs_crypto *c)
{
    if (c)
        EVP_CIPHER_CTX_free(c->evp);
    free(c);
    return NULL;
}

int hdfs_crypto_next(struct hdfs_crypto *c, const void *from, void *to, size_t n)
{
    const uint8_t *in = from;
    uint8_t *out = to;

    for (size_t done = 0, some; done < n; done += some) {
        int written = 0;

        some = SV_MIN(n - done, PIECE);
        if (EVP_EncryptUpdate(c->evp, out + done, &written, in + done, (int)some) != 1 ||
            (size_t)written != some)
            return -EIO;
    }
    return 0;
}
