/* Limits on data from NameNodes and DataNodes; both may be hostile, since a job names them in its
 * URLs. Sources of the numbers: Hadoop's DFSUtilClient, PacketReceiver, DataChecksum. */
#ifndef SELVEDGE_HDFS_LIMITS_H
#define SELVEDGE_HDFS_LIMITS_H

#define HDFS_NAMENODES_MAX 8
#define HDFS_HOST_MAX 255
#define HDFS_SERVERS_TEXT_MAX 1024 /* "nameservice@host:port,host:port" */
#define HDFS_USER_MAX 255
#define HDFS_OWNER_MAX 255          /* name of a file's owner or group */
#define HDFS_RPC_MAX (16u << 20)    /* one answer of a NameNode */
#define HDFS_WINDOW_BLOCKS 10       /* requested per call */
#define HDFS_BLOCKS_MAX 4096        /* in one answer */
#define HDFS_REPLICAS_MAX 64        /* per block; further ones are ignored */
#define HDFS_NAME_MAX 8000          /* bytes of a name in a listing, as for a path */
#define HDFS_POOL_MAX 255           /* name of a block pool */
#define HDFS_TOKEN_MAX 8192         /* each part of a block token */
#define HDFS_BLOCK_MAX (1ull << 46) /* bytes of a block */
#define HDFS_FILE_MAX (1ull << 60)  /* bytes of a file: the sum of two cannot overflow */
#define HDFS_ANSWER_MAX (64u << 10) /* a DataNode's answer to an operation */
#define HDFS_PACKET_MAX (16u << 20) /* checksums and data; PacketReceiver's own limit */
#define HDFS_FRAME_MAX (HDFS_PACKET_MAX + (64u << 10)) /* in a SASL layer: Java cuts no packet */
#define HDFS_HEADER_MAX 256       /* header of a packet; Hadoop's has at most 33 bytes */
#define HDFS_UNITS_MAX 16         /* of a block group; HdfsServerConstants.MAX_BLOCKS_IN_GROUP */
#define HDFS_CELL_MAX (4u << 20)  /* bytes of a cell; Hadoop's default is 1 MiB */
#define HDFS_PAYLOAD_MAX 2048     /* a DataNode's part of a SASL handshake; RFC 2831 2.1.1 */
#define HDFS_WRAPPED_KEY_MAX 128  /* an AES key of 32 bytes in a SASL layer has 64 */
#define HDFS_NONCE_MAX 64         /* of an encryption key; Hadoop's have 8 */
#define HDFS_DATA_KEY_MAX 64      /* bytes of an encryption key; Hadoop's have 20 or 32 */
#define HDFS_CHUNK_MAX (1u << 20) /* bytes under one checksum; Hadoop's default is 512 */
#define HDFS_KEY_MAX 32           /* bytes of a file's key; AES has 16, 24 and 32 */
#define HDFS_IV 16                /* bytes of a counter block, an initialization vector */
#define HDFS_KEY_NAME_MAX 255     /* name of a zone's key, and of its version */
#define HDFS_PROVIDER_MAX 1024    /* uri of a key provider */

#endif
