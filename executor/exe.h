/* Containers for the daemon: launch, watch, signal, adopt after a restart. Asynchronous, on the
 * caller's sd-event loop. No code here needs a privilege: privileged operations are requests to
 * container-executor (setuid-helper/), one process per request.
 *
 * The daemon calls with values it has validated; the helper checks them all again. */
#ifndef SELVEDGE_EXECUTOR_EXE_H
#define SELVEDGE_EXECUTOR_EXE_H

#include <systemd/sd-event.h>

#include "cgroups/cg.h"
#include "common/error.h"
#include "executor/helper-protocol.h"
#include "wire/ids.h"

struct exe;
struct exe_container;

/* Strings are copied. Directory lists must equal those of the helper's configuration in content and
 * order (exe_check compares): an index means the same directory on both sides. */
struct exe_settings {
    const char *helper;      /* path of container-executor */
    const char *socket;      /* socket-activated mode: absolute path; NULL: setuid mode */
    struct cg_root *cgroups; /* borrowed; parent of the containers' cgroups */
    char *const *local_dirs; /* NULL-terminated */
    char *const *log_dirs;
    bool unenforced_allowed;  /* selvedge.nodemanager.unenforced-limits.allowed */
    enum exe_profile profile; /* of containers, compared by exe_check; 0: not compared */
    enum exe_network network;
    uint32_t net_rate_kbit, net_ceil_kbit; /* per container, as in struct exe_launch */
    bool labels;                           /* selvedge.nodemanager.selinux.labels */
};

int exe_new(sd_event *event, const struct exe_settings *s, struct exe **ret, struct sv_error *err)
    _must_use_;
/* Does not end running containers (their monitors are separate processes). No callback follows. */
struct exe *exe_free(struct exe *x);
static inline void exe_freep(struct exe **x)
{
    *x = exe_free(*x);
}

/* Path of container-debug-info, installed beside the helper. */
const char *exe_debug_program(const struct exe *x);

/* The last request could not reach `socket` (EXE_STATUS_SOCKET). exe_check probes it again. */
bool exe_unreachable(const struct exe *x);

/* The cause of a failed operation. */
struct exe_failure {
    enum exe_status status; /* the step */
    int error;              /* errno or 0 */
    int exit_code;          /* exit code of Hadoop's container-executor for it: 24 … */
    bool node_unhealthy;    /* caused by the node's set-up, not by this container */
    char text[512];         /* one sentence for an operator: object, failed step, cause, remedy */
};

/* Describes the failure of a reply, or of no reply (`reply` NULL, `status` from wait). */
void exe_failure_from(const struct exe_reply *reply, int status, const char *object,
                      struct exe_failure *ret);

/* True if the node is the cause, and not an action of a user or a job: the helper ends without an
 * answer, cgroups, a disk that fails or is full. Broader than node_unhealthy, and a heuristic. */
bool exe_failure_is_nodes(const struct exe_failure *f);

/* True for an answer to a check that must end the daemon: the installation or a configuration. Not
 * if the helper cannot be reached, or for a kernel without device filters: there are containers to
 * watch. */
static inline bool exe_failure_refuses(const struct exe_failure *f)
{
    return f->status != EXE_STATUS_SOCKET && f->status != EXE_STATUS_DEVICE_FILTER;
}

/* Result of each simple operation, called once; `f` is NULL on success. */
typedef void (*exe_done)(const struct exe_failure *f, void *userdata);

/* Names as in the configuration. */
const char *exe_profile_name(enum exe_profile p);
const char *exe_network_name(enum exe_network n);

/* Requests the policy in force from the helper and compares directory lists, account, cgroup root,
 * SELinux labels, the unenforced-limits setting, profile, network and bandwidth with ours.
 * `rebuild`: the helper first rebuilds the policy and the root templates, with the present mounts.
 */
int exe_check(struct exe *x, bool rebuild, exe_done done, void *userdata) _must_use_;
/* For a starting daemon, before any other request: waits for the answer to a check, so that no
 * application is recovered with a helper that refuses this daemon; later requests use the version
 * of the protocol that the helper has answered. `s` are the settings of `x`. -EPERM: refused,
 * `*ret` has the reason. 0: not refused, or no answer in time; the next exe_check reports it. */
#define EXE_FIRST_CHECK_MS 30000
int exe_check_first(struct exe *x, const struct exe_settings *s, struct exe_failure *ret)
    _must_use_;
/* The network request from its answer's lines "network-…", for exe_net_plan_make. */
struct net_request;
void exe_network_line(struct net_request *q, const char *key, const char *value);
/* Number of addresses in the range for containers of the network `private`, from the last answer;
 * 0: no answer yet, or another network. */
uint32_t exe_addresses(const struct exe *x);
/* Whether root's configuration lets containers have the device and its node was there, by the last
 * answer; false before it. */
bool exe_assignable(const struct exe *x, const struct exe_device *d);

/* Creates usercache/<submitter>, its caches, appcache/<app> and <log>/<app> on the masked
 * directories, owned by the account `user`; leaves correct existing ones unchanged. Once per
 * application and node. `categories`: as in struct exe_request; NULL = none. */
int exe_init_app(struct exe *x, struct yarn_app_id app, const char *user, const char *submitter,
                 uint32_t local_mask, uint32_t log_mask, const uint16_t *categories, exe_done done,
                 void *userdata) _must_use_;

struct exe_launch {
    struct yarn_container_id id;
    const char *user, *submitter;  /* account; name of its directory in usercache */
    uint32_t local_mask, log_mask; /* good directories */
    unsigned work_dir;             /* index of the local dir of work dir and exit record */
    struct cg_resource resource;   /* translated into its cgroup's limits before the start */
    enum exe_profile profile;
    enum exe_network network;
    uint32_t net_index, net_rate_kbit, net_ceil_kbit; /* PRIVATE; as in struct exe_request */
    const struct exe_device *devices; /* assigned devices, each once, in ascending order */
    size_t n_devices;                 /* at most EXE_DEVICES_MAX */
    const uint16_t *categories;       /* NULL = none */
    bool again;         /* it ran before: its work and log directories are kept. -EEXIST: its last
                         * cgroup is still being removed */
    bool door;          /* takes sessions (exe-session.h), unless the helper is older */
    const void *script; /* launch_container.sh, at most EXE_FILE_MAX bytes */
    size_t script_len;
    const void *credentials; /* container_tokens */
    size_t credentials_len;
};

/* The end of a container. */
struct exe_exit {
    bool lost;     /* the monitor died, so the exit is unknown: exit_code is 154 */
    int exit_code; /* 0…255; 128 + signal for a killed main process */
    int signal;    /* != 0: the signal that killed the whole container */
    bool oom;      /* killed by the kernel for memory; usage.oom == 0: an ancestor's limit */
    int64_t start_ms, end_ms; /* wall clock; 0 when lost */
    uint64_t utime_us, stime_us, maxrss_kib;
    struct cg_usage usage; /* the cgroup's last counters, without stalls */
};

/* Exactly one of started and failed comes first; exited comes once after started. None is called
 * from inside exe_launch. After failed or exited the container stays as an object until
 * exe_container_forget. */
struct exe_container_ops {
    void (*started)(struct exe_container *c, pid_t pid, void *userdata);
    void (*failed)(struct exe_container *c, const struct exe_failure *f, void *userdata);
    void (*exited)(struct exe_container *c, const struct exe_exit *e, void *userdata);
    /* May be NULL. At most once, between started and exited: the kernel has killed in the cgroup
     * for memory. All of the container is killed; the exit follows. */
    void (*oom)(struct exe_container *c, void *userdata);
};

int exe_launch(struct exe *x, const struct exe_launch *l, const struct exe_container_ops *ops,
               void *userdata, struct exe_container **ret, struct sv_error *err) _must_use_;

/* After a restart, for each container that the store records as launched: finds the monitor by the
 * lock on the exit record. `ops->exited` follows, from the loop, also for those that ended
 * meanwhile; `ops->started` for running ones. No record, and no helper that holds the launch lock,
 * means that the launch did not happen: failed with EXE_STATUS_LOST. */
int exe_adopt(struct exe *x, struct yarn_container_id id, const char *user, unsigned work_dir,
              const struct exe_container_ops *ops, void *userdata, struct exe_container **ret,
              struct sv_error *err) _must_use_;

/* `sent`: "pid 17, 21" for SIGQUIT, "" for others and in case of a failure. */
typedef void (*exe_signalled)(const struct exe_failure *f, const char *sent, void *userdata);
/* Signals the main process and its group, through the helper and init: SIGTERM, …; SIGQUIT to those
 * processes of the container that catch it, so that a request for a thread dump ends none. */
int exe_signal(struct exe_container *c, int signal, exe_signalled done, void *userdata) _must_use_;
/* cgroup.kill: kills every process of the container now. Works in every state; `exited` follows. */
int exe_kill(struct exe_container *c) _must_use_;
/* The cgroup, for usage and freeze; NULL after the exit. */
struct cg_leaf *exe_container_cgroup(struct exe_container *c);
/* Removes the exit record, frees the object. Call it when the exit is committed (or the launch has
 * failed and that is recorded). Also removes the daemon's nmPrivate/<app>/<container>. */
void exe_container_forget(struct exe_container *c);

/* Makes links in the work directory of a running container, as its user; `list`: "NAME\0TARGET\0"
 * for each, at most EXE_FILE_MAX bytes. What stands at a name stays; the first failure is reported,
 * the others are made. */
int exe_link(struct exe *x, struct yarn_container_id id, const char *user, const char *submitter,
             unsigned work_dir, const void *list, size_t len, exe_done done, void *userdata)
    _must_use_;

/* A localizer process for one submitter and application (or PUBLIC: all three NULL), or
 * log-uploader (LOGS, ROLLED_LOGS: without a submitter). `channel` is the far end of a
 * SOCK_SEQPACKET socketpair; it is duplicated, the caller closes its own. */
struct exe_localizer;
struct exe_localizer_start {
    const char *user, *submitter;
    const struct yarn_app_id *app;
    unsigned visibility;        /* bits of enum exe_visibility */
    uint32_t local_mask;        /* 0 for LOGS */
    uint32_t log_mask;          /* for LOGS */
    const uint16_t *categories; /* NULL = none */
    int channel;
};
struct exe_localizer_ops {
    void (*started)(struct exe_localizer *l, pid_t pid, void *userdata);
    /* Once, when the process has ended or could not be started (`f` != NULL). status: as
     * waitpid. */
    void (*ended)(struct exe_localizer *l, const struct exe_failure *f, int status, void *userdata);
};
int exe_localizer_start(struct exe *x, const struct exe_localizer_start *s,
                        const struct exe_localizer_ops *ops, void *userdata,
                        struct exe_localizer **ret, struct sv_error *err) _must_use_;
/* Kills it if it runs; no callback follows. */
struct exe_localizer *exe_localizer_free(struct exe_localizer *l);

/* Deletes as the owner. `what` determines which fields are used. */
struct exe_delete_what {
    enum exe_delete what;
    const char *user;      /* owner of the files; NULL for PUBLIC */
    const char *submitter; /* NULL for PUBLIC and for logs */
    struct yarn_app_id app;
    struct yarn_container_id container;
    const int64_t *more; /* CONTAINER: ids of further ones of the attempt, ascending, each above
                          * `container` by less than 2^32 */
    size_t n_more;       /* at most EXE_MORE_MAX */
    enum exe_visibility visibility; /* RESOURCE */
    uint64_t resource_id;           /* RESOURCE */
    uint32_t resource_dir;          /* RESOURCE: struct loc_record's dir_number */
    uint32_t local_mask, log_mask;
};
int exe_delete(struct exe *x, const struct exe_delete_what *d, exe_done done, void *userdata)
    _must_use_;

#endif
