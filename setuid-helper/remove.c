/* Removes a tree as the user who owns it: the kernel decides what may go. Never follows a link, never
 * crosses a mount, holds at most DEPTH descriptors: what lies deeper is moved up to the top
 * directory first and dealt with there. Trees are made by jobs: any depth, any mode, any name. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

/* EXTRA_PASSES: readings of a directory beyond its second one, in the whole removal. A tree at rest needs
 * one of the top directory for each DEPTH levels; a job that fills the tree meanwhile gets no more. */
enum { DEPTH = 24, ENTRIES = 8192, EXTRA_PASSES = 1024 };

struct entry { /* struct linux_dirent64 */
    uint64_t ino;
    int64_t off;
    uint16_t reclen;
    uint8_t type;
    char name[];
};

struct walk {
    int top;      /* where too deep directories are moved to */
    unsigned moved, extra;
};

/* Opens a directory whose mode may forbid it to its owner. */
static int open_dir(int parent, const char *name)
{
    int fd = hlp_open_at(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (fd != -EACCES)
        return fd;
    char self[64];
    int path = hlp_open_at(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (path < 0)
        return path;
    (void)hlp_format(self, sizeof(self), "/proc/self/fd/%d", path);
    (void)chmod(self, 0700); /* exactly this inode; the open says whether it helped */
    (void)close(path);
    return hlp_open_at(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

static int clear(struct walk *w, int dir, int depth);

static int too_deep(struct walk *w, int dir, const char *name)
{
    char up[64];
    for (int i = 0; i < 64; i++) {
        (void)hlp_format(up, sizeof(up), ".deep-%u", w->moved++);
        if (syscall(SYS_renameat2, dir, name, w->top, up, 1 /* RENAME_NOREPLACE */) == 0)
            return 0;
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}

/* 0 gone, or the errno of what stands in the way. */
static int remove_one(struct walk *w, int dir, const char *name, int depth)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return errno;
    if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
        return 0;
    if (errno != ENOTEMPTY && errno != EEXIST && errno != EACCES)
        return errno == ENOTDIR ? EPERM : errno;
    int fd = open_dir(dir, name);
    if (fd < 0)
        return -fd;
    struct stat st;
    if (fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
        (void)fchmod(fd, 0700); /* the removals in it say whether it helped */
    int r = depth >= DEPTH ? too_deep(w, dir, name) : clear(w, fd, depth + 1);
    (void)close(fd);
    if (r == 0 && depth < DEPTH && unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        r = errno;
    return r;
}

/* Everything in `dir`. Reads it from the start until a pass removes nothing: removal moves entries. Or until
 * it is clear that somebody makes new ones. */
static int clear(struct walk *w, int dir, int depth)
{
    int error = 0;
    unsigned passes = 0;
    for (bool progress = true; progress;) {
        _Alignas(8) char buf[ENTRIES];
        if (passes++ > 1 && w->extra++ >= EXTRA_PASSES)
            return EBUSY;
        progress = false;
        error = 0;
        if (lseek(dir, 0, SEEK_SET) < 0)
            return errno;
        for (;;) {
            long n = syscall(SYS_getdents64, dir, buf, sizeof(buf));
            if (n <= 0) {
                if (n < 0)
                    return errno;
                break;
            }
            for (long at = 0; at < n;) {
                const struct entry *e = (const struct entry *)(buf + at);
                at += e->reclen;
                if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0)
                    continue;
                int r = remove_one(w, dir, e->name, depth);
                if (r)
                    error = error ? error : r;
                else
                    progress = true;
            }
        }
    }
    return error;
}

int hlp_remove_contents(int dir)
{
    struct walk w = { .top = dir };
    return clear(&w, dir, 0);
}

int hlp_remove_tree(int parent, const char *name)
{
    int fd = open_dir(parent, name);
    if (fd == -ENOENT)
        return 0;
    if (fd == -ENOTDIR || fd == -ELOOP) { /* not a directory: itself, not what it points to */
        return unlinkat(parent, name, 0) == 0 || errno == ENOENT ? 0 : errno;
    }
    if (fd < 0)
        return -fd;
    (void)fchmod(fd, 0700); /* the removals in it say whether it helped */
    int r = hlp_remove_contents(fd);
    (void)close(fd);
    if (r == 0 && unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        r = errno;
    return r;
}
