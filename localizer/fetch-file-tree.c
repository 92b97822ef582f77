/* Directories of file: URLs. Other processes of the account may change them during the read: every
 * open is beneath the directory's descriptor and follows no link. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"
#include "localizer/fetch-tree.h"

static int fail(const struct loc_source *s, int r, const char *path, struct sv_error *err)
{
    char shown[300];

    sv_escape(shown, sizeof(shown), path);
    return sv_error_errno(err, r, "Resource %s: \"%s\" in it", s->request->url, shown);
}

static int add_child(struct loc_source *s, struct loc_tree *t, int dir, const char *name,
                     enum loc_fail *ret_reason, struct sv_error *err)
{
    char target[LOC_PATH_MAX + 1] = "";
    struct stat st;
    struct loc_tree_child c = { .name = name, .more = &st };
    ssize_t n;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return fail(s, -errno, name, err);
    c.mode = st.st_mode;
    c.size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    if (S_ISLNK(st.st_mode)) {
        n = readlinkat(dir, name, target, sizeof(target));
        if (n < 0 || (size_t)n >= sizeof(target))
            return fail(s, n < 0 ? -errno : -ENAMETOOLONG, name, err);
        target[n] = 0;
        c.symlink = target;
    }
    return loc_tree_add(t, &c, ret_reason, err);
}

static void close_dir(DIR **d)
{
    if (*d)
        (void)closedir(*d); /* was only read, ignoring */
}

static int list(struct loc_source *s, struct loc_tree *t, const char *dir,
                enum loc_fail *ret_reason, struct sv_error *err)
{
    int fd = sv_open_beneath(s->fd, dir[0] ? dir : ".", O_RDONLY | O_DIRECTORY, 0), r = 0;
    _cleanup_(close_dir) DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (!d) {
        r = fd < 0 ? fd : -errno;
        sv_close(fd);
        return fail(s, r, dir, err);
    }
    while (r == 0) {
        struct dirent *e;

        errno = 0;
        e = readdir(d);
        if (!e)
            return errno ? fail(s, -errno, dir, err) : 0;
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            r = add_child(s, t, dirfd(d), e->d_name, ret_reason, err);
        if (r == 0)
            *ret_reason = LOC_FAIL_SOURCE;
    }
    return r;
}

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int read_file(struct loc_source *s, struct loc_tree *t, const char *path,
                     const struct loc_tree_child *c, enum loc_fail *ret_reason,
                     struct sv_error *err)
{
    static char buf[256 << 10];
    _cleanup_close_ int fd = -1;
    struct stat st;

    *ret_reason = LOC_FAIL_SOURCE;
    /* O_NONBLOCK: it may have become a FIFO */
    fd = sv_open_beneath(s->fd, path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0 || fstat(fd, &st) < 0)
        return fail(s, fd < 0 ? fd : -errno, path, err);
    *ret_reason = LOC_FAIL_CHANGED;
    if (!same(&st, c->more))
        return fail(s, -ESTALE, path, err);
    for (;;) {
        ssize_t n = read(fd, buf, sizeof(buf));
        int r;

        if (n < 0 && errno == EINTR)
            continue;
        *ret_reason = LOC_FAIL_SOURCE;
        if (n < 0)
            return fail(s, -errno, path, err);
        if (n == 0)
            break;
        *ret_reason = LOC_FAIL_DISK;
        r = loc_tree_write(t, buf, (size_t)n);
        if (r < 0)
            return r;
    }
    *ret_reason = LOC_FAIL_CHANGED;
    return fstat(fd, &st) < 0 || !same(&st, c->more) ? fail(s, -ESTALE, path, err) : 0;
}

static int unchanged(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    *ret_reason = LOC_FAIL_CHANGED;
    return loc_source_unchanged(s, err);
}

const struct loc_tree_backend loc_file_tree = {
    .list = list,
    .read = read_file,
    .unchanged = unchanged,
};
