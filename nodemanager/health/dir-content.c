/* See dir-content.h. */
#include "nodemanager/health/dir-content.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"

struct walk {
    struct nm_dir_content *c;
    uid_t own;
    dev_t device;
    uint64_t from, seen; /* entries */
    int64_t end_ms;
    bool over; /* the turn */
    const char *names[NM_CONTENT_DEPTH];
    int depth;
};

/* The thread's own: the daemon's clock may be frozen by tests. */
static int64_t clock_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int failed(struct walk *w, int error, const char *what)
{
    char path[PATH_MAX] = "";
    size_t at = 0, cut;

    for (int i = 0; i < w->depth && at < sizeof(path); i++)
        at += (size_t)snprintf(path + at, sizeof(path) - at, "%s%s", i ? "/" : "", w->names[i]);
    at = strlen(path);
    cut = at > NM_CONTENT_ENTRY_MAX / 2 ? at - NM_CONTENT_ENTRY_MAX / 2 : 0;
    sv_escape(w->c->entry, sizeof(w->c->entry), path + cut);
    w->c->what = what;
    return error;
}

static int check_all(struct walk *w, int fd);

static int check_directory(struct walk *w, int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0) /* gone, or a link now */
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
                   ? 0
                   : failed(w, -errno, "cannot be opened");
    return check_all(w, fd);
}

/* An entry that has gone meanwhile is good: localization and cleanup go on. */
static int check_entry(struct walk *w, int parent, const char *name, bool passed)
{
    const int flags = AT_EACCESS | AT_SYMLINK_NOFOLLOW;
    struct stat st;
    bool is_dir;

    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : failed(w, -errno, "cannot be looked at");
    is_dir = S_ISDIR(st.st_mode);
    if (S_ISLNK(st.st_mode) || st.st_uid != w->own || st.st_dev != w->device)
        return 0;
    if (!passed && faccessat(parent, name, is_dir ? R_OK | W_OK | X_OK : R_OK, flags) < 0 &&
        errno != ENOENT)
        return failed(w, -errno, is_dir ? "cannot be accessed" : "cannot be read");
    return is_dir && w->depth < NM_CONTENT_DEPTH ? check_directory(w, parent, name) : 0;
}

static int check_next(struct walk *w, int fd, const struct dirent *e)
{
    bool passed = w->seen++ < w->from;
    int r;

    if (passed && e->d_type != DT_DIR && e->d_type != DT_UNKNOWN)
        return 0;
    w->over = !passed && clock_ms() >= w->end_ms;
    if (w->over) {
        w->c->next = w->seen - 1;
        return 0;
    }
    w->c->next = w->seen - 1; /* a failure is looked at again */
    w->names[w->depth++] = e->d_name;
    r = check_entry(w, fd, e->d_name, passed);
    w->depth--;
    return r;
}

/* Takes the descriptor over. */
static int check_all(struct walk *w, int fd)
{
    DIR *d = fdopendir(fd);
    int r = 0;

    if (!d) {
        r = -errno;
        sv_close(fd);
        return failed(w, r, "cannot be opened");
    }
    while (r >= 0 && !w->over) {
        const struct dirent *e;

        errno = 0;
        e = readdir(d);
        if (!e) {
            r = errno && errno != ENOENT ? failed(w, -errno, "cannot be listed") : 0;
            break;
        }
        if (!sv_streq(e->d_name, ".") && !sv_streq(e->d_name, ".."))
            r = check_next(w, fd, e);
    }
    (void)closedir(d); /* only read, ignoring */
    return r;
}

int nm_dir_content_check(int fd, unsigned own, struct nm_dir_content *c)
{
    struct walk w = {
        .c = c, .own = own, .from = c->next, .end_ms = clock_ms() + NM_CONTENT_TURN_MS
    };
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;
    struct stat st;

    if (copy < 0 || fstat(copy, &st) < 0) {
        r = -errno;
        sv_close(copy);
        return failed(&w, r, "cannot be opened");
    }
    w.device = st.st_dev;
    r = check_all(&w, copy);
    if (r >= 0 && !w.over)
        c->next = 0;
    return r;
}
