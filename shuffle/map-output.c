/* See map-output.h. */
#include "shuffle/map-output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"

#define PATH_MAX_ (SHF_APP_DIR_MAX + SHF_ID_MAX + 64)

/* Account that must own the files. If the NodeManager did not send its uid, that of the owner of
 * usercache/USER: it lies in a directory of the daemon, so no job can replace it. */
static int owner(int dir, const struct shf_job *job, uid_t *ret)
{
    const char *user = strchr(job->app_dir, '/');
    char path[SHF_APP_DIR_MAX + 1];
    struct stat st;

    if (job->uid != SHF_NO_UID) {
        *ret = job->uid;
        return 0;
    }
    if (!user)
        return -EPERM;
    (void)snprintf(path, sizeof(path), "%.*s",
                   (int)(strcspn(user + 1, "/") + 1 + (size_t)(user - job->app_dir)), job->app_dir);
    _cleanup_close_ int fd = sv_open_beneath(dir, path, O_PATH | O_DIRECTORY, 0);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    *ret = st.st_uid;
    return 0;
}

#define READ (O_RDONLY | O_NONBLOCK)

/* `flags`: READ, or O_PATH to stat the file only. */
static int open_file(int dir, const struct shf_job *job, const char *map, const char *name,
                     int flags, struct stat *ret_st, int *ret_fd, struct sv_error *err)
{
    char path[PATH_MAX_];
    uid_t uid = SHF_NO_UID;
    int r, n = snprintf(path, sizeof(path), "%s/output/%s/%s", job->app_dir, map, name);
    struct stat st;

    if (n < 0 || (size_t)n >= sizeof(path))
        return sv_error_set(err, -ENAMETOOLONG, "%s: its path is too long", map);
    _cleanup_close_ int fd = sv_open_beneath(dir, path, flags, 0);
    if (fd == -ENOENT)
        return fd;
    r = fd < 0 ? fd : owner(dir, job, &uid);
    if (r < 0)
        return sv_error_errno(err, r, "%s/%s", map, name);
    if (fstat(fd, &st) < 0)
        return sv_error_errno(err, -errno, "%s/%s", map, name);
    if (!S_ISREG(st.st_mode))
        return sv_error_set(err, -EPERM, "%s/%s: not a regular file", map, name);
    if (st.st_uid != uid)
        return sv_error_set(err, -EPERM,
                            "%s/%s: owned by uid %u, not by the job's account (uid %u)", map, name,
                            st.st_uid, uid);
    *ret_st = st;
    *ret_fd = sv_take_fd(&fd);
    return 0;
}

static int read_index(int fd, size_t len, uint8_t **ret)
{
    _cleanup_free_ uint8_t *index = malloc(len);

    if (!index)
        return -ENOMEM;
    for (size_t at = 0; at < len;) {
        ssize_t n = pread(fd, index + at, len - at, (off_t)at);

        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            return -EBADMSG; /* truncated meanwhile */
        at += n > 0 ? (size_t)n : 0;
    }
    *ret = SV_TAKE(index);
    return 0;
}

/* Looks up the cache, or reads the file and caches it. A cache hit needs no open for reading, which
 * Landlock makes expensive. */
static int find_segment(int dir, struct shf_index_cache *cache, const struct shf_job *job,
                        const char *map, uint32_t reduce, bool *may_read, struct shf_segment *ret,
                        struct sv_error *err)
{
    _cleanup_free_ uint8_t *index = NULL;
    _cleanup_close_ int fd = -1;
    struct stat st;
    int r = open_file(dir, job, map, "file.out.index", O_PATH, &st, &fd, err);

    if (r < 0)
        return r;
    r = shf_index_cache_get(cache, &st, reduce, ret);
    if (r == -ENOENT) {
        if (!*may_read)
            return -EAGAIN;
        *may_read = false;
        fd = sv_close(fd);
        r = open_file(dir, job, map, "file.out.index", READ, &st, &fd, err);
        if (r < 0)
            return r;
        size_t len = (size_t)st.st_size;
        if (len > SHF_INDEX_MAX || len < SHF_INDEX_RECORD + SHF_INDEX_CHECKSUM)
            return sv_error_set(err, -EBADMSG, "%s: an index of %zu bytes", map, len);
        r = read_index(fd, len, &index);
        if (r < 0)
            return sv_error_errno(err, r, "%s: its index", map);
        if (shf_spill_index_check(index, len, err) < 0)
            return sv_error_wrap(err, "%s", map);
        r = shf_spill_index_get(index, len, reduce, ret);
        shf_index_cache_put(cache, &st, SV_TAKE(index), len);
    }
    return r < 0 ? sv_error_set(err, r, "%s: its index has no reducer %u", map, reduce) : 0;
}

/* Opens the data file in this local directory, if the segment lies inside it. */
static int open_data(int dir, const struct shf_job *job, const char *map,
                     const struct shf_segment *s, int *ret_fd, struct sv_error *err)
{
    _cleanup_close_ int fd = -1;
    struct stat st;
    int r = open_file(dir, job, map, "file.out", READ, &st, &fd, err);

    if (r < 0)
        return r;
    if (s->start + s->part > (uint64_t)st.st_size)
        return sv_error_set(err, -EBADMSG,
                            "%s: its index points beyond the end of file.out (%lld bytes)", map,
                            (long long)st.st_size);
    *ret_fd = sv_take_fd(&fd);
    return 0;
}

/* A map task allocates a directory for each of its two files, so they may lie on two disks. Tries
 * the index's own disk first. */
static int find_data(const struct shf_local_dirs *dirs, unsigned index_dir,
                     const struct shf_job *job, const char *map, struct shf_output *o, int *ret_fd,
                     struct sv_error *err)
{
    for (size_t i = 0; i < dirs->n; i++) {
        unsigned dir = (unsigned)((index_dir + i) % dirs->n);
        int r = dirs->v[dir].in_use ? open_data(dirs->v[dir].fd, job, map, &o->segment, ret_fd, err)
                                    : -ENOENT;

        o->dir = dir;
        if (r != -ENOENT)
            return r;
    }
    return sv_error_set(err, -EBADMSG, "%s: an index without file.out", map);
}

int shf_output_find(const struct shf_local_dirs *dirs, struct shf_index_cache *cache,
                    const struct shf_job *job, const char *map, uint32_t reduce, bool *may_read,
                    struct shf_output *ret, int *ret_fd, struct sv_error *err)
{
    struct shf_output o = { 0 };

    for (unsigned i = 0; i < dirs->n; i++) {
        int r = dirs->v[i].in_use ? find_segment(dirs->v[i].fd, cache, job, map, reduce, may_read,
                                                 &o.segment, err)
                                  : -ENOENT;

        if (r == -ENOENT)
            continue;
        if (r == 0)
            r = find_data(dirs, i, job, map, &o, ret_fd, err);
        if (r == 0)
            *ret = o;
        return r;
    }
    return sv_error_set(err, -ENOENT, "%s: no output in any local directory", map);
}

int shf_output_open(const struct shf_local_dirs *dirs, const struct shf_job *job, const char *map,
                    const struct shf_output *o, int *ret_fd, struct sv_error *err)
{
    int r = open_data(dirs->v[o->dir].fd, job, map, &o->segment, ret_fd, err);

    return r == -ENOENT ? sv_error_set(err, -EBADMSG, "%s: file.out has disappeared", map) : r;
}
