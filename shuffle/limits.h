/* Every limit of the shuffle server, in one place. All input from the network is hostile, and so is
 * every file below an application's directory. */
#ifndef SELVEDGE_SHUFFLE_LIMITS_H
#define SELVEDGE_SHUFFLE_LIMITS_H

/* A request. Hadoop's reducers ask for at most 20 maps at once, about 1 KiB. */
#define SHF_REQUEST_MAX 16384u /* bytes of request line and headers */
#define SHF_HEADERS_MAX 64
#define SHF_MAPS_MAX 1024
#define SHF_ID_MAX 128 /* for the name of a job or a map */

/* An index: 24 bytes per reducer. */
#define SHF_PARTITIONS_MAX (128u << 10)
#define SHF_INDEX_MAX (SHF_PARTITIONS_MAX * 24u + 8u)
#define SHF_INDEX_CACHE_BYTES (10ul << 20) /* Hadoop's default */

/* Connections. */
#define SHF_CONNECTIONS_MAX 16384        /* default for mapreduce.shuffle.max.connections=0 */
#define SHF_ADDRESS_CONNECTIONS_MAX 1024 /* per IPv4 address or IPv6 /64 */
#define SHF_REFUSED_MAX 256 /* refused connections that wait for their 429 to be read */
#define SHF_THREADS_MAX 64
#define SHF_SESSION_FILES_MAX 16
#define SHF_LISTEN_MAX 4
#define SHF_TURN_BYTES (1u << 20) /* sent by one connection before others get a turn */
#define SHF_MAPS_A_TURN 64        /* found in a turn; the index of one of them is read */
#define SHF_SHORT_PART                                                                             \
    (256u << 10) /* shorter file parts are left to the kernel's read-ahead, half of this */
#define SHF_READS_A_TURN 64 /* per turn, for a request that arrives in small pieces */

/* TLS. A handshake costs a signature, about a millisecond with RSA of 2048 bits. */
#define SHF_HANDSHAKES_MAX 1024        /* in progress; others wait */
#define SHF_ADDRESS_HANDSHAKES_MAX 256 /* per address; further ones are closed */
#define SHF_HANDSHAKE_THREADS_MAX 8

/* Seconds until a connection is closed. */
#define SHF_HANDSHAKE_SECONDS 10 /* as Netty's */
#define SHF_REQUEST_SECONDS 30   /* from the first byte to the end of the request */
#define SHF_STALL_SECONDS 180    /* without sending progress: the reducers' read timeout */
#define SHF_LINGER_SECONDS 2     /* for the client to read a refusal */

/* The NodeManager's side. */
#define SHF_LOCAL_DIRS_MAX 64
#define SHF_JOBS_MAX 65536
#define SHF_APP_DIR_MAX 1024
#define SHF_SECRET_MAX 1024

#endif
