/* AES in counter mode (AES/CTR/NoPadding), the cipher of files in encryption zones and of encrypted
 * connections to DataNodes, where the offset is 0. The key stream begins at a file's first byte
 * with its initialization vector as the counter, and can begin at any byte. Encrypting and
 * decrypting are the same operation. Pure. */
#ifndef SELVEDGE_HDFS_CRYPTO_H
#define SELVEDGE_HDFS_CRYPTO_H

#include "common/base.h"
#include "hdfs/limits.h"

struct hdfs_crypto;

/* The key stream from byte `offset` of a file on. `n`: bytes of the key. -EINVAL: neither 16, 24
 * nor 32; -ENOMEM; -EIO: OpenSSL refuses the cipher. */
int hdfs_crypto_new(const uint8_t *key, size_t n, const uint8_t iv[HDFS_IV], uint64_t offset,
                    struct hdfs_crypto **ret) _must_use_;
struct hdfs_crypto *hdfs_crypto_free(struct hdfs_crypto *c);
static inline void hdfs_crypto_freep(struct hdfs_crypto **c)
{
    *c = hdfs_crypto_free(*c);
}

/* Encrypts or decrypts the next n bytes; `to` is `from`, or does not overlap it. -EIO. */
int hdfs_crypto_next(struct hdfs_crypto *c, const void *from, void *to, size_t n) _must_use_;

#endif
