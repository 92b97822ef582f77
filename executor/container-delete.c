/* container-delete: performs a DELETE request, which container-executor has checked, as the user
 * whose files are deleted (executor/job-user.h). Beside the request it has
 *
 *   fd 3…   O_PATH directories: the masked local dirs, or log dirs, in ascending order
 *
 * Its file is not readable by users (mode 0711), so no process of the same user can trace it and
 * answer in its place.
 *
 * Permission to delete is the kernel's decision. It MUST NOT follow a link or cross a mount, and
 * MUST hold few descriptors: deeply nested directories are moved up to the top directory first.
 * Hostile input: trees made by jobs, of any depth, mode and name. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "executor/job-user.h"

#define PATH_SIZE 512

/* EXTRA_PASSES: readings of a directory beyond its second one, in the whole removal. An unchanged
 * tree needs one of the top directory for each DEPTH levels; a job that fills the tree meanwhile
 * gets no more. */
enum { DEPTH = 24, ENTRIES = 8192, EXTRA_PASSES = 1024 };
/* A directory that is filled faster than it is read would never become empty. Some millions of
 * entries are removed in this time; the daemon retries the request for the rest. */
#define SECONDS 60

struct entry { /* struct linux_dirent64 */
    uint64_t ino;
    int64_t off;
    uint16_t reclen;
    uint8_t type;
    char name[];
};

struct walk {
    int top; /* directory to which too deep directories are moved */
    unsigned moved, extra;
    time_t until; /* CLOCK_MONOTONIC */
};

static time_t now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* Opens a directory whose mode may forbid it to its owner. */
static int open_dir(int parent, const char *name)
{
    int fd = job_user_open(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (fd != -EACCES)
        return fd;
    char self[64];
    int path = job_user_open(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (path < 0)
        return path;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", path);
    (void)chmod(self, 0700); /* exactly this inode; the open reports failure */
    (void)close(path);
    return job_user_open(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

static int clear(struct walk *w, int dir, int depth);

static int too_deep(struct walk *w, int dir, const char *name)
{
    char up[64];
    for (int i = 0; i < 64; i++) {
        (void)snprintf(up, sizeof(up), ".deep-%u", w->moved++);
        if (syscall(SYS_renameat2, dir, name, w->top, up, 1 /* RENAME_NOREPLACE */) == 0)
            return 0;
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}

/* Returns 0 if removed, or the errno of the obstacle. */
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
        (void)fchmod(fd, 0700); /* the removals in it report failure */
    int r = depth >= DEPTH ? too_deep(w, dir, name) : clear(w, fd, depth + 1);
    (void)close(fd);
    if (r == 0 && depth < DEPTH && unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        r = errno;
    return r;
}

/* Removes everything in `dir`. Reads it from the start until a pass removes nothing: removal moves
 * entries. Also ends if new entries keep appearing. */
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
            if (now() > w->until)
                return EBUSY;
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

static int remove_contents(int dir)
{
    struct walk w = { .top = dir, .until = now() + SECONDS };
    return clear(&w, dir, 0);
}

static int remove_tree(int parent, const char *name)
{
    int fd = open_dir(parent, name);
    if (fd == -ENOENT)
        return 0;
    if (fd == -ENOTDIR || fd == -ELOOP) { /* not a directory: never its target */
        return unlinkat(parent, name, 0) == 0 || errno == ENOENT ? 0 : errno;
    }
    if (fd < 0)
        return -fd;
    (void)fchmod(fd, 0700); /* the removals in it report failure */
    int r = remove_contents(fd);
    (void)close(fd);
    if (r == 0 && unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        r = errno;
    return r;
}

/* Appends directory `n` (0…) of a cache's hierarchy as Hadoop numbers them: in base 36, a digit a
 * level, where the first of several digits counts from 1: "0" … "z", "0/0", "0/1" … */
static void hierarchy(uint32_t n, char dir[PATH_SIZE])
{
    static const char digit[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    unsigned digits[8], count = 0;
    do
        digits[count++] = n % 36;
    while (n /= 36);
    if (count > 1)
        digits[count - 1]--;
    for (size_t len = strlen(dir); count > 0; len += 2)
        (void)snprintf(dir + len, PATH_SIZE - len, "/%c", digit[digits[--count]]);
}

/* Place of the deletion below one root: the directory to open as the user, and the name in it; no
 * name: everything in the directory. */
static void place(const struct exe_request *r, char dir[PATH_SIZE], char name[EXE_TEXT_MAX])
{
    const char *user = r->submitter;
    char app[EXE_TEXT_MAX], container[EXE_TEXT_MAX];
    exe_app_text(r, app);
    exe_container_text(r, container);
    name[0] = '\0';
    switch (r->what) {
    case EXE_DELETE_CONTAINER:
        (void)snprintf(dir, PATH_SIZE, "usercache/%s/appcache/%s", user, app);
        (void)snprintf(name, EXE_TEXT_MAX, "%s", container);
        return;
    case EXE_DELETE_CONTAINER_LOGS:
        (void)snprintf(dir, PATH_SIZE, "%s", app);
        (void)snprintf(name, EXE_TEXT_MAX, "%s", container);
        return;
    case EXE_DELETE_APP:
        (void)snprintf(dir, PATH_SIZE, "usercache/%s/appcache", user);
        (void)snprintf(name, EXE_TEXT_MAX, "%s", app);
        return;
    case EXE_DELETE_APP_LOGS:
        (void)snprintf(dir, PATH_SIZE, "%s", app);
        return;
    case EXE_DELETE_USER:
        (void)snprintf(dir, PATH_SIZE, "usercache/%s", user);
        return;
    case EXE_DELETE_PUBLIC:
        (void)snprintf(dir, PATH_SIZE, "filecache");
        return;
    default:
        break;
    }
    if (r->visibility == EXE_VISIBILITY_PUBLIC)
        (void)snprintf(dir, PATH_SIZE, "filecache");
    else if (r->visibility == EXE_VISIBILITY_PRIVATE)
        (void)snprintf(dir, PATH_SIZE, "usercache/%s/filecache", user);
    else
        (void)snprintf(dir, PATH_SIZE, "usercache/%s/appcache/%s/filecache", user, app);
    if (r->resource_dir)
        hierarchy(r->resource_dir - 1, dir);
    (void)snprintf(name, EXE_TEXT_MAX, "%llu", (unsigned long long)r->resource_id);
}

static int delete_below(const struct exe_request *r, int root)
{
    char dir[PATH_SIZE], name[EXE_TEXT_MAX], temporary[EXE_TEXT_MAX + 8];
    place(r, dir, name);
    int fd = job_user_open(root, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (fd < 0)
        return fd == -ENOENT ? 0 : -fd; /* already deleted */
    int e = name[0] ? remove_tree(fd, name) : remove_contents(fd);
    if (r->what == EXE_DELETE_RESOURCE) {
        (void)snprintf(temporary, sizeof(temporary), "%s_tmp", name);
        int e2 = remove_tree(fd, temporary);
        e = e ? e : e2;
    }
    (void)close(fd);
    return e;
}

/* Deletes every container of the request. A directory that is filled meanwhile ends it: the daemon
 * repeats the others' deletions one by one. */
static int delete_all_below(const struct exe_request *r, int root)
{
    int error = delete_below(r, root);
    for (unsigned i = 0; i < r->n_more && error != EBUSY; i++) {
        struct exe_request one = *r;
        one.container += r->more[i];
        int e = delete_below(&one, root);
        error = error && e != EBUSY ? error : e;
    }
    return error;
}

int main(int argc, char **argv)
{
    struct exe_request r;
    int error = 0;
    (void)argv;
    if (!job_user_request(argc, EXE_OP_DELETE, &r))
        return EXE_STATUS_REQUEST;
    for (int fd = 3; fcntl(fd, F_SETFD, FD_CLOEXEC) == 0; fd++) {
        int e = delete_all_below(&r, fd);
        error = error ? error : e;
        if (fd == 3 + EXE_DIRS_MAX)
            break;
    }
    return job_user_answer(&r, error ? EXE_STATUS_DELETE : EXE_STATUS_OK, error,
                           error ? "left over" : "");
}
