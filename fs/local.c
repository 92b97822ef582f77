/* file:, a directory of this machine, local or NFS. Others may write below its root, so every open
 * is beneath it and follows no link. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/fd.h"
#include "fs/backend.h"

#define STREAM_PART (256u << 10) /* bytes read at once */

struct state {
    int root;
};

struct file {
    int fd;
};

/* ---- The file system ---- */

static int root_of(const struct fs *fs)
{
    return ((const struct state *)fs->data)->root;
}

static void group_name(gid_t gid, char ret[FS_OWNER_MAX + 1])
{
    const struct group *g = getgrgid(gid);

    if (g)
        (void)snprintf(ret, FS_OWNER_MAX + 1, "%s", g->gr_name);
    else
        (void)snprintf(ret, FS_OWNER_MAX + 1, "gid %u", (unsigned)gid);
}

static int open_fs(struct fs *fs, struct sv_error *err)
{
    struct state *s = fs->data = malloc(sizeof(*s));
    int given = fs->options.root;

    if (!s)
        return sv_error_errno(err, -ENOMEM, "%s", fs->root);
    s->root = given >= 0 ? openat(given, ".", O_PATH | O_DIRECTORY | O_CLOEXEC)
                         : open(*fs->root ? fs->root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (s->root < 0)
        return sv_error_errno(err, -errno, "%s", fs->root);
    return 0;
}

static void close_fs(struct fs *fs)
{
    struct state *s = fs->data;

    if (s)
        s->root = sv_close(s->root);
    free(s);
    fs->data = NULL;
}

static int failed(const struct fs *fs, const char *path, int r, struct sv_error *err)
{
    return sv_error_errno(err, r, "%s%s%s", fs->root, *path ? "/" : "", path);
}

/* Opens `path`, or the root if it is "". */
static int open_at(const struct fs *fs, const char *path, int flags)
{
    return sv_open_beneath(root_of(fs), *path ? path : ".", flags | O_NOFOLLOW, 0);
}

/* Opens the directory of a path, whose last component becomes *ret_name. */
static int open_parent(const struct fs *fs, const char *path, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    char dir[FS_PATH_MAX];

    *ret_name = slash ? slash + 1 : path;
    if (!**ret_name)
        return -EINVAL;
    if (snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 0, path) >=
        (int)sizeof(dir))
        return -ENAMETOOLONG;
    return open_at(fs, dir, O_RDONLY | O_DIRECTORY);
}

static enum fs_kind kind_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return FS_FILE;
    case S_IFDIR:
        return FS_DIRECTORY;
    case S_IFLNK:
        return FS_LINK;
    case S_IFIFO:
        return FS_FIFO;
    case S_IFSOCK:
        return FS_SOCKET;
    case S_IFCHR:
    case S_IFBLK:
        return FS_DEVICE;
    default:
        return FS_NEITHER;
    }
}

static struct fs_status status_of(const struct stat *st)
{
    return (struct fs_status){ .kind = kind_of(st->st_mode),
                               .mode = st->st_mode & 07777,
                               .length = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0,
                               .mtime_ms = (int64_t)st->st_mtim.tv_sec * 1000 +
                                           st->st_mtim.tv_nsec / 1000000,
                               .id = st->st_ino };
}

/* `fd`: readable, or -1. Not seen: NFSv4's own ACLs, which its servers adapt to the mode. */
static struct fs_owner owner_of(const struct stat *st, int fd)
{
    struct fs_owner o = { .own = st->st_uid == geteuid(), .root = st->st_uid == 0 };
    const struct passwd *pw = getpwuid(st->st_uid);

    if (pw)
        (void)snprintf(o.user, sizeof(o.user), "%s", pw->pw_name);
    else
        (void)snprintf(o.user, sizeof(o.user), "uid %u", (unsigned)st->st_uid);
    group_name(st->st_gid, o.group);
    o.acl = fd >= 0 && (fgetxattr(fd, "system.posix_acl_access", NULL, 0) > 0 ||
                        fgetxattr(fd, "system.posix_acl_default", NULL, 0) > 0);
    return o;
}

/* Opens a path whatever it is, and as a readable directory or file if it can be one: *ret_fd, else
 * -1. The first descriptor says what it is even where its owner keeps others out. */
static int look(const struct fs *fs, const char *path, struct fs_status *ret,
                struct fs_owner *ret_owner, int *ret_fd, struct sv_error *err)
{
    _cleanup_close_ int at = open_at(fs, path, O_PATH);
    _cleanup_close_ int fd = -1;
    struct stat st;

    if (at < 0 || fstat(at, &st) < 0)
        return sv_error_errno(err, at < 0 ? at : -errno, "open");
    if (S_ISDIR(st.st_mode))
        fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *ret = status_of(&st);
    if (ret_owner)
        *ret_owner = owner_of(&st, fd);
    if (ret_fd)
        *ret_fd = fd >= 0 ? sv_take_fd(&fd) : sv_take_fd(&at);
    return 0;
}

/* The look-up may ask services of the machine, which a sandboxed caller cannot reach. */
static void find_own_group(struct fs *fs, const struct fs_owner *wanted)
{
    if (wanted && !*fs->own_group)
        group_name(getegid(), fs->own_group);
}

static int status(struct fs *fs, const char *path, struct fs_status *ret,
                  struct fs_owner *ret_owner, struct sv_error *err)
{
    find_own_group(fs, ret_owner);
    return look(fs, path, ret, ret_owner, NULL, err);
}

static int enter(struct fs *fs, const char *name, struct fs_status *ret, struct fs_owner *ret_owner,
                 struct sv_error *err)
{
    struct state *s = fs->data;
    _cleanup_close_ int fd = -1;
    int r = look(fs, name, ret, ret_owner, &fd, err);

    find_own_group(fs, ret_owner);
    if (r < 0 || ret->kind != FS_DIRECTORY)
        return r;
    (void)sv_close(s->root);
    s->root = sv_take_fd(&fd);
    return 0;
}

static void close_dir(DIR **d)
{
    if (*d)
        (void)closedir(*d); /* was only read, ignoring */
}

static int pass_child(const struct fs *fs, int dir, const char *name,
                      int (*child)(void *userdata, const struct fs_child *c), void *userdata,
                      struct sv_error *err)
{
    char target[FS_PATH_MAX];
    struct fs_child c = { .name = name };
    struct stat st;
    ssize_t n;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : failed(fs, name, -errno, err); /* gone meanwhile */
    c.st = status_of(&st);
    if (c.st.kind == FS_LINK) {
        n = readlinkat(dir, name, target, sizeof(target));
        if (n < 0 || (size_t)n >= sizeof(target))
            return failed(fs, name, n < 0 ? -errno : -ENAMETOOLONG, err);
        target[n] = 0;
        c.target = target;
    }
    return child(userdata, &c);
}

static int list(struct fs *fs, const char *path,
                int (*child)(void *userdata, const struct fs_child *c), void *userdata,
                struct sv_error *err)
{
    int fd = open_at(fs, path, O_RDONLY | O_DIRECTORY), r = 0;
    _cleanup_(close_dir) DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (!d) {
        (void)sv_close(fd);
        return failed(fs, path, fd < 0 ? fd : -ENOMEM, err);
    }
    while (r == 0) {
        const struct dirent *e;

        errno = 0;
        e = readdir(d);
        if (!e)
            return errno ? failed(fs, path, -errno, err) : 0;
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            r = pass_child(fs, dirfd(d), e->d_name, child, userdata, err);
    }
    return r;
}

/* ---- Files ---- */

static int new_file(struct fs_file *f, int fd, struct sv_error *err)
{
    struct file *h = f->data = malloc(sizeof(*h));

    if (!h) {
        (void)sv_close(fd);
        return sv_error_errno(err, -ENOMEM, "%s", f->path);
    }
    h->fd = fd;
    return fd < 0 ? failed(f->fs, f->path, fd, err) : 0;
}

static int fd_of(const struct fs_file *f)
{
    return ((const struct file *)f->data)->fd;
}

static int open_regular(struct fs_file *f, int flags, struct stat *ret, struct sv_error *err)
{
    int r = new_file(f, open_at(f->fs, f->path, flags | O_NONBLOCK), err);

    if (r < 0)
        return r;
    if (fstat(fd_of(f), ret) < 0)
        return failed(f->fs, f->path, -errno, err);
    if (!S_ISREG(ret->st_mode))
        return sv_error_set(err, -EINVAL, "%s/%s: no regular file", f->fs->root, f->path);
    return 0;
}

static int open_file(struct fs_file *f, struct fs_status *ret, struct sv_error *err)
{
    struct stat st;
    int r = open_regular(f, O_RDONLY, &st, err);

    if (r == 0)
        *ret = status_of(&st);
    return r;
}

static int read_bytes(struct fs_file *f, uint64_t offset, void *p, size_t n, struct sv_error *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = pread(fd_of(f), (uint8_t *)p + done, n - done, (off_t)(offset + done));

        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return k < 0 ? sv_error_errno(err, -errno, "read")
                         : sv_error_set(err, -ESTALE, "it became shorter while it was read");
        done += (size_t)k;
    }
    return 0;
}

static int descriptor(const struct fs_file *f)
{
    return fd_of(f);
}

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Reads to the end of the file, at most `length` bytes. */
static int pass_bytes(int fd, uint64_t length, struct fs_stream *s, struct sv_error *err)
{
    size_t size = (size_t)SV_MIN(length + 1, (uint64_t)STREAM_PART);
    _cleanup_free_ uint8_t *part = malloc(size);
    ssize_t n = part ? 1 : 0;
    int r = part ? 0 : sv_error_errno(err, -ENOMEM, "read");

    while (n > 0 && r == 0) {
        do
            n = read(fd, part, size);
        while (n < 0 && errno == EINTR);
        if (n < 0)
            return sv_error_errno(err, -errno, "read");
        if ((uint64_t)n > length - s->bytes)
            return 0; /* it grows: its status says so */
        r = n > 0 ? s->sink(s->userdata, part, (size_t)n) : 0;
        s->sink_failed = r < 0;
        s->bytes += r < 0 ? 0 : (size_t)n;
    }
    return r < 0 && s->sink_failed ? sv_error_errno(err, r, "write") : r;
}

static int stream(struct fs *fs, const char *path, const struct fs_status *st, struct fs_stream *s,
                  struct sv_error *err)
{
    _cleanup_close_ int fd = open_at(fs, path, O_RDONLY | O_NONBLOCK);
    struct stat first, last;
    struct fs_status opened;
    int r;

    if (fd < 0 || fstat(fd, &first) < 0)
        return failed(fs, path, fd < 0 ? fd : -errno, err);
    opened = status_of(&first);
    r = opened.kind == FS_FILE && fs_same(&opened, st) ? pass_bytes(fd, st->length, s, err)
                                                       : -ESTALE;
    if (r == 0 && (fstat(fd, &last) < 0 || !same(&first, &last) || s->bytes != st->length))
        r = -ESTALE;
    return r == -ESTALE && !s->sink_failed ? sv_error_set(err, r, "it changed while it was read")
                                           : r;
}

static int create(struct fs_file *f, uint32_t mode, struct sv_error *err)
{
    const char *name;
    _cleanup_close_ int dir = open_parent(f->fs, f->path, &name);
    int r, fd = dir;

    if (dir >= 0)
        fd = unlinkat(dir, name, 0) < 0 && errno != ENOENT
                 ? -errno
                 : sv_open_beneath(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                                   (mode_t)mode);
    r = new_file(f, fd, err);
    return r == 0 && fchmod(fd, (mode_t)mode) < 0 ? sv_error_errno(err, -errno, "%s: mode", f->path)
                                                  : r;
}

static int append(struct fs_file *f, struct sv_error *err)
{
    struct stat st;

    return open_regular(f, O_WRONLY | O_APPEND, &st, err);
}

static int write_bytes(struct fs_file *f, const void *p, size_t n, struct sv_error *err)
{
    int r = sv_write_all(fd_of(f), p, n);

    return r < 0 ? sv_error_errno(err, r, "write") : 0;
}

/* By reflink or inside the kernel where the file systems can do that. */
static int write_from(struct fs_file *f, int fd, struct sv_error *err)
{
    char buf[64 << 10];
    ssize_t n;
    int r = 0;

    do
        n = copy_file_range(fd, NULL, fd_of(f), NULL, 1 << 30, 0);
    while (n > 0);
    while (r == 0 && (n = read(fd, buf, sizeof(buf))) != 0) {
        if (n < 0 && errno != EINTR)
            return sv_error_errno(err, -errno, "read");
        r = n < 0 ? 0 : write_bytes(f, buf, (size_t)n, err);
    }
    return r;
}

static int finish(struct fs_file *f, struct sv_error *err)
{
    if (f->fs->options.no_sync)
        return 0;
    return fsync(fd_of(f)) < 0 ? sv_error_errno(err, -errno, "%s: fsync", f->path) : 1;
}

static void file_free(struct fs_file *f)
{
    if (f->data)
        (void)sv_close(fd_of(f));
    free(f->data);
    f->data = NULL;
}

/* ---- Changes ---- */

static int rename_file(struct fs *fs, const char *from, const char *to, struct sv_error *err)
{
    const char *name, *name_to;
    _cleanup_close_ int dir = open_parent(fs, from, &name);
    _cleanup_close_ int dir_to = open_parent(fs, to, &name_to);

    if (dir < 0 || dir_to < 0)
        return sv_error_errno(err, dir < 0 ? dir : dir_to, "%s: rename", from);
    if (renameat(dir, name, dir_to, name_to) < 0)
        return sv_error_errno(err, -errno, "%s: rename", from);
    if (fsync(dir_to) < 0)
        return sv_error_errno(err, -errno, "%s: fsync of its directory", to);
    return 0;
}

static int sync_path(struct fs *fs, const char *path, struct sv_error *err)
{
    _cleanup_close_ int fd = open_at(fs, path, O_RDONLY | O_NONBLOCK);

    return fd >= 0 && fsync(fd) == 0 ? 0 : sv_error_errno(err, fd < 0 ? fd : -errno, "fsync");
}

static int set_time(struct fs *fs, const char *path, int64_t mtime_ms, struct sv_error *err)
{
    _cleanup_close_ int fd = open_at(fs, path, O_RDONLY | O_NONBLOCK);
    const struct timespec t = { mtime_ms / 1000, mtime_ms % 1000 * 1000000 }, times[] = { t, t };

    return fd >= 0 && futimens(fd, times) == 0 ? 0
                                               : sv_error_errno(err, fd < 0 ? fd : -errno, "time");
}

static int remove_path(struct fs *fs, const char *path, bool tree, struct sv_error *err)
{
    const char *name;
    _cleanup_close_ int dir = open_parent(fs, path, &name);
    int r = dir;

    if (dir >= 0 && tree)
        r = sv_remove_tree_at(dir, name);
    else if (dir >= 0)
        r = unlinkat(dir, name, 0) == 0 ||
                    (errno == EISDIR && unlinkat(dir, name, AT_REMOVEDIR) == 0)
                ? 0
                : -errno;
    return r >= 0 || r == -ENOENT ? 0 : sv_error_errno(err, r, "%s", path);
}

static int make_dir(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    const char *name;
    _cleanup_close_ int dir = open_parent(fs, path, &name);
    int r = dir >= 0 && mkdirat(dir, name, (mode_t)mode) < 0 ? -errno : SV_MIN(dir, 0);
    struct stat st;

    if (r == -EEXIST && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
        r = 0;
    return r < 0 ? sv_error_errno(err, r, "mkdir") : 0;
}

/* The owner of a file may set the mode of one that denies it to read. fchmod() takes no descriptor
 * of O_PATH, but its name below /proc means the same inode. */
static int set_mode_closed(const struct fs *fs, const char *path, uint32_t mode)
{
    _cleanup_close_ int fd = open_at(fs, path, O_PATH);
    char proc[32];

    if (fd < 0)
        return fd;
    (void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
    return chmod(proc, (mode_t)mode) < 0 ? -errno : 0;
}

static int set_mode(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    _cleanup_close_ int fd = open_at(fs, path, O_RDONLY | O_NONBLOCK);
    int r = fd >= 0 && fchmod(fd, (mode_t)mode) < 0 ? -errno : SV_MIN(fd, 0);

    if (r == -EACCES)
        r = set_mode_closed(fs, path, mode);
    return r < 0 ? sv_error_errno(err, r, "mode") : 0;
}

static int set_group(struct fs *fs, const char *path, const char *group, struct sv_error *err)
{
    _cleanup_close_ int fd = open_at(fs, path, O_RDONLY | O_NONBLOCK);
    const struct group *g = getgrnam(group);

    if (!g)
        return sv_error_errno(err, -ENOENT, "group %s", group);
    return fd >= 0 && fchown(fd, (uid_t)-1, g->gr_gid) == 0
               ? 0
               : sv_error_errno(err, fd < 0 ? fd : -errno, "group");
}

const struct fs_ops fs_local = {
    .name = "a local directory",
    .open = open_fs,
    .close = close_fs,
    .status = status,
    .enter = enter,
    .list = list,
};
const struct fs_read_ops fs_local_reading = {
    .open_file = open_file,
    .file_free = file_free,
    .descriptor = descriptor,
    .read = read_bytes,
    .stream = stream,
};
const struct fs_write_ops fs_local_writing = {
    .create = create,
    .append = append,
    .file_free = file_free,
    .write = write_bytes,
    .write_from = write_from,
    .finish = finish,
    .sync = sync_path,
    .set_time = set_time,
    .rename = rename_file,
    .remove = remove_path,
    .mkdir = make_dir,
    .set_mode = set_mode,
    .set_group = set_group,
};
