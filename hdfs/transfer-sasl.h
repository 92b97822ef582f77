/* The SASL handshake with a DataNode, before the first request of a connection: DIGEST-MD5 with the
 * key of encrypted data transfer or with the block's token, then an optional choice of AES/CTR.
 * Hostile: the DataNode. */
#ifndef SELVEDGE_HDFS_TRANSFER_SASL_H
#define SELVEDGE_HDFS_TRANSFER_SASL_H

#include "hdfs/connection.h"

struct hdfs_transfer_login {
    const char *user, *password; /* as DIGEST-MD5 has them: no '"' and no '\\' */
    uint32_t qop_mask;           /* wire/sasl/qop.h: accepted qualities; the strongest is taken */
    bool aes;                    /* AES/CTR is offered, for the quality privacy */
    const char *key;             /* of the configuration, that asks for the qualities */
};

/* On a new connection; all later bytes of it travel as was agreed. Errors of
 * hdfs_transfer_message_take(), and: -EACCES: the DataNode offers none of the qualities, or does
 * not know the password; -ECONNRESET: it does no handshake. */
int hdfs_transfer_handshake(struct hdfs_connection *c, const struct hdfs_transfer_login *login,
                            struct sv_error *err) _must_use_;

#endif
