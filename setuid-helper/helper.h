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
    int hidden;            /* HLP_HIDDEN of the root template, covered by a launch's own /dev; -1 */
    struct hlp_user user;  /* of the operation */
    const struct hlp_account *account; /* as user-lookup has it; NULL: root's tables have it */
    char app[EXE_TEXT_MAX], container[EXE_TEXT_MAX];
    bool activated; /* socket-activated mode: root from the first instruction */
};

/* fail.c: ends the process with `status`, after undoing (hlp_on_fail) and reporting (hlp_fail_to);
 * in the launched child a message to its pipe replaces both. `what` names the object. */
_Noreturn void hlp_fail(enum exe_status status, int error, const char *what);
void hlp_fail_to(void (*fn)(enum exe_status status, int error, const char *what));
void hlp_fail_to_pipe(int fd);                        /* a struct hlp_message is written there */
void hlp_on_fail(void (*fn)(void *), void *argument); /* called once; NULL: nothing to undo */

/* request-socket.c */
bool hlp_is_channel(int fd); /* a SOCK_SEQPACKET of AF_UNIX */
/* Receives the request datagram and its descriptors, within ten seconds. */
size_t hlp_receive(uint8_t *buf, size_t size, int fds[EXE_FDS_MAX], int *ret_n_fds);
void hlp_reply(const struct exe_request *to, enum exe_status status, int error, const char *text);
/* Writes one line to the machine's log, so that a compromised daemon leaves traces. Best effort,
 * and only while still root: an operation for a user MUST call it at its last step as such. */
void hlp_audit(const struct hlp *h, enum exe_status status, int error);

/* policy-load.c */
void hlp_load_policy(struct hlp *h);

size_t hlp_format(char *buf, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* length; fails with REQUEST if it does not fit */

/* sanitize.c */
void hlp_sanitize(int argc);
void hlp_become_server(void); /* ids all root, securebits, no_new_privs, few capabilities */
void hlp_rlimits(void);       /* for the launched program */
/* Additions to the helper's working set; each is effective for a step only. */
enum hlp_extra {
    HLP_CAP_NONE,
    HLP_CAP_DAC_OVERRIDE,
    HLP_CAP_NET_ADMIN,
    HLP_CAP_SYS_CHROOT,
    HLP_CAP_SYS_RESOURCE
};
void hlp_set_step_cap(enum hlp_extra extra);
/* Irreversible: reduces the working set to that of the request's operation. */
void hlp_cut_caps(const struct hlp *h);
/* Sets oom_score_adj of this process and its descendants, as their minimum if the machine has
 * CAP_SYS_RESOURCE; else the minimum is 0. */
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

/* run-program.c: runs LIBEXECDIR/<name> to its end, within ten seconds: its exit status, -1 if it
 * was killed. Reads at most `max` bytes of its output on descriptor 1. */
#define HLP_PROGRAM_FDS 5
struct hlp_program {
    const char *name, *arguments[2]; /* NULL: none */
    const struct hlp_user *as;       /* NULL: stays root, with container-prepare's capabilities */
    mode_t without;                  /* forbidden bits of its file's mode */
    int fds[HLP_PROGRAM_FDS];        /* its descriptors 0 to 4; -1: none (1 is the pipe) */
    int net_namespace;               /* >= 0: runs there, with CAP_NET_ADMIN */
    enum exe_status status;          /* of a failure to run it */
};
int hlp_run_program(const struct hlp_program *p, void *out, size_t max, size_t *ret_got);

/* label.c: labels objects created or programs executed from now on, or this process; no-op if
 * selvedge.sandbox.selinux is not set. */
enum { HLP_SELINUX_LABELS, HLP_SELINUX_ENFORCING };
enum hlp_label {
    HLP_LABEL_MONITOR,    /* this process */
    HLP_LABEL_CHILD,      /* this process, launched */
    HLP_LABEL_CONTAINER,  /* the program that it executes */
    HLP_LABEL_LOCALIZER,  /* as above, a localizer */
    HLP_LABEL_APP_FILES,  /* files and directories that this process creates */
    HLP_LABEL_APP_CACHE,  /* as above, for the application to read */
    HLP_LABEL_USER_CACHE, /* as above, for all applications of the user, or PUBLIC */
    HLP_LABEL_PLAIN,      /* as above, without categories */
    HLP_LABEL_RECORD,     /* as above, the daemon's own */
};
void hlp_label(const struct hlp *h, enum hlp_label which);
/* Writes through `proc`, verified to be a procfs, and reads the text back. */
void hlp_write_proc(int proc, const char *path, const char *text, enum exe_status status);

/* accounts.c */
void hlp_job_user(struct hlp *h);

/* path.c */
int hlp_open_at(int dirfd, const char *path, int flags); /* openat2 beneath; fd or -errno */
/* Opens the directory of the last name of an absolute path, and returns that name: every directory
 * from / on is root's or `owner`'s and not writable by others. `on_open` may be EXE_STATUS_OK here
 * and in the next one: then a missing object returns -ENOENT. */
int hlp_walk(const char *path, uid_t owner, char ret_name[256], enum exe_status on_open,
             enum exe_status on_owner);
/* Opens root's file: every directory from / on and the file itself root-owned, not writable by
 * others. */
int hlp_open_trusted(const char *path, int flags, enum exe_status on_open,
                     enum exe_status on_owner);
/* Result of an open, fd or -errno, with the required owner, if any, and the forbidden mode bits. */
#define HLP_ANY ((uid_t)-1)
/* LIBEXECDIR/<name>, O_PATH, for an exec by descriptor. If it is executed by an account that may
 * have other processes, it MUST be without 066: the kernel then prevents that such a process is
 * traced. */
int hlp_open_program(const char *name, mode_t without, enum exe_status status);
int hlp_check_open(int fd, const char *what, uid_t uid, gid_t gid, mode_t without,
                   enum exe_status status);
int hlp_open_root(const struct hlp *h, const char *path, enum exe_status status);
/* Opens `name` below `parent` (the daemon's), creates it for `uid` if missing. */
int hlp_ensure_dir(const struct hlp *h, int parent, const char *name, uid_t uid, mode_t mode,
                   enum exe_status status);
/* As the user, below the user's own directory; the other one also below the daemon's. */
int hlp_make_dir(int parent, const char *name, mode_t mode, bool exclusive, enum exe_status status);
int hlp_open_user_dir(int dirfd, const char *path, uid_t uid, enum exe_status status);

/* cgroup.c */
struct hlp_groups {
    int root, own; /* the delegated cgroup; the container's, or the localizers' */
};
int hlp_open_root_group(const struct hlp *h);
int hlp_open_group(const struct hlp *h, int root, const char *name);
void hlp_check_cgroup(const struct hlp *h, int cgroup);
int hlp_open_monitors(const struct hlp *h, int root); /* cgroup.procs of the monitors' cgroup */
void hlp_verify_filtered(const struct hlp *h, const struct hlp_groups *g);

/* devices.c */
#define HLP_NODES_MAX (EXE_DEVICES_MAX + HLP_CONTROLS_MAX)
unsigned hlp_find_nodes(const struct hlp *h, struct hlp_node nodes[HLP_NODES_MAX]);
void hlp_device_filter(const struct hlp *h, int cgroup, const struct hlp_node *nodes,
                       unsigned n_nodes);
/* Attaches a filter that allows the standard nodes and these. Returns the failed step, with errno,
 * or NULL. */
const char *hlp_attach_filter(const struct hlp_policy *p, int cgroup, const struct hlp_node *nodes,
                              unsigned n_nodes);
int hlp_bpf(int command, union bpf_attr *attr);

/* network.c: leaves the process in the container's network namespace. */
void hlp_network(const struct hlp *h);

/* sandbox.c: the launched child's file system, mostly set up by its parent. */
struct hlp_child {
    int status, life; /* pipes to the monitor and from it */
    int init;         /* container-init */
    int program;      /* container-start, or LOCALIZE's */
    int door;         /* where it takes sessions; -1: nowhere */
    int mounts;       /* its mount namespace */
    int root;         /* its / */
    const struct sock_fprog *filter;
    struct hlp_node nodes[HLP_NODES_MAX];
    unsigned n_nodes;
    int caches[2 * EXE_DIRS_MAX]; /* LOCALIZE: trees by EXE_LOCALIZER_CACHE_FD's numbers - 16 */
};
/* The root template of the request's profile; -1: the profile has none. Reloads the policy if it
 * has just been replaced. */
int hlp_open_root_template(struct hlp *h);
/* Detached mounts of the process' own directories, and their places: base and rest. */
struct hlp_dirs {
    struct hlp_dir {
        int fd;
        const char *base, *kind; /* "local" or "log": these have the same mount points */
        char rest[512];
    } v[4 * EXE_DIRS_MAX + 2];
    unsigned n;
    const char *kind; /* of those being added */
    int tmp;          /* the container's */
};
/* Leaves this process in the child's mount, IPC and UTS namespaces, created from the template. */
void hlp_enter_sandbox(struct hlp *h, int template, struct hlp_child *c,
                       const struct hlp_dirs *dirs);
void hlp_enter_mount_ns(int mounts);
/* In the child: the steps that need its pid namespace and its cgroup. */
void hlp_finish_root(const struct hlp *h, const struct hlp_child *c);

/* account-tables.c: also there; lays tables with the account over those below `root`. */
void hlp_add_account(const struct hlp *h, int root);

/* directories.c: opens the directories of a launch and creates the container's own. */
void hlp_open_dirs(const struct hlp *h, struct hlp_child *c, struct hlp_dirs *dirs);

/* init.c: the launched child. */
_Noreturn void hlp_child(const struct hlp *h, struct hlp_child *c);

/* The operations: launch.c, operations.c. */
_Noreturn void hlp_launch(struct hlp *h); /* and LOCALIZE */
_Noreturn void hlp_init_app(struct hlp *h);
_Noreturn void hlp_signal(struct hlp *h);
_Noreturn void hlp_delete(struct hlp *h); /* LINK, too */
/* Thin wrappers of system calls that this C library may not have. */
int hlp_openat2(int dirfd, const char *path, int flags, uint64_t resolve);

#endif
