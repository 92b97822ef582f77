/* The file system that a launched process sees, in its own mount namespace, which its parent makes
 * and the process is born in.
 *
 * A copy of the prepared root of its profile (root.c) gets file systems of its own: pts, shared
 * memory, mount points, with assigned devices a /dev. Then its own directories, which are made and
 * copied as detached mounts in the host's namespace (directories.c), are put there. What needs its
 * pid namespace and its group, /proc and cgroup, it adds itself. A process of profile host has the
 * host's tree as it is, but nosuid, and a new /proc.
 *
 * Paths in that namespace are the prepared root's or lie on a new tmpfs that nobody else sees. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "setuid-helper/mounts.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

_Noreturn static void fail(const char *what)
{
    hlp_fail(EXE_STATUS_MOUNT, errno, what);
}

int hlp_copy_tree(int dir, bool read_only, const char *what)
{
    int tree = hlp_copy(dir, "", AT_EMPTY_PATH);
    if (tree < 0)
        fail(what);
    hlp_set_attributes(tree, 0, HLP_FLOOR | (read_only ? HLP_RO : 0), 0, what);
    return tree;
}

int hlp_open_prepared_root(unsigned profile, uint32_t number)
{
    char path[HLP_PATH_MAX];
    struct statfs fs;
    (void)hlp_format(path, sizeof(path), EXECUTOR_STATE "/" HLP_ROOT_NAME, profile, number);
    int fd = hlp_open_trusted(path, O_RDONLY, EXE_STATUS_OK, EXE_STATUS_STATE);
    if (fd >= 0 && (fstatfs(fd, &fs) < 0 || fs.f_type != NSFS_MAGIC)) {
        (void)close(fd); /* its end has begun */
        fd = -ENOENT;
    }
    return fd;
}

/* The OOM killer's opinion goes through it: the daemon's protection is not for what it starts; a
 * localizer goes first. */
static int new_proc(const struct hlp *h)
{
    static hlp_options invisible = { { "hidepid", "invisible" }, { NULL, NULL } };
    int proc = hlp_new_mount("proc", invisible, HLP_FLOOR | MOUNT_ATTR_NOEXEC);
    hlp_oom_score(proc, h->req.op == EXE_OP_LOCALIZE ? "500" : "200");
    return proc;
}

/* What /proc tells of the machine beyond the container, hidden or read-only. The job could write
 * none of it by its rights; this holds if it had them. What root alone may read, and nobody write,
 * is left to the kernel (root.c). */
static void mask_proc(const struct hlp_list *masks, int hidden, int proc)
{
    static const char *const read_only[] = { "bus", "fs", "irq", "sys" };
    struct stat st;
    for (uint32_t i = 0; i < masks->n; i++) {
        const char *name = masks->v[i];
        if (syscall(SYS_move_mount, hidden, name, proc, name, 0) < 0 &&
            (errno != ENOENT || fstatat(proc, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
             errno != ENOENT))
            fail(name);
    }
    for (size_t i = 0; i < COUNT(read_only); i++) {
        int tree = hlp_copy(proc, read_only[i], 0);
        if (tree < 0)
            continue;
        hlp_set_attributes(tree, 0, HLP_RO, 0, read_only[i]);
        hlp_attach(tree, proc, read_only[i]);
    }
}

/* The same directory of mount points at each place; read-only. */
static void lay_out(const struct hlp_list *places, int root, const char *points)
{
    for (unsigned i = 0; i < places->n; i++) {
        int place = hlp_open_point(root, places->v[i]);
        if (place < 0)
            continue; /* of a bad disk */
        int tree = hlp_copy(root, points, 0);
        hlp_set_attributes(tree, 0, HLP_RO, 0, points);
        hlp_attach(tree, place, "");
        (void)close(place);
    }
}

/* The file systems of its own that need nothing of it. One tmpfs, on /proc, where it will be
 * covered, has the mount points of all local directories in one directory, which lies at the place
 * of each; those of all log directories in another. A container's shared memory is a third; and
 * there are its terminals. */
static void own_file_systems(const struct hlp *h, int root, bool container)
{
    static hlp_options half = { { "mode", "0755" }, { "size", "50%" }, { NULL, NULL } };
    static hlp_options pts = { { "newinstance", NULL },
                               { "ptmxmode", "0666" },
                               { "mode", "0620" },
                               { "gid", "5" },
                               { NULL, NULL } };
    int own = hlp_new_mount("tmpfs", container ? half : hlp_small, HLP_FLOOR);
    hlp_attach(dup(own), root, "proc");
    hlp_make_point(own, "local/usercache", true);
    hlp_make_point(own, "log", true);
    lay_out(&h->cfg.local_dirs, root, "proc/local");
    lay_out(&h->cfg.log_dirs, root, "proc/log");
    if (container) {
        if (mkdirat(own, "shm", 01777) < 0)
            fail("/dev/shm");
        int shm = hlp_copy(root, "proc/shm", 0);
        hlp_set_attributes(shm, 0, MOUNT_ATTR_NOEXEC, 0, "/dev/shm");
        hlp_attach(shm, root, "dev/shm");
        hlp_attach(hlp_new_mount("devpts", pts, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC), root,
                   "dev/pts");
    }
    (void)close(own);
}

/* All mount points of its own directories are there, and read-only, before anything is mounted
 * there: no path here passes through a user's directory. */
void hlp_tree_points(const struct hlp *h, const struct hlp_child *c, const struct hlp_trees *t)
{
    char path[HLP_PATH_MAX];
    if (h->req.profile == EXE_PROFILE_HOST)
        return;
    int own = hlp_open_point(c->root, "/proc");
    for (unsigned i = 0; i < t->n; i++)
        if (t->v[i].rest[0]) {
            (void)hlp_format(path, sizeof(path), "%s/%s", t->v[i].kind, t->v[i].rest);
            hlp_make_point(own, path, true);
        }
    hlp_set_attributes(own, 0, HLP_RO, 0, "own directories");
    (void)close(own);
}

void hlp_attach_trees(const struct hlp_child *c, struct hlp_trees *t)
{
    const char *base = NULL;
    int at = -1;
    for (unsigned i = 0; i < t->n; i++) {
        struct hlp_tree *tree = &t->v[i];
        const int fd = tree->fd;
        if (fd < 0)
            continue;
        tree->fd = -1;
        if (!tree->rest[0]) {
            hlp_attach(fd, c->root, tree->base + 1);
            continue;
        }
        if (tree->base != base) {
            if (at >= 0)
                (void)close(at);
            base = tree->base;
            at = hlp_open_point(c->root, base);
            if (at < 0)
                fail(base);
        }
        hlp_attach(fd, at, tree->rest);
    }
    if (at >= 0)
        (void)close(at);
}

/* The prepared /dev has the standard nodes alone. */
static void assigned_nodes(struct hlp_nodes *nodes, int root)
{
    hlp_add_standard_nodes(nodes, root);
    int dev = hlp_make_dev(root, nodes);
    hlp_set_attributes(dev, 0, HLP_RO, 0, "/dev");
    (void)close(dev);
}

static void scratch_mounts(int root)
{
    static hlp_options scratch = { { "mode", "1777" }, { "size", "64m" }, { NULL, NULL } };
    static const char *const paths[] = { "tmp", "var/tmp", "dev/shm" };
    struct stat st;
    for (size_t i = 0; i < COUNT(paths); i++)
        if (fstatat(root, paths[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
            hlp_attach(hlp_new_mount("tmpfs", scratch, HLP_FLOOR | MOUNT_ATTR_NOEXEC), root,
                       paths[i]);
}

void hlp_enter(int mounts)
{
    hlp_caps_serving(HLP_CAP_SYS_CHROOT);
    if (setns(mounts, CLONE_NEWNS) < 0)
        fail("mount namespace");
    hlp_caps_serving(HLP_CAP_NONE);
}

/* A copy of the prepared root (-1: of the host's tree), with the file systems and nodes of its own,
 * as a descriptor; this process comes back from it. In the IPC and UTS namespaces it stays. */
static int own_namespace(struct hlp *h, int prepared, bool container, const struct hlp_node *nodes,
                         unsigned n)
{
    static struct hlp_nodes assigned;
    int proc =
        open("/proc/self/ns", O_PATH | O_DIRECTORY | O_CLOEXEC); /* hygiene.c has proved it */
    h->home = h->home ? h->home : openat(proc, "mnt", O_RDONLY | O_CLOEXEC);
    int root = hlp_openat2(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
    for (unsigned i = 0; i < n; i++)
        hlp_add_node(&assigned, root, nodes[i].path, &nodes[i].id);
    (void)close(root);
    if (prepared >= 0)
        hlp_enter(prepared);
    if (h->home < 0 || unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS) < 0)
        fail("namespaces");
    root = hlp_openat2(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
    if (prepared >= 0 && container) {
        h->hidden = openat(root, HLP_HIDDEN, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (h->hidden < 0)
            fail(HLP_HIDDEN);
    }
    if (assigned.n > 0)
        assigned_nodes(&assigned, root);
    if (prepared >= 0)
        own_file_systems(h, root, container);
    else
        hlp_set_attributes(root, AT_RECURSIVE, MOUNT_ATTR_NOSUID, 0, "/");
    if (!container)
        scratch_mounts(root);
    int own = openat(proc, "mnt", O_RDONLY | O_CLOEXEC);
    if (own < 0)
        fail("namespaces");
    hlp_enter(h->home);
    (void)close(root);
    (void)close(proc);
    (void)close(prepared); /* or -1, ignoring */
    return own;
}

/* The profile whose root is entered ahead of a request. */
static unsigned likely_profile(const struct hlp *h)
{
    return h->cfg.profiles >> EXE_PROFILE_STRICT & 1 ? EXE_PROFILE_STRICT : EXE_PROFILE_HADOOP;
}

void hlp_build_ahead(struct hlp *h)
{
    const unsigned profile = likely_profile(h);
    hlp_find_programs(h);
    if (h->cfg.selinux || !(h->cfg.profiles >> profile & 1))
        return; /* what is made here would have no label */
    int prepared = hlp_open_prepared_root(profile, h->cfg.roots);
    if (prepared < 0)
        return; /* just replaced: the request finds the one that came after */
    (void)umask(0);
    h->ahead = own_namespace(h, prepared, true, NULL, 0);
    (void)umask(077);
}

/* The prepared root; where it has just gone out of force, that of the policy that came after. */
static int prepared_root(struct hlp *h)
{
    int fd = -1;
    for (int tries = 0; fd < 0; tries++) {
        if (tries > 0)
            hlp_load_policy(h);
        if (tries > 3)
            hlp_fail(EXE_STATUS_STATE, ESTALE, "prepared root");
        fd = hlp_open_prepared_root(h->req.profile, h->cfg.roots);
    }
    return fd;
}

void hlp_own_mounts(struct hlp *h, struct hlp_child *c)
{
    const bool host = h->req.profile == EXE_PROFILE_HOST, container = h->req.op == EXE_OP_LAUNCH;
    const bool as_ahead = container && h->req.profile == likely_profile(h) && c->n_nodes == 0;
    c->mounts = as_ahead && h->ahead ? h->ahead
                                     : own_namespace(h, host ? -1 : prepared_root(h), container,
                                                     c->nodes, host ? 0 : c->n_nodes);
}

void hlp_finish_root(const struct hlp *h, const struct hlp_child *c)
{
    const bool host = h->req.profile == EXE_PROFILE_HOST;
    const bool container = h->req.op == EXE_OP_LAUNCH && !host;
    const int root = c->root;
    if (unshare(CLONE_NEWCGROUP) < 0)
        fail("namespaces");
    int proc = new_proc(h);
    hlp_attach(dup(proc), root, "proc");
    if (container) {
        hlp_attach(hlp_new_mount("cgroup2", NULL, HLP_RO | HLP_FLOOR | MOUNT_ATTR_NOEXEC), root,
                   "sys/fs/cgroup");
        mask_proc(&h->cfg.masks, h->hidden, proc);
    }
    (void)close(proc);
}
