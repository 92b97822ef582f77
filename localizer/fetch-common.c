/* See fetch-common.h. */
#include "localizer/fetch-common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "localizer/policy.h"

#define SPOOL ".download"

/* Formats like Hadoop's Times.formatISO8601, in UTC. */
static const char *iso8601(int64_t ms, char buf[64])
{
    time_t t = (time_t)(ms / 1000);
    struct tm tm;
    size_t n = 0;

    if (gmtime_r(&t, &tm))
        n = strftime(buf, 64, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(buf + n, 64 - n, ".%03d+0000", (int)(ms % 1000));
    return buf;
}

int loc_check_time(const struct loc_source *s, int64_t mtime_ms, struct sv_error *err)
{
    char expected[64], was[64], now[64];

    if (mtime_ms == s->request->timestamp || s->request->options & LOC_OPTION_ANY_TIME)
        return 0;
    return sv_error_set(err, -ESTALE,
                        "Resource %s changed on src filesystem - expected: \"%s\", was: \"%s\", "
                        "current time: \"%s\"",
                        s->request->url, iso8601(s->request->timestamp, expected),
                        iso8601(mtime_ms, was), iso8601(sv_wall_ms(), now));
}

int loc_check_size(const struct loc_source *s, uint64_t size, struct sv_error *err)
{
    if (s->request->size < 0 || size == (uint64_t)s->request->size)
        return 0;
    return sv_error_set(err, -ESTALE,
                        "Resource %s changed on src filesystem - expected: %lld bytes, was: %llu "
                        "bytes",
                        s->request->url, (long long)s->request->size, (unsigned long long)size);
}

int loc_not_public(const struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    *ret_reason = LOC_FAIL_NOT_PUBLIC;
    return sv_error_set(err, -EACCES,
                        "Resource %s is not publicly accessible and as such "
                        "cannot be part of the public cache.",
                        s->request->url);
}

enum loc_fail loc_fail_of(const struct loc_source *s, int error)
{
    switch (error) {
    case -EINVAL:
    case -ENAMETOOLONG:
        return LOC_FAIL_URL;
    case -ENOMEM:
        return LOC_FAIL_INTERNAL;
    case -EKEYREJECTED:
        return LOC_FAIL_AUTH;
    case -ESTALE:
        return LOC_FAIL_CHANGED;
    case -EFBIG:
        return LOC_FAIL_LIMIT;
    case -ETIMEDOUT: /* of HTTP: the request's time, or its slowest rate */
        return s->url.scheme == FS_SCHEME_HDFS ? LOC_FAIL_SOURCE : LOC_FAIL_LIMIT;
    default:
        return LOC_FAIL_SOURCE;
    }
}

int loc_source_failed(const struct loc_source *s, int error, enum loc_fail *ret_reason,
                      struct sv_error *err)
{
    const struct loc_fetch *q = s->request;

    *ret_reason = loc_fail_of(s, error);
    switch (s->url.scheme) {
    case FS_SCHEME_HTTP:
    case FS_SCHEME_HTTPS:
        return sv_error_wrap(err, "Resource %s", q->url);
    case FS_SCHEME_HDFS:
        if (error == -ELOOP)
            return sv_error_set(err, error, "Resource %s: symbolic links of HDFS are not supported",
                                q->url);
        break;
    case FS_SCHEME_WEBHDFS:
    case FS_SCHEME_SWEBHDFS:
        if (error == -EACCES)
            return sv_error_wrap(err, "Resource %s: permission denied: user=%s", q->url, q->login);
        break;
    default:
        break;
    }
    return error == -ENOENT ? sv_error_set(err, error, "File does not exist: %s", q->url)
                            : sv_error_wrap(err, "Resource %s", q->url);
}

static int make_copy(const struct loc_source *s, struct sv_error *err)
{
    const char *name = s->name ? s->name : SPOOL;
    int fd = sv_open_beneath(s->dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);

    if (fd < 0)
        return sv_error_errno(err, fd, "cannot make a file in the cache");
    if (!s->name && unlinkat(s->dir, SPOOL, 0) < 0) {
        int r = -errno;

        sv_close(fd);
        return sv_error_errno(err, r, "spool file in the cache");
    }
    return fd;
}

static int append(void *userdata, const void *p, size_t n)
{
    struct loc_source *s = userdata;
    int r = sv_write_all(s->fd, p, n);

    if (r < 0)
        return r;
    s->size += n;
    s->progress(s->progress_userdata, s->size);
    return 0;
}

static int restart(void *userdata)
{
    struct loc_source *s = userdata;

    s->size = 0;
    return ftruncate(s->fd, 0) < 0 || lseek(s->fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

static int stream(struct loc_source *s, const struct fs_status *st, struct fs_stream *t,
                  enum loc_fail *ret_reason, struct sv_error *err)
{
    int r;

    *t = (struct fs_stream){ .sink = append, .restart = restart, .userdata = s, .mtime_ms = -1 };
    r = fs_stream(s->fs, s->path, st, t, err);
    if (t->sink_failed)
        return sv_error_errno(err, r, "write to the cache");
    return r < 0 ? loc_source_failed(s, r, ret_reason, err) : 0;
}

int loc_copy(struct loc_source *s, const struct fs_status *st, struct fs_stream *t,
             enum loc_fail *ret_reason, struct sv_error *err)
{
    _cleanup_close_ int from = sv_take_fd(&s->fd);
    int r;

    s->in_place = false;
    *ret_reason = LOC_FAIL_DISK;
    s->fd = make_copy(s, err);
    r = s->fd < 0 ? s->fd : from < 0 ? 0 : loc_file_clone(s, from, ret_reason, err);
    if (r == 0)
        r = stream(s, st, t, ret_reason, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_DISK;
    if (s->name && fchmod(s->fd, loc_mode_file(s->request->visibility == LOC_PUBLIC)) < 0)
        return sv_error_errno(err, -errno, "mode of a file in the cache");
    if (lseek(s->fd, 0, SEEK_SET) < 0)
        return sv_error_errno(err, -errno, "file in the cache");
    return 0;
}
