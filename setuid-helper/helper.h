/* container-executor: what its files share.
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
 *  - No NSS, locale, stdio streams, threads, heap (beyond libcap's small sets). */
#ifndef SELVEDGE_SETUID_HELPER_HELPER_H
#define SELVEDGE_SETUID_HELPER_HELPER_H

#include <linux/filter.h>
#include <sys/capability.h>
#include <sys/types.h>

#include "cgroups/layout.h"
#include "executor/network.h"
#include "executor/request.h"

#define HLP_CONFIG_MAX 65536
#define HLP_LIST_MAX 64
#define HLP_GROUPS_MAX 64
#define HLP_BPF_MAX 4096 /* instructions, the kernel's BPF_MAXINSNS */
#define HLP_PATH_MAX 1024
#define HLP_ID_MAX 0x7ffffffeu /* ids from here on are nobody's */

struct hlp_list {
    const char *v[HLP_LIST_MAX];
    unsigned n;
};

struct hlp_devices { /* a section [gpu], [fpga] or [devices] */
    bool enabled;
    uint32_t major; /* of a class; then the majors in `v` are 0 */
    struct exe_device v[HLP_LIST_MAX];
    unsigned n;
};

struct hlp_config { /* strings point into `text` */
    char text[HLP_CONFIG_MAX + 2];
    const char *group, *nm_user, *monitor_user, *public_user, *cgroup_root;
    struct hlp_list local_dirs, log_dirs, banned, allowed_system, read_only, writable;
    struct hlp_devices gpu, fpga, devices, denied;
    uint32_t min_uid;
    uint32_t profiles, networks; /* bit n: number n of enum exe_profile, exe_network is allowed */
    bool unenforced_allowed, net_isolated;
    char label[256];        /* SELinux context of containers; "" = as the policy says */
    struct net_request net; /* as far as the configuration knows it */
};

struct hlp_user {
    char name[EXE_USER_MAX + 1];
    uid_t uid;
    gid_t gid;
    gid_t groups[HLP_GROUPS_MAX];
    size_t n_groups;
};

struct hlp {
    struct exe_request req;
    int fds[EXE_FDS_MAX];
    struct hlp_config cfg;
    struct hlp_user nm, monitor, public, user; /* `user`: whose rights the operation uses */
    gid_t nm_gid;                              /* of cfg.group */
    char app[EXE_TEXT_MAX], container[EXE_TEXT_MAX];
};

/* main.c: ends the process with `status`; before the drop the caller gets a reply. In the launched
 * child the same goes through the status pipe to the monitor. `what` names the object. */
_Noreturn void hlp_fail(enum exe_status status, int error, const char *what);
void hlp_reply(uint16_t status, int error, const char *text, size_t text_len, pid_t pid, int pidfd);
struct hlp_message { /* what the launched child says: 0 = about to execute */
    int32_t status, error;
    char what[120];
};
void hlp_fail_to_pipe(int fd);                        /* from now on hlp_fail writes there */
void hlp_on_fail(void (*fn)(void *), void *argument); /* undo, called once before the reply */
size_t hlp_format(char *buf, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* length; fails with REQUEST when it does not fit */

/* hygiene.c */
void hlp_hygiene(int argc);
void hlp_become_server(void); /* ids all root, securebits, no_new_privs, few capabilities */
void hlp_rlimits(void); /* for the launched program */
void hlp_caps(const cap_value_t *effective, int n_effective, const cap_value_t *permitted,
              int n_permitted);
/* The helper's working set; one of these two is effective for a step only. */
enum hlp_extra { HLP_CAP_NONE, HLP_CAP_DAC_OVERRIDE, HLP_CAP_NET_ADMIN };
void hlp_caps_serving(enum hlp_extra extra);
/* Moves these descriptors (-1: none) to numbers from HLP_HIGH on, out of the way of those that a
 * program gets at fixed ones; closes every other but 0 to 2. */
#define HLP_HIGH 128
void hlp_keep_only(int *const *keep, int n);
void hlp_fs_as(uid_t uid, gid_t gid);
/* For ever: groups, gid, uid, bounding set, capabilities, and proof of each. */
void hlp_drop(const struct hlp_user *u);
void hlp_drop_keeping_net_admin(const struct hlp_user *u); /* through an exec: ambient */

/* program.c: runs LIBEXECDIR/<name> to its end, which comes within ten seconds: its exit status, -1
 * when it was killed. At most `max` bytes of what it writes to descriptor 1 are taken. */
#define HLP_PROGRAM_FDS 5
struct hlp_program {
    const char *name, *argument;
    const struct hlp_user *as;
    int fds[HLP_PROGRAM_FDS]; /* its descriptors 0 to 4; -1: none (1 is the pipe) */
    int net_namespace;        /* >= 0: runs there, with CAP_NET_ADMIN */
    enum exe_status status;   /* of a failure to run it */
};
int hlp_run_program(const struct hlp_program *p, void *out, size_t max, size_t *ret_got);

/* config.c: parses `cfg->text` of `len` bytes; 0 or the line (1…) of the error, with words. */
int hlp_config_parse(struct hlp_config *cfg, size_t len, const char **ret_why);
bool hlp_device_allowed(const struct hlp_config *cfg, const struct exe_device *d);

/* passwd.c: parsers of passwd and group (`text` of `len` bytes; 1 found, 0 not, -errno). */
int hlp_passwd_find(const char *text, size_t len, const char *name, struct hlp_user *ret);
int hlp_group_find(const char *text, size_t len, const char *name, gid_t *ret);
void hlp_group_members(const char *text, size_t len, struct hlp_user *u, gid_t nm_gid);
/* Is it one that no container may have, by its number or by any of its names here? */
bool hlp_group_refused(const char *text, size_t len, gid_t gid, gid_t nm_gid);
void hlp_group_filter(const char *text, size_t len, struct hlp_user *u, gid_t nm_gid);
/* accounts.c */
void hlp_service_accounts(struct hlp *h);
void hlp_job_user(struct hlp *h);

/* path.c */
int hlp_open_at(int dirfd, const char *path, int flags); /* openat2 beneath; fd or -errno */
/* Root's file: every directory from / on and the file itself root-owned, not writable by others. */
int hlp_open_trusted(const char *path, int flags, enum exe_status on_open, enum exe_status on_owner);
size_t hlp_read_trusted(const char *path, void *buf, size_t max, enum exe_status on_open,
                        enum exe_status on_owner);
int hlp_open_root(const struct hlp *h, const char *path, enum exe_status status);
int hlp_open_root_path(const char *path, enum exe_status status); /* its parents are root's; O_PATH */
/* Opens `name` below `parent` (the daemon's), makes it for `uid` when missing. */
int hlp_ensure_dir(const struct hlp *h, int parent, const char *name, uid_t uid, mode_t mode,
                   enum exe_status status);
/* As the user, below the user's own directory. */
int hlp_make_dir(int parent, const char *name, mode_t mode, bool exclusive, enum exe_status status);
int hlp_open_user_dir(int dirfd, const char *path, uid_t uid, enum exe_status status);

/* cgroup.c */
struct hlp_groups {
    int root, own; /* the delegated group; the container's, or the localizers' */
};
void hlp_open_groups(const struct hlp *h, const char *name, struct hlp_groups *ret);
void hlp_check_cgroup(const struct hlp *h, int cgroup);
int hlp_open_monitors(const struct hlp *h, int root); /* cgroup.procs of the monitors' group */
struct hlp_node;
void hlp_device_filter(const struct hlp *h, const struct hlp_groups *g,
                       const struct hlp_node *nodes, unsigned n_nodes);

/* devices.c */
struct hlp_node { /* a device node of the host for the container's /dev */
    struct exe_device id;
    char path[64]; /* below /dev */
};
#define HLP_NODES_MAX (EXE_DEVICES_MAX + 4)
unsigned hlp_find_nodes(const struct hlp *h, struct hlp_node nodes[HLP_NODES_MAX]);

/* network.c: leaves the process in the container's network namespace. */
void hlp_network(const struct hlp *h);

/* sandbox.c: in the launched child, before the drop. */
struct hlp_child {
    int status, life; /* write end to the monitor; read end from it */
    const struct sock_fprog *filter;
    struct hlp_node nodes[HLP_NODES_MAX];
    unsigned n_nodes;
    int caches[2 * EXE_DIRS_MAX]; /* LOCALIZE: trees by EXE_LOCALIZER_CACHE_FD's numbers - 16 */
};
void hlp_build_root(const struct hlp *h, struct hlp_child *c);
int hlp_copy_tree(int dir, bool read_only, const char *what); /* a detached mount of it */

/* directories.c: its own directories as detached mounts, and where they belong: base and rest. */
struct hlp_tree {
    int fd;
    int at; /* a localizer's: the directory itself, over which the mount goes; -1 */
    const char *base;
    char rest[256];
};
struct hlp_trees {
    struct hlp_tree v[4 * EXE_DIRS_MAX + 2];
    unsigned n;
};
void hlp_own_trees(const struct hlp *h, struct hlp_child *c, struct hlp_trees *t);

/* init.c: the launched child. */
_Noreturn void hlp_child(const struct hlp *h, struct hlp_child *c);

/* The operations: launch.c, operations.c. */
_Noreturn void hlp_launch(struct hlp *h); /* and LOCALIZE */
_Noreturn void hlp_init_app(struct hlp *h);
_Noreturn void hlp_signal(struct hlp *h);
_Noreturn void hlp_delete(struct hlp *h);
/* launch.c: LIBEXECDIR/seccomp/<name>.bpf, proved to be root's; valid until the next but one call. */
const struct sock_fprog *hlp_load_filter(const char *name);
/* monitor.c */
struct hlp_watched {
    int pidfd, status, life;
    int record;   /* -1: a localizer, which has none and ends with the caller's socket */
    int monitors; /* cgroup.procs of the group that the monitor belongs to */
    struct exe_record r;
};
_Noreturn void hlp_monitor(struct hlp_watched *w, const struct sock_fprog *filter);
void hlp_write_record(int fd, struct exe_record *r); /* launch.c */
int64_t hlp_wall_ms(void);

/* Thin wrappers of system calls that this C library may not have. */
int hlp_openat2(int dirfd, const char *path, int flags, uint64_t resolve);

#endif
