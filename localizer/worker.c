/* See worker.h. */
#include "localizer/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/worker-sandbox.h"
#include "localizer/disk.h"
#include "localizer/fetch.h"
#include "localizer/unpack.h"

#define PROGRESS_MS 500
#define TMP_NAME_MAX (LOC_REL_MAX + 8)

static void tmp_name(const struct loc_fetch *q, char buf[TMP_NAME_MAX])
{
    (void)snprintf(buf, TMP_NAME_MAX, "%s_tmp", q->rel);
}

/* Directories of the hierarchy must be searchable by the daemon's group (it checks whether entries
 * still exist); an entry itself is accessible to its owner alone. */
static int make_tmp(const struct loc_fetch *q, int cache)
{
    bool is_public = q->visibility == LOC_PUBLIC;
    char name[TMP_NAME_MAX], dir[LOC_REL_MAX + 1];
    const char *slash = strrchr(q->rel, '/');
    _cleanup_close_ int parent = -1;
    mode_t old = umask(0);
    int r = 0;

    if (slash) {
        memcpy(dir, q->rel, (size_t)(slash - q->rel));
        dir[slash - q->rel] = 0;
        r = sv_mkdir_p_at(cache, dir, is_public ? 0755 : 0710);
    }
    (void)umask(old);
    if (r < 0)
        return r;
    parent = sv_open_beneath(cache, slash ? dir : ".", O_PATH | O_DIRECTORY, 0);
    if (parent < 0)
        return parent;
    tmp_name(q, name);
    return mkdirat(parent, slash ? strrchr(name, '/') + 1 : name, 0700) < 0 ? -errno : 0;
}

int loc_worker_publish(const struct loc_fetch *q, int cache)
{
    char name[TMP_NAME_MAX];

    tmp_name(q, name);
    return renameat2(cache, name, cache, q->rel, RENAME_NOREPLACE) < 0 ? -errno : 0;
}

struct work {
    const struct loc_fetch *q;
    int pipe;
    int64_t told_ms;
    enum loc_fail reason;
    struct sv_error err;
    struct loc_report report;
};

static void report_progress(void *userdata, uint64_t bytes)
{
    struct work *w = userdata;
    struct loc_report r = { .bytes = bytes };
    int64_t now = sv_now_ms();

    if (now - w->told_ms < PROGRESS_MS)
        return;
    w->told_ms = now;
    if (sv_write_all(w->pipe, &r, sizeof(r)) < 0)
        _exit(1); /* the localizer has exited */
}

static enum loc_fail reason_of(int r)
{
    switch (r) {
    case -EPERM:
    case -EBADMSG:
        return LOC_FAIL_ARCHIVE;
    case -EFBIG:
        return LOC_FAIL_LIMIT;
    case -EINVAL:
        return LOC_FAIL_URL;
    case -ENOMEM:
        return LOC_FAIL_INTERNAL;
    default:
        return LOC_FAIL_DISK;
    }
}

static int unpack(struct work *w, struct loc_source *s, int tmp, int root, enum loc_format format,
                  struct sv_pattern *match)
{
    bool is_public = w->q->visibility == LOC_PUBLIC;
    _cleanup_disk_ struct loc_disk disk = LOC_DISK_INIT(root, is_public);
    struct loc_unpack u = {
        .format = format,
        .fd = s->fd,
        .packed = s->size,
        .match = match,
        .sink = &loc_disk_sink,
        .userdata = &disk,
        .progress = report_progress,
        .progress_userdata = w,
        .policy = { .limits = w->q->limits, .what = "archive" },
    };
    int r = sv_sandbox_unpack(tmp, &w->err);

    w->reason = LOC_FAIL_INTERNAL;
    if (r < 0)
        return r;
    r = loc_unpack(&u, &w->err);
    w->reason = reason_of(r);
    if (r < 0)
        return sv_error_wrap(&w->err, "Resource %s", w->q->url);
    w->report.bytes += u.policy.bytes;
    w->report.entries += u.policy.entries;
    w->reason = LOC_FAIL_CHANGED;
    return loc_source_unchanged(s, &w->err);
}

/* Directories are copied. FILE, and formats that Hadoop does not unpack: the file <name>. ARCHIVE:
 * the directory <name> with the content. PATTERN on a jar: the directory with the jar and the
 * matching entries. */
static int run(struct work *w, int tmp, int credentials)
{
    const struct loc_fetch *q = w->q;
    bool is_public = q->visibility == LOC_PUBLIC;
    enum loc_format format = q->type == LOC_FILE ? LOC_FORMAT_NONE : loc_format_of(q->name);
    bool keep = format == LOC_FORMAT_NONE || (q->type == LOC_PATTERN && loc_is_jar(q->name));
    _cleanup_(sv_pattern_freep) struct sv_pattern *match = NULL;
    _cleanup_close_ int root = -1;
    struct loc_source s = { .request = q,
                            .dir = tmp,
                            .fd = -1,
                            .credentials = credentials,
                            .name = keep ? q->name : NULL,
                            .tree_name = format == LOC_FORMAT_NONE ? q->name : NULL,
                            .progress = report_progress,
                            .progress_userdata = w };
    int r = 0;

    w->reason = LOC_FAIL_URL;
    if (keep && format != LOC_FORMAT_NONE && q->pattern[0])
        r = sv_pattern_new(q->pattern, &match, &w->err);
    if (r < 0)
        return r;
    w->reason = LOC_FAIL_DISK;
    if (format != LOC_FORMAT_NONE) {
        if (mkdirat(tmp, q->name, loc_mode_dir(is_public)) < 0)
            return sv_error_errno(&w->err, -errno, "directory in the cache");
        root = sv_open_beneath(tmp, q->name, O_RDONLY | O_DIRECTORY, 0);
        if (root < 0)
            return sv_error_errno(&w->err, root, "directory in the cache");
        s.dir = root;
    }
    r = loc_source_fetch(&s, &w->reason, &w->err);
    sv_close(credentials); /* before bytes of an archive are parsed */
    if (r >= 0) {
        w->report.bytes = keep || s.tree ? s.size : 0;
        w->report.entries = 1 + s.entries;
        w->report.tree = s.tree;
        if (format != LOC_FORMAT_NONE && !s.tree)
            r = unpack(w, &s, tmp, root, format, match);
    }
    sv_close(s.fd);
    return r;
}

static int open_tmp(const struct loc_fetch *q, int cache, struct sv_error *err)
{
    char name[TMP_NAME_MAX];
    int fd;

    tmp_name(q, name);
    fd = sv_open_beneath(cache, name, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return sv_error_errno(err, fd, "directory in the cache");
    if (fchmod(fd, loc_mode_dir(q->visibility == LOC_PUBLIC)) < 0) { /* also drops setgid */
        int r = -errno;

        sv_close(fd);
        return sv_error_errno(err, r, "mode of a directory in the cache");
    }
    return fd;
}

static int worker_main(const struct loc_fetch *q, int cache, int pipe, int credentials,
                       pid_t parent)
{
    struct work w = { .q = q, .pipe = pipe, .reason = LOC_FAIL_INTERNAL };
    _cleanup_close_ int tmp = -1;
    int r;

    (void)umask(0);
    tmp = open_tmp(q, cache, &w.err);
    r = tmp < 0 ? tmp : sv_sandbox_fetch(tmp, q->limits.bytes, parent, &w.err);
    if (r >= 0)
        r = run(&w, tmp, credentials);
    w.report.done = r < 0 ? 2 : 1;
    w.report.reason = r < 0 ? (uint8_t)w.reason : 0;
    if (r < 0)
        (void)snprintf(w.report.text, sizeof(w.report.text), "%.*s", LOC_TEXT_MAX, w.err.text);
    return sv_write_all(pipe, &w.report, sizeof(w.report)) < 0 ? 1 : 0;
}

/* Forks with a pipe; in the child returns 0 with only `cache`, the pipe's end and the credentials
 * (-1: none) open. */
static pid_t start(int *cache, int *ret_pipe, int *credentials)
{
    int p[2];
    pid_t pid;

    if (pipe2(p, O_CLOEXEC) < 0)
        return -errno;
    pid = fork();
    if (pid < 0) {
        int r = -errno;

        sv_close(p[0]);
        sv_close(p[1]);
        return r;
    }
    if (pid > 0) {
        sv_close(p[1]);
        *ret_pipe = p[0];
        return pid;
    }
    /* 3 = cache, 4 = pipe, 5 = credentials, all others closed: neither the channel nor other
     * caches */
    *cache = fcntl(*cache, F_DUPFD_CLOEXEC, 256);
    *ret_pipe = fcntl(p[1], F_DUPFD_CLOEXEC, 256);
    const int given = *credentials < 0 ? -1 : fcntl(*credentials, F_DUPFD_CLOEXEC, 256);
    if (*cache < 0 || *ret_pipe < 0 || (given < 0) != (*credentials < 0) ||
        dup3(*cache, 3, O_CLOEXEC) < 0 || dup3(*ret_pipe, 4, O_CLOEXEC) < 0 ||
        (given >= 0 && dup3(given, 5, O_CLOEXEC) < 0) || close_range(given < 0 ? 5 : 6, ~0u, 0) < 0)
        _exit(1);
    *cache = 3;
    *ret_pipe = 4;
    *credentials = given < 0 ? -1 : 5;
    return 0;
}

int loc_worker_start(const struct loc_fetch *q, int cache, int credentials, struct loc_worker *ret,
                     struct loc_report *ret_report)
{
    pid_t parent = getpid(), pid;
    struct stat st;
    bool taken = fstatat(cache, q->rel, &st, AT_SYMLINK_NOFOLLOW) == 0;
    int r = taken ? -EEXIST : make_tmp(q, cache), pipe = -1;

    if (r < 0) {
        *ret_report =
            (struct loc_report){ .done = 2,
                                 .reason = r == -EEXIST ? LOC_FAIL_TAKEN : LOC_FAIL_DISK };
        (void)snprintf(ret_report->text, sizeof(ret_report->text),
                       "cannot make the directory of the entry: %s", strerror(-r));
        return r;
    }
    pid = start(&cache, &pipe, &credentials);
    if (pid == 0)
        _exit(worker_main(q, cache, pipe, credentials, parent));
    if (pid < 0) {
        char name[TMP_NAME_MAX];

        tmp_name(q, name);
        (void)unlinkat(cache, name, AT_REMOVEDIR); /* empty; the daemon deletes it too, ignoring */
        *ret_report = (struct loc_report){ .done = 2, .reason = LOC_FAIL_LEFTOVER };
        (void)snprintf(ret_report->text, sizeof(ret_report->text), "cannot start a worker: %s",
                       strerror(-(int)pid));
        return (int)pid;
    }
    *ret = (struct loc_worker){ .pid = pid, .pipe = pipe };
    return 0;
}

int loc_worker_remove(const struct loc_fetch *q, int cache, struct loc_worker *ret)
{
    char name[TMP_NAME_MAX];
    int pipe = -1, none = -1;
    pid_t pid = start(&cache, &pipe, &none);

    if (pid == 0) {
        tmp_name(q, name);
        _exit(sv_remove_tree_at(cache, name) < 0 ? 1 : 0);
    }
    if (pid < 0)
        return (int)pid;
    *ret = (struct loc_worker){ .pid = pid, .pipe = pipe };
    return 0;
}
