/* Connection to a DataNode's transfer port: a blocking socket with timeouts, and how its bytes
 * travel. access.h opens one as the file system's configuration demands. Hostile: the DataNode, and
 * its address. */
#ifndef SELVEDGE_HDFS_CONNECTION_H
#define SELVEDGE_HDFS_CONNECTION_H

#include "common/error.h"
#include "hdfs/limits.h"
#include "hdfs/protected.h"
#include "proto/hdfs.pb-c.h"

#define HDFS_TRANSFER_VERSION 28 /* DataTransferProtocol.DATA_TRANSFER_VERSION */

struct hdfs_connection;

/* Bytes are plain at first. `timeout_ms` applies to connecting and to each call below. */
int hdfs_connection_open(const Hadoop__Hdfs__DatanodeIDProto *id, uint32_t timeout_ms,
                         bool use_hostname, struct hdfs_connection **ret, struct sv_error *err)
    _must_use_;
/* Takes the socket, which blocks and has time limits already; also on failure. */
int hdfs_connection_new(int fd, uint32_t timeout_ms, struct hdfs_connection **ret) _must_use_;
struct hdfs_connection *hdfs_connection_free(struct hdfs_connection *c);
static inline void hdfs_connection_freep(struct hdfs_connection **c)
{
    *c = hdfs_connection_free(*c);
}
uint32_t hdfs_connection_timeout_ms(const struct hdfs_connection *c);
/* All later bytes travel so; takes `p`. */
void hdfs_connection_protect(struct hdfs_connection *c, struct hdfs_protected *p);

int hdfs_send(struct hdfs_connection *c, const void *p, size_t n, struct sv_error *err);
/* Receives exactly n bytes. The timeout covers the whole call: a DataNode that trickles bytes fails
 * like one that sends none. */
int hdfs_receive(struct hdfs_connection *c, void *p, size_t n, struct sv_error *err) _must_use_;
/* Receives a length-prefixed message, malloc'd, without the prefix. */
int hdfs_receive_delimited(struct hdfs_connection *c, uint8_t **ret, size_t *ret_len,
                           struct sv_error *err) _must_use_;
/* True if hdfs_receive() need not wait for its first byte. */
bool hdfs_readable(const struct hdfs_connection *c);

/* As hdfs_send() and hdfs_receive(), on a socket: for implementations of struct hdfs_protected. */
int hdfs_socket_send(int fd, const void *p, size_t n, struct sv_error *err) _must_use_;
int hdfs_socket_receive(int fd, void *p, size_t n, struct sv_error *err) _must_use_;

#endif
