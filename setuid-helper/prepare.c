/* container-prepare: prepares everything that depends on root's configuration alone, so that
 * container-executor, which runs for every request, only reads it. Started by container-executor
 * when the policy is missing or outdated, with CAP_SYS_ADMIN, CAP_SYS_CHROOT and CAP_NET_ADMIN;
 * also by root.
 *
 * All files are in EXECUTOR_STATE: a directory of root's, mode 0700, with a tmpfs of this mount
 * namespace on it. It MUST be locked: one program works there at a time. The rename of `policy`
 * MUST be the last step: a program killed before it leaves no state in force.
 *
 * Errors are written to descriptor 1 as a struct hlp_message if that is a pipe
 * (container-executor's), else as a message to descriptor 2. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "setuid-helper/prepare.h"

static bool asked_by_executor(void)
{
    struct stat st;
    return fstat(1, &st) == 0 && S_ISFIFO(st.st_mode);
}

static void print(enum exe_status status, int error, const char *what)
{
    (void)status;
    (void)dprintf(2, "container-prepare: %s%s%s\n", what, error ? ": " : "",
                  error ? strerror(error) : "");
}

/* Opens the state directory, creates it with missing parents; verified to be root's. */
static int open_state(void)
{
    static const char path[] = EXECUTOR_STATE;
    char name[256], prefix[sizeof(path)];
    struct stat st;
    int fd = -1;
    for (size_t i = 1; i < sizeof(path); i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        int dir = hlp_walk(prefix, 0, name, EXE_STATUS_STATE, EXE_STATUS_STATE);
        if (mkdirat(dir, name, path[i] ? 0755 : 0700) < 0 && errno != EEXIST)
            hlp_fail(EXE_STATUS_STATE, errno, prefix);
        if (path[i] == '\0')
            fd = hlp_openat2(dir, name, O_RDONLY | O_DIRECTORY,
                             RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        (void)close(dir);
    }
    if (fd < 0)
        hlp_fail(EXE_STATUS_STATE, -fd, path);
    if (fstat(fd, &st) < 0 || st.st_uid != 0 || (st.st_mode & 07777) != 0700)
        hlp_fail(EXE_STATUS_STATE, EPERM, path);
    return fd;
}

static void mount_step(long r)
{
    if (r < 0)
        hlp_fail(EXE_STATUS_STATE, errno, EXECUTOR_STATE);
}

/* Mounts a tmpfs over the directory, with the mark of this mount namespace from its creation on. No
 * other namespace sees it: namespaces bound in it are useful in this one only. */
static void mount_over(int dir, const char *mark)
{
    static const char *const with[][2] = { { "mode", "0700" },
                                           { "size", "64m" },
                                           { "nr_inodes", "256" } };
    struct mount_attr private = { .propagation = 1 << 18 /* MS_PRIVATE */ };
    int fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
    mount_step(fs);
    for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
        mount_step(syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, with[i][0], with[i][1], 0));
    mount_step(syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0));
    int tree = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
                            MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    mount_step(tree);
    mount_step(mknodat(tree, mark, S_IFREG | 0400, 0));
    mount_step(syscall(SYS_move_mount, tree, "", dir, "",
                       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH));
    mount_step(syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &private, sizeof(private)));
    (void)close(tree);
    (void)close(fs);
}

/* Opens the state of this mount namespace, locked. */
static int take_state(void)
{
    char mark[64];
    struct stat ns, a, b;
    if (stat("/proc/self/ns/mnt", &ns) < 0)
        hlp_fail(EXE_STATUS_STATE, errno, "/proc/self/ns/mnt");
    (void)hlp_format(mark, sizeof(mark), "of-%llu", (unsigned long long)ns.st_ino);
    for (int tries = 0; tries < 8; tries++) {
        int fd = open_state();
        if (flock(fd, LOCK_EX) < 0)
            hlp_fail(EXE_STATUS_STATE, errno, EXECUTOR_STATE);
        int now = open_state(); /* another process may have mounted meanwhile */
        if (fstat(fd, &a) < 0 || fstat(now, &b) < 0)
            hlp_fail(EXE_STATUS_STATE, errno, EXECUTOR_STATE);
        bool same = a.st_dev == b.st_dev && a.st_ino == b.st_ino;
        (void)close(now);
        if (same && faccessat(fd, mark, F_OK, 0) == 0)
            return fd;
        if (same && errno != ENOENT)
            hlp_fail(EXE_STATUS_STATE, errno, EXECUTOR_STATE);
        if (same)
            mount_over(fd, mark);
        (void)close(fd);
    }
    hlp_fail(EXE_STATUS_STATE, EBUSY, EXECUTOR_STATE);
}

static void commit(int state, struct hlp_policy *p, const struct hlp_users *users)
{
    const size_t length = hlp_policy_pack(p), table = users->n * sizeof(*users->v);
    const struct iovec parts[2] = { { p, length }, { users->v, table } };
    (void)unlinkat(state, "policy.new", 0); /* left by a killed one, ignoring */
    int fd =
        openat(state, "policy.new", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || writev(fd, parts, 2) != (ssize_t)(length + table) || close(fd) < 0 ||
        renameat(state, "policy.new", state, "policy") < 0)
        hlp_fail(EXE_STATUS_STATE, errno, EXECUTOR_STATE "/policy");
}

int main(int argc, char **argv)
{
    static struct hlp_config cfg;
    static struct hlp_policy there;
    struct hlp_users users;
    (void)argv;
    hlp_fail_to(print);
    if (asked_by_executor())
        hlp_fail_to_pipe(1);
    if (argc != 1 || syscall(SYS_close_range, 3, ~0U, 0) < 0)
        hlp_fail(EXE_STATUS_ARGUMENTS, EINVAL, "container-prepare takes no argument");
    if (geteuid() != 0)
        hlp_fail(EXE_STATUS_NOT_ROOT, EPERM, "container-prepare is root's");
    (void)umask(077);
    int state = take_state();
    if (hlp_policy_read(&there) >= 0 &&
        !there.unfiltered[0]) /* another process has made it while this one waited */
        return 0;
    (void)unlinkat(state, "policy", 0); /* its filters are about to change; or none, ignoring */
    hlp_compile(&cfg, &users);
    hlp_attach_persistent_filters(&cfg);
    hlp_write_answer(&cfg);
    const char *unfiltered = cfg.policy.unfiltered;
    hlp_make_root_templates(state, &cfg);
    commit(state, &cfg.policy, &users);
    hlp_drop_root_templates(state, cfg.policy.roots);
    if (unfiltered[0] && !asked_by_executor()) /* it reads the reason in the policy */
        hlp_fail(EXE_STATUS_DEVICE_FILTER, 0, unfiltered);
    return 0;
}
