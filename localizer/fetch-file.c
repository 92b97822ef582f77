/* file: URLs. The path is hostile; the kernel decides access by the user's own rights. A link of
 * the path is resolved once, and fs/ follows none: the path that was checked is the one that is
 * read. For PUBLIC the reader is the public account, and the file must not be a link. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"
#include "localizer/fetch-common.h"

#define CHUNK (8u << 20)

int loc_file_path(const struct loc_source *s, char ret[PATH_MAX], enum loc_fail *ret_reason,
                  struct sv_error *err)
{
    const char *path = s->url.path;
    struct stat st;

    *ret_reason = LOC_FAIL_SOURCE;
    if (s->request->visibility == LOC_PUBLIC && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        return sv_error_set(err, -ELOOP,
                            "Resource %s is a symbolic link, which cannot be part of "
                            "the public cache",
                            s->request->url);
    if (realpath(path, ret))
        return 0;
    if (errno != ENOENT)
        return sv_error_errno(err, -errno, "Resource %s", s->request->url);
    return sv_error_set(err, -ENOENT, "File %s does not exist%s", s->request->url,
                        sv_has_prefix(path, "/tmp/") || sv_has_prefix(path, "/var/tmp/")
                            ? " here: containers and their localizers have a /tmp of their "
                              "own, so take it from elsewhere"
                            : "");
}

int loc_file_open(struct loc_source *s, struct sv_error *err)
{
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    int r = fs_open_file(s->fs, s->path, &f, &s->seen, err);

    if (r < 0)
        return r;
    s->fd = fcntl(fs_descriptor(f), F_DUPFD_CLOEXEC, 0);
    if (s->fd < 0 || fstat(s->fd, &s->st) < 0)
        return sv_error_errno(err, -errno, "open");
    s->in_place = true;
    s->size = s->seen.length;
    return 0;
}

static int unchanged(const struct loc_source *s, int fd, struct sv_error *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return sv_error_errno(err, -errno, "Resource %s", s->request->url);
    if (st.st_size != s->st.st_size || st.st_mtim.tv_sec != s->st.st_mtim.tv_sec ||
        st.st_mtim.tv_nsec != s->st.st_mtim.tv_nsec)
        return sv_error_set(err, -ESTALE, "Resource %s changed on src filesystem while it was read",
                            s->request->url);
    return 0;
}

int loc_source_unchanged(const struct loc_source *s, struct sv_error *err)
{
    return s->in_place ? unchanged(s, s->fd, err) : 0; /* else the content is in the copy */
}

int loc_file_clone(struct loc_source *s, int from, enum loc_fail *ret_reason, struct sv_error *err)
{
    uint64_t size = s->seen.length;
    ssize_t n = 1;
    int r;

    for (s->size = 0; s->size < size && n > 0; s->size += (uint64_t)SV_MAX(n, 0)) {
        do
            n = copy_file_range(from, NULL, s->fd, NULL,
                                (size_t)SV_MIN(size - s->size, (uint64_t)CHUNK), 0);
        while (n < 0 && errno == EINTR);
        if (n < 0 && s->size == 0 &&
            (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ||
             errno == EPERM))
            return 0;
        if (n < 0)
            return sv_error_errno(err, -errno, "write to the cache");
        s->progress(s->progress_userdata, s->size + (uint64_t)n);
    }
    *ret_reason = LOC_FAIL_CHANGED;
    r = unchanged(s, from, err);
    if (r == 0 && s->size != size)
        r = sv_error_set(err, -ESTALE, "Resource %s could not be read in full", s->request->url);
    return r < 0 ? r : 1;
}
