/* Files by descriptor. Hostile: names below a user's directory, which are resolved only by openat2
 * beneath a given descriptor. */
#include "common/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TREE_DEPTH_MAX 64 /* descriptors open at once while a tree is removed: one per level */
#define EAGAIN_TRIES 128

int sv_close(int fd)
{
    if (fd >= 0) {
        int saved = errno;

        /* EBADF means a double close, which could hit an unrelated descriptor next time: abort.
         * After EINTR the descriptor is closed. */
        if (close(fd) < 0 && errno == EBADF)
            abort();
        errno = saved;
    }
    return -EBADF;
}

int sv_open_beneath(int dirfd, const char *path, int flags, mode_t mode)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOCTTY),
        /* openat2 refuses a mode without O_CREAT or O_TMPFILE, and bits outside 07777 */
        .mode = flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? mode & 07777 : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd = -1;

    /* O_PATH allows only these flags; the kernel rejects O_NOCTTY with it */
    if (flags & O_PATH)
        how.flags &= (uint64_t)(O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    /* EAGAIN is a rename that raced with the path walk, or, for O_NONBLOCK, a lease that the file's
     * owner holds and may keep for lease-break-time: retry only a few times. */
    for (int tries = 0; tries < EAGAIN_TRIES; tries++) {
        fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
        if (fd >= 0 || (errno != EINTR && errno != EAGAIN))
            break;
    }
    return fd < 0 ? -errno : (int)fd;
}

/* Opens one path component as a directory, creating it if it is missing: without following a link
 * (`beneath`), or following links in the operator's tree. Returns the descriptor. */
static int enter_directory(int dirfd, const char *name, mode_t mode, bool beneath)
{
    int fd;

    if (mkdirat(dirfd, name, mode) < 0 && errno != EEXIST)
        return -errno;
    if (beneath)
        return sv_open_beneath(dirfd, name, O_PATH | O_DIRECTORY, 0);
    fd = openat(dirfd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int mkdir_p(int start, const char *path, mode_t mode, bool beneath)
{
    _cleanup_close_ int owned = -1;
    int at = start;

    for (const char *p = path;;) {
        char name[NAME_MAX + 1];
        size_t n;
        int fd;

        p += strspn(p, "/");
        n = strcspn(p, "/");
        if (n == 0)
            return 0;
        if (n >= sizeof(name))
            return -ENAMETOOLONG;
        memcpy(name, p, n);
        name[n] = '\0';
        p += n;
        if (strcmp(name, ".") == 0)
            continue;
        if (beneath && strcmp(name, "..") == 0)
            return -EXDEV; /* as openat2 reports it */
        fd = enter_directory(at, name, mode, beneath);
        if (fd < 0)
            return fd;
        (void)sv_close(owned);
        at = owned = fd;
    }
}

int sv_mkdir_p_at(int dirfd, const char *path, mode_t mode)
{
    if (*path == '/')
        return -EXDEV;
    return mkdir_p(dirfd, path, mode, true);
}

int sv_mkdir_p(const char *path, mode_t mode)
{
    _cleanup_close_ int root = -1;

    if (*path != '/')
        return mkdir_p(AT_FDCWD, path, mode, false);
    root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -errno;
    return mkdir_p(root, path, mode, false);
}

int sv_write_all(int fd, const void *p, size_t n)
{
    const uint8_t *at = p;

    while (n) {
        ssize_t k = write(fd, at, n);

        if (k < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        if (k == 0)
            return -EIO;
        at += k;
        n -= (size_t)k;
    }
    return 0;
}

int sv_read_file_at(int dirfd, const char *path, size_t max, char **ret, size_t *ret_len)
{
    _cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    _cleanup_free_ char *data = NULL;
    struct stat st;
    size_t cap, len = 0;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    if (st.st_size > 0 && (uint64_t)st.st_size > max)
        return -EFBIG;
    /* procfs and cgroupfs report size 0: read until the end of the file */
    cap = st.st_size > 0 ? (size_t)st.st_size : SV_MIN(max, (size_t)4096);
    for (;;) {
        ssize_t k;
        char *p;

        /* one byte above the limit detects a file that is too large, one is for the NUL */
        p = realloc(data, cap + 2);
        if (!p)
            return -ENOMEM;
        data = p;
        k = read(fd, data + len, cap + 1 - len);
        if (k < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        if (k == 0)
            break;
        len += (size_t)k;
        if (len > max)
            return -EFBIG;
        if (len > cap)
            cap = SV_MIN(cap * 2, max);
    }
    data[len] = '\0';
    *ret = SV_TAKE(data);
    if (ret_len)
        *ret_len = len;
    return 0;
}

int sv_write_file_atomic(int dirfd, const char *name, const void *p, size_t n, mode_t mode)
{
    _cleanup_close_ int fd = -1, dir = -1;
    char tmp[NAME_MAX + 1];
    uint64_t salt;
    int r;

    if (!*name || strchr(name, '/'))
        return -EINVAL;
    if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
        return -errno;
    if (snprintf(tmp, sizeof(tmp), ".%s.%016llx", name, (unsigned long long)salt) >=
        (int)sizeof(tmp))
        return -ENAMETOOLONG;
    /* a directory opened with O_PATH cannot be synced, so it is reopened */
    dir = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -errno;
    fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    r = sv_write_all(fd, p, n);
    if (r == 0 && fchmod(fd, mode & 07777) < 0)
        r = -errno;
    if (r == 0 && fsync(fd) < 0)
        r = -errno;
    if (r == 0 && renameat(dir, tmp, dir, name) < 0)
        r = -errno;
    if (r < 0) {
        (void)unlinkat(dir, tmp, 0); /* the first error is returned, ignoring */
        return r;
    }
    return fsync(dir) < 0 ? -errno : 0;
}

int sv_memfd_sealed(const char *name, const void *p, size_t n)
{
    _cleanup_close_ int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int r;

    if (fd < 0)
        return -errno;
    r = sv_write_all(fd, p, n);
    if (r < 0)
        return r;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return -errno;
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return -errno;
    return sv_take_fd(&fd);
}

int sv_memfd_readonly(const char *name, const void *p, size_t n)
{
    _cleanup_close_ int fd = sv_memfd_sealed(name, p, n);
    char proc[32];
    int r;

    if (fd < 0)
        return fd;
    (void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
    r = open(proc, O_RDONLY | O_CLOEXEC);
    return r < 0 ? -errno : r;
}

ssize_t sv_recv(int fd, void *p, size_t n, int flags)
{
    ssize_t r;

    do
        r = recv(fd, p, n, flags);
    while (r < 0 && (errno == EINTR || errno == ECONNRESET)); /* the kernel reports a reset once */
    return r;
}

/* State of one removal. To bound open descriptors, entries deeper than TREE_DEPTH_MAX are first
 * moved to the top, under unique names. */
struct tree_removal {
    int top;
    unsigned moved;
    bool again; /* entries were moved to the top that its scan may have missed */
};

static int open_sub(int dirfd, const char *name)
{
    struct open_how how = {
        .flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
    };
    _cleanup_close_ int path = -1;
    char proc[64];
    long fd;

    fd = syscall(SYS_openat2, dirfd, name, &how, sizeof(how));
    if (fd >= 0 || errno != EACCES)
        return fd < 0 ? -errno : (int)fd;
    /* an own directory whose mode denies access: chmod by descriptor, not by name */
    path = sv_open_beneath(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
    if (path < 0)
        return path;
    (void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", path);
    if (chmod(proc, 0700) < 0)
        return -EACCES;
    fd = syscall(SYS_openat2, path, ".", &how, sizeof(how));
    return fd < 0 ? -errno : (int)fd;
}

static int empty_directory(struct tree_removal *rm, int dirfd, int depth);

static int remove_entry(struct tree_removal *rm, int dirfd, const char *name, int depth)
{
    char up[64];
    int fd, r;

    if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM && errno != EACCES)
        return -errno;
    if (unlinkat(dirfd, name, AT_REMOVEDIR) == 0)
        return 0;
    if (depth >= TREE_DEPTH_MAX) {
        (void)snprintf(up, sizeof(up), ".selvedge-removal.%d.%u", getpid(), rm->moved++);
        if (renameat2(dirfd, name, rm->top, up, RENAME_NOREPLACE) < 0)
            return errno == ENOENT ? 0 : -errno;
        rm->again = true;
        return 0;
    }
    fd = open_sub(dirfd, name);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    r = empty_directory(rm, fd, depth + 1);
    if (r < 0)
        return r;
    return unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

/* Takes ownership of `dirfd`. */
static int empty_directory(struct tree_removal *rm, int dirfd, int depth)
{
    DIR *dir;
    int r = 0;

    (void)fchmod(dirfd, 0700); /* needed only for an own directory without w; else harmless */
    dir = fdopendir(dirfd);
    if (!dir) {
        r = -errno;
        (void)sv_close(dirfd);
        return r;
    }
    if (depth == 0)
        rm->top = dirfd;
    do {
        struct dirent *e;

        rm->again = depth == 0 ? false : rm->again;
        rewinddir(dir);
        while ((errno = 0, e = readdir(dir))) {
            int k = 0;

            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                k = remove_entry(rm, dirfd, e->d_name, depth);
            r = r < 0 ? r : k; /* the first error is returned; removal continues */
        }
        if (r == 0 && errno)
            r = -errno;
    } while (r == 0 && depth == 0 && rm->again);
    (void)closedir(dir);
    return r;
}

int sv_remove_tree_at(int dirfd, const char *name)
{
    struct tree_removal rm = { .top = -1 };
    int fd, r;

    if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return -EINVAL;
    if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -errno;
    fd = open_sub(dirfd, name);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    r = empty_directory(&rm, fd, 0);
    if (r < 0)
        return r;
    return unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}
