/* The container's file system, built on a new tmpfs in the child's own mount namespace and entered
 * by pivot_root. Every mount is made from a descriptor (open_tree, fsmount) and put in place by
 * descriptor (move_mount without following links); nothing is staged in a shared directory.
 *
 * Sources under a user's directory are opened with the user's file-system ids, targets are made as
 * root on the new tmpfs, which nobody else can see. */
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

_Noreturn static void fail(const char *what)
{
    hlp_fail(EXE_STATUS_MOUNT, errno, what);
}

static void set_attributes(int fd, uint64_t set, unsigned flags, const char *what)
{
    struct mount_attr attr = { .attr_set = set, .propagation = MS_PRIVATE_ };
    if (syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | flags, &attr, sizeof(attr)) < 0)
        fail(what);
}

/* A detached copy of the mount at `fd` (a directory or file opened O_PATH); closes `fd`. */
static int copy_tree(int fd, uint64_t attributes, bool recursive, const char *what)
{
    unsigned deep = recursive ? AT_RECURSIVE : 0;
    long tree = syscall(SYS_open_tree, fd, "",
                        AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | deep);
    if (tree < 0)
        fail(what);
    (void)close(fd);
    set_attributes((int)tree, attributes, deep, what);
    return (int)tree;
}

/* A new file system; options end with NULL. */
static int new_mount(const char *type, const char *const (*options)[2], uint64_t attributes)
{
    long fs = syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
    if (fs < 0)
        fail(type);
    for (; options && (*options)[0]; options++)
        if (syscall(SYS_fsconfig, (int)fs, (*options)[1] ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG,
                    (*options)[0], (*options)[1], 0) < 0)
            fail(type);
    if (syscall(SYS_fsconfig, (int)fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        fail(type);
    long mount = syscall(SYS_fsmount, (int)fs, FSMOUNT_CLOEXEC, attributes);
    if (mount < 0)
        fail(type);
    (void)close((int)fs);
    return (int)mount;
}

/* Puts the detached mount on (dir, name); `dir` alone with name "". Closes it. */
static void attach(int mount, int dir, const char *name, const char *what)
{
    unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | (name[0] ? 0 : MOVE_MOUNT_T_EMPTY_PATH);
    if (syscall(SYS_move_mount, mount, "", dir, name, flags) < 0)
        fail(what);
    (void)close(mount);
}

/* The directory `path` ("/a/b") on the new root, made as needed; O_PATH. */
static int target_dir(int root, const char *path)
{
    char name[256];
    int at = hlp_openat2(root, ".", O_PATH | O_DIRECTORY, RESOLVE_BENEATH);
    for (const char *s = path; *s;) {
        s++;
        const char *slash = strchrnul(s, '/');
        if (slash - s >= 256)
            hlp_fail(EXE_STATUS_MOUNT, ENAMETOOLONG, path);
        memcpy(name, s, (size_t)(slash - s));
        name[slash - s] = '\0';
        if (mkdirat(at, name, 0755) < 0 && errno != EEXIST)
            fail(path);
        int next = hlp_openat2(at, name, O_PATH | O_DIRECTORY,
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        (void)close(at);
        if (next < 0)
            hlp_fail(EXE_STATUS_MOUNT, -next, path);
        at = next;
        s = slash;
    }
    return at;
}

static void attach_at_path(int mount, int root, const char *path)
{
    int dir = target_dir(root, path);
    attach(mount, dir, "", path);
    (void)close(dir);
}

/* A file or directory of the host, read-only at the same path; absent ones are left out. In /etc a
 * link is resolved here (its target, say below /run, is not there inside), except into /usr. */
static void host_path(int root, const char *path)
{
    char link[256];
    struct stat st;
    const char *name = strrchr(path, '/') + 1;
    ssize_t n = readlink(path, link, sizeof(link) - 1);
    char parent[256];
    memcpy(parent, path, (size_t)(name - path));
    parent[name - path > 1 ? name - path - 1 : 0] = '\0';
    if (n > 0) {
        link[n] = '\0';
        if (strchr(path + 1, '/') == NULL || strncmp(link, "/usr/", 5) == 0) {
            int dir = target_dir(root, parent);
            if (symlinkat(link, dir, name) < 0)
                fail(path);
            (void)close(dir);
            return;
        }
    }
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return;
    if (fd < 0 || fstat(fd, &st) < 0)
        fail(path);
    if (S_ISDIR(st.st_mode)) {
        attach_at_path(copy_tree(fd, RO | FLOOR, true, path), root, path);
        return;
    }
    if (!S_ISREG(st.st_mode))
        hlp_fail(EXE_STATUS_MOUNT, EINVAL, path);
    int dir = target_dir(root, parent);
    int file = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0444);
    if (file < 0)
        fail(path);
    (void)close(file);
    attach(copy_tree(fd, RO | FLOOR | MOUNT_ATTR_NOEXEC, false, path), dir, name, path);
    (void)close(dir);
}

/* What every container sees of the host. Nothing of /etc that is not named here. */
static void host_tree(const struct hlp *h, int root)
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
    };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        host_path(root, paths[i]);
    for (unsigned i = 0; i < h->cfg.read_only.n; i++)
        host_path(root, h->cfg.read_only.v[i]);
}

static void devices(int root)
{
    static const struct {
        const char *name, *path;
        unsigned major, minor;
    } nodes[] = {
        { "null", "/dev/null", 1, 3 },     { "zero", "/dev/zero", 1, 5 },
        { "full", "/dev/full", 1, 7 },     { "random", "/dev/random", 1, 8 },
        { "urandom", "/dev/urandom", 1, 9 }, { "tty", "/dev/tty", 5, 0 },
    };
    static const char *const links[][2] = {
        { "/proc/self/fd", "fd" },          { "/proc/self/fd/0", "stdin" },
        { "/proc/self/fd/1", "stdout" },    { "/proc/self/fd/2", "stderr" },
        { "pts/ptmx", "ptmx" },
    };
    static const char *const pts[][2] = { { "newinstance", NULL }, { "ptmxmode", "0666" },
                                          { "mode", "0620" }, { "gid", "5" }, { NULL, NULL } };
    static const char *const shm[][2] = { { "mode", "1777" }, { "size", "50%" }, { NULL, NULL } };
    struct stat st;
    int dev = target_dir(root, "/dev");
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        int fd = open(nodes[i].path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode) ||
            st.st_rdev != makedev(nodes[i].major, nodes[i].minor))
            hlp_fail(EXE_STATUS_MOUNT, fd < 0 ? errno : ENODEV, nodes[i].path);
        int file = openat(dev, nodes[i].name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444);
        if (file < 0)
            fail(nodes[i].path);
        (void)close(file);
        attach(copy_tree(fd, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, false, nodes[i].path), dev,
               nodes[i].name, nodes[i].path);
    }
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        if (symlinkat(links[i][0], dev, links[i][1]) < 0)
            fail(links[i][1]);
    if (mkdirat(dev, "pts", 0755) < 0 || mkdirat(dev, "shm", 0755) < 0)
        fail("/dev");
    attach(new_mount("devpts", pts, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC), dev, "pts", "/dev/pts");
    attach(new_mount("tmpfs", shm, FLOOR | MOUNT_ATTR_NOEXEC), dev, "shm", "/dev/shm");
    (void)close(dev);
}

/* A new /proc, what it tells of the machine beyond the container hidden or read-only. The job could
 * write none of it by its rights; this holds if it had them. */
static void proc(int root)
{
    static const char *const options[][2] = { { "hidepid", "invisible" }, { NULL, NULL } };
    static const char *const masked[] = { "acpi", "asound", "interrupts", "kallsyms", "kcore",
                                          "keys", "kmsg", "kpagecgroup", "kpagecount",
                                          "kpageflags", "latency_stats", "sched_debug", "scsi",
                                          "sysrq-trigger", "timer_list", "timer_stats",
                                          "vmallocinfo" };
    static const char *const read_only[] = { "bus", "fs", "irq", "sys" };
    struct stat st;
    struct statfs fs;
    const uint64_t attributes = FLOOR | MOUNT_ATTR_NOEXEC;
    int dir = target_dir(root, "/proc");
    /* An empty directory and an unreadable file of our own tmpfs lie over the masked ones. */
    int hidden = target_dir(root, "/dev/.hidden");
    int file = openat(hidden, "file", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0);
    if (file < 0 || mkdirat(hidden, "dir", 0) < 0)
        fail("/dev/.hidden");
    (void)close(file);
    attach(new_mount("proc", options, attributes), dir, "", "/proc");
    (void)close(dir);
    dir = hlp_openat2(root, "proc", O_PATH | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (dir < 0 || fstatfs(dir, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC || fstat(dir, &st) < 0 ||
        st.st_ino != 1)
        hlp_fail(EXE_STATUS_MOUNT, EINVAL, "/proc");
    /* The daemon's protection from the OOM killer is not for its containers. */
    int oom = hlp_openat2(dir, "self/oom_score_adj", O_WRONLY, RESOLVE_BENEATH);
    if (oom < 0 || write(oom, "0", 1) != 1)
        hlp_fail(EXE_STATUS_MOUNT, oom < 0 ? -oom : errno, "oom_score_adj");
    (void)close(oom);
    for (size_t i = 0; i < sizeof(masked) / sizeof(masked[0]); i++) {
        int over = hlp_open_at(dir, masked[i], O_PATH | O_NOFOLLOW);
        if (over == -ENOENT)
            continue;
        if (over < 0 || fstat(over, &st) < 0)
            hlp_fail(EXE_STATUS_MOUNT, over < 0 ? -over : errno, masked[i]);
        int source = hlp_open_at(hidden, S_ISDIR(st.st_mode) ? "dir" : "file", O_PATH);
        if (source < 0)
            hlp_fail(EXE_STATUS_MOUNT, -source, masked[i]);
        attach(copy_tree(source, attributes | RO, false, masked[i]), over, "", masked[i]);
        (void)close(over);
    }
    for (size_t i = 0; i < sizeof(read_only) / sizeof(read_only[0]); i++) {
        int over = hlp_open_at(dir, read_only[i], O_PATH | O_DIRECTORY | O_NOFOLLOW);
        if (over == -ENOENT)
            continue;
        if (over < 0)
            hlp_fail(EXE_STATUS_MOUNT, -over, read_only[i]);
        int source = hlp_open_at(dir, read_only[i], O_PATH | O_DIRECTORY | O_NOFOLLOW);
        if (source < 0)
            hlp_fail(EXE_STATUS_MOUNT, -source, read_only[i]);
        attach(copy_tree(source, attributes | RO, false, read_only[i]), over, "", read_only[i]);
        (void)close(over);
    }
    (void)close(hidden);
    (void)close(dir);
}

/* Sources from /sys, taken before the new root is put over it. */
static const char *const topology[] = { "/sys/devices/system/cpu", "/sys/devices/system/node" };

static void sys(int root, const int sources[2])
{
    for (int i = 0; i < 2; i++)
        if (sources[i] >= 0)
            attach_at_path(copy_tree(sources[i], RO | FLOOR | MOUNT_ATTR_NOEXEC, false,
                                     topology[i]),
                           root, topology[i]);
    attach_at_path(new_mount("cgroup2", NULL, RO | FLOOR | MOUNT_ATTR_NOEXEC), root,
                   "/sys/fs/cgroup");
}

static void user_tree(int fd, uint64_t attributes, int root, const char *base, const char *rest)
{
    char path[HLP_PATH_MAX];
    (void)hlp_format(path, sizeof(path), "%s/%s", base, rest);
    hlp_fs_as(0, 0);
    attach_at_path(copy_tree(fd, attributes | FLOOR, false, path), root, path);
}

static void as_user(const struct hlp *h)
{
    hlp_fs_as(h->user.uid, h->user.gid);
}

/* One local dir: the caches read-only, the application's directory writable; in the chosen one the
 * work dir is made, and its tmp becomes /tmp. */
static void local_dir(const struct hlp *h, unsigned i, int root)
{
    char path[HLP_PATH_MAX];
    struct stat st;
    const char *base = h->cfg.local_dirs.v[i];
    hlp_fs_as(h->nm.uid, h->nm_gid);
    int dir = hlp_open_root(h, base, EXE_STATUS_LOCAL_DIR);
    as_user(h);
    int public = hlp_open_at(dir, "filecache", O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (public >= 0 && (fstat(public, &st) < 0 ||
                        (st.st_uid != h->public.uid && st.st_uid != h->nm.uid)))
        hlp_fail(EXE_STATUS_LOCAL_DIR, EPERM, "filecache");
    if (public >= 0)
        user_tree(public, RO, root, base, "filecache");
    else if (public != -ENOENT)
        hlp_fail(EXE_STATUS_LOCAL_DIR, -public, "filecache");
    as_user(h);
    (void)hlp_format(path, sizeof(path), "usercache/%s/filecache", h->user.name);
    user_tree(hlp_open_user_dir(dir, path, h->user.uid, EXE_STATUS_USER_DIR), RO, root, base, path);
    as_user(h);
    (void)hlp_format(path, sizeof(path), "usercache/%s/appcache/%s", h->user.name, h->app);
    int app = hlp_open_user_dir(dir, path, h->user.uid, EXE_STATUS_APP_DIR);
    if (i == h->req.work_dir) {
        (void)umask(027);
        int work = hlp_make_dir(app, h->container, 0750, true, EXE_STATUS_CONTAINER_DIR);
        int tmp = hlp_make_dir(work, "tmp", 0750, true, EXE_STATUS_CONTAINER_DIR);
        (void)umask(0);
        hlp_fs_as(0, 0);
        attach_at_path(copy_tree(tmp, FLOOR, false, "/tmp"), root, "/tmp");
        (void)close(work);
    }
    user_tree(app, 0, root, base, path);
    (void)close(dir);
}

static void log_dir(const struct hlp *h, unsigned i, int root)
{
    char path[HLP_PATH_MAX];
    const char *base = h->cfg.log_dirs.v[i];
    hlp_fs_as(h->nm.uid, h->nm_gid);
    int dir = hlp_open_root(h, base, EXE_STATUS_LOG_DIR);
    as_user(h);
    int app = hlp_open_user_dir(dir, h->app, h->user.uid, EXE_STATUS_LOG_DIR);
    (void)umask(027);
    int logs = hlp_make_dir(app, h->container, 0750, true, EXE_STATUS_CONTAINER_DIR);
    (void)umask(0);
    (void)hlp_format(path, sizeof(path), "%s/%s", h->app, h->container);
    user_tree(logs, MOUNT_ATTR_NOEXEC, root, base, path);
    (void)close(app);
    (void)close(dir);
}

static void private_mounts(void)
{
    struct mount_attr attr = { .propagation = MS_PRIVATE_ };
    if (syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &attr, sizeof(attr)) < 0)
        fail("mount propagation");
}

static void enter(int root)
{
    struct stat want, got;
    if (fstat(root, &want) < 0 || fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
        syscall(SYS_umount2, ".", MNT_DETACH_) < 0 || chdir("/") < 0 || stat("/", &got) < 0)
        fail("pivot_root");
    if (want.st_dev != got.st_dev || want.st_ino != got.st_ino)
        hlp_fail(EXE_STATUS_MOUNT, EXDEV, "/");
    set_attributes(root, RO | FLOOR, 0, "/");
    (void)close(root);
}

void hlp_build_container_root(const struct hlp *h)
{
    static const char *const options[][2] = { { "mode", "0755" }, { "size", "1m" },
                                              { "nr_inodes", "1024" }, { NULL, NULL } };
    int sources[2];
    private_mounts();
    hlp_fs_as(0, 0);
    (void)umask(0);
    for (int i = 0; i < 2; i++)
        sources[i] = open(topology[i], O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int root = new_mount("tmpfs", options, FLOOR);
    /* On /sys, which every host has and nothing below is needed from: only in this namespace. */
    if (syscall(SYS_move_mount, root, "", AT_FDCWD, "/sys", MOVE_MOUNT_F_EMPTY_PATH) < 0)
        fail("/sys");
    host_tree(h, root);
    devices(root);
    for (unsigned i = 0; i < h->cfg.local_dirs.n; i++)
        if (h->req.local_mask >> i & 1)
            local_dir(h, i, root);
    for (unsigned i = 0; i < h->cfg.log_dirs.n; i++)
        if (h->req.log_mask >> i & 1)
            log_dir(h, i, root);
    proc(root);
    sys(root, sources);
    (void)close(target_dir(root, "/home"));
    (void)close(target_dir(root, "/run"));
    int var = target_dir(root, "/var");
    if (symlinkat("../tmp", var, "tmp") < 0 || symlinkat("../run", var, "run") < 0)
        fail("/var");
    (void)close(var);
    enter(root);
}

/* The localizer sees the host as it is, read-only, and writes into its caches and a /tmp of its
 * own. */
static void cache(const struct hlp *h, int dir, const char *base, const char *rest, int number)
{
    char path[HLP_PATH_MAX];
    as_user(h);
    int fd = hlp_open_user_dir(dir, rest, h->user.uid, EXE_STATUS_USER_DIR);
    int target = hlp_open_user_dir(dir, rest, h->user.uid, EXE_STATUS_USER_DIR);
    hlp_fs_as(0, 0);
    (void)hlp_format(path, sizeof(path), "%s/%s", base, rest);
    int tree = copy_tree(fd, FLOOR, false, path);
    struct mount_attr writable = { .attr_clr = RO }; /* the copy of a read-only tree is one */
    if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &writable, sizeof(writable)) < 0)
        fail(path);
    if (syscall(SYS_move_mount, tree, "", target, "",
                MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
        fail(path);
    (void)close(target);
    if (dup2(tree, number) < 0)
        fail(path);
    (void)close(tree);
}

void hlp_build_localizer_root(const struct hlp *h)
{
    static const char *const options[][2] = { { "mode", "1777" }, { "size", "64m" },
                                              { NULL, NULL } };
    char rest[HLP_PATH_MAX];
    struct mount_attr read_only = { .attr_set = RO | FLOOR };
    private_mounts();
    if (syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof(read_only)) < 0)
        fail("/");
    for (unsigned i = 0; i < h->cfg.local_dirs.n; i++) {
        const char *base = h->cfg.local_dirs.v[i];
        if (!(h->req.local_mask >> i & 1))
            continue;
        hlp_fs_as(h->nm.uid, h->nm_gid);
        int dir = hlp_open_root(h, base, EXE_STATUS_LOCAL_DIR);
        /* Moved out of the range of the fixed numbers. */
        int high = fcntl(dir, F_DUPFD_CLOEXEC, 200);
        (void)close(dir);
        if (high < 0)
            fail(base);
        if (h->req.what == EXE_VISIBILITY_PUBLIC)
            cache(h, high, base, "filecache", EXE_LOCALIZER_CACHE_FD((int)i));
        if (h->req.what & EXE_VISIBILITY_PRIVATE) {
            (void)hlp_format(rest, sizeof(rest), "usercache/%s/filecache", h->user.name);
            cache(h, high, base, rest, EXE_LOCALIZER_CACHE_FD((int)i));
        }
        if (h->req.what & EXE_VISIBILITY_APPLICATION) {
            (void)hlp_format(rest, sizeof(rest), "usercache/%s/appcache/%s/filecache",
                             h->user.name, h->app);
            cache(h, high, base, rest, EXE_LOCALIZER_APP_FD((int)i));
        }
        (void)close(high);
    }
    hlp_fs_as(0, 0);
    static const char *const scratch[] = { "/tmp", "/var/tmp", "/dev/shm" };
    for (size_t i = 0; i < sizeof(scratch) / sizeof(scratch[0]); i++) {
        int target = open(scratch[i], O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (target >= 0)
            attach(new_mount("tmpfs", options, FLOOR | MOUNT_ATTR_NOEXEC), target, "", scratch[i]);
        if (target >= 0)
            (void)close(target);
    }
    if (chdir("/") < 0)
        fail("/");
}
