/* See container-diagnostics.h. */
#include "nodemanager/core/container-diagnostics.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fd.h"
#include "common/str.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/log-files.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/log-disks.h"

#define FILES_MAX 16 /* error files listed */

char *nm_diagnostics_exception(const struct nm_container *c, int exit_code, const char *error)
{
    char *s;

    if (sv_asprintf(&s,
                    "Exception from container-launch.\nContainer id: %s\nExit code: %d\n"
                    "Exception message: Launch container failed\n%s%s%s",
                    c->text, exit_code, *error ? "Shell error output: " : "", error,
                    *error ? "\n" : "") < 0)
        return NULL;
    return s;
}

/* 1000 → "1000 B", 1536 → "1.5 KB", as Hadoop's TraditionalBinaryPrefix. */
static void human(uint64_t bytes, char *buf, size_t size)
{
    static const char units[] = "BKMGTPE";
    int u = 0;

    while (u < 6 && bytes >> (10 * (u + 1)))
        u++;
    if (u == 0)
        snprintf(buf, size, "%llu B", (unsigned long long)bytes);
    else if ((bytes & ((1ULL << (10 * u)) - 1)) == 0)
        snprintf(buf, size, "%llu %cB", (unsigned long long)(bytes >> (10 * u)), units[u]);
    else
        snprintf(buf, size, "%.1f %cB", (double)bytes / (double)(1ULL << (10 * u)), units[u]);
}

char *nm_diagnostics_memory(const struct nm_container *c, pid_t pid, uint64_t peak_bytes,
                            enum nm_memory_by by)
{
    static const char *const who[] = {
        [NM_MEMORY_BY_KERNEL] = "Killed by the kernel at memory.max of the container's cgroup.",
        [NM_MEMORY_BY_NODE] = "Killed by the kernel because memory of the node, or of all its "
                              "containers, ran out.",
        [NM_MEMORY_BY_MONITOR] = "Killed by the NodeManager: the kernel does not enforce memory of "
                                 "containers here (yarn.nodemanager.resource.memory.enforced).",
    };
    uint64_t limit =
        c->share.set.memory_max ? c->share.set.memory_max : (uint64_t)c->resource.memory_mb << 20;
    char used[32], of[32], *s;

    human(!peak_bytes                 ? limit
          : by == NM_MEMORY_BY_KERNEL ? SV_MIN(peak_bytes, limit)
                                      : peak_bytes,
          used, sizeof(used));
    human(limit, of, sizeof(of));
    if (sv_asprintf(&s,
                    "Container [pid=%d,containerID=%s] is running beyond the 'PHYSICAL' memory "
                    "limit. Current usage: %s of %s physical memory used. Killing container.\n%s\n",
                    (int)pid, c->text, used, of, who[by]) < 0)
        return NULL;
    return s;
}

char *nm_diagnostics_vmem(const struct nm_container *c, const struct nm_vmem_usage *u)
{
    uint64_t memory =
        c->share.set.memory_max ? c->share.set.memory_max : (uint64_t)c->resource.memory_mb << 20;
    char used[32], of[32], virtual[32], limit[32], largest[32], *s;

    human(c->usage.last.memory_current, used, sizeof(used));
    human(memory, of, sizeof(of));
    human(u->bytes, virtual, sizeof(virtual));
    human(u->limit, limit, sizeof(limit));
    human(u->largest_bytes, largest, sizeof(largest));
    if (sv_asprintf(&s,
                    "Container [pid=%d,containerID=%s] is running %lluB beyond the 'VIRTUAL' "
                    "memory limit. Current usage: %s of %s physical memory used; %s of %s virtual "
                    "memory used. Killing container.\n"
                    "The largest of its %u processes is %d (%s) with %s of virtual memory. Killed "
                    "by the NodeManager (yarn.nodemanager.vmem-check-enabled, "
                    "yarn.nodemanager.vmem-pmem-ratio).\n",
                    (int)c->launch.pid, c->text,
                    (unsigned long long)(u->bytes > u->limit ? u->bytes - u->limit : 0), used, of,
                    virtual, limit, u->processes, (int)u->largest, u->largest_name, largest) < 0)
        return NULL;
    return s;
}

/* ---- The text of an exit: read on the thread of the log directory's disk ---- */

struct tail {
    char *top, *pattern;
    struct yarn_container_id id;
    int exit_code;
    int64_t bytes;
    char names[FILES_MAX][NAME_MAX + 1];
    char *text; /* the result; NULL: no memory */
};

/* Appends the last `max` bytes of a regular file. */
static int append_tail(struct sv_buf *out, int dir, const char *name, int64_t max)
{
    _cleanup_close_ int fd = sv_open_beneath(dir, name, O_RDONLY | O_NONBLOCK, 0);
    struct stat st;
    char block[4096];
    off_t at;

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    at = st.st_size > max ? st.st_size - max : 0;
    while (max > 0) {
        ssize_t n = pread(fd, block, (size_t)SV_MIN(max, (int64_t)sizeof(block)), at);
        int r;

        if (n <= 0)
            return n < 0 ? -errno : 0;
        r = sv_buf_put(out, block, (size_t)n);
        if (r < 0)
            return r;
        at += n;
        max -= n;
    }
    return 0;
}

/* "{*stderr*,*STDERR*}" or one plain pattern. */
static bool matches(const char *pattern, const char *name)
{
    size_t n = strlen(pattern);
    char one[128];

    if (n < 2 || pattern[0] != '{' || pattern[n - 1] != '}')
        return fnmatch(pattern, name, 0) == 0;
    for (const char *p = pattern + 1; *p;) {
        size_t len = strcspn(p, ",}");

        if (len < sizeof(one)) {
            memcpy(one, p, len);
            one[len] = 0;
            if (fnmatch(one, name, 0) == 0)
                return true;
        }
        p += len + 1;
        if (p[-1] == '}')
            break;
    }
    return false;
}

/* Finds the names of the error files among the first NM_LOG_ENTRIES_MAX entries, and the most
 * recent non-empty one. */
static int find_error_files(struct tail *t, int dir, int *ret_best)
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    struct timespec best = { -1, 0 };
    struct dirent *e;

    *ret_best = -1;
    if (!d) {
        sv_close(copy);
        return 0;
    }
    for (int entries = 0; n < FILES_MAX && entries < NM_LOG_ENTRIES_MAX && (e = readdir(d));
         entries++) {
        struct stat st;

        if (!matches(t->pattern, e->d_name) ||
            fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
            continue;
        snprintf(t->names[n], NAME_MAX + 1, "%s", e->d_name);
        if (st.st_size > 0 &&
            (st.st_mtim.tv_sec > best.tv_sec ||
             (st.st_mtim.tv_sec == best.tv_sec && st.st_mtim.tv_nsec > best.tv_nsec))) {
            best = st.st_mtim;
            *ret_best = n;
        }
        if (*ret_best < 0)
            *ret_best = n;
        n++;
    }
    closedir(d);
    return n;
}

/* Diagnostics are sent in protobuf strings, which Java decodes as UTF-8: replaces invalid bytes by
 * '?', control characters other than tab and newline by blanks. */
static void make_text(char *s)
{
    for (unsigned char *p = (unsigned char *)s; *p;) {
        int extra = *p < 0x80                           ? 0
                    : (*p & 0xe0) == 0xc0 && *p >= 0xc2 ? 1
                    : (*p & 0xf0) == 0xe0               ? 2
                    : (*p & 0xf8) == 0xf0 && *p <= 0xf4 ? 3
                                                        : -1;
        int ok = extra >= 0;

        for (int i = 1; ok && i <= extra; i++)
            ok = (p[i] & 0xc0) == 0x80;
        if (ok && extra == 2 && ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f)))
            ok = 0;
        if (ok && extra == 3 && ((*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f)))
            ok = 0;
        if (!ok)
            *p++ = '?';
        else if (extra == 0 && (*p < ' ' || *p == 0x7f) && *p != '\n' && *p != '\t')
            *p++ = ' ';
        else
            p += 1 + extra;
    }
}

static int append_error_file(struct tail *t, struct sv_buf *b, int dir)
{
    int best, n = find_error_files(t, dir, &best), r = 0;

    if (n <= 0 || best < 0)
        return 0;
    if (n > 1) {
        r = sv_buf_put_str(b, "Error files: ");
        for (int i = 0; i < n && r >= 0; i++)
            r = sv_buf_printf(b, "%s%s", i ? ", " : "", t->names[i]);
        if (r >= 0)
            r = sv_buf_put_str(b, ".\n");
    }
    if (r >= 0)
        r = sv_buf_printf(b, "Last %lld bytes of %s :\n", (long long)t->bytes, t->names[best]);
    if (r >= 0) {
        (void)append_tail(b, dir, t->names[best],
                          t->bytes); /* the file may be deleted already, ignoring */
        r = sv_buf_put_str(b, "\n");
    }
    return r;
}

static int append_begin(struct sv_buf *b, int exit_code)
{
    return sv_buf_printf(b, "Container exited with a non-zero exit code %d. ", exit_code);
}

/* Takes the bytes of the buffer as a text; NULL: no memory. */
static char *finish(struct sv_buf *b, int r)
{
    char *s;

    if (r < 0 || sv_buf_put_u8(b, 0) < 0)
        return NULL;
    for (size_t i = 0; i + 1 < b->len; i++)
        if (!b->data[i])
            b->data[i] = ' ';
    make_text((char *)b->data);
    s = (char *)b->data;
    b->data = NULL;
    return s;
}

static void read_tail(void *data)
{
    struct tail *t = data;
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(4 << 20);
    _cleanup_close_ int dir = -1;
    struct stat st;
    uid_t owner;
    int r = append_begin(&b, t->exit_code);

    dir = nm_log_files_dir(t->top, t->id, &owner);
    if (r >= 0 && dir >= 0 && fstatat(dir, "prelaunch.err", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(st.st_mode)) {
        r = sv_buf_printf(&b, "Error file: prelaunch.err.\nLast %lld bytes of prelaunch.err :\n",
                          (long long)t->bytes);
        if (r >= 0)
            (void)append_tail(&b, dir, "prelaunch.err",
                              t->bytes); /* the file may be deleted already, ignoring */
    }
    if (dir >= 0 && r >= 0)
        r = append_error_file(t, &b, dir);
    t->text = finish(&b, r);
}

static void tail_free(void *data)
{
    struct tail *t = data;

    free(t->top);
    free(t->pattern);
    free(t->text);
    free(t);
}

/* ---- On the loop ---- */

/* Finds its container by the id: it may have ended otherwise meanwhile. */
struct waiting {
    struct nm_context *ctx;
    char container[YARN_ID_TEXT_MAX];
    int exit_code, disk;
    nm_diagnostics_fn done;
};

/* The text without error files, and why. */
static char *plain_text(int exit_code, const char *why)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(4096);
    int r = append_begin(&b, exit_code);

    if (r >= 0 && why)
        r = sv_buf_printf(&b, "No error file was read: %s.\n", why);
    return finish(&b, r);
}

static void on_tail(int status, void *data, void *userdata)
{
    struct waiting *w = userdata;
    struct tail *t = data;
    struct nm_container *c = status == -ECANCELED ? NULL : nm_container_find(w->ctx, w->container);
    struct sv_error why = { 0 };

    if (c && status < 0)
        nm_log_disks_why(w->ctx->log_disks, w->disk, status, &why);
    if (c)
        w->done(c, status < 0 ? plain_text(w->exit_code, why.text) : SV_TAKE(t->text));
    free(w);
}

static int start(const struct nm_container *c, int exit_code, nm_diagnostics_fn done,
                 struct sv_error *why)
{
    const char *top = nm_dirs_log(c->ctx->dirs, c->launch.log_dir);
    struct tail *t = calloc(1, sizeof(*t));
    struct waiting *w = calloc(1, sizeof(*w));
    const struct sv_job job = {
        .data = t, .run = read_tail, .done = on_tail, .free = tail_free, .userdata = w
    };
    int r = -ENOMEM;

    if (t && w) {
        t->top = top ? strdup(top) : NULL;
        t->pattern = strdup(c->ctx->conf->stderr_pattern);
        t->id = c->id;
        t->exit_code = exit_code;
        t->bytes = c->ctx->conf->stderr_tail_bytes;
        *w = (struct waiting){
            .ctx = c->ctx, .exit_code = exit_code, .disk = c->launch.log_dir, .done = done
        };
        memcpy(w->container, c->text, sizeof(w->container));
    }
    if (t && w && t->top && t->pattern)
        r = nm_log_disks_run(c->ctx->log_disks, c->launch.log_dir, NM_LOG_DISK_ALL, &job, why);
    if (r >= 0)
        return 0;
    if (t)
        tail_free(t);
    free(w);
    return r;
}

void nm_diagnostics_exit(struct nm_container *c, int exit_code, nm_diagnostics_fn done)
{
    struct sv_error why = { 0 };

    if (exit_code == YARN_EXIT_FORCE_KILLED || exit_code == YARN_EXIT_TERMINATED ||
        c->launch.log_dir < 0)
        done(c, plain_text(exit_code, NULL));
    else if (start(c, exit_code, done, &why) < 0)
        done(c, plain_text(exit_code, why.code ? why.text : NULL));
}
