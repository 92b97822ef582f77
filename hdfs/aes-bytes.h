/* A connection's bytes encrypted by AES in counter mode (AES/CTR/NoPadding), with a key and a first
 * counter block for each direction. No byte is added; nothing tells a byte that was changed on the
 * way, but the checksums of the data. */
#ifndef SELVEDGE_HDFS_AES_BYTES_H
#define SELVEDGE_HDFS_AES_BYTES_H

#include "hdfs/protected.h"

struct hdfs_aes_key {
    const uint8_t *key;
    size_t n;          /* 16, 24 or 32 bytes */
    const uint8_t *iv; /* HDFS_IV bytes */
};

/* -EINVAL: a key of another length; -EIO: libcrypto has no AES. */
int hdfs_aes_bytes_new(const struct hdfs_aes_key *send, const struct hdfs_aes_key *receive,
                       struct hdfs_protected **ret) _must_use_;

#endif
