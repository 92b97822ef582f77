/* Connection to a DataNode's transfer port: a blocking socket with timeouts, for reading
 * (datanode.c) and writing (pipeline.c). Hostile: the DataNode, and its address. */
#ifndef SELVEDGE_HDFS_CONNECTION_H
#define SELVEDGE_HDFS_CONNECTION_H

#include "common/buf.h"
#include "common/error.h"
#include "hdfs/limits.h"
#include "proto/hdfs.pb-c.h"

#define HDFS_TRANSFER_VERSION 28 /* DataTransferProtocol.DATA_TRANSFER_VERSION */

/* Returns a descriptor. `timeout_ms` applies to connecting and to each call below. */
int hdfs_connect(const Hadoop__Hdfs__DatanodeIDProto *id, uint32_t timeout_ms, bool use_hostname,
                 struct sv_error *err) _must_use_;
int hdfs_send(int fd, const void *p, size_t n, struct sv_error *err);
/* Receives exactly n bytes. The socket's timeout covers the whole call: a DataNode that trickles
 * bytes fails like one that sends none. */
int hdfs_receive(int fd, void *p, size_t n, struct sv_error *err) _must_use_;
/* Appends a length-prefixed message. */
int hdfs_put_delimited(struct sv_buf *b, const ProtobufCMessage *m) _must_use_;
/* Receives a length-prefixed message, malloc'd, without the prefix. */
int hdfs_receive_delimited(int fd, uint8_t **ret, size_t *ret_len, struct sv_error *err) _must_use_;

#endif
