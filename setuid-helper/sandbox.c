/* The file system of a launched process, in a mount namespace that its parent makes and in which
 * the process starts: a copy of the root template of its profile (root-template.c), with file
 * systems of its own (pts, shared memory, mount points, with assigned devices a /dev) and its own
 * directories, which directories.c has cloned as detached mounts in the host's namespace. The child
 * itself adds /proc and cgroup, which need its pid namespace and its cgroup. A process of profile
 * host has the host's tree unchanged, but nosuid, and a new /proc.
 *
 * Paths used in that namespace MUST be the template's or lie on a new tmpfs that no other process
 * sees, and MUST NOT pass through a directory of a user or of the daemon. */
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

/* A new procfs, through which oom_score_adj is also set: the daemon's protection MUST NOT be
 * inherited; a localizer is killed first. */
static int new_proc(const struct hlp *h)
{
    static hlp_options invisible = { { "hidepid", "invisible" }, { NULL, NULL } };
    int proc = hlp_new_mount("proc", invisible, HLP_BASELINE | MOUNT_ATTR_NOEXEC);
    hlp_oom_score(proc, h->req.op == EXE_OP_LOCALIZE ? "500" : "200");
    return proc;
}

/* Hides the files of /proc that describe the machine, or makes them read-only. The job has no right
 * to write them; this also holds if it had. Files that only root may read, and none may write, are
 * not masked (root-template.c). */
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

/* Mounts the same directory of mount points at each place; read-only. */
static void lay_out(const struct hlp_list *places, int root, const char *points)
{
    for (unsigned i = 0; i < places->n; i++) {
        int place = hlp_open_point(root, places->v[i]);
        if (place < 0)
            continue; /* on a failed disk */
        int tree = hlp_copy(root, points, 0);
        hlp_set_attributes(tree, 0, HLP_RO, 0, points);
        hlp_attach(tree, place, "");
        (void)close(place);
    }
}

/* Mounts its own file systems. One tmpfs, on /proc, where it will be covered, has the mount points
 * of all local directories in one directory, which is mounted at the place of each; those of all
 * log directories in another. All exist, and are read-only, before anything is mounted on them: no
 * path here passes through a user's directory. A container also has shared memory, a third, and its
 * terminals. */
static void own_file_systems(const struct hlp *h, int root, const struct hlp_dirs *dirs)
{
    static hlp_options half = { { "mode", "0755" }, { "size", "50%" }, { NULL, NULL } };
    static hlp_options pts = { { "newinstance", NULL },
                               { "ptmxmode", "0666" },
                               { "mode", "0620" },
                               { "gid", "5" },
                               { NULL, NULL } };
    const bool container = h->req.op == EXE_OP_LAUNCH;
    char path[HLP_PATH_MAX];
    int own = hlp_new_mount("tmpfs", container ? half : hlp_small, HLP_BASELINE);
    hlp_attach(dup(own), root, "proc");
    hlp_make_point(own, "local/usercache", true);
    hlp_make_point(own, "log", true);
    for (unsigned i = 0; i < dirs->n; i++)
        if (dirs->v[i].rest[0]) {
            (void)hlp_format(path, sizeof(path), "%s/%s", dirs->v[i].kind, dirs->v[i].rest);
            hlp_make_point(own, path, true);
        }
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
    hlp_set_attributes(own, 0, HLP_RO, 0, "own directories");
    (void)close(own);
}

static void attach_dirs(int root, const struct hlp_dirs *dirs)
{
    for (unsigned i = 0; i < dirs->n; i++) {
        const struct hlp_dir *d = &dirs->v[i];
        int base = hlp_open_point(root, d->base);
        if (base < 0)
            fail(d->base);
        hlp_attach(d->fd, base, d->rest);
        (void)close(base);
    }
}

/* The prepared /dev has only the standard nodes. */
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
            hlp_attach(hlp_new_mount("tmpfs", scratch, HLP_BASELINE | MOUNT_ATTR_NOEXEC), root,
                       paths[i]);
}

void hlp_enter_mount_ns(int mounts)
{
    hlp_set_step_cap(HLP_CAP_SYS_CHROOT);
    if (setns(mounts, CLONE_NEWNS) < 0)
        fail("mount namespace");
    hlp_set_step_cap(HLP_CAP_NONE);
}

void hlp_enter_sandbox(struct hlp *h, int template, struct hlp_child *c,
                       const struct hlp_dirs *dirs)
{
    static struct hlp_nodes assigned;
    const bool container = h->req.op == EXE_OP_LAUNCH;
    int ns = open("/proc/self/ns", O_PATH | O_DIRECTORY | O_CLOEXEC); /* verified by sanitize.c */
    h->host_ns = openat(ns, "mnt", O_RDONLY | O_CLOEXEC);
    int root = hlp_openat2(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
    for (unsigned i = 0; template >= 0 && i < c->n_nodes; i++)
        hlp_add_node(&assigned, root, c->nodes[i].path, &c->nodes[i].id);
    (void)close(root);
    if (template >= 0)
        hlp_enter_mount_ns(template);
    if (h->host_ns < 0 || unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS) < 0 ||
        (c->mounts = openat(ns, "mnt", O_RDONLY | O_CLOEXEC)) < 0)
        fail("namespaces");
    c->root = hlp_openat2(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
    if (template >= 0 && container &&
        (h->hidden = openat(c->root, HLP_HIDDEN, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
        fail(HLP_HIDDEN);
    if (assigned.n > 0)
        assigned_nodes(&assigned, c->root);
    if (template >= 0)
        own_file_systems(h, c->root, dirs);
    else
        hlp_set_attributes(c->root, AT_RECURSIVE, MOUNT_ATTR_NOSUID, 0, "/");
    if (!container)
        scratch_mounts(c->root);
    attach_dirs(c->root, dirs);
    (void)close(ns);
    (void)close(template); /* or -1, ignoring */
}

int hlp_open_root_template(struct hlp *h)
{
    char path[HLP_PATH_MAX];
    struct statfs fs;
    if (h->req.profile == EXE_PROFILE_HOST)
        return -1;
    for (int tries = 0; tries < 4; tries++) {
        if (tries > 0)
            hlp_load_policy(h);
        (void)hlp_format(path, sizeof(path), EXECUTOR_STATE "/" HLP_ROOT_NAME, h->req.profile,
                         h->cfg.roots);
        int fd = hlp_open_trusted(path, O_RDONLY, EXE_STATUS_OK, EXE_STATUS_STATE);
        if (fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == NSFS_MAGIC)
            return fd;
        (void)close(fd); /* it is being unmounted; or none, ignoring */
    }
    hlp_fail(EXE_STATUS_STATE, ESTALE, "root template");
}

void hlp_finish_root(const struct hlp *h, const struct hlp_child *c)
{
    const bool host = h->req.profile == EXE_PROFILE_HOST;
    const bool container = h->req.op == EXE_OP_LAUNCH && !host;
    const int root = c->root;
    if (unshare(CLONE_NEWCGROUP) < 0)
        fail("namespaces");
    if (h->account && !host)
        hlp_add_account(h, root);
    int proc = new_proc(h);
    hlp_attach(dup(proc), root, "proc");
    if (container) {
        hlp_attach(hlp_new_mount("cgroup2", NULL, HLP_RO | HLP_BASELINE | MOUNT_ATTR_NOEXEC), root,
                   "sys/fs/cgroup");
        mask_proc(&h->cfg.masks, h->hidden, proc);
    }
    (void)close(proc);
}
