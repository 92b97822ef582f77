/* file: URLs. The path is hostile; the kernel decides access by the user's own rights. For PUBLIC
 * the reader is the public account, and the file and every directory above it must be accessible to
 * everybody (YARN's rule; CVE-2017-3166), and the file must not be a link. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"
#include "localizer/fetch-common.h"
#include "localizer/policy.h"

#define CHUNK (8u << 20)

static int open_source(struct loc_source *s, struct sv_error *err)
{
    bool is_public = s->request->visibility == LOC_PUBLIC;
    int fd;

    /* O_NONBLOCK: opening a FIFO must not block before fstat rejects it. */
    fd = open(s->url.path,
              O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (is_public ? O_NOFOLLOW : 0));
    if (fd < 0 && errno == ENOENT)
        return sv_error_set(err, -ENOENT, "File %s does not exist%s", s->request->url,
                            sv_has_prefix(s->url.path, "/tmp/") ||
                                    sv_has_prefix(s->url.path, "/var/tmp/")
                                ? " here: containers and their localizers have a /tmp of their "
                                  "own, so take it from elsewhere"
                                : "");
    if (fd < 0 && errno == ELOOP && is_public)
        return sv_error_set(err, -ELOOP,
                            "Resource %s is a symbolic link, which cannot be part of "
                            "the public cache",
                            s->request->url);
    if (fd < 0)
        return sv_error_errno(err, -errno, "Resource %s", s->request->url);
    if (fstat(fd, &s->st) < 0) {
        int r = -errno;

        sv_close(fd);
        return sv_error_errno(err, r, "Resource %s", s->request->url);
    }
    if (!S_ISREG(s->st.st_mode) && !S_ISDIR(s->st.st_mode)) {
        sv_close(fd);
        return sv_error_set(err, -EINVAL, "Resource %s is not a regular file or a directory",
                            s->request->url);
    }
    return fd;
}

/* True if readable by others, with every directory of the path without links searchable by
 * others. */
static bool is_open_path(const struct loc_source *s)
{
    char path[PATH_MAX];
    struct stat st;

    if (!(s->st.st_mode & S_IROTH) || !realpath(s->url.path, path))
        return false;
    if (lstat(path, &st) < 0 || st.st_dev != s->st.st_dev || st.st_ino != s->st.st_ino)
        return false;
    for (;;) {
        char *slash = strrchr(path, '/');

        if (!slash)
            return false;
        slash[slash == path ? 1 : 0] = 0;
        if (stat(path, &st) < 0 || !(st.st_mode & S_IXOTH))
            return false;
        if (path[1] == 0)
            return true;
    }
}

static int copy_rw(struct loc_source *s, int to, uint64_t done, struct sv_error *err)
{
    static char buf[256 << 10];

    for (;;) {
        ssize_t n = read(s->fd, buf, sizeof(buf));
        int r;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return sv_error_errno(err, -errno, "Resource %s", s->request->url);
        if (n == 0)
            break;
        done += (uint64_t)n;
        if (done > (uint64_t)s->st.st_size)
            break; /* growing: detected by loc_source_unchanged */
        r = sv_write_all(to, buf, (size_t)n);
        if (r < 0)
            return sv_error_errno(err, r, "write to the cache");
        s->progress(s->progress_userdata, done);
    }
    return 0;
}

/* Copies by reflink or inside the kernel if the file systems support it. */
static int copy(struct loc_source *s, int to, struct sv_error *err)
{
    uint64_t done = 0, size = (uint64_t)s->st.st_size;

    while (done < size) {
        ssize_t n = copy_file_range(s->fd, NULL, to, NULL, SV_MIN(size - done, (uint64_t)CHUNK), 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ||
                      errno == EPERM))
            return copy_rw(s, to, done, err);
        if (n < 0)
            return sv_error_errno(err, -errno, "write to the cache");
        if (n == 0)
            break; /* truncated: detected by loc_source_unchanged */
        done += (uint64_t)n;
        s->progress(s->progress_userdata, done);
    }
    return 0;
}

static int keep_copy(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    _cleanup_close_ int to = loc_make_copy(s, err);
    struct stat st;
    int r = to < 0 ? to : copy(s, to, err);

    *ret_reason = LOC_FAIL_DISK;
    if (r < 0)
        return r;
    if (fchmod(to, loc_mode_file(s->request->visibility == LOC_PUBLIC)) < 0 || fstat(to, &st) < 0)
        return sv_error_errno(err, -errno, "file in the cache");
    *ret_reason = LOC_FAIL_CHANGED;
    r = loc_source_unchanged(s, err);
    if (r == 0 && st.st_size != s->st.st_size)
        r = sv_error_set(err, -ESTALE, "Resource %s could not be read in full", s->request->url);
    if (r == 0 && lseek(s->fd, 0, SEEK_SET) < 0)
        r = sv_error_errno(err, -errno, "Resource %s", s->request->url);
    return r;
}

static int open_file(struct loc_source *s, struct loc_found *ret, enum loc_fail *ret_reason,
                     struct sv_error *err)
{
    *ret_reason = LOC_FAIL_SOURCE;
    s->fd = open_source(s, err);
    if (s->fd < 0)
        return s->fd;
    *ret = (struct loc_found){
        .directory = S_ISDIR(s->st.st_mode),
        .size = (uint64_t)s->st.st_size,
        .mode = s->st.st_mode,
        .mtime_ms = s->st.st_mtim.tv_sec * 1000 + s->st.st_mtim.tv_nsec / 1000000,
    };
    return 0;
}

static int is_public(struct loc_source *s, bool *ret, enum loc_fail *ret_reason,
                     struct sv_error *err)
{
    (void)ret_reason;
    (void)err;
    *ret = is_open_path(s);
    return 0;
}

static int fetch(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    s->size = (uint64_t)s->st.st_size;
    return s->name ? keep_copy(s, ret_reason, err) : 0;
}

const struct loc_fetcher loc_fetcher_file = {
    .open = open_file,
    .is_public = is_public,
    .fetch = fetch,
    .tree = &loc_file_tree,
};
