/* The file system that a launched process sees, in its own mount namespace. Four kinds:
 *   strict      a new root with what is named here, entered by pivot_root
 *   hadoop      the host's tree read-only; /dev, /proc, /tmp new; secret places and the daemon's
 *               directories covered
 *   host        the host's tree as it is, but nosuid, and /proc new
 *   localizer   the host's tree read-only, its caches writable
 *
 * First, while the tree is still writable, the process' own directories are made and copied as
 * detached mounts, with the file-system ids of the daemon and the user (directories.c). Then all of
 * the host becomes read-only by one call, so that every later copy is; then mounts are put in place
 * as root. Paths of the second part are root's (the host's own, the configuration's) or lie on a new
 * tmpfs that nobody else sees. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#define MS_PRIVATE_ (1 << 18) /* <sys/mount.h> and <linux/mount.h> exclude each other */
#define MNT_DETACH_ 2
#define RO MOUNT_ATTR_RDONLY
#define FLOOR (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

typedef const char *const options[][2];

_Noreturn static void fail(const char *what)
{
    hlp_fail(EXE_STATUS_MOUNT, errno, what);
}

static void set_attributes(int fd, unsigned flags, uint64_t set, uint64_t clear, const char *what)
{
    struct mount_attr attr = { .attr_set = set, .attr_clr = clear, .propagation = MS_PRIVATE_ };
    if (syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | flags, &attr, sizeof(attr)) < 0)
        fail(what);
}

/* A detached copy of what is mounted at (dir, path), with its attributes; -1 where nothing is. */
static int copy(int dir, const char *path, unsigned flags)
{
    long tree = syscall(SYS_open_tree, dir, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | flags);
    if (tree < 0 && errno != ENOENT && errno != ENOTDIR)
        fail(path);
    return (int)tree;
}

int hlp_copy_tree(int dir, bool read_only, const char *what)
{
    int tree = copy(dir, "", AT_EMPTY_PATH);
    if (tree < 0)
        fail(what);
    set_attributes(tree, 0, FLOOR | (read_only ? RO : 0), 0, what);
    return tree;
}

/* A new file system; options end with NULL. */
static int new_mount(const char *type, options with, uint64_t attributes)
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

/* Puts the detached mount on `path` below `dir`; a link is not followed. */
static void attach(int mount, int dir, const char *path)
{
    if (syscall(SYS_move_mount, mount, "", dir, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        fail(path);
}

static void attach_and_close(int mount, int dir, const char *path)
{
    attach(mount, dir, path);
    (void)close(mount);
}

/* `path` below `root` as a mount point, made with its parents where it is missing. */
static void make_point(int root, const char *path, bool directory)
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
        make_point(root, parent, true);
    }
}

static options small = { { "mode", "0755" }, { "size", "1m" }, { "nr_inodes", "1024" }, { NULL, NULL } };

static bool is_directory(int root, const char *path)
{
    struct stat st;
    return fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* An empty directory over `path`. */
static void cover(int root, const char *path)
{
    attach_and_close(new_mount("tmpfs", small, FLOOR), root, path);
}

static void make_read_only(int root, const char *path)
{
    int fd = hlp_openat2(root, path, O_PATH | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (fd < 0)
        hlp_fail(EXE_STATUS_MOUNT, -fd, path);
    set_attributes(fd, 0, RO, 0, path);
    (void)close(fd);
}

/* A file or directory of the host at the same path; absent ones are left out. In /etc a link is
 * resolved here (its target, say below /run, is not there inside), except into /usr. */
static void host_path(int root, const char *path)
{
    char link[256];
    struct stat st;
    if (fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            fail(path);
        return;
    }
    if (S_ISLNK(st.st_mode)) {
        ssize_t n = readlink(path, link, sizeof(link) - 1);
        if (n < 0)
            fail(path);
        link[n] = '\0';
        if (!strchr(path + 1, '/') || strncmp(link, "/usr/", 5) == 0) {
            if (symlinkat(link, root, path + 1) < 0)
                fail(path);
            return;
        }
        if (stat(path, &st) < 0) /* leads nowhere */
            return;
    }
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        hlp_fail(EXE_STATUS_MOUNT, EINVAL, path);
    make_point(root, path + 1, S_ISDIR(st.st_mode));
    attach_and_close(copy(AT_FDCWD, path, AT_RECURSIVE), root, path + 1);
}

/* What every strict container sees of the host. Nothing of /etc that is not named here. */
static int strict_root(void)
{
    static const char *const paths[] = {
        "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt",
        "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/host.conf",
        "/etc/resolv.conf", "/etc/localtime", "/etc/timezone", "/etc/krb5.conf",
        "/etc/services", "/etc/protocols", "/etc/ld.so.cache",
        "/etc/ssl", "/etc/pki", "/etc/crypto-policies",
        "/etc/ca-certificates", "/etc/alternatives", "/etc/java", "/etc/java-8-openjdk",
        "/etc/java-11-openjdk", "/etc/java-17-openjdk", "/etc/java-21-openjdk",
        "/etc/java-25-openjdk", "/etc/fonts",
        "/sys/devices/system/cpu", "/sys/devices/system/node",
    };
    int root = new_mount("tmpfs", small, FLOOR);
    /* On /proc, which every host has and nothing here comes from: only in this namespace. */
    attach(root, AT_FDCWD, "/proc");
    make_point(root, "etc", true);
    for (size_t i = 0; i < COUNT(paths); i++)
        host_path(root, paths[i]);
    make_point(root, "home", true);
    make_point(root, "run", true);
    make_point(root, "tmp", true);
    make_point(root, "var", true);
    if (symlinkat("../tmp", root, "var/tmp") < 0 || symlinkat("../run", root, "var/run") < 0)
        fail("/var");
    return root;
}

/* The host's tree with its secret places covered. What names are resolved by stays in /run. */
static void hadoop_root(int root)
{
    static const char *const covered[] = { "root", "boot", "run" };
    static const char *const kept[] = { "run/systemd/resolve", "run/resolvconf", "run/nscd" };
    int trees[COUNT(kept)];
    for (size_t i = 0; i < COUNT(kept); i++)
        trees[i] = copy(root, kept[i], AT_RECURSIVE);
    for (size_t i = 0; i < COUNT(covered); i++)
        if (is_directory(root, covered[i]))
            cover(root, covered[i]);
    for (size_t i = 0; i < COUNT(kept); i++)
        if (trees[i] >= 0) {
            make_point(root, kept[i], true);
            attach_and_close(trees[i], root, kept[i]);
        }
    make_read_only(root, "run");
}

/* What root's configuration adds, by the walk that follows no link. */
static void configured_paths(const struct hlp_list *l, int root, bool writable)
{
    for (unsigned i = 0; i < l->n; i++) {
        struct stat st;
        int fd = hlp_open_root_path(l->v[i], EXE_STATUS_MOUNT);
        int tree = copy(fd, "", AT_EMPTY_PATH | AT_RECURSIVE);
        if (tree < 0 || fstat(tree, &st) < 0)
            fail(l->v[i]);
        if (writable)
            set_attributes(tree, AT_RECURSIVE, 0, RO, l->v[i]);
        make_point(root, l->v[i] + 1, S_ISDIR(st.st_mode));
        attach_and_close(tree, root, l->v[i] + 1);
        (void)close(fd);
    }
}

static void devices(const struct hlp_child *c, int root, bool covered)
{
    static const struct hlp_node standard[] = {
        { { 1, 3 }, "null" },   { { 1, 5 }, "zero" },    { { 1, 7 }, "full" },
        { { 1, 8 }, "random" }, { { 1, 9 }, "urandom" }, { { 5, 0 }, "tty" },
    };
    static const char *const links[][2] = {
        { "/proc/self/fd", "dev/fd" },       { "/proc/self/fd/0", "dev/stdin" },
        { "/proc/self/fd/1", "dev/stdout" }, { "/proc/self/fd/2", "dev/stderr" },
        { "pts/ptmx", "dev/ptmx" },
    };
    static options pts = { { "newinstance", NULL }, { "ptmxmode", "0666" }, { "mode", "0620" },
                           { "gid", "5" }, { NULL, NULL } };
    static options shm = { { "mode", "1777" }, { "size", "50%" }, { NULL, NULL } };
    int trees[COUNT(standard) + HLP_NODES_MAX];
    char path[HLP_PATH_MAX];
    const unsigned n = COUNT(standard) + c->n_nodes;
    for (unsigned i = 0; i < n; i++) {
        const struct hlp_node *node = i < COUNT(standard) ? &standard[i] : &c->nodes[i - COUNT(standard)];
        struct stat st;
        (void)hlp_format(path, sizeof(path), "/dev/%s", node->path);
        trees[i] = copy(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW);
        if (trees[i] < 0 || fstat(trees[i], &st) < 0 || !S_ISCHR(st.st_mode) ||
            st.st_rdev != makedev(node->id.major, node->id.minor))
            hlp_fail(EXE_STATUS_MOUNT, ENODEV, path);
        set_attributes(trees[i], 0, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, RO | MOUNT_ATTR_NODEV, path);
    }
    if (covered)
        cover(root, "dev");
    make_point(root, "dev/pts", true);
    make_point(root, "dev/shm", true);
    make_point(root, "dev/.hidden", true); /* what lies over the masked names of /proc */
    for (unsigned i = 0; i < n; i++) {
        const struct hlp_node *node = i < COUNT(standard) ? &standard[i] : &c->nodes[i - COUNT(standard)];
        (void)hlp_format(path, sizeof(path), "dev/%s", node->path);
        make_point(root, path, false);
        attach_and_close(trees[i], root, path);
    }
    for (size_t i = 0; i < COUNT(links); i++)
        if (symlinkat(links[i][0], root, links[i][1]) < 0)
            fail(links[i][1]);
    attach_and_close(new_mount("devpts", pts, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC), root, "dev/pts");
    attach_and_close(new_mount("tmpfs", shm, FLOOR | MOUNT_ATTR_NOEXEC), root, "dev/shm");
    if (mknodat(root, "dev/.hidden/file", S_IFREG, 0) < 0 || mkdirat(root, "dev/.hidden/dir", 0) < 0)
        fail("/dev/.hidden");
    int hidden = copy(root, "dev/.hidden", 0);
    set_attributes(hidden, 0, RO | FLOOR | MOUNT_ATTR_NOEXEC, 0, "/dev/.hidden");
    attach_and_close(hidden, root, "dev/.hidden"); /* so that its copies are read-only */
    if (covered)
        make_read_only(root, "dev");
}

static void write_proc(int proc, const char *path, const char *text, enum exe_status status)
{
    char back[256] = "";
    size_t n = strlen(text);
    int fd = hlp_openat2(proc, path, O_RDWR, RESOLVE_BENEATH);
    if (fd < 0 || write(fd, text, n) != (ssize_t)n || pread(fd, back, sizeof(back) - 1, 0) < (ssize_t)n ||
        memcmp(back, text, n) != 0)
        hlp_fail(status, fd < 0 ? -fd : errno, path);
    (void)close(fd);
}

/* A new /proc, proved to be one before anything is written through it: the OOM killer's opinion (the
 * daemon's protection is not for what it starts; a localizer goes first) and the SELinux label of
 * what is executed. */
static int new_proc(const struct hlp *h)
{
    static options invisible = { { "hidepid", "invisible" }, { NULL, NULL } };
    struct stat st;
    struct statfs fs;
    int proc = new_mount("proc", invisible, FLOOR | MOUNT_ATTR_NOEXEC);
    if (fstatfs(proc, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC || fstat(proc, &st) < 0 || st.st_ino != 1)
        hlp_fail(EXE_STATUS_MOUNT, EINVAL, "/proc");
    write_proc(proc, "self/oom_score_adj", h->req.op == EXE_OP_LOCALIZE ? "500" : "200", EXE_STATUS_MOUNT);
    if (h->cfg.label[0] && h->req.op == EXE_OP_LAUNCH)
        write_proc(proc, "thread-self/attr/exec", h->cfg.label, EXE_STATUS_LABEL);
    return proc;
}

/* What /proc tells of the machine beyond the container, hidden or read-only. The job could write
 * none of it by its rights; this holds if it had them. */
static void mask_proc(int root)
{
    static const char *const masked[] = { "acpi", "asound", "interrupts", "kallsyms", "kcore",
                                          "keys", "kmsg", "kpagecgroup", "kpagecount",
                                          "kpageflags", "latency_stats", "sched_debug", "scsi",
                                          "sysrq-trigger", "timer_list", "timer_stats",
                                          "vmallocinfo" };
    static const char *const read_only[] = { "bus", "fs", "irq", "sys" };
    struct stat st;
    int proc = hlp_openat2(root, "proc", O_PATH | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (proc < 0)
        hlp_fail(EXE_STATUS_MOUNT, -proc, "/proc");
    for (size_t i = 0; i < COUNT(masked); i++) {
        if (fstatat(proc, masked[i], &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
            continue;
        attach_and_close(copy(root, S_ISDIR(st.st_mode) ? "dev/.hidden/dir" : "dev/.hidden/file", 0),
                         proc, masked[i]);
    }
    for (size_t i = 0; i < COUNT(read_only); i++) {
        int tree = copy(proc, read_only[i], 0);
        if (tree < 0)
            continue;
        set_attributes(tree, 0, RO, 0, read_only[i]);
        attach_and_close(tree, proc, read_only[i]);
    }
    (void)close(proc);
}

/* A container's own directories, at their own paths. Every mount point is made before the first of
 * them is there: no path here passes through a user's directory. */
static void own_trees(const struct hlp *h, const struct hlp_trees *t, int root, bool covered)
{
    char path[HLP_PATH_MAX];
    const struct hlp_list *bases[2] = { &h->cfg.local_dirs, &h->cfg.log_dirs };
    for (int k = 0; covered && k < 2; k++) /* also those that are not used now: a bad disk's may fail */
        for (unsigned i = 0; i < bases[k]->n; i++)
            if (is_directory(root, bases[k]->v[i] + 1))
                cover(root, bases[k]->v[i] + 1);
    for (unsigned i = 0; i < t->n; i++) {
        (void)hlp_format(path, sizeof(path), "%s%s", t->v[i].base + 1, t->v[i].rest);
        make_point(root, path, true);
    }
    for (int k = 0; covered && k < 2; k++)
        for (unsigned i = 0; i < bases[k]->n; i++)
            if (is_directory(root, bases[k]->v[i] + 1))
                make_read_only(root, bases[k]->v[i] + 1);
    for (unsigned i = 0; i < t->n; i++) {
        (void)hlp_format(path, sizeof(path), "%s%s", t->v[i].base + 1, t->v[i].rest);
        attach_and_close(t->v[i].fd, root, path);
    }
}

/* A localizer's caches over themselves, and what it may fill besides. */
static void localizer_root(const struct hlp_trees *t, int root)
{
    static options scratch = { { "mode", "1777" }, { "size", "64m" }, { NULL, NULL } };
    static const char *const paths[] = { "tmp", "var/tmp", "dev/shm" };
    for (unsigned i = 0; i < t->n; i++) {
        if (syscall(SYS_move_mount, t->v[i].fd, "", t->v[i].at, "",
                    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
            fail(t->v[i].rest);
        (void)close(t->v[i].at);
    }
    for (size_t i = 0; i < COUNT(paths); i++)
        if (is_directory(root, paths[i]))
            attach_and_close(new_mount("tmpfs", scratch, FLOOR | MOUNT_ATTR_NOEXEC), root, paths[i]);
}

static void enter(int root)
{
    struct stat want, got;
    if (fstat(root, &want) < 0 || fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
        syscall(SYS_umount2, ".", MNT_DETACH_) < 0 || chdir("/") < 0 || stat("/", &got) < 0)
        fail("pivot_root");
    if (want.st_dev != got.st_dev || want.st_ino != got.st_ino)
        hlp_fail(EXE_STATUS_MOUNT, EXDEV, "/");
    set_attributes(root, 0, RO | FLOOR, 0, "/");
}

void hlp_build_root(const struct hlp *h, struct hlp_child *c)
{
    static struct hlp_trees trees;
    const unsigned profile = h->req.profile; /* 0: a localizer's */
    const bool built = profile == EXE_PROFILE_STRICT || profile == EXE_PROFILE_HADOOP;
    (void)umask(0);
    hlp_own_trees(h, c, &trees);
    hlp_fs_as(0, 0);
    int root = hlp_openat2(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
    set_attributes(root, AT_RECURSIVE,
                   profile == EXE_PROFILE_HOST ? MOUNT_ATTR_NOSUID : RO | FLOOR, 0, "/");
    int proc = new_proc(h);
    if (profile == 0)
        localizer_root(&trees, root);
    else if (profile == EXE_PROFILE_HADOOP)
        hadoop_root(root);
    else if (profile == EXE_PROFILE_STRICT) {
        (void)close(root);
        root = strict_root();
        configured_paths(&h->cfg.read_only, root, false);
    }
    if (built) {
        configured_paths(&h->cfg.writable, root, true);
        devices(c, root, profile == EXE_PROFILE_HADOOP);
        make_point(root, "proc", true);
        make_point(root, "sys/fs/cgroup", true);
        attach_and_close(new_mount("cgroup2", NULL, RO | FLOOR | MOUNT_ATTR_NOEXEC), root,
                         "sys/fs/cgroup");
    }
    attach_and_close(proc, root, "proc");
    if (built) {
        mask_proc(root);
        own_trees(h, &trees, root, profile == EXE_PROFILE_HADOOP);
    }
    if (profile == EXE_PROFILE_STRICT)
        enter(root);
}
