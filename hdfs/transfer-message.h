/* Messages of the SASL handshake with a DataNode: DataTransferEncryptorMessageProto. Pure. Hostile:
 * every byte of the DataNode's. */
#ifndef SELVEDGE_HDFS_TRANSFER_MESSAGE_H
#define SELVEDGE_HDFS_TRANSFER_MESSAGE_H

#include "common/arena.h"
#include "common/buf.h"
#include "common/error.h"
#include "hdfs/limits.h"

#define HDFS_TRANSFER_MAGIC 0xdeadbeefu /* in front of the client's first message */

/* A key of one direction, as the DataNode sends it. */
struct hdfs_wrapped_key {
    uint8_t *key;      /* in the SASL layer, which unwraps it in place */
    size_t n;          /* 1 to HDFS_WRAPPED_KEY_MAX */
    const uint8_t *iv; /* HDFS_IV bytes */
};

struct hdfs_transfer_message {
    const uint8_t *payload; /* never NULL */
    size_t n;               /* at most HDFS_PAYLOAD_MAX */
    bool aes;               /* the DataNode has chosen AES/CTR; else no keys */
    struct hdfs_wrapped_key to_datanode, from_datanode;
};

/* Appends a message of the client; `aes`: it offers AES/CTR. */
int hdfs_transfer_message_put(struct sv_buf *b, const void *payload, size_t n, bool aes) _must_use_;
/* Takes a message of the DataNode, without its length; the result points into the arena. `aes`: it
 * may choose AES/CTR now. -EKEYREVOKED: it does not know the encryption key; -EKEYEXPIRED: the
 * block token; -EACCES: it refuses for another reason; -EBADMSG. */
int hdfs_transfer_message_take(const uint8_t *p, size_t n, bool aes, struct sv_arena *a,
                               struct hdfs_transfer_message *ret, struct sv_error *err) _must_use_;

#endif
