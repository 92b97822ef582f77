/* See remote.h: back end for a directory of this machine, local or NFS. Others may write below it,
 * so every open is beneath the root and follows no link. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "logs/remote-store.h"

static int open_root(struct logs_remote *r, struct sv_conf *c, const struct fs_url *url,
                     const char *user, struct sv_error *err)
{
    (void)c;
    (void)url;
    (void)user;
    r->root = open(r->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return r->root < 0 ? sv_error_errno(err, -errno, "%s", r->path) : 0;
}

static void close_root(struct logs_remote *r)
{
    r->root = sv_close(r->root);
}

static int list(struct logs_remote *r, const char *path, struct logs_names *names,
                struct sv_error *err)
{
    int fd = sv_open_beneath(r->root, path, O_RDONLY | O_DIRECTORY, 0), k = 0;
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e;

    if (!d) {
        (void)sv_close(fd);
        return sv_error_errno(err, fd < 0 ? fd : -ENOMEM, "%s/%s", r->path, path);
    }
    while (k == 0 && (e = readdir(d))) {
        struct stat st;

        if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            k = logs_names_add(names, e->d_name);
    }
    (void)closedir(d); /* was only read, ignoring */
    return k < 0 ? sv_error_errno(err, k, "%s/%s", r->path, path) : 0;
}

static int open_file(struct logs_remote *r, const char *path, struct logs_remote_file *f,
                     struct sv_error *err)
{
    struct stat st;

    f->fd = sv_open_beneath(r->root, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    if (f->fd < 0 || fstat(f->fd, &st) < 0)
        return sv_error_errno(err, f->fd < 0 ? f->fd : -errno, "%s/%s", r->path, path);
    if (!S_ISREG(st.st_mode))
        return sv_error_set(err, -EINVAL, "%s/%s: no regular file", r->path, path);
    f->source.length = (uint64_t)st.st_size;
    f->modified_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    return 0;
}

static int read_bytes(struct logs_remote_file *f, uint64_t offset, void *p, size_t n,
                      struct sv_error *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = pread(f->fd, (uint8_t *)p + done, n - done, (off_t)(offset + done));

        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return k < 0 ? sv_error_errno(err, -errno, "read")
                         : sv_error_set(err, -ESTALE, "it became shorter while it was read");
        done += (size_t)k;
    }
    return 0;
}

static void close_file(struct logs_remote_file *f)
{
    f->fd = sv_close(f->fd);
}

const struct logs_remote_ops logs_remote_directory = {
    .open = open_root,
    .close = close_root,
    .list = list,
    .file = open_file,
    .read = read_bytes,
    .file_close = close_file,
};
