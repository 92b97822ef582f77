/* Messages between the NodeManager and a container-localizer process, one datagram each over a
 * SOCK_SEQPACKET socketpair (descriptor LOC_CHANNEL_FD in the localizer).
 *
 * The localizer runs as the application's user (or as the public account) and parses hostile
 * archives, so all its messages are hostile to the NodeManager: an answer is only a number, an
 * error class and a text. Answers have no paths; the NodeManager computes all of them. The
 * localizer trusts the NodeManager, but bounds its input all the same.
 *
 * Layout, big-endian: magic u32, version u8, type u8, request u64, then the fields of that type in
 * the order of the structs below; a string is u16 length + bytes without a NUL inside. A datagram
 * is accepted only if its last field ends with its last byte. */
#ifndef SELVEDGE_LOCALIZER_CHANNEL_H
#define SELVEDGE_LOCALIZER_CHANNEL_H

#include "common/base.h"
#include "common/pattern.h"
#include "fs/credentials.h"
#include "fs/url.h"

#define LOC_CHANNEL_FD 3
#define LOC_CHANNEL_MAGIC 0x534c4f43u /* "SLOC" */
#define LOC_CHANNEL_VERSION 5
#define LOC_MSG_MAX 16384 /* bytes of a datagram; longer ones are rejected (MSG_TRUNC) */

#define LOC_WORKERS_MAX 64 /* concurrent downloads of one localizer */
#define LOC_DIRS_MAX 32    /* local directories; EXE_DIRS_MAX of executor/request.h */
#define LOC_REL_MAX 256    /* "0/a/z/12345": hierarchy and unique id below the base */
/* Bytes without the NUL. */
#define LOC_LOGIN_MAX 255    /* user name sent to a file system */
#define LOC_SERVERS_MAX 1024 /* "nameservice@host:port,host:port" */
#define LOC_REGION_MAX 64
#define LOC_ACCESS_KEY_MAX 128
#define LOC_SECRET_KEY_MAX 256
#define LOC_SESSION_TOKEN_MAX 4096
#define LOC_TEXT_MAX 900 /* reason of a failure; fits an sv_error with its prefixes */

/* Limits of one resource; the node's keys selvedge.nodemanager.localizer.max-… and
 * .slowest-rate. */
struct loc_limits {
    uint64_t bytes;        /* of the source, and separately of an archive's unpacked content */
    uint32_t entries;      /* of an archive or a directory */
    uint32_t ratio;        /* of an archive: unpacked : packed */
    uint32_t path, depth;  /* of a path in an archive: bytes, components; at most LOC_PATH_MAX */
    uint32_t slowest_rate; /* http: minimum bytes per second from a server; 0: none */
};
#define LOC_PATH_MAX 4095 /* the kernel's PATH_MAX */
#define LOC_DEPTH_MAX 512
/* True if each is in its range. */
bool loc_limits_valid(const struct loc_limits *l);

/* Values of Hadoop's LocalResourceTypeProto and LocalResourceVisibilityProto. */
enum loc_type { LOC_ARCHIVE = 1, LOC_FILE = 2, LOC_PATTERN = 3 };
enum loc_visibility { LOC_PUBLIC = 1, LOC_PRIVATE = 2, LOC_APPLICATION = 3 };

enum loc_msg_type {
    LOC_MSG_FETCH = 1,     /* NodeManager → localizer */
    LOC_MSG_CANCEL = 2,    /* NodeManager → localizer; answered by FAILED (or a late DONE) */
    LOC_MSG_PROGRESS = 16, /* localizer → NodeManager, at least every LOC_PROGRESS_MS */
    LOC_MSG_DONE = 17,     /* the published entry is in place */
    LOC_MSG_FAILED = 18,   /* nothing was left behind, or LOC_FAIL_LEFTOVER */
};
#define LOC_PROGRESS_MS 2000

/* Class of a failed download; the text has the details. */
enum loc_fail {
    LOC_FAIL_INTERNAL = 1, /* bug, memory, crash of the worker */
    LOC_FAIL_URL = 2,      /* rejected or malformed url, scheme, redirect */
    LOC_FAIL_SOURCE = 3,   /* not found, permission denied, error of the server */
    LOC_FAIL_CHANGED = 4,  /* time or size differ from the request's */
    LOC_FAIL_NOT_PUBLIC = 5,
    LOC_FAIL_ARCHIVE = 6, /* malformed, or rejected by the policy */
    LOC_FAIL_LIMIT = 7,   /* bytes, entries, ratio, depth, time, speed */
    LOC_FAIL_DISK = 8,    /* could not write the target */
    LOC_FAIL_CANCELLED = 9,
    LOC_FAIL_LEFTOVER = 10, /* failed, and partial files could not be removed */
    LOC_FAIL_TAKEN = 11,    /* an unknown entry has this id; another id may be free */
    LOC_FAIL_AUTH = 12,     /* the server did not accept the credentials */
};
#define LOC_FAIL_LAST LOC_FAIL_AUTH

enum loc_option {
    LOC_OPTION_HOSTNAMES = 1,  /* hdfs: connect to DataNodes by name */
    LOC_OPTION_PATH_STYLE = 2, /* s3a: the bucket is in the path */
    LOC_OPTION_ANY_TIME = 4,   /* do not verify the timestamp: for a request by hand */
};
#define LOC_OPTIONS_ALL 7

struct loc_fetch {
    uint8_t type;       /* enum loc_type */
    uint8_t visibility; /* enum loc_visibility: decides modes and the public check */
    uint8_t dir; /* index of the local directory: selects, with the visibility, one of the directory
                    descriptors of executor/request.h */
    int64_t timestamp; /* modification time of the source, ms since 1970 */
    int64_t size;      /* bytes of the source; -1 = do not verify */
    struct loc_limits limits;
    uint32_t deadline_ms; /* for the whole request */
    /* Parameters of the source from the cluster's configuration. The localizer reads no
     * configuration, and has none in its sandbox. */
    uint32_t io_timeout_ms;                     /* hdfs: timeout for a silent server */
    uint32_t failovers;                         /* hdfs: between NameNodes, before a call fails */
    uint32_t failover_base_ms, failover_max_ms; /* delay between failovers, doubled each time */
    uint8_t options;                            /* enum loc_option */
    uint32_t protection;                        /* hdfs: hdfs_site_protection() */
    char login[LOC_LOGIN_MAX + 1];              /* user of simple authentication, or "" */
    char servers[LOC_SERVERS_MAX + 1]; /* hdfs: hdfs_servers_text(); s3a: the endpoint; else "" */
    /* s3a: the job's own keys; PUBLIC: the cluster's. Both "": requests are not signed. */
    char region[LOC_REGION_MAX + 1];
    char access_key[LOC_ACCESS_KEY_MAX + 1];
    char secret_key[LOC_SECRET_KEY_MAX + 1];
    char session_token[LOC_SESSION_TOKEN_MAX + 1];
    char url[FS_URL_MAX + 1];
    char pattern[SV_PATTERN_MAX + 1]; /* only for LOC_PATTERN, else "" */
    char rel[LOC_REL_MAX + 1];        /* "0/3/17": created as <rel>_tmp, renamed to <rel> */
    char name[FS_NAME_MAX + 1];       /* the entry below <rel> */
};
struct loc_progress {
    uint64_t bytes; /* fetched so far */
};
struct loc_done {
    uint64_t size;    /* of the entry in the cache */
    uint32_t entries; /* files, directories and links */
    uint8_t tree;     /* 1: the source was a directory, which has no size of its own */
};
struct loc_failed {
    uint8_t reason; /* enum loc_fail */
    char text[LOC_TEXT_MAX + 1];
};

struct loc_msg {
    uint8_t type;     /* enum loc_msg_type */
    uint64_t request; /* chosen by the NodeManager, > 0, never reused on one channel */
    union {
        struct loc_fetch fetch;
        struct loc_progress progress;
        struct loc_done done;
        struct loc_failed failed;
    };
};

enum loc_peer { LOC_PEER_NM, LOC_PEER_LOCALIZER };

/* Returns the number of bytes written to `buf` (LOC_MSG_MAX), or -EINVAL when a field breaks its
 * rule. */
int loc_msg_encode(const struct loc_msg *m, uint8_t *buf) _must_use_;
/* `from` is the sender: message types of the other side are rejected. -EBADMSG for anything that
 * loc_msg_encode does not emit; *ret is then not written. Control bytes in texts of FAILED are
 * replaced. */
int loc_msg_decode(const void *p, size_t n, enum loc_peer from, struct loc_msg *ret) _must_use_;

/* Sends or receives one datagram without blocking. Send: 0, -EAGAIN, -EPIPE, …. Receive: 1 = a
 * message, 0 = the other side has closed, -EAGAIN, -EBADMSG (malformed, too long, or with
 * descriptors attached: they are closed), other -errno. */
int loc_msg_send(int fd, const struct loc_msg *m) _must_use_;
int loc_msg_recv(int fd, enum loc_peer from, struct loc_msg *ret) _must_use_;
/* As above, for a FETCH with Credentials ("HDTS…") in a sealed memfd: the job's, or, of a PUBLIC
 * one, the NodeManager's token for the file system; -1 = none. The receiver owns it; any other
 * descriptor is -EBADMSG. */
int loc_msg_send_with(int fd, const struct loc_msg *m, int credentials) _must_use_;
int loc_msg_recv_with(int fd, enum loc_peer from, struct loc_msg *ret, int *ret_credentials)
    _must_use_;

/* True for "0", "0/3", "17", "0/3/17": components of [0-9a-z]+ only, at most LOC_REL_MAX. */
bool loc_rel_valid(const char *rel);

#endif
