/* Private declarations of container-executor.
 *
 * Rules of this folder, which every change MUST keep:
 *  - argv, environment, working directory and inherited descriptors are never used; the request is
 *    hostile; so is every name below a directory that the daemon or a user can write.
 *  - Root opens nothing below the daemon's directories by root's rights: file access there is made
 *    with the file-system ids of the daemon (hlp_fs_as) or of the job's user, without
 *    CAP_DAC_OVERRIDE. Files in user directories are written and deleted after the full drop.
 *  - Paths are resolved one component at a time or by openat2(RESOLVE_BENEATH|NO_SYMLINKS|…),
 *    checked and used by descriptor. O_CREAT goes with O_EXCL.
 *  - A step that fails ends the process: hlp_fail. There is no "continue with a warning".
 *  - No NSS, locale, stdio streams, threads, heap. */
#ifndef SELVEDGE_SETUID_HELPER_HELPER_H
#define SELVEDGE_SETUID_HELPER_HELPER_H

#include <sys/types.h>

#include "cgroups/layout.h"
#include "executor/request.h"
#include "setuid-helper/handoff.h"
#include "setuid-helper/policy.h"

#define HLP_PATH_MAX 1024

struct hlp {
    struct exe_request req;
    int fds[EXE_FDS_MAX];
    struct hlp_policy cfg; /* compiled form of root's configuration */
    int table;             /* the policy's file, for its table of users */
    int host_ns;           /* the host's mount namespace while the process is in another one; -1 */
    int monitor_program;   /* container-monitor, for an exec by descriptor */
    int hidden;            /* HLP_HIDDEN of the root template, which a /dev of its own covers; -1 */
    struct hlp_user user;  /* of the operation */
    char app[EXE_TEXT_MAX], container[EXE_TEXT_MAX];
    bool activated; /* socket-activated mode: root from the first instruction */
};

/* fail.c: ends the process with `status`, after undoing (hlp_on_fail) and reporting (hlp_fail_to);
 * in the launched child a message to its pipe takes the place of both. `what` names the object. */
_Noreturn void hlp_fail(enum exe_status status, int error, const char *what);
void hlp_fail_to(void (*fn)(enum exe_status status, int error, const char *what));
void hlp_fail_to_pipe(int fd);                        /* a struct hlp_message is written there */
void hlp_on_fail(void (*fn)(void *), void *argument); /* called once; NULL: nothing to undo */

/* request-socket.c */
bool hlp_is_channel(int fd); /* a SOCK_SEQPACKET of AF_UNIX */
/* The request datagram and its descriptors, within ten seconds. */
size_t hlp_receive(uint8_t *buf, size_t size, int fds[EXE_FDS_MAX], int *ret_n_fds);
void hlp_reply(const struct exe_request *to, enum exe_status status, int error, const char *text);
/* One line for the machine's log, so that a daemon that was taken over leaves traces. Best effort,
 * and only while still root: an operation for a user MUST call it at its last step as such. */
void hlp_audit(const struct hlp *h, enum exe_status status, int error);

/* policy-load.c */
void hlp_load_policy(struct hlp *h);

size_t hlp_format(char *buf, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* length; fails with REQUEST when it does not fit */

/* sanitize.c */
void hlp_sanitize(int argc);
void hlp_become_server(void); /* ids all root, securebits, no_new_privs, few capabilities */
void hlp_rlimits(void);       /* for the launched program */
/* The helper's working set; one of these is effective for a step only. */
enum hlp_extra {
    HLP_CAP_NONE,
    HLP_CAP_DAC_OVERRIDE,
    HLP_CAP_NET_ADMIN,
    HLP_CAP_SYS_CHROOT,
    HLP_CAP_SYS_RESOURCE
};
void hlp_set_step_cap(enum hlp_extra extra);
/* Irreversible: the working set becomes that of the request's operation. */
void hlp_cut_caps(const struct hlp *h);
/* Sets oom_score_adj of this process and its descendants, as their minimum where the machine has
 * CAP_SYS_RESOURCE; elsewhere the minimum is 0. */
void hlp_oom_score(int proc, const char *score);
/* Moves these descriptors (-1: none) to numbers from HLP_HIGH on, away from the fixed numbers of a
 * program's descriptors; closes all others but 0 to 2. */
#define HLP_HIGH 128
void hlp_keep_only(int *const *keep, int n);
void hlp_fs_as(uid_t uid, gid_t gid);
/* Irreversible: groups, gid, uid, bounding set, capabilities; each is verified. */
void hlp_drop(const struct hlp_user *u);
void hlp_load_filter(const struct sock_fprog *filter);
/* Keeps capabilities through an exec (ambient): CAP_NET_ADMIN, with an irreversible drop to this
 * account; NULL: those of container-prepare, as root. */
void hlp_drop_keeping(const struct hlp_user *u);

/* run-program.c: runs LIBEXECDIR/<name> to its end, which comes within ten seconds: its exit
 * status, -1 when it was killed. At most `max` bytes of what it writes to descriptor 1 are taken.
 */
#define HLP_PROGRAM_FDS 5
struct hlp_program {
    const char *name, *argument;
    const struct hlp_user *as; /* NULL: stays root, with what container-prepare needs */
    mode_t without;            /* bits that its file's mode must not have */
    int fds[HLP_PROGRAM_FDS];  /* its descriptors 0 to 4; -1: none (1 is the pipe) */
    int net_namespace;         /* >= 0: runs there, with CAP_NET_ADMIN */
    enum exe_status status;    /* of a failure to run it */
};
int hlp_run_program(const struct hlp_program *p, void *out, size_t max, size_t *ret_got);

/* label.c: labels what is made or executed from now on, or this process; nothing where
 * selvedge.sandbox.selinux is not set. */
enum { HLP_SELINUX_LABELS, HLP_SELINUX_ENFORCING };
enum hlp_label {
    HLP_LABEL_MONITOR,    /* this process */
    HLP_LABEL_CHILD,      /* the same, launched */
    HLP_LABEL_CONTAINER,  /* the program that it executes */
    HLP_LABEL_LOCALIZER,  /* the same */
    HLP_LABEL_APP_FILES,  /* files and directories that this process creates */
    HLP_LABEL_APP_CACHE,  /* the same, for the application to read */
    HLP_LABEL_USER_CACHE, /* the same, for all applications of the user, or PUBLIC */
    HLP_LABEL_PLAIN,      /* the same, without categories */
    HLP_LABEL_RECORD,     /* the same, the daemon's own */
};
void hlp_label(const struct hlp *h, enum hlp_label which);
/* Writes through `proc`, verified to be a /proc, and reads the text back. */
void hlp_write_proc(int proc, const char *path, const char *text, enum exe_status status);

/* accounts.c */
void hlp_job_user(struct hlp *h);

/* path.c */
int hlp_open_at(int dirfd, const char *path, int flags); /* openat2 beneath; fd or -errno */
/* The directory that holds the last name of an absolute path, which comes back: every one from / on
 * is root's or `owner`'s and not writable by others. `on_open` may be EXE_STATUS_OK here and in the
 * next one: then what is missing comes back as -ENOENT. */
int hlp_walk(const char *path, uid_t owner, char ret_name[256], enum exe_status on_open,
             enum exe_status on_owner);
/* Root's file: every directory from / on and the file itself root-owned, not writable by others. */
int hlp_open_trusted(const char *path, int flags, enum exe_status on_open,
                     enum exe_status on_owner);
/* What an open came to, fd or -errno: whose it must be, if that counts, and which bits its mode
 * must not have. */
#define HLP_ANY ((uid_t)-1)
/* LIBEXECDIR/<name>, O_PATH, for an exec by descriptor. Where an account executes it that others
 * may have, it MUST be without 066: the kernel keeps such a process from being traced. */
int hlp_open_program(const char *name, mode_t without, enum exe_status status);
int hlp_check_open(int fd, const char *what, uid_t uid, gid_t gid, mode_t without,
                   enum exe_status status);
int hlp_open_root(const struct hlp *h, const char *path, enum exe_status status);
/* Opens `name` below `parent` (the daemon's), makes it for `uid` when missing. */
int hlp_ensure_dir(const struct hlp *h, int parent, const char *name, uid_t uid, mode_t mode,
                   enum exe_status status);
/* As the user, below the user's own directory; the other one also below what is the daemon's. */
int hlp_make_dir(int parent, const char *name, mode_t mode, bool exclusive, enum exe_status status);
int hlp_open_user_dir(int dirfd, const char *path, uid_t uid, enum exe_status status);

/* cgroup.c */
struct hlp_groups {
    int root, own; /* the delegated group; the container's, or the localizers' */
};
int hlp_open_root_group(const struct hlp *h);
int hlp_open_group(const struct hlp *h, int root, const char *name);
void hlp_check_cgroup(const struct hlp *h, int cgroup);
int hlp_open_monitors(const struct hlp *h, int root); /* cgroup.procs of the monitors' group */
void hlp_verify_filtered(const struct hlp *h, const struct hlp_groups *g);

/* devices.c */
#define HLP_NODES_MAX (EXE_DEVICES_MAX + HLP_CONTROLS_MAX)
unsigned hlp_find_nodes(const struct hlp *h, struct hlp_node nodes[HLP_NODES_MAX]);
void hlp_device_filter(const struct hlp *h, int cgroup, const struct hlp_node *nodes,
                       unsigned n_nodes);
/* A filter that allows the standard nodes and these. What the kernel refused, with errno; NULL. */
const char *hlp_attach_filter(const struct hlp_policy *p, int cgroup, const struct hlp_node *nodes,
                              unsigned n_nodes);
int hlp_bpf(int command, union bpf_attr *attr);

/* network.c: leaves the process in the container's network namespace. */
void hlp_network(const struct hlp *h);

/* sandbox.c: the launched child's file system, made by its parent for the most part. */
struct hlp_child {
    int status, life; /* pipes to the monitor and from it */
    int init;         /* container-init */
    int mounts;       /* its mount namespace */
    int root;         /* / there */
    const struct sock_fprog *filter;
    struct hlp_node nodes[HLP_NODES_MAX];
    unsigned n_nodes;
    int caches[2 * EXE_DIRS_MAX]; /* LOCALIZE: trees by EXE_LOCALIZER_CACHE_FD's numbers - 16 */
};
/* The root template of the request's profile; -1: the profile has none. Where it has just been
 * replaced the policy is loaded anew. */
int hlp_open_root_template(struct hlp *h);
/* Detached mounts of the process' own directories, and where they belong: base and rest. */
struct hlp_dirs {
    struct hlp_dir {
        int fd;
        const char *base, *kind; /* "local" or "log": these have the same mount points */
        char rest[512];
    } v[4 * EXE_DIRS_MAX + 2];
    unsigned n;
    const char *kind; /* of those that are added now */
    int tmp;          /* the container's */
};
/* Leaves this process in the child's mount, IPC and UTS namespaces, made from the template. */
void hlp_enter_sandbox(struct hlp *h, int template, struct hlp_child *c,
                       const struct hlp_dirs *dirs);
void hlp_enter_mount_ns(int mounts);
/* In the child: what needs its pid namespace and its group. */
void hlp_finish_root(const struct hlp *h, const struct hlp_child *c);

/* directories.c: opens the directories of a launch and makes the container's own. */
void hlp_open_dirs(const struct hlp *h, struct hlp_child *c, struct hlp_dirs *dirs);

/* init.c: the launched child. */
_Noreturn void hlp_child(const struct hlp *h, struct hlp_child *c);

/* The operations: launch.c, operations.c. */
_Noreturn void hlp_launch(struct hlp *h); /* and LOCALIZE */
_Noreturn void hlp_init_app(struct hlp *h);
_Noreturn void hlp_signal(struct hlp *h);
_Noreturn void hlp_delete(struct hlp *h);
/* Thin wrappers of system calls that this C library may not have. */
int hlp_openat2(int dirfd, const char *path, int flags, uint64_t resolve);

#endif
