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

struct hlp_config { /* strings point into `text` */
    char text[HLP_CONFIG_MAX + 2];
    const char *group, *nm_user, *monitor_user, *public_user, *cgroup_root;
    struct hlp_list local_dirs, log_dirs, banned, allowed_system, read_only;
    uint32_t min_uid;
    bool unenforced_allowed;
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
void hlp_caps_serving(bool dac_override); /* the helper's working set */
void hlp_fs_as(uid_t uid, gid_t gid);
/* For ever: groups, gid, uid, bounding set, capabilities, and proof of each. */
void hlp_drop(const struct hlp_user *u);

/* config.c: parses `cfg->text` of `len` bytes; 0 or the line (1…) of the error, with words. */
int hlp_config_parse(struct hlp_config *cfg, size_t len, const char **ret_why);

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
/* Opens `name` below `parent` (the daemon's), makes it for `uid` when missing. */
int hlp_ensure_dir(const struct hlp *h, int parent, const char *name, uid_t uid, mode_t mode,
                   enum exe_status status);
/* As the user, below the user's own directory. */
int hlp_make_dir(int parent, const char *name, mode_t mode, bool exclusive, enum exe_status status);
int hlp_open_user_dir(int dirfd, const char *path, uid_t uid, enum exe_status status);

/* cgroup.c */
int hlp_open_cgroup(const struct hlp *h);
void hlp_check_cgroup(const struct hlp *h, int fd);
void hlp_attach_device_filter(int cgroup);

/* sandbox.c: in the launched child, before the drop. */
void hlp_build_container_root(const struct hlp *h);
void hlp_build_localizer_root(const struct hlp *h);

/* init.c: in the launched child. */
struct hlp_child {
    int status, life; /* write end to the monitor; read end from it */
    const struct sock_fprog *filter;
};
_Noreturn void hlp_container_child(const struct hlp *h, const struct hlp_child *c);
_Noreturn void hlp_localizer_child(const struct hlp *h, const struct hlp_child *c);

/* The operations: launch.c, operations.c. */
_Noreturn void hlp_launch(struct hlp *h);
_Noreturn void hlp_localize(struct hlp *h);
_Noreturn void hlp_init_app(struct hlp *h);
_Noreturn void hlp_signal(struct hlp *h);
_Noreturn void hlp_delete(struct hlp *h);
/* launch.c: LIBEXECDIR/seccomp/<name>.bpf, proved to be root's; valid until the next call. */
const struct sock_fprog *hlp_load_filter(const char *name);
/* monitor.c */
struct hlp_watched {
    pid_t pid;
    int pidfd, status, life;
    int record; /* -1: a localizer, which has none and ends with the caller's socket */
};
_Noreturn void hlp_monitor(const struct hlp *h, const struct hlp_watched *w,
                           const struct sock_fprog *filter);
int64_t hlp_wall_ms(void);

/* remove.c: as the user, after the drop. 0 or the errno of the first thing that stayed. */
int hlp_remove_tree(int parent, const char *name);
int hlp_remove_contents(int dir);

/* Thin wrappers of system calls that this C library may not have. */
int hlp_openat2(int dirfd, const char *path, int flags, uint64_t resolve);

#endif
