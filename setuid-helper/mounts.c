/* Mounts by descriptor (mounts.h), linked into container-prepare and container-executor. Paths MUST
 * be root's, or lie on a new tmpfs that no other process sees. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "setuid-helper/mounts.h"

#define MS_PRIVATE_ (1 << 18) /* <sys/mount.h> and <linux/mount.h> exclude each other */

hlp_options hlp_small = {
    { "mode", "0755" }, { "size", "1m" }, { "nr_inodes", "1024" }, { NULL, NULL }
};

_Noreturn static void fail(const char *what)
{
    hlp_fail(EXE_STATUS_MOUNT, errno, what);
}

void hlp_set_attributes(int fd, unsigned flags, uint64_t set, uint64_t clear, const char *what)
{
    struct mount_attr attr = { .attr_set = set, .attr_clr = clear, .propagation = MS_PRIVATE_ };
    if (syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | flags, &attr, sizeof(attr)) < 0)
        fail(what);
}

int hlp_copy(int dir, const char *path, unsigned flags)
{
    long tree = syscall(SYS_open_tree, dir, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | flags);
    if (tree < 0 && errno != ENOENT && errno != ENOTDIR)
        fail(path);
    return (int)tree;
}

int hlp_new_mount(const char *type, hlp_options with, uint64_t attributes)
{
    int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
    if (fs < 0)
        fail(type);
    for (; with && (*with)[0]; with++)
        if (syscall(SYS_fsconfig, fs, (*with)[1] ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG,
                    (*with)[0], (*with)[1], 0) < 0)
            fail(type);
    if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        fail(type);
    int mount = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attributes);
    if (mount < 0)
        fail(type);
    (void)close(fs);
    return mount;
}

void hlp_attach(int mount, int dir, const char *path)
{
    const unsigned on = path[0] ? 0 : MOVE_MOUNT_T_EMPTY_PATH;
    if (syscall(SYS_move_mount, mount, "", dir, path, MOVE_MOUNT_F_EMPTY_PATH | on) < 0)
        fail(path);
    (void)close(mount);
}

void hlp_make_point(int root, const char *path, bool directory)
{
    for (int again = 1;; again = 0) {
        int r = directory ? mkdirat(root, path, 0755) : mknodat(root, path, S_IFREG | 0444, 0);
        if (r == 0 || errno == EEXIST)
            return;
        const char *slash = strrchr(path, '/');
        char parent[HLP_PATH_MAX];
        if (errno != ENOENT || !slash || !again)
            fail(path);
        (void)hlp_format(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
        hlp_make_point(root, parent, true);
    }
}

int hlp_open_point(int root, const char *path)
{
    int fd =
        hlp_openat2(root, path + 1, O_PATH | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    return fd < 0 ? -1 : fd;
}

void hlp_add_node(struct hlp_nodes *nodes, int from, const char *path, const struct exe_device *id)
{
    char name[HLP_PATH_MAX];
    struct stat st;
    (void)hlp_format(name, sizeof(name), "dev/%s", path);
    int fd = hlp_copy(from, name, AT_SYMLINK_NOFOLLOW);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode) ||
        st.st_rdev != makedev(id->major, id->minor))
        hlp_fail(EXE_STATUS_MOUNT, ENODEV, name);
    hlp_set_attributes(fd, 0, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, HLP_RO | MOUNT_ATTR_NODEV,
                       name);
    nodes->fd[nodes->n] = fd;
    nodes->path[nodes->n++] = path;
}

void hlp_add_standard_nodes(struct hlp_nodes *nodes, int from)
{
    static const struct hlp_node standard[] = {
        { { 1, 3 }, "null" },   { { 1, 5 }, "zero" },    { { 1, 7 }, "full" },
        { { 1, 8 }, "random" }, { { 1, 9 }, "urandom" }, { { 5, 0 }, "tty" },
    };
    for (size_t i = 0; i < sizeof(standard) / sizeof(standard[0]); i++)
        hlp_add_node(nodes, from, standard[i].path, &standard[i].id);
}

int hlp_make_dev(int root, struct hlp_nodes *nodes)
{
    static const char *const links[][2] = {
        { "/proc/self/fd", "dev/fd" },       { "/proc/self/fd/0", "dev/stdin" },
        { "/proc/self/fd/1", "dev/stdout" }, { "/proc/self/fd/2", "dev/stderr" },
        { "pts/ptmx", "dev/ptmx" },
    };
    char path[HLP_PATH_MAX];
    int dev = hlp_new_mount("tmpfs", hlp_small, HLP_BASELINE | MOUNT_ATTR_NOEXEC);
    hlp_attach(dup(dev), root, "dev");
    hlp_make_point(root, "dev/pts", true);
    hlp_make_point(root, "dev/shm", true);
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        if (symlinkat(links[i][0], root, links[i][1]) < 0)
            fail(links[i][1]);
    for (unsigned i = 0; i < nodes->n; i++) {
        (void)hlp_format(path, sizeof(path), "dev/%s", nodes->path[i]);
        hlp_make_point(root, path, false);
        hlp_attach(nodes->fd[i], root, path);
    }
    return dev;
}
