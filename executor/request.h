/* Wire format between the daemon and container-executor: the request datagram, the reply datagram
 * and the exit record. Shared by executor/ (daemon side: executor/helper-protocol.h) and
 * setuid-helper/; includes nothing but libc.
 *
 * Hostile input: the request, in the helper (the daemon may be compromised); the exit record, in
 * the daemon (a disk may be corrupt). A decoder MUST refuse a wrong length or version, a field out
 * of range, and a field that the operation does not use and that is not zero.
 *
 * The structs are the bytes: fixed width, no padding, in the machine's own order (both ends and the
 * disk are one machine). A request MUST NOT contain a path. */
#ifndef SELVEDGE_EXECUTOR_REQUEST_H
#define SELVEDGE_EXECUTOR_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A helper accepts requests of these two versions and answers in the version of the request; a
 * daemon uses the older one if the helper knows no other. So daemon and helper may be one version
 * apart, in both directions. When raising the version, set the oldest to the previous one if
 * requests and replies of that have the same meaning, else to the same number: never two behind. */
#define EXE_PROTOCOL_VERSION 9
#define EXE_PROTOCOL_OLDEST 8
_Static_assert(EXE_PROTOCOL_VERSION - EXE_PROTOCOL_OLDEST <= 1, "one version behind at most");
#define EXE_RECORD_VERSION 1 /* separate: a new daemon reads the records of running containers */
#define EXE_REQUEST_MAGIC 0x71457653u /* "SvEq" */
#define EXE_REPLY_MAGIC 0x72457653u   /* "SvEr" */
#define EXE_RECORD_MAGIC 0x78457653u  /* "SvEx" */

#define EXE_DIRS_MAX 32            /* local dirs, log dirs: an index is a bit of a mask */
#define EXE_USER_MAX 64            /* bytes of an account name */
#define EXE_SUBMITTER_MAX 255      /* bytes of a submitter's name: it is also a directory name */
#define EXE_FILE_MAX (1024 * 1024) /* bytes of launch script, of credentials */
#define EXE_FDS_MAX 4
#define EXE_SIGNAL_TO_NONE "no process, as none catches it"
#define EXE_TEXT_MAX 128      /* bytes of an identifier's text with its NUL */
#define EXE_DEVICES_MAX 16    /* assigned device nodes of one container */
#define EXE_MORE_MAX 32       /* further containers of one DELETE */
#define EXE_CATEGORIES 4      /* SELinux categories of one application; half of them its user's */
#define EXE_CATEGORY_MAX 1024 /* users' are below 512, applications' from there on */
#define EXE_REPLY_TEXT_MAX 12288

enum exe_op {
    EXE_OP_CHECK = 1,    /* checks the installation and returns the policy in force; what:
                            EXE_CHECK_REBUILD rebuilds it and the root templates first */
    EXE_OP_INIT_APP = 2, /* user and application directories on the masked local and log dirs */
    EXE_OP_LAUNCH = 3,   /* fds: script, credentials (sealed memfds), the launch lock; what:
                            EXE_LAUNCH_AGAIN keeps the directories of the container's last launch;
                            EXE_LAUNCH_DOOR: a fourth fd, where init takes sessions (session.h) */
    EXE_OP_LOCALIZE = 4, /* fds: channel (SOCK_SEQPACKET) */
    EXE_OP_SIGNAL = 5,   /* fds: pidfd of the container's init; SIGQUIT: the answer's text has the
                          * processes that catch it and got it, or EXE_SIGNAL_TO_NONE */
    EXE_OP_DELETE = 6,
    EXE_OP_LINK = 7, /* links in the work dir of a running container, whose local dir is masked;
                      * fds: "NAME\0TARGET\0" for each */
};

/* Visibility of the host to a container. The root-owned configuration lists the allowed ones. The
 * baseline (ids, no capability, no_new_privs, filters, cgroup, pid namespace) is the same in
 * all. */
enum exe_profile {
    EXE_PROFILE_STRICT = 1, /* only paths that a job needs */
    EXE_PROFILE_HADOOP = 2, /* the host's tree read-only, debuggers inside: existing applications */
    EXE_PROFILE_HOST = 3,   /* the host's own tree, guarded by its permissions alone */
};

enum exe_network {
    EXE_NETWORK_HOST = 0,
    EXE_NETWORK_NONE = 1,    /* its own, with lo alone */
    EXE_NETWORK_PRIVATE = 2, /* its own, with an address of the configured range */
};

/* A character device node. */
struct exe_device {
    uint32_t major, minor;
};

/* Directories that LOCALIZE opens, for writing except LOGS, as bits; PUBLIC, LOGS or ROLLED_LOGS
 * alone, or any combination of the others. The last two start log-uploader. */
enum exe_visibility {
    EXE_VISIBILITY_PUBLIC = 1,
    EXE_VISIBILITY_PRIVATE = 2,
    EXE_VISIBILITY_APPLICATION = 4,
    EXE_VISIBILITY_LOGS = 8,         /* the application's logs, read-only */
    EXE_VISIBILITY_ROLLED_LOGS = 16, /* as LOGS, for writing: uploaded ones are deleted */
};

#define EXE_CHECK_REBUILD 1
/* Bits of `what` for LAUNCH: */
#define EXE_LAUNCH_AGAIN 1
#define EXE_LAUNCH_DOOR 2 /* from version 9 on */

enum exe_delete {
    EXE_DELETE_CONTAINER = 1,      /* work dirs <app>/<container>, of `more` as well */
    EXE_DELETE_CONTAINER_LOGS = 2, /* <log>/<app>/<container> */
    EXE_DELETE_APP = 3,            /* usercache/<submitter>/appcache/<app> */
    EXE_DELETE_APP_LOGS = 4,       /* content of <log>/<app>; the daemon removes the empty rest */
    EXE_DELETE_USER = 5,           /* content of usercache/<submitter>; likewise */
    EXE_DELETE_RESOURCE = 6,       /* <cache>/[<resource dir>/]<resource id> and …_tmp */
    EXE_DELETE_PUBLIC = 7,         /* content of filecache; likewise */
};

/* The launch lock: the daemon's directory nmPrivate/<application>/<container>, open and locked by
 * flock(LOCK_SH). The helper MUST keep it open until the record is written, and MUST NOT pass it to
 * another program: success of LOCK_EX proves that no launch of the container is in progress. */
struct exe_request {
    uint32_t magic; /* set by exe_request_encode, as is a version of 0 */
    uint16_t version;
    uint16_t op;         /* enum exe_op */
    uint64_t request_id; /* returned in the reply */
    /* Identifiers; 0 where the operation has none. */
    int64_t cluster_ts;
    int64_t container;   /* epoch << 40 | sequence, sequence 1… */
    int32_t app;         /* 1… */
    int32_t attempt;     /* 1… */
    uint32_t local_mask; /* bit i = the configuration's local dir i is good and used */
    uint32_t log_mask;
    uint64_t resource_id;  /* DELETE RESOURCE */
    uint32_t resource_dir; /* DELETE RESOURCE: its directory in the cache's 0-9a-z hierarchy,
                              numbered as in loc_hierarchy_path; 0 = the cache itself */
    /* LAUNCH: limits that the daemon has set on the container's cgroup, compared with the files; 0
     * only on a node whose configuration allows containers without limits. */
    uint32_t pids_max;
    uint64_t memory_max; /* bytes */
    /* LAUNCH with network PRIVATE: number of the address in the configured range, outbound rates.
     */
    uint32_t net_index;
    uint32_t net_rate_kbit; /* guaranteed; 0 = none */
    uint32_t net_ceil_kbit; /* at most; 0 = no limit, otherwise not below the rate */
    uint8_t network;        /* LAUNCH: enum exe_network */
    uint8_t profile;        /* LAUNCH: enum exe_profile */
    uint8_t work_dir;       /* LAUNCH, SIGNAL: index of the local dir of work dir and record */
    uint8_t what;       /* LOCALIZE: visibility bits; DELETE: enum exe_delete; see enum exe_op */
    uint8_t visibility; /* DELETE RESOURCE: one visibility bit */
    uint8_t signal;     /* SIGNAL: Linux number, one of those in request.c */
    uint8_t n_devices;  /* LAUNCH: assigned devices, each once, in ascending order */
    uint8_t n_more;     /* DELETE CONTAINER: further containers of the attempt */
    /* INIT_APP, LAUNCH, LOCALIZE of a user, on a node with labels: two categories of the user, two
     * of the application, each pair ascending. All zero: none. */
    uint16_t categories[EXE_CATEGORIES];
    union {
        struct exe_device devices[EXE_DEVICES_MAX];
        uint32_t more[EXE_MORE_MAX]; /* offsets from `container`, ascending */
    };
    char user[EXE_USER_MAX + 12]; /* "" only for CHECK and PUBLIC; followed by zeros */
    /* The submitter of the application: the name of the directory in usercache, whose owner is
     * `user`. The two differ if one account runs everybody's applications. "" if the operation
     * touches no such directory; followed by zeros. */
    char submitter[EXE_SUBMITTER_MAX + 1];
};
#define EXE_REQUEST_SIZE 560
_Static_assert(sizeof(struct exe_request) == EXE_REQUEST_SIZE, "no padding");

/* 0, -EPROTONOSUPPORT (other version) or -EBADMSG. */
int exe_request_decode(const uint8_t *buf, size_t len, struct exe_request *ret);
/* True if every field is valid for its operation. Checked by both ends. */
bool exe_request_ok(const struct exe_request *r);
/* True if the name, of at most `max` bytes, matches Hadoop's user pattern
 * ^[_.A-Za-z0-9][-@_.A-Za-z0-9]*[$]?$ and does not begin with a dot. It then is a plain name of a
 * directory: no path, not "." or "..", nothing to escape. */
bool exe_name_ok(const char *name, size_t max);
/* Number of descriptors that the request takes. */
int exe_request_fds(const struct exe_request *r);

/* "application_…", "container_…" as YARN prints them, into EXE_TEXT_MAX bytes. */
void exe_app_text(const struct exe_request *r, char *buf);
void exe_container_text(const struct exe_request *r, char *buf);

/* The step that failed. One number per kind of refusal, stable across versions: status of the reply
 * and exit status of the helper. Messages: executor/helper-protocol.c. */
enum exe_status {
    EXE_STATUS_OK = 0,
    EXE_STATUS_ARGUMENTS = 1,
    EXE_STATUS_DESCRIPTORS = 2,
    EXE_STATUS_CALLER = 3,
    EXE_STATUS_NOT_ROOT = 4,
    EXE_STATUS_CONFINED = 5,
    EXE_STATUS_LIMITS = 6,
    EXE_STATUS_PRIVILEGE = 7,
    EXE_STATUS_KERNEL = 8,
    EXE_STATUS_SOCKET = 9, /* set by the daemon: no helper was reached */
    EXE_STATUS_REQUEST = 10,
    EXE_STATUS_VERSION = 11,
    EXE_STATUS_REQUEST_FDS = 12,
    EXE_STATUS_REQUEST_FILE = 13,
    EXE_STATUS_CONFIG_OPEN = 20,
    EXE_STATUS_CONFIG_OWNER = 21,
    EXE_STATUS_CONFIG_SYNTAX = 22,
    EXE_STATUS_BINARY_OWNER = 23,
    EXE_STATUS_SERVICE_ACCOUNT = 24,
    EXE_STATUS_STATE = 25,
    EXE_STATUS_USER_UNKNOWN = 30,
    EXE_STATUS_USER_REFUSED = 31,
    EXE_STATUS_USER_LOOKUP = 32,
    EXE_STATUS_PROFILE = 33,
    EXE_STATUS_NETWORK_MODE = 34,
    EXE_STATUS_DEVICE = 35,
    EXE_STATUS_LOCAL_DIR = 40,
    EXE_STATUS_LOG_DIR = 41,
    EXE_STATUS_USER_DIR = 42,
    EXE_STATUS_APP_DIR = 43,
    EXE_STATUS_CONTAINER_DIR = 44,
    EXE_STATUS_RECORD = 45,
    EXE_STATUS_CGROUP = 50,
    EXE_STATUS_CGROUP_BUSY = 51,
    EXE_STATUS_CGROUP_LIMITS = 52,
    EXE_STATUS_DEVICE_FILTER = 53,
    EXE_STATUS_CLONE = 54,
    EXE_STATUS_NETWORK = 55,
    EXE_STATUS_MOUNT = 60,
    EXE_STATUS_SESSION = 61,
    EXE_STATUS_DROP = 62,
    EXE_STATUS_SCRIPT_FILE = 63,
    EXE_STATUS_CREDENTIALS_FILE = 64,
    EXE_STATUS_WORK_DIR = 65,
    EXE_STATUS_FILTER = 66,
    EXE_STATUS_EXEC = 67,
    EXE_STATUS_LOST = 68,
    EXE_STATUS_LABEL = 69,
    EXE_STATUS_SIGNAL = 70,
    EXE_STATUS_SIGNAL_TARGET = 71,
    EXE_STATUS_DELETE = 80,
    EXE_STATUS_LINK = 81,
};

/* The reply: one datagram, a struct exe_reply_head and text_len bytes. LAUNCH and LOCALIZE carry
 * the pidfd of the init with it. */
struct exe_reply_head {
    uint32_t magic; /* magic and version are the first fields in every version */
    uint16_t version;
    uint16_t status;     /* enum exe_status */
    uint64_t request_id; /* 0 if the request could not be decoded */
    int32_t error;       /* errno, or 0 */
    int32_t pid;         /* LAUNCH, LOCALIZE: init in the caller's pid namespace */
    uint16_t text_len;
    uint8_t zero[6];
};
_Static_assert(sizeof(struct exe_reply_head) == 32, "no padding");

/* The exit record, <local dir>/nmPrivate/<application>/<container>/<container>.status: 128 bytes.
 * Written RUNNING when the container is launched and EXITED by one pwrite when it has ended, by the
 * monitor, which holds a POSIX write lock on it for its whole life. */
enum exe_record_state {
    EXE_RECORD_RUNNING = 1,
    EXE_RECORD_EXITED = 2,
    EXE_RECORD_FAILED = 3, /* the launch failed; exit_code is the enum exe_status */
};

struct exe_record {
    uint32_t magic; /* magic, version and crc: set by exe_record_seal */
    uint16_t version;
    uint16_t state;
    int64_t cluster_ts;
    int32_t app, attempt;
    int64_t container;
    int32_t init_pid; /* in the helper's pid namespace */
    uint32_t uid;
    int64_t start_ms, end_ms;    /* wall clock, since 1970 */
    int32_t exit_code;           /* of the main process; 128 + signal if killed */
    int32_t signal;              /* != 0: the signal that killed init itself (cgroup.kill: 9) */
    uint64_t utime_us, stime_us; /* of every reaped process */
    uint64_t maxrss_kib;         /* largest single process */
    uint8_t zero[36];
    uint32_t crc; /* CRC-32 (IEEE 802.3) of the fields before */
};
#define EXE_RECORD_SIZE 128
_Static_assert(sizeof(struct exe_record) == EXE_RECORD_SIZE, "no padding");
#define EXE_RECORD_SUFFIX ".status"

void exe_record_seal(struct exe_record *r);
uint32_t exe_crc32(const void *data, size_t n);

/* container-localizer and log-uploader are executed with these descriptors, and /dev/null as 0
 * to 2. Directories are O_PATH; of the two ranges only those of masked local dirs and requested
 * visibilities are open. */
#define EXE_LOCALIZER_CHANNEL_FD 3
#define EXE_LOCALIZER_CACHE_FD(i)                                                                  \
    (16 + (i)) /* filecache of PUBLIC or PRIVATE, local dir i; LOGS: log dir i */
#define EXE_LOCALIZER_APP_FD(i) (48 + (i)) /* the application's filecache, local dir i */

#endif
