/* Files and directories, by descriptor. Three kinds of trees, each with its own access rule:
 *  - root's (configuration, programs, filters): every step from / on MUST be verified to be root's;
 *  - the daemon's (local and log dirs): MUST be walked with its file-system ids, owners checked;
 *  - a user's: MUST be opened by openat2 beneath, with the user's ids or after the drop. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

#define PLAIN_DIR (O_PATH | O_DIRECTORY | O_NOFOLLOW)
#define EAGAIN_TRIES 128 /* EAGAIN: a rename raced with the walk */

int hlp_openat2(int dirfd, const char *path, int flags, uint64_t resolve)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOCTTY),
        .resolve = resolve | RESOLVE_NO_MAGICLINKS,
    };
    if (flags & O_PATH)
        how.flags &= ~(uint64_t)O_NOCTTY;
    for (int i = 0; i < EAGAIN_TRIES; i++) {
        long fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
        if (fd >= 0)
            return (int)fd;
        if (errno == ENOSYS)
            hlp_fail(EXE_STATUS_KERNEL, ENOSYS, "openat2");
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
    }
    return -EAGAIN;
}

int hlp_open_at(int dirfd, const char *path, int flags)
{
    return hlp_openat2(dirfd, path, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
}

size_t hlp_format(char *buf, size_t size, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(buf, size, format, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= size)
        hlp_fail(EXE_STATUS_REQUEST, ENAMETOOLONG, format);
    return (size_t)n;
}

static int not_open(enum exe_status on_open, enum exe_status on_owner, int error, const char *path)
{
    if (on_open == EXE_STATUS_OK && error == ENOENT)
        return -ENOENT;
    hlp_fail(on_open == EXE_STATUS_OK || error == ELOOP ? on_owner : on_open, error, path);
}

/* POSIX ACLs need no check of their own: the group bits are their mask. */
int hlp_walk(const char *path, uid_t owner, char ret_name[256], enum exe_status on_open,
             enum exe_status on_owner)
{
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (const char *s = path;;) {
        struct stat st;
        if (fd < 0)
            return not_open(on_open, on_owner, -fd, path);
        if (fstat(fd, &st) < 0 || (st.st_uid != 0 && st.st_uid != owner) || (st.st_mode & 022))
            hlp_fail(on_owner, EPERM, path);
        s++;
        const char *slash = strchrnul(s, '/');
        if (slash == s || slash - s >= 256)
            hlp_fail(on_owner, ENAMETOOLONG, path);
        memcpy(ret_name, s, (size_t)(slash - s));
        ret_name[slash - s] = '\0';
        if (*slash == '\0')
            return fd;
        int next =
            hlp_openat2(fd, ret_name, O_PATH | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        (void)close(fd);
        fd = next;
        s = slash;
    }
}

int hlp_open_trusted(const char *path, int flags, enum exe_status on_open, enum exe_status on_owner)
{
    char name[256];
    struct stat st;
    int dir = hlp_walk(path, 0, name, on_open, on_owner);
    if (dir < 0)
        return dir;
    /* A FIFO in place of the file must not block the open; openat2 takes O_PATH only alone. */
    int fd = hlp_openat2(dir, name, flags | O_NOFOLLOW | (flags & O_PATH ? 0 : O_NONBLOCK),
                         RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    (void)close(dir);
    if (fd < 0)
        return not_open(on_open, on_owner, -fd, path);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & 022) ||
        st.st_nlink > 1)
        hlp_fail(on_owner, EPERM, path);
    return fd;
}

int hlp_check_open(int fd, const char *what, uid_t uid, gid_t gid, mode_t without,
                   enum exe_status status)
{
    struct stat st;
    if (fd < 0)
        hlp_fail(status, -fd, what);
    if (fstat(fd, &st) < 0 || (uid != HLP_ANY && st.st_uid != uid) ||
        (gid != HLP_ANY && st.st_gid != gid) || (st.st_mode & without))
        hlp_fail(status, EPERM, what);
    return fd;
}

int hlp_open_program(const char *name, mode_t without, enum exe_status status)
{
    char path[HLP_PATH_MAX];
    (void)hlp_format(path, sizeof(path), "%s/%s", LIBEXECDIR, name);
    return hlp_check_open(hlp_open_trusted(path, O_PATH, status, status), path, 0, HLP_ANY, without,
                          status);
}

int hlp_open_root(const struct hlp *h, const char *path, enum exe_status status)
{
    char name[256];
    int dir = hlp_walk(path, h->cfg.nm.uid, name, status, status);
    int fd = hlp_openat2(dir, name, O_PATH | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    (void)close(dir);
    return hlp_check_open(fd, path, h->cfg.nm.uid, HLP_ANY, 022, status);
}

/* A new directory gets owner and mode under a random name and is then renamed: under the final name
 * it is complete, and the owner of an existing directory is never changed. */
static void make_for(const struct hlp *h, int parent, const char *name, uid_t uid, mode_t mode,
                     enum exe_status status)
{
    char temporary[64];
    uint64_t random;
    struct stat st;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        hlp_fail(status, errno, "getrandom");
    (void)hlp_format(temporary, sizeof(temporary), ".new-%016llx", (unsigned long long)random);
    if (mkdirat(parent, temporary, 0700) < 0)
        hlp_fail(status, errno, name);
    int fd = hlp_open_at(parent, temporary, O_RDONLY | O_DIRECTORY);
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != h->cfg.nm.uid ||
        fchown(fd, -1, h->cfg.nm_gid) < 0 || fchmod(fd, mode) < 0 || fchown(fd, uid, -1) < 0 ||
        (syscall(SYS_renameat2, parent, temporary, parent, name, 1 /* RENAME_NOREPLACE */) < 0 &&
         errno != EEXIST)) {
        int error = fd < 0 ? -fd : errno;
        (void)unlinkat(parent, temporary, AT_REMOVEDIR);
        hlp_fail(status, error, name);
    }
    (void)unlinkat(parent, temporary, AT_REMOVEDIR); /* EEXIST: another helper was first */
    (void)close(fd);
}

int hlp_ensure_dir(const struct hlp *h, int parent, const char *name, uid_t uid, mode_t mode,
                   enum exe_status status)
{
    int fd = hlp_open_at(parent, name, PLAIN_DIR);
    if (fd == -ENOENT) {
        make_for(h, parent, name, uid, mode, status);
        fd = hlp_open_at(parent, name, PLAIN_DIR);
    }
    return hlp_check_open(fd, name, uid, h->cfg.nm_gid, 022, status);
}

int hlp_make_dir(int parent, const char *name, mode_t mode, bool exclusive, enum exe_status status)
{
    if (mkdirat(parent, name, mode) < 0 && (exclusive || errno != EEXIST))
        hlp_fail(status, errno, name);
    return hlp_check_open(hlp_open_at(parent, name, PLAIN_DIR), name, HLP_ANY, HLP_ANY, 02, status);
}

int hlp_open_user_dir(int dirfd, const char *path, uid_t uid, enum exe_status status)
{
    return hlp_check_open(hlp_open_at(dirfd, path, PLAIN_DIR), path, uid, HLP_ANY, 0, status);
}
