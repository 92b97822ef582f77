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
    uint32_t net_rate_kbit, net_ceil_kbit; /* of each container, as struct exe_launch has them */
    bool labels;                           /* selvedge.nodemanager.selinux.labels */
};

int exe_new(sd_event *event, const struct exe_settings *s, struct exe **ret, struct sv_error *err)
    _must_use_;
/* Running containers live on (their monitors are processes of their own). No callback follows. */
struct exe *exe_free(struct exe *x);
static inline void exe_freep(struct exe **x)
{
    *x = exe_free(*x);
}

/* Path of container-debug-info, which is installed beside the helper. */
const char *exe_debug_program(const struct exe *x);

/* The last request could not reach `socket` (EXE_STATUS_SOCKET). exe_check probes it again. */
bool exe_unreachable(const struct exe *x);

/* Why an operation failed. */
struct exe_failure {
    enum exe_status status; /* the step */
    int error;              /* errno or 0 */
    int exit_code;          /* what Hadoop's container-executor would have exited with: 24 … */
    bool node_unhealthy;    /* caused by the node's set-up, not by this container */
    char text[512];         /* one sentence for a person: object, what failed, why, remedy */
};

/* The failure of a reply, or of no reply (`reply` NULL, `status` from wait), in words. */
void exe_failure_from(const struct exe_reply *reply, int status, const char *object,
                      struct exe_failure *ret);

/* Caused by the node as it is, and not by what a user or a job may do: the helper ends without an
 * answer, cgroups, a disk that fails or is full. More than node_unhealthy, and without certainty.
 */
bool exe_failure_is_nodes(const struct exe_failure *f);

/* The answer to a check with which a daemon must not go on: the installation or a configuration. A
 * helper that cannot be reached, or a kernel without device filters, leaves containers to watch. */
static inline bool exe_failure_refuses(const struct exe_failure *f)
{
    return f->status != EXE_STATUS_SOCKET && f->status != EXE_STATUS_DEVICE_FILTER;
}

/* Every simple operation ends in one call of this; `f` is NULL on success. */
typedef void (*exe_done)(const struct exe_failure *f, void *userdata);

/* As the configuration writes them. */
const char *exe_profile_name(enum exe_profile p);
const char *exe_network_name(enum exe_network n);

/* Requests the policy in force from the helper and compares directory lists, account, cgroup root,
 * SELinux labels, the unenforced-limits setting, profile, network and bandwidth with ours.
 * `rebuild`: the helper first rebuilds the policy and the root templates, with the present mounts.
 */
int exe_check(struct exe *x, bool rebuild, exe_done done, void *userdata) _must_use_;
/* A starting daemon, before it requests anything else: waits for the answer to a check, so that no
 * application is recovered with a helper that refuses this daemon; later requests are of the
 * version of the protocol that the helper has answered. `s` is what `x` was made of. -EPERM:
 * refused, `*ret` says why. 0: not refused, or no answer in time; the next exe_check will tell. */
#define EXE_FIRST_CHECK_MS 30000
int exe_check_first(struct exe *x, const struct exe_settings *s, struct exe_failure *ret)
    _must_use_;
/* A line of its answer that begins with "network-", for net_plan_make. */
struct net_request;
void exe_network_line(struct net_request *q, const char *key, const char *value);
/* Number of addresses in the range for containers of the network `private`, by the last answer; 0:
 * no answer yet, or another network. */
uint32_t exe_addresses(const struct exe *x);

/* Makes usercache/<submitter>, its caches, appcache/<app> and <log>/<app> on the masked
 * directories, owned by the account `user`; what is there already and right is left alone. Once an
 * application and node. `categories`: as in struct exe_request; NULL = none. */
int exe_init_app(struct exe *x, struct yarn_app_id app, const char *user, const char *submitter,
                 uint32_t local_mask, uint32_t log_mask, const uint16_t *categories, exe_done done,
                 void *userdata) _must_use_;

struct exe_launch {
    struct yarn_container_id id;
    const char *user, *submitter;  /* account; name of its directory in usercache */
    uint32_t local_mask, log_mask; /* good directories */
    unsigned work_dir;             /* index of the local dir of work dir and exit record */
    struct cg_resource resource;   /* made into the limits of its group before it starts */
    enum exe_profile profile;
    enum exe_network network;
    uint32_t net_index, net_rate_kbit, net_ceil_kbit; /* PRIVATE; as struct exe_request has them */
    const struct exe_device *devices; /* assigned ones, each once, in ascending order */
    size_t n_devices;                 /* at most EXE_DEVICES_MAX */
    const uint16_t *categories;       /* NULL = none */
    const void *script;               /* launch_container.sh, at most EXE_FILE_MAX bytes */
    size_t script_len;
    const void *credentials; /* container_tokens */
    size_t credentials_len;
};

/* How a container ended. */
struct exe_exit {
    bool lost;     /* the monitor died, so the end is unknown: exit_code is 154 */
    int exit_code; /* 0…255; 128 + signal for a killed main process */
    int signal;    /* != 0: the whole container was killed by it */
    bool oom;      /* the kernel killed in this group for memory; usage.oom == 0: an ancestor's */
    int64_t start_ms, end_ms; /* wall clock; 0 when lost */
    uint64_t utime_us, stime_us, maxrss_kib;
    struct cg_usage usage; /* the group's last counters, without stalls */
};

/* Exactly one of started and failed comes first; exited comes once after started. None is called
 * from inside exe_launch. After failed or exited the container stays as an object until
 * exe_container_forget. */
struct exe_container_ops {
    void (*started)(struct exe_container *c, pid_t pid, void *userdata);
    void (*failed)(struct exe_container *c, const struct exe_failure *f, void *userdata);
    void (*exited)(struct exe_container *c, const struct exe_exit *e, void *userdata);
    /* May be NULL. At most once, between started and exited: the kernel has killed in the group for
     * memory. All of the container is killed; the exit follows. */
    void (*oom)(struct exe_container *c, void *userdata);
};

int exe_launch(struct exe *x, const struct exe_launch *l, const struct exe_container_ops *ops,
               void *userdata, struct exe_container **ret, struct sv_error *err) _must_use_;

/* After a restart, for each container that the store knows as launched: finds the monitor by the
 * lock on the exit record. `ops->exited` comes later, at once for those that ended meanwhile
 * (from the loop); `ops->started` comes for those that run. A record that was never made, where no
 * helper holds the launch lock any more, means that the launch had not happened: failed with
 * EXE_STATUS_LOST. */
int exe_adopt(struct exe *x, struct yarn_container_id id, const char *user, unsigned work_dir,
              const struct exe_container_ops *ops, void *userdata, struct exe_container **ret,
              struct sv_error *err) _must_use_;

/* To the main process and its group, through the helper and init: SIGTERM, SIGQUIT, … */
int exe_signal(struct exe_container *c, int signal, exe_done done, void *userdata) _must_use_;
/* cgroup.kill: everything in the container, now. Works in every state; `exited` follows. */
int exe_kill(struct exe_container *c) _must_use_;
/* The group, for usage and freeze; NULL after the exit. */
struct cg_leaf *exe_container_cgroup(struct exe_container *c);
/* Removes the exit record, frees the object. Call when the exit is in the store (or the launch has
 * failed and that is recorded). The daemon's nmPrivate/<app>/<container> goes with it. */
void exe_container_forget(struct exe_container *c);

/* A localizer process for one submitter and application (or PUBLIC: all three NULL), or
 * log-uploader (LOGS, ROLLED_LOGS: without a submitter). `channel` is the far end of a
 * SOCK_SEQPACKET socketpair; it is duplicated, the caller closes its own. */
struct exe_localizer;
struct exe_localizer_start {
    const char *user, *submitter;
    const struct yarn_app_id *app;
    unsigned visibility;        /* bits of enum exe_visibility */
    uint32_t local_mask;        /* of LOGS: 0 */
    uint32_t log_mask;          /* of LOGS */
    const uint16_t *categories; /* NULL = none */
    int channel;
};
struct exe_localizer_ops {
    void (*started)(struct exe_localizer *l, pid_t pid, void *userdata);
    /* Once, when the process has ended or could not be started (`f` != NULL). status: as waitpid.
     */
    void (*ended)(struct exe_localizer *l, const struct exe_failure *f, int status, void *userdata);
};
int exe_localizer_start(struct exe *x, const struct exe_localizer_start *s,
                        const struct exe_localizer_ops *ops, void *userdata,
                        struct exe_localizer **ret, struct sv_error *err) _must_use_;
/* Kills it if it runs; no callback follows. */
struct exe_localizer *exe_localizer_free(struct exe_localizer *l);

/* Deletes as the owner. Which fields count depends on `what`. */
struct exe_delete_what {
    enum exe_delete what;
    const char *user;      /* whose the files are; NULL for PUBLIC */
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
