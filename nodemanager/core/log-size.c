/* See log-size.h. */
#include "nodemanager/core/log-size.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/fd.h"
#include "common/str.h"
#include "nodemanager/core/log-files.h"

struct nm_log_size {
    char *top;
    struct yarn_container_id id;
    struct nm_log_sum sum;
    bool begun;
    unsigned entries;
    DIR *open[NM_LOG_SIZE_DEPTH];
    int depth; /* of them */
};

struct nm_log_size *nm_log_size_new(const char *top, struct yarn_container_id id)
{
    struct nm_log_size *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->id = id;
    s->top = strdup(top);
    return s->top ? s : nm_log_size_free(s);
}

static void close_all(struct nm_log_size *s)
{
    while (s->depth > 0)
        (void)closedir(s->open[--s->depth]); /* only read, ignoring */
}

struct nm_log_size *nm_log_size_free(struct nm_log_size *s)
{
    if (!s)
        return NULL;
    close_all(s);
    free(s->top);
    free(s);
    return NULL;
}

const struct nm_log_sum *nm_log_size_sum(const struct nm_log_size *s)
{
    return &s->sum;
}

/* The thread's own: the daemon's clock may be frozen by tests. */
static int64_t clock_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Takes the descriptor, or -errno, of a directory. One that is gone, or a link now, has nothing. */
static void enter(struct nm_log_size *s, int fd)
{
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

    s->sum.unread |= fd == -EACCES;
    if (d)
        s->open[s->depth++] = d;
    else
        sv_close(fd);
}

static void count(struct nm_log_size *s, const char *name)
{
    const int dir = dirfd(s->open[s->depth - 1]);
    struct stat st;

    if (++s->entries > NM_LOG_SIZE_ENTRIES) {
        s->sum.too_many = true;
        return;
    }
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (S_ISREG(st.st_mode) &&
        __builtin_add_overflow(s->sum.bytes, (uint64_t)st.st_size, &s->sum.bytes))
        s->sum.bytes = UINT64_MAX;
    if (!S_ISDIR(st.st_mode))
        return;
    if (s->depth == NM_LOG_SIZE_DEPTH)
        s->sum.too_many = true;
    else
        enter(s, sv_open_beneath(dir, name, O_RDONLY | O_DIRECTORY, 0));
}

bool nm_log_size_turn(struct nm_log_size *s, int64_t ms)
{
    const int64_t end = clock_ms() + ms;
    uid_t owner;

    if (!s->begun)
        enter(s, nm_log_files_dir(s->top, s->id, &owner));
    s->begun = true;
    while (s->depth > 0 && !s->sum.too_many) {
        const struct dirent *e = readdir(s->open[s->depth - 1]);

        if (!e)
            (void)closedir(s->open[--s->depth]); /* only read, ignoring */
        else if (!sv_streq(e->d_name, ".") && !sv_streq(e->d_name, ".."))
            count(s, e->d_name);
        if (clock_ms() >= end && s->depth > 0 && !s->sum.too_many)
            return false;
    }
    close_all(s);
    return true;
}
