/* Messages with their length in front, as DataTransferProtocol sends them: a varint, then the
 * message. Pure. Hostile: the length. */
#ifndef SELVEDGE_HDFS_DELIMITED_H
#define SELVEDGE_HDFS_DELIMITED_H

#include <protobuf-c/protobuf-c.h>

#include "common/buf.h"
#include "hdfs/limits.h"

/* Length of the delimited message that begins with p[0..n): 0 = more bytes are needed; -EMSGSIZE
 * when it exceeds HDFS_ANSWER_MAX, -EBADMSG for a malformed length. *ret_skip: bytes of the length
 * itself. */
int hdfs_delimited(const uint8_t *p, size_t n, size_t *ret_skip, size_t *ret_len) _must_use_;
/* Appends a message with its length. */
int hdfs_put_delimited(struct sv_buf *b, const ProtobufCMessage *m) _must_use_;

#endif
