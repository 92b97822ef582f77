/* See upload-files.h. Only regular files owned by the account are uploaded, opened beneath their
 * directory without following links. The length is read once and written before the bytes: a log
 * that grows is cut there, one that shrinks is padded with zeros, and long holes of sparse ones are
 * left out (upload-holes.h). */
#include "logs/upload-files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/pattern.h"
#include "common/str.h"
#include "logs/upload-containers.h"
#include "logs/upload-holes.h"

#define READ_SIZE (64u << 10)

struct logs_files {
    const struct logs_upload *u;
    const int *dirs;
    size_t n_dirs;
    struct patterns {
        struct sv_pattern *include, *exclude; /* NULL: matches all; NULL: matches none */
    } any, rolled; /* any: for all logs; rolled: for those uploaded while their container runs */
    struct logs_rolling *rolling;
    char *names[LOGS_FILES_MAX];
    size_t n_names;
    uint64_t zeros; /* of holes that may still be written */
    uint8_t buf[READ_SIZE];
};

/* Compiles a pattern that, as with Java's Matcher.find(), matches anywhere in the name. */
static int pattern(const char *text, struct sv_pattern **ret, struct sv_error *err)
{
    _cleanup_free_ char *anywhere = NULL;

    if (!*text)
        return 0;
    if (sv_asprintf(&anywhere, "(?s).*(?:%s).*", text) < 0)
        return sv_error_errno(err, -ENOMEM, "pattern");
    return sv_pattern_new(anywhere, ret, err);
}

int logs_files_new(const struct logs_upload *u, const int *dirs, size_t n_dirs,
                   struct logs_files **ret, struct sv_error *err)
{
    _cleanup_(logs_files_freep) struct logs_files *f = calloc(1, sizeof(*f));
    int r;

    if (!f)
        return sv_error_errno(err, -ENOMEM, "log files");
    f->u = u;
    f->dirs = dirs;
    f->n_dirs = n_dirs;
    r = pattern(u->text[LOGS_INCLUDE], &f->any.include, err);
    if (r == 0)
        r = pattern(u->text[LOGS_EXCLUDE], &f->any.exclude, err);
    if (r == 0)
        r = pattern(u->text[LOGS_ROLLED_INCLUDE], &f->rolled.include, err);
    if (r == 0)
        r = pattern(u->text[LOGS_ROLLED_EXCLUDE], &f->rolled.exclude, err);
    if (r < 0)
        return r;
    *ret = SV_TAKE(f);
    return 0;
}

static void clear_names(struct logs_files *f)
{
    while (f->n_names > 0)
        free(f->names[--f->n_names]);
}

struct logs_files *logs_files_free(struct logs_files *f)
{
    if (!f)
        return NULL;
    clear_names(f);
    f->any.include = sv_pattern_free(f->any.include);
    f->any.exclude = sv_pattern_free(f->any.exclude);
    f->rolled.include = sv_pattern_free(f->rolled.include);
    f->rolled.exclude = sv_pattern_free(f->rolled.exclude);
    free(f);
    return NULL;
}

static void skip(struct logs_answer *a, const char *container, const char *name, const char *why)
{
    char shown[100];

    if (a->skipped++ > 0)
        return;
    sv_escape(shown, sizeof(shown), name);
    (void)snprintf(a->text, LOGS_UPLOAD_TEXT_MAX, "%s: %s was skipped: %s", container, shown, why);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A pattern that exceeds the step limit matches nothing, so the file is uploaded. */
static bool matches(const struct patterns *p, const char *name)
{
    if (p->include && sv_pattern_match(p->include, name) == 0)
        return false;
    return !p->exclude || sv_pattern_match(p->exclude, name) <= 0;
}

static bool among(const struct logs_ids *sorted, const char *container)
{
    return sorted->n > 0 &&
           bsearch(&container, sorted->v, sorted->n, sizeof(sorted->v[0]), by_name);
}

static bool has_ended(const struct logs_files *f, const char *container)
{
    return !f->u->app_runs || among(&f->u->ended, container) ||
           (f->u->others_before_ms && !among(&f->u->containers, container));
}

/* True if the container is to be skipped: the request does not name it, and it may still run. */
static bool is_new(const struct logs_files *f, int dir, const char *container)
{
    struct stat st;

    return f->u->others_before_ms && !among(&f->u->containers, container) &&
           (fstat(dir, &st) < 0 ||
            (uint64_t)st.st_mtim.tv_sec * 1000 + (uint64_t)st.st_mtim.tv_nsec / 1000000 >=
                f->u->others_before_ms);
}

static bool wanted(const struct logs_files *f, const char *name, bool ended)
{
    return (ended && matches(&f->any, name)) || (f->u->app_runs && matches(&f->rolled, name));
}

static void list(struct logs_files *f, int dir, const char *container, struct logs_answer *a)
{
    int fd = sv_open_beneath(dir, ".", O_RDONLY | O_DIRECTORY, 0);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e;
    bool ended = has_ended(f, container);

    clear_names(f);
    if (!d) {
        (void)sv_close(fd);
        return;
    }
    while ((e = readdir(d))) {
        char *name;

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            !wanted(f, e->d_name, ended))
            continue;
        name = f->n_names < LOGS_FILES_MAX ? strdup(e->d_name) : NULL;
        if (name)
            f->names[f->n_names++] = name;
        else
            skip(a, container, e->d_name, "the container has too many files");
    }
    (void)closedir(d); /* was only read, ignoring */
    qsort(f->names, f->n_names, sizeof(f->names[0]), by_name);
}

/* Returns a descriptor, or -errno with the reason. */
static int open_log(int dir, const char *name, struct stat *ret_st, const char **ret_why)
{
    _cleanup_close_ int fd = sv_open_beneath(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    struct stat st;

    *ret_why = "it cannot be opened, or is a link";
    if (fd < 0 || fstat(fd, &st) < 0)
        return fd < 0 ? fd : -errno;
    *ret_why = "it is no regular file";
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    *ret_why = "it belongs to somebody else";
    if (st.st_uid != geteuid())
        return -EPERM;
    *ret_st = st;
    return sv_take_fd(&fd);
}

/* Writes n bytes from `at`. */
static int copy(struct logs_files *f, struct logs_writer *w, int fd, uint64_t at, uint64_t n,
                bool *ret_short)
{
    bool over = false;
    int r = 0;

    for (uint64_t left = n; r == 0 && left > 0;) {
        size_t want = (size_t)SV_MIN(left, (uint64_t)sizeof(f->buf));
        ssize_t k = over ? 0 : pread(fd, f->buf, want, (off_t)(at + n - left));

        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            over = *ret_short = true;
            memset(f->buf, 0, want);
            k = (ssize_t)want;
        }
        r = logs_writer_put(w, f->buf, (size_t)k);
        left -= (uint64_t)k;
    }
    return r;
}

static int copy_without(struct logs_files *f, struct logs_writer *w, int fd, uint64_t length,
                        const struct logs_holes *holes, bool *ret_short)
{
    char line[LOGS_HOLE_LINE_MAX];
    uint64_t at = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < holes->n; i++) {
        const struct logs_hole *h = &holes->v[i];

        r = copy(f, w, fd, at, h->at - at, ret_short);
        if (r == 0)
            r = logs_writer_put(w, line, logs_hole_line(h, line));
        at = h->at + h->n;
    }
    return r < 0 ? r : copy(f, w, fd, at, length - at, ret_short);
}

static void note(struct logs_answer *a, const char *container, const char *what)
{
    if (!a->text[0])
        (void)snprintf(a->text, LOGS_UPLOAD_TEXT_MAX, "%s: %s", container, what);
}

static int write_file(struct logs_files *f, struct logs_writer *w, size_t disk, int dir,
                      const char *container, const char *name, struct logs_answer *a)
{
    const char *why;
    struct stat st = { 0 };
    bool cut = false, full = false;
    _cleanup_close_ int fd = open_log(dir, name, &st, &why);
    uint64_t length = (uint64_t)st.st_size, written;
    struct logs_holes holes;
    int r;

    if (fd < 0 || !logs_rolling_wants(f->rolling, disk, &st, &full)) {
        if (fd < 0 || full)
            skip(a, container, name, full ? "the next upload has it" : why);
        return 0;
    }
    logs_holes_find(fd, length, &f->zeros, &holes);
    written = logs_holes_length(&holes, length);
    r = logs_writer_file(w, name, written);
    if (r == 0)
        r = copy_without(f, w, fd, length, &holes, &cut);
    if (r < 0)
        return r;
    a->files++;
    a->bytes += written;
    if (cut)
        note(a, container, "a log became shorter while it was read; zeros stand for the rest");
    if (holes.n > 0)
        note(a, container, "a log is sparse; lines stand for holes of it");
    return 0;
}

static int write_dir(struct logs_files *f, struct logs_writer *w, size_t disk,
                     const char *container, struct logs_answer *a)
{
    _cleanup_close_ int dir = sv_open_beneath(f->dirs[disk], container, O_PATH | O_DIRECTORY, 0);
    int r = 0;

    if (dir < 0 || is_new(f, dir, container))
        return 0; /* on another disk, or deleted by the job */
    list(f, dir, container, a);
    for (size_t i = 0; r == 0 && i < f->n_names; i++)
        r = write_file(f, w, disk, dir, container, f->names[i], a);
    return r;
}

int logs_files_write(struct logs_files *f, struct logs_rolling *rolling, struct logs_writer *w,
                     struct logs_answer *answer)
{
    _cleanup_strv_ char **found = NULL;
    const struct logs_ids *asked = &f->u->containers;
    size_t n = asked->n;
    int r = n > 0 && !f->u->others_before_ms
                ? 0
                : logs_containers_find(f->dirs, f->n_dirs, &f->u->skips, &found, &n);

    f->rolling = rolling;
    f->zeros = LOGS_ZEROS_MAX;
    for (size_t i = 0; r == 0 && i < n; i++) {
        const char *id = found ? found[i] : asked->v[i];

        if (!*id || strlen(id) > LOGS_ID_MAX || strchr(id, '/'))
            return -EBADMSG;
        r = logs_writer_container(w, id);
        for (size_t d = 0; r == 0 && d < f->n_dirs; d++)
            r = write_dir(f, w, d, id, answer);
    }
    return r;
}
