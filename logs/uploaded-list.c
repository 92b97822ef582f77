/* See uploaded-list.h. Host byte order: the file never leaves the machine. */
#include "logs/uploaded-list.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"

#define MAGIC "SVLOGS1\n"
#define CURRENT_MAX (LOGS_LIST_FILES_MAX / 2)

struct known { /* a file; compared bytewise */
    uint64_t inode, length;
    int64_t modified_ns;
};

struct head {
    char magic[8];
    uint32_t old, current;
    char remote[LOGS_LIST_REMOTE_MAX]; /* name of the current upload; "": none */
};

/* `v`: entries of older uploads, oldest first, then those of the current one. `sorted`: an index
 * over the entries present when it was built. */
struct logs_list {
    int dir;
    struct head h;
    struct known *v;
    uint32_t *sorted, n_sorted;
    bool *deleted; /* per entry of the current upload */
};

static struct known known_of(const struct stat *st)
{
    return (struct known){ .inode = st->st_ino,
                           .length = (uint64_t)st->st_size,
                           .modified_ns =
                               (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec };
}

static int by_known(const void *a, const void *b, void *userdata)
{
    const struct known *v = userdata;

    return memcmp(&v[*(const uint32_t *)a], &v[*(const uint32_t *)b], sizeof(*v));
}

static void sort(struct logs_list *l)
{
    l->n_sorted = l->h.old + l->h.current;
    for (uint32_t i = 0; i < l->n_sorted; i++)
        l->sorted[i] = i;
    if (l->n_sorted > 0)
        qsort_r(l->sorted, l->n_sorted, sizeof(*l->sorted), by_known, l->v);
}

/* Makes space for an upload by dropping the oldest entries. */
static void drop_oldest(struct logs_list *l)
{
    uint32_t excess = l->h.old > CURRENT_MAX ? l->h.old - CURRENT_MAX : 0;

    l->h.old -= excess;
    memmove(l->v, l->v + excess, l->h.old * sizeof(*l->v));
}

/* Older entries must come first, in order of age; false: malformed. */
static bool parse(struct logs_list *l, const char *p, size_t n)
{
    struct head h;

    if (n < sizeof(h))
        return false;
    memcpy(&h, p, sizeof(h));
    if (memcmp(h.magic, MAGIC, sizeof(h.magic)) != 0 || h.old > LOGS_LIST_FILES_MAX ||
        h.current > CURRENT_MAX || h.old + h.current > LOGS_LIST_FILES_MAX ||
        n != sizeof(h) + (size_t)(h.old + h.current) * sizeof(struct known) ||
        !memchr(h.remote, 0, sizeof(h.remote)) || strchr(h.remote, '/') ||
        (h.current > 0) != (h.remote[0] != 0))
        return false;
    l->h = h;
    if (n > sizeof(h))
        memcpy(l->v, p + sizeof(h), n - sizeof(h));
    return true;
}

/* -ENOENT: no list; -EBADMSG: not a list of this account. */
static int load(struct logs_list *l)
{
    const size_t max = sizeof(struct head) + LOGS_LIST_FILES_MAX * sizeof(struct known);
    _cleanup_close_ int fd =
        sv_open_beneath(l->dir, LOGS_LIST_NAME, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    _cleanup_free_ char *bytes = NULL;
    struct stat st;
    ssize_t n;

    if (fd < 0)
        return fd == -ELOOP || fd == -ENXIO ? -EBADMSG : fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_size < 0 ||
        (size_t)st.st_size > max)
        return -EBADMSG;
    bytes = malloc((size_t)st.st_size + 1);
    if (!bytes)
        return -ENOMEM;
    n = pread(fd, bytes, (size_t)st.st_size, 0);
    if (n < 0)
        return -errno;
    return parse(l, bytes, (size_t)n) ? 0 : -EBADMSG;
}

static struct logs_list *new_list(int dir)
{
    struct logs_list *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->dir = sv_open_beneath(dir, ".", O_RDONLY | O_DIRECTORY, 0);
    memcpy(l->h.magic, MAGIC, sizeof(l->h.magic));
    l->v = calloc(LOGS_LIST_FILES_MAX, sizeof(*l->v));
    l->sorted = calloc(LOGS_LIST_FILES_MAX, sizeof(*l->sorted));
    l->deleted = calloc(CURRENT_MAX, sizeof(*l->deleted));
    return l->v && l->sorted && l->deleted ? l : logs_list_free(l);
}

int logs_list_read(int dir, struct logs_list **ret, bool *ret_malformed, struct sv_error *err)
{
    _cleanup_(logs_list_freep) struct logs_list *l = new_list(dir);
    int r;

    if (!l)
        return sv_error_errno(err, -ENOMEM, LOGS_LIST_NAME);
    r = l->dir < 0 ? l->dir : load(l);
    if (r < 0 && r != -ENOENT && r != -EBADMSG)
        return sv_error_errno(err, r, LOGS_LIST_NAME);
    *ret_malformed = r == -EBADMSG;
    sort(l);
    *ret = SV_TAKE(l);
    return 0;
}

struct logs_list *logs_list_free(struct logs_list *l)
{
    if (!l)
        return NULL;
    (void)sv_close(l->dir);
    free(l->v);
    free(l->sorted);
    free(l->deleted);
    free(l);
    return NULL;
}

const char *logs_list_unsettled(const struct logs_list *l)
{
    return l->h.remote;
}

void logs_list_settle(struct logs_list *l, bool exists)
{
    if (!exists)
        l->h.current = 0;
    l->h.remote[0] = 0;
    sort(l);
}

/* Returns the index in v, or -1. */
static int64_t find(const struct logs_list *l, const struct known *k)
{
    uint32_t from = 0, to = l->n_sorted;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        int c = memcmp(k, &l->v[l->sorted[middle]], sizeof(*k));

        if (c == 0)
            return l->sorted[middle];
        if (c < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return -1;
}

bool logs_list_has(const struct logs_list *l, const struct stat *st)
{
    struct known k = known_of(st);

    return find(l, &k) >= 0;
}

int logs_list_add(struct logs_list *l, const struct stat *st)
{
    if (l->h.current == CURRENT_MAX || l->h.old + l->h.current == LOGS_LIST_FILES_MAX)
        return -E2BIG;
    l->v[l->h.old + l->h.current++] = known_of(st);
    return 0;
}

void logs_list_start_again(struct logs_list *l)
{
    l->h.current = 0;
    drop_oldest(l);
    sort(l);
    memset(l->deleted, 0, CURRENT_MAX * sizeof(*l->deleted));
}

size_t logs_list_current(const struct logs_list *l)
{
    return l->h.current;
}

bool logs_list_deletable(const struct logs_list *l, const struct stat *st)
{
    struct known k = known_of(st);

    return find(l, &k) >= l->h.old;
}

void logs_list_forget(struct logs_list *l, const struct stat *st)
{
    struct known k = known_of(st);
    int64_t i = find(l, &k);

    if (i >= l->h.old)
        l->deleted[i - l->h.old] = true;
}

static int write_list(const struct logs_list *l, struct sv_error *err)
{
    size_t n = (size_t)(l->h.old + l->h.current) * sizeof(*l->v);
    _cleanup_free_ char *bytes = malloc(sizeof(l->h) + n);
    int r = bytes ? 0 : -ENOMEM;

    if (r == 0) {
        memcpy(bytes, &l->h, sizeof(l->h));
        memcpy(bytes + sizeof(l->h), l->v, n);
        r = sv_write_file_atomic(l->dir, LOGS_LIST_NAME, bytes, sizeof(l->h) + n, 0600);
    }
    return r < 0 ? sv_error_errno(err, r, LOGS_LIST_NAME " in the log directory") : 0;
}

int logs_list_announce(struct logs_list *l, const char *remote, struct sv_error *err)
{
    size_t n = strlen(remote);

    if (n == 0 || n >= sizeof(l->h.remote))
        return sv_error_set(err, -ENAMETOOLONG, "%s: too long a name", remote);
    memset(l->h.remote, 0, sizeof(l->h.remote));
    if (l->h.current > 0)
        memcpy(l->h.remote, remote, n);
    sort(l);
    return write_list(l, err);
}

int logs_list_write(struct logs_list *l, struct sv_error *err)
{
    uint32_t n = l->h.old, end = l->h.old + l->h.current;

    for (uint32_t i = l->h.old; i < end; i++)
        if (!l->deleted[i - l->h.old])
            l->v[n++] = l->v[i];
    l->h.old = n;
    l->h.current = 0;
    memset(l->h.remote, 0, sizeof(l->h.remote));
    memset(l->deleted, 0, CURRENT_MAX * sizeof(*l->deleted));
    sort(l);
    return write_list(l, err);
}
