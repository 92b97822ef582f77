/* Root templates: the host's file system as every container of a profile, and every localizer, sees
 * it. Each is a mount namespace that container-prepare creates once and pins by binding its file in
 * the state directory. A launch enters one and takes a copy (sandbox.c), so that the host's mount
 * table is neither copied nor torn down at a launch.
 *
 *    strict      a new root with the paths listed here, entered by pivot_root
 *    hadoop      the host's tree read-only; /dev new; secret places and the daemon's directories
 *                covered
 *    localizer   the host's tree read-only, the daemon's directories covered
 *
 * Private keys of the host's services are covered in all of them. Every mount MUST be nosuid, and
 * nodev except device nodes, and read-only except devices and paths that the configuration makes
 * writable. Paths are root's: the host's own and the configuration's. The daemon's directories MUST
 * NOT be reached through a link. A path of the host that a template shows is a source of the
 * policy: another file or mount there rebuilds the templates. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/shown-paths.h"
#include "setuid-helper/mounts.h"
#include "setuid-helper/prepare.h"

#define MNT_DETACH_ 2
#define LOCALIZER 0 /* among the numbers of profiles */
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint32_t with_keys; /* index of the first of the sources that may have private keys below */

_Noreturn static void fail(const char *what)
{
    hlp_fail(EXE_STATUS_MOUNT, errno, what);
}

/* Mounts an empty directory with `flags` over the one at `path`, if it exists. */
static void cover(int root, const char *path, uint64_t flags)
{
    struct stat st;
    if (fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            fail(path);
    } else if (S_ISDIR(st.st_mode)) {
        hlp_attach(hlp_new_mount("tmpfs", hlp_small, flags), root, path);
    }
}

static void make_read_only(int root, const char *path)
{
    int fd = hlp_open_point(root, path);
    if (fd < 0)
        fail(path);
    hlp_set_attributes(fd, 0, HLP_RO, 0, path);
    (void)close(fd);
}

/* Copies files: a mount of each would be copied and torn down with every container. */
static void copy_file(int root, const char *path)
{
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int to = openat(root, path + 1, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (from < 0 || to < 0)
        fail(path);
    ssize_t n;
    while ((n = sendfile(to, from, NULL, 1 << 20)) > 0)
        ;
    if (n < 0 || close(to) < 0)
        fail(path);
    (void)close(from);
}

/* Shows a directory of the host at the same path, or copies a file's content; skips missing ones.
 * In /etc a link is resolved here (its target, say below /run, does not exist inside), except into
 * /usr. */
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
        if (stat(path, &st) < 0) /* a dangling link */
            return;
    }
    if (S_ISREG(st.st_mode)) {
        copy_file(root, path);
        return;
    }
    if (!S_ISDIR(st.st_mode))
        hlp_fail(EXE_STATUS_MOUNT, EINVAL, path);
    hlp_make_point(root, path + 1, true);
    hlp_attach(hlp_copy(AT_FDCWD, path, AT_RECURSIVE), root, path + 1);
}

/* Only these names of /etc are shown. */
/* clang-format off */
static const char *const shown[] = {
    EXE_SHOWN_DIRECTORIES,
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/resolv.conf",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/krb5.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/ld.so.cache",
};
/* clang-format on */

static int strict_root(void)
{
    static hlp_options options = {
        { "mode", "0755" }, { "size", "64m" }, { "nr_inodes", "1024" }, { NULL, NULL }
    };
    int root = hlp_new_mount("tmpfs", options, HLP_BASELINE);
    /* On /proc, which every host has and which this does not use: only in this namespace. */
    hlp_attach(dup(root), AT_FDCWD, "/proc");
    hlp_make_point(root, "etc", true);
    for (size_t i = 0; i < COUNT(shown); i++)
        host_path(root, shown[i]);
    hlp_make_point(root, "dev", true);
    hlp_make_point(root, "home", true);
    hlp_make_point(root, "proc", true);
    hlp_make_point(root, "run", true);
    hlp_make_point(root, "sys/fs/cgroup", true);
    hlp_make_point(root, "tmp", true);
    hlp_make_point(root, "var", true);
    if (symlinkat("../tmp", root, "var/tmp") < 0 || symlinkat("../run", root, "var/run") < 0)
        fail("/var");
    return root;
}

static bool in_run(const char *path)
{
    return strncmp(path, "/run/", 5) == 0;
}

/* Clones a path of root's configuration, found by the walk that follows no link. Below /run it MUST
 * NOT be root's or the daemon's: their sockets give rights over the machine. A service makes its
 * directory there when it starts: a missing one is -1, and as a source of the policy rebuilds the
 * templates when it appears. */
static int configured_tree(const struct hlp_policy *p, const char *path)
{
    const enum exe_status missing = in_run(path) ? EXE_STATUS_OK : EXE_STATUS_MOUNT;
    struct stat st;
    char name[256];
    int dir = hlp_walk(path, 0, name, missing, EXE_STATUS_MOUNT);
    if (dir < 0)
        return -1;
    int fd = hlp_openat2(dir, name, O_PATH, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    (void)close(dir);
    if (fd == -ENOENT && in_run(path))
        return -1;
    if (fd < 0)
        hlp_fail(EXE_STATUS_MOUNT, -fd, path);
    int tree = hlp_copy(fd, "", AT_EMPTY_PATH | AT_RECURSIVE);
    if (tree < 0 || fstat(tree, &st) < 0)
        fail(path);
    if (in_run(path) && (st.st_uid == 0 || st.st_uid == p->nm.uid))
        hlp_fail(EXE_STATUS_MOUNT, EPERM, path);
    (void)close(fd);
    return tree;
}

static void attach_configured(int tree, int root, const char *path)
{
    struct stat st;
    if (fstat(tree, &st) < 0)
        fail(path);
    hlp_make_point(root, path + 1, S_ISDIR(st.st_mode));
    hlp_attach(tree, root, path + 1);
}

static void configured_paths(const struct hlp_policy *p, const struct hlp_list *l, int root,
                             bool writable)
{
    for (unsigned i = 0; i < l->n; i++) {
        int tree = configured_tree(p, l->v[i]);
        if (tree < 0)
            continue;
        if (writable)
            hlp_set_attributes(tree, AT_RECURSIVE, 0, HLP_RO, l->v[i]);
        attach_configured(tree, root, l->v[i]);
    }
}

/* The host's tree with its secret places covered. Name resolution needs parts of /run, and the
 * configuration names others, which are shown. */
static void hadoop_root(const struct hlp_config *cfg, int root)
{
    static const char *const covered[] = { "root", "boot", "run" };
    static const char *const kept[] = { "run/systemd/resolve", "run/resolvconf", "run/nscd" };
    const struct hlp_list *named = &cfg->read_only;
    int trees[COUNT(kept)], more[EXE_DIRS_MAX];
    for (size_t i = 0; i < COUNT(kept); i++)
        trees[i] = hlp_copy(root, kept[i], AT_RECURSIVE);
    for (unsigned i = 0; i < named->n; i++)
        more[i] = in_run(named->v[i]) ? configured_tree(&cfg->policy, named->v[i]) : -1;
    for (size_t i = 0; i < COUNT(covered); i++)
        cover(root, covered[i], HLP_BASELINE);
    for (size_t i = 0; i < COUNT(kept); i++)
        if (trees[i] >= 0) {
            hlp_make_point(root, kept[i], true);
            hlp_attach(trees[i], root, kept[i]);
        }
    for (unsigned i = 0; i < named->n; i++)
        if (more[i] >= 0)
            attach_configured(more[i], root, named->v[i]);
    make_read_only(root, "/run");
}

/* Makes the configured directories of the daemon, empty: a launch mounts its own part of them
 * there. Those of a bad disk may be missing. */
static void places(const struct hlp_list *l, int root, bool strict)
{
    for (unsigned i = 0; i < l->n; i++) {
        if (strict) {
            hlp_make_point(root, l->v[i] + 1, true);
            continue;
        }
        int fd = hlp_open_point(root, l->v[i]);
        if (fd < 0 && errno != ENOENT && errno != ENOTDIR && errno != EIO)
            fail(l->v[i]);
        if (fd < 0)
            continue;
        hlp_attach(hlp_new_mount("tmpfs", hlp_small, HLP_RO | HLP_BASELINE), fd, "");
        (void)close(fd);
    }
}

/* Information in /proc about the machine beyond the container. */
static const struct mask {
    const char *name;
    bool directory, module; /* it may appear while the machine runs */
} masks[] = {
    { "acpi", true, false },
    { "asound", true, true },
    { "interrupts", false, false },
    { "kallsyms", false, false },
    { "kcore", false, false },
    { "keys", false, false },
    { "kmsg", false, false },
    { "kpagecgroup", false, false },
    { "kpagecount", false, false },
    { "kpageflags", false, false },
    { "latency_stats", false, false },
    { "sched_debug", false, false },
    { "scsi", true, true },
    { "sysrq-trigger", false, false },
    { "timer_list", false, false },
    { "vmallocinfo", false, false },
};

/* Selects the masks that are needed: not for files that never exist, nor for those that the kernel
 * lets root alone read, and nobody write. */
static void find_masks(struct hlp_policy *p)
{
    struct stat st;
    int proc = hlp_new_mount("proc", NULL, HLP_BASELINE); /* the one here may show less */
    for (size_t i = 0; i < COUNT(masks); i++) {
        bool there = fstatat(proc, masks[i].name, &st, AT_SYMLINK_NOFOLLOW) == 0;
        if (!there && errno != ENOENT)
            fail(masks[i].name);
        if (there ? st.st_uid != 0 || (st.st_mode & 0377) != 0 : masks[i].module)
            p->masks.v[p->masks.n++] = masks[i].name;
    }
    (void)close(proc);
}

/* /dev, with the mounts that a launch moves over the masked names: each a mount of its own. */
static void make_dev(int root, struct hlp_nodes *nodes, const struct hlp_policy *p)
{
    char path[HLP_PATH_MAX];
    int dev = hlp_make_dev(root, nodes);
    if (mkdirat(root, HLP_HIDDEN, 0700) < 0)
        fail(HLP_HIDDEN);
    for (int made = 0; made < 2; made++) {
        for (size_t i = 0; i < COUNT(masks); i++) {
            if (!hlp_list_has(&p->masks, masks[i].name))
                continue;
            (void)hlp_format(path, sizeof(path), HLP_HIDDEN "/%s", masks[i].name);
            if (made)
                hlp_attach(hlp_copy(root, path, 0), root, path);
            else if ((masks[i].directory ? mkdirat(root, path, 0)
                                         : mknodat(root, path, S_IFREG, 0)) < 0)
                fail(path);
        }
        hlp_set_attributes(dev, 0, HLP_RO, 0, "/dev"); /* before the copies, which inherit it */
    }
    (void)close(dev);
}

static void enter(int root)
{
    struct stat want, got;
    if (fstat(root, &want) < 0 || fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
        syscall(SYS_umount2, ".", MNT_DETACH_) < 0 || chdir("/") < 0 || stat("/", &got) < 0)
        fail("pivot_root");
    if (want.st_dev != got.st_dev || want.st_ino != got.st_ino)
        hlp_fail(EXE_STATUS_MOUNT, EXDEV, "/");
    hlp_set_attributes(root, 0, HLP_RO | HLP_BASELINE, 0, "/");
}

/* Builds it in a mount namespace of its own. */
static void build(const struct hlp_config *cfg, unsigned kind)
{
    const struct hlp_policy *p = &cfg->policy;
    struct hlp_nodes nodes = { .n = 0 };
    char path[HLP_PATH_MAX];
    int root = hlp_openat2(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
    hlp_set_attributes(root, AT_RECURSIVE, HLP_RO | HLP_BASELINE, 0, "/");
    if (kind != LOCALIZER)
        hlp_add_standard_nodes(&nodes, root);
    if (kind == EXE_PROFILE_STRICT) {
        (void)close(root);
        root = strict_root();
        configured_paths(p, &cfg->read_only, root, false);
    } else if (kind == EXE_PROFILE_HADOOP) {
        hadoop_root(cfg, root);
    }
    if (kind != LOCALIZER) {
        configured_paths(p, &cfg->writable, root, true);
        make_dev(root, &nodes, p);
    }
    for (uint32_t i = with_keys; i < p->n_sources; i++) {
        (void)hlp_format(path, sizeof(path), "%s/private", p->sources[i].path + 1);
        cover(root, path, HLP_RO | HLP_BASELINE);
    }
    places(&p->local_dirs, root, kind == EXE_PROFILE_STRICT);
    places(&p->log_dirs, root, kind == EXE_PROFILE_STRICT);
    if (kind == EXE_PROFILE_STRICT)
        enter(root);
    (void)close(root);
}

static void add_list(struct hlp_policy *p, const struct hlp_list *l)
{
    for (unsigned i = 0; i < l->n; i++)
        hlp_add_source(p, l->v[i], false);
}

/* Records the identity of each path; for a copied file, also its content. */
static void add_sources(struct hlp_config *cfg)
{
    struct hlp_policy *p = &cfg->policy;
    struct stat st;
    char *path; /* lives as long as the program, as the directory does */
    for (size_t i = 0; i < COUNT(shown); i++) {
        const bool there = stat(shown[i], &st) == 0;
        if (!there && errno != ENOENT && errno != ENOTDIR)
            fail(shown[i]);
        hlp_add_source(p, shown[i], there && S_ISREG(st.st_mode));
    }
    hlp_add_source(p, "/", false);
    hlp_add_source(p, "/dev", false);
    hlp_add_source(p, "/dev/null", false);
    add_list(p, &cfg->read_only);
    add_list(p, &cfg->writable);
    add_list(p, &p->local_dirs);
    add_list(p, &p->log_dirs);
    with_keys = p->n_sources; /* with their names, which may appear later */
    hlp_add_source(p, "/etc/ssl", true);
    hlp_add_source(p, "/etc/pki", true);
    DIR *pki = opendir("/etc/pki");
    if (!pki && errno != ENOENT && errno != ENOTDIR)
        fail("/etc/pki");
    for (struct dirent *e; pki && (e = readdir(pki));)
        if (e->d_name[0] != '.')
            hlp_add_source(p, asprintf(&path, "/etc/pki/%s", e->d_name) < 0 ? NULL : path, true);
}

/* Creates a mount namespace and binds it at `at`. The kernel lets a younger one be bound only in an
 * older one, so that they cannot keep each other alive; from Linux 6.18 on it compares their ages
 * by numbers, of which each processor has its own supply. So this tries one processor after the
 * other until the number is higher, which it is at the latest on the processor on which our own
 * namespace was created. */
static int new_namespace(int home, int state, const char *at)
{
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof(all), &all) < 0)
        fail("processors");
    for (size_t cpu = 0;; cpu++) {
        if (unshare(CLONE_NEWNS) < 0)
            fail("mount namespace");
        int made = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
        if (made < 0 || setns(home, CLONE_NEWNS) < 0)
            fail("mount namespace");
        int tree = hlp_copy(made, "", AT_EMPTY_PATH);
        if (syscall(SYS_move_mount, tree, "", state, at, MOVE_MOUNT_F_EMPTY_PATH) == 0) {
            (void)close(tree);
            (void)sched_setaffinity(0, sizeof(all), &all);
            return made;
        }
        const int error = errno;
        (void)close(tree);
        (void)close(made);
        errno = error;
        if (errno != ELOOP || cpu == CPU_SETSIZE)
            fail(at);
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        (void)sched_setaffinity(0, sizeof(one),
                                &one); /* there may be no such processor, ignoring */
    }
}

static void make(int state, struct hlp_config *cfg, unsigned kind)
{
    struct hlp_policy *p = &cfg->policy;
    char at[64], path[HLP_PATH_MAX];
    int home = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    (void)hlp_format(at, sizeof(at), HLP_ROOT_NAME, kind, p->roots);
    if (home < 0 || mknodat(state, at, S_IFREG | 0400, 0) < 0)
        fail(at);
    int made = new_namespace(home, state, at);
    if (setns(made, CLONE_NEWNS) < 0)
        fail("mount namespace");
    build(cfg, kind);
    if (setns(home, CLONE_NEWNS) < 0)
        fail("mount namespace");
    (void)close(made);
    (void)close(home);
    (void)hlp_format(path, sizeof(path), EXECUTOR_STATE "/%s", at);
    hlp_add_source(p, strdup(path), false); /* lives as long as the program */
}

void hlp_make_root_templates(int state, struct hlp_config *cfg)
{
    struct hlp_policy *p = &cfg->policy;
    char at[64];
    struct stat st;
    add_sources(cfg);
    find_masks(p);
    (void)umask(0);
    do /* a generation without remaining files */
        (void)hlp_format(at, sizeof(at), HLP_ROOT_NAME, LOCALIZER, ++p->roots);
    while (fstatat(state, at, &st, AT_SYMLINK_NOFOLLOW) == 0);
    make(state, cfg, LOCALIZER); /* first: it reserves the generation */
    for (unsigned kind = EXE_PROFILE_STRICT; kind <= EXE_PROFILE_HADOOP; kind++)
        if (p->profiles >> kind & 1)
            make(state, cfg, kind);
    (void)umask(077);
}

/* Drops those of another generation. A launch that has opened one keeps it as long as it needs. */
void hlp_drop_root_templates(int state, uint32_t number)
{
    DIR *dir = fdopendir(dup(state));
    if (!dir || fchdir(state) < 0)
        fail(EXECUTOR_STATE);
    for (struct dirent *e; (e = readdir(dir));) {
        if (strncmp(e->d_name, "root-", 5) != 0 ||
            strtoul(strrchr(e->d_name, '-') + 1, NULL, 10) == number)
            continue;
        (void)syscall(SYS_umount2, e->d_name,
                      MNT_DETACH_);          /* left by a killed one: none, ignoring */
        (void)unlinkat(state, e->d_name, 0); /* retried by the next one, ignoring */
    }
    (void)closedir(dir);
}
