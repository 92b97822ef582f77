/* Connections to the DataNodes of a file system, protected as its cluster and its configuration
 * demand. */
#ifndef SELVEDGE_HDFS_ACCESS_H
#define SELVEDGE_HDFS_ACCESS_H

#include "hdfs/connection.h"
#include "hdfs/namenode.h"

struct hdfs_access {
    const struct hdfs_site *site;
    struct hdfs_namenode
        *namenode; /* has the key of encrypted data transfer; NULL: there is none */
};

/* How a connection begins; SaslDataTransferClient's order. */
enum hdfs_handshake {
    HDFS_HANDSHAKE_NONE,
    HDFS_HANDSHAKE_DATA_KEY, /* encrypted data transfer */
    HDFS_HANDSHAKE_TOKEN,    /* dfs.data.transfer.protection, with the block's token */
};
/* `encrypted`: the cluster encrypts data transfer; `port`: the DataNode's. Pure. */
enum hdfs_handshake hdfs_handshake_choose(const struct hdfs_site *site, bool encrypted,
                                          uint32_t port);

/* Connects to a DataNode for an operation on a block. -EKEYEXPIRED: it refuses the block's token;
 * else errors of the network, of hdfs_transfer_handshake() and of hdfs_data_key(). */
int hdfs_access_connect(const struct hdfs_access *a, const Hadoop__Hdfs__DatanodeIDProto *id,
                        const Hadoop__Common__TokenProto *token, struct hdfs_connection **ret,
                        struct sv_error *err) _must_use_;

#endif
