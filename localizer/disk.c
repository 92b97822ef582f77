/* See disk.h. Names come from the archive and have passed the policy; the kernel enforces the same
 * rules again: openat2 beneath, no links, O_EXCL. The process' umask must be 0. */
#include "localizer/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"

static int fail(struct sv_error *err, int code, const char *what, const char *name)
{
    char shown[300];

    sv_escape(shown, sizeof(shown), name);
    if (code == -EEXIST || code == -ELOOP || code == -ENOTDIR || code == -EXDEV)
        return sv_error_set(err, -EPERM, "archive refused: entry \"%s\": %s", shown,
                            code == -EEXIST ? "a second entry of that name"
                                            : "its path runs through a link or a file");
    return sv_error_errno(err, code, "%s \"%s\"", what, shown);
}

static int make_path(struct loc_disk *d, const char *dir, int *ret_fd, struct sv_error *err)
{
    _cleanup_close_ int fd = fcntl(d->root, F_DUPFD_CLOEXEC, 0);
    int made = 0;

    if (fd < 0)
        return fail(err, -errno, "directory", dir);
    for (const char *s = dir; *s;) {
        size_t n = strcspn(s, "/");
        char name[LOC_COMPONENT_MAX + 1];
        int next;

        if (n > LOC_COMPONENT_MAX)
            return fail(err, -ENAMETOOLONG, "directory", dir);
        memcpy(name, s, n);
        name[n] = 0;
        if (mkdirat(fd, name, loc_mode_dir(d->is_public)) == 0)
            made++;
        else if (errno != EEXIST)
            return fail(err, -errno, "make directory", dir);
        next = sv_open_beneath(fd, name, O_PATH | O_DIRECTORY, 0);
        if (next < 0)
            return fail(err, next, "open directory", dir);
        sv_close(fd);
        fd = next;
        s += n;
        s += *s ? 1 : 0;
    }
    *ret_fd = sv_take_fd(&fd);
    return made;
}

static int disk_enter(void *userdata, const char *dir, struct sv_error *err)
{
    struct loc_disk *d = userdata;
    int fd, made;

    if (d->dir >= 0 && strcmp(d->dir_path, dir) == 0)
        return 0;
    made = make_path(d, dir, &fd, err);
    if (made < 0)
        return made;
    sv_close(d->dir);
    d->dir = fd;
    memcpy(d->dir_path, dir, strlen(dir) + 1); /* both LOC_PATH_MAX */
    return made;
}

static int disk_dir(void *userdata, const char *name, struct sv_error *err)
{
    struct loc_disk *d = userdata;
    struct stat st;

    if (mkdirat(d->dir, name, loc_mode_dir(d->is_public)) == 0)
        return 0;
    if (errno != EEXIST)
        return fail(err, -errno, "make directory", name);
    if (fstatat(d->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return fail(err, -errno, "directory", name);
    return S_ISDIR(st.st_mode) ? 0 : fail(err, -EEXIST, "make directory", name);
}

static int disk_file(void *userdata, const char *name, struct sv_error *err)
{
    struct loc_disk *d = userdata;
    int fd = sv_open_beneath(d->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);

    if (fd < 0)
        return fail(err, fd, "make file", name);
    sv_close(d->file);
    d->file = fd;
    return 0;
}

static int disk_write(void *userdata, const void *p, size_t n, uint64_t offset,
                      struct sv_error *err)
{
    struct loc_disk *d = userdata;
    const char *s = p;

    while (n > 0) {
        ssize_t w = pwrite(d->file, s, n, (off_t)offset);

        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return sv_error_errno(err, -errno, "write to the cache");
        s += w;
        n -= (size_t)w;
        offset += (uint64_t)w;
    }
    return 0;
}

static int disk_close(void *userdata, uint64_t size, struct sv_error *err)
{
    struct loc_disk *d = userdata;
    struct stat st;

    if (fstat(d->file, &st) < 0)
        return sv_error_errno(err, -errno, "file in the cache");
    if ((uint64_t)st.st_size != size &&
        ftruncate(d->file, (off_t)size) < 0) /* the file ends in a hole */
        return sv_error_errno(err, -errno, "size of a file in the cache");
    if (fchmod(d->file, loc_mode_file(d->is_public)) < 0)
        return sv_error_errno(err, -errno, "mode of a file in the cache");
    d->file = sv_close(d->file);
    return 0;
}

static int disk_symlink(void *userdata, const char *name, const char *target, struct sv_error *err)
{
    struct loc_disk *d = userdata;

    return symlinkat(target, d->dir, name) == 0 ? 0 : fail(err, -errno, "make link", name);
}

static int disk_hardlink(void *userdata, const char *name, const char *to, struct sv_error *err)
{
    struct loc_disk *d = userdata;
    const char *slash = strrchr(to, '/');
    _cleanup_close_ int owned = -1;
    char dir[LOC_PATH_MAX + 1];
    struct stat st;
    int from = d->root;

    if (slash) {
        memcpy(dir, to, (size_t)(slash - to));
        dir[slash - to] = 0;
        from = owned = sv_open_beneath(d->root, dir, O_PATH | O_DIRECTORY, 0);
        if (owned < 0)
            return fail(err, owned == -ENOENT ? -EBADMSG : owned, "target of the hard link", to);
        to = slash + 1;
    }
    if (fstatat(from, to, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return fail(err, errno == ENOENT ? -EBADMSG : -errno, "target of the hard link", to);
    if (!S_ISREG(st.st_mode)) /* moving a symbolic link to another depth would change its target */
        return sv_error_set(err, -EPERM,
                            "archive refused: hard link to something else than a file");
    if (linkat(from, to, d->dir, name, 0) < 0)
        return fail(err, -errno, "make hard link", name);
    return 0;
}

void loc_disk_close(struct loc_disk *d)
{
    d->dir = sv_close(d->dir);
    d->file = sv_close(d->file);
}

const struct loc_sink loc_disk_sink = {
    .enter = disk_enter,
    .dir = disk_dir,
    .file = disk_file,
    .write = disk_write,
    .close = disk_close,
    .symlink = disk_symlink,
    .hardlink = disk_hardlink,
};
