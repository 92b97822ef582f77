/* See fetch-tree.h. The walk is iterative, over a list of directories still to be listed: the limit
 * of entries bounds its length, that of bytes its paths. */
#include "localizer/fetch-tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <utlist.h>

#include "common/fd.h"
#include "common/str.h"
#include "localizer/disk.h"
#include "localizer/policy.h"

#define FULL_MAX (PATH_MAX + LOC_PATH_MAX + 2)

struct pending {
    struct pending *prev, *next;
    char path[];
};

struct tree {
    struct loc_source *source;
    struct loc_policy policy;
    struct loc_disk disk;
    struct pending *dirs;
    const char *dir;           /* directory being listed */
    const char *path;          /* file being read */
    uint64_t written;          /* bytes of it written */
    enum loc_fail reason;      /* class of a failure that is not the file system's */
    bool failed;               /* there is one */
    struct sv_error *err, own; /* of listing; of the sink */
};

static int push(struct tree *t, const char *path)
{
    size_t n = strlen(path) + 1;
    struct pending *p = malloc(sizeof(*p) + n);

    if (!p)
        return -ENOMEM;
    memcpy(p->path, path, n);
    DL_APPEND(t->dirs, p);
    return 0;
}

static bool is_open(const struct tree *t, const struct fs_status *st)
{
    uint32_t wanted = st->kind == FS_DIRECTORY ? S_IROTH | S_IXOTH
                      : st->kind == FS_FILE    ? S_IROTH
                                               : 0;

    return t->source->request->visibility != LOC_PUBLIC ||
           ((st->mode & wanted) == wanted && !st->encrypted);
}

/* The path in the file system; `path`: below the source. */
static int join(const struct tree *t, const char *path, char ret[FULL_MAX])
{
    const char *top = t->source->path;
    int n = snprintf(ret, FULL_MAX, "%s%s%s", top, *top && *path ? "/" : "", path);

    return n < 0 || n >= FULL_MAX ? -ENAMETOOLONG : 0;
}

/* Adds what failed to an error of fs/. */
static int failed_at(const struct tree *t, const char *path, int error, enum loc_fail *ret_reason,
                     struct sv_error *err)
{
    char shown[300];

    if (!*path)
        return loc_source_failed(t->source, error, ret_reason, err);
    *ret_reason = loc_fail_of(t->source, error);
    sv_escape(shown, sizeof(shown), path);
    return sv_error_wrap(err, "Resource %s: \"%s\" in it", t->source->request->url, shown);
}

static int append(void *userdata, const void *p, size_t n)
{
    struct tree *t = userdata;
    struct loc_source *s = t->source;
    int r = loc_policy_bytes(&t->policy, n, UINT64_MAX, t->path, &t->own);

    if (r == 0)
        r = loc_disk_sink.write(&t->disk, p, n, t->written, &t->own);
    if (r < 0)
        return r;
    t->written += n;
    s->size += n;
    s->progress(s->progress_userdata, s->size);
    return 0;
}

static int add_file(struct tree *t, const char *path, const char *name, const struct fs_status *st,
                    enum loc_fail *ret_reason, struct sv_error *err)
{
    struct fs_stream f = { .sink = append, .userdata = t };
    char full[FULL_MAX];
    int r = loc_disk_sink.file(&t->disk, name, err);

    if (r < 0)
        return r;
    t->path = path;
    t->written = 0;
    r = join(t, path, full);
    r = r < 0 ? sv_error_errno(err, r, "path") : fs_stream(t->source->fs, full, st, &f, err);
    if (f.sink_failed) {
        *ret_reason = r == -EFBIG ? LOC_FAIL_LIMIT : LOC_FAIL_DISK;
        *err = t->own;
        return r;
    }
    if (r < 0)
        return failed_at(t, path, r, ret_reason, err);
    return loc_disk_sink.close(&t->disk, t->written, err);
}

static int make(struct tree *t, const char *path, enum loc_entry_kind kind,
                const struct fs_child *c, enum loc_fail *ret_reason, struct sv_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int r;

    *ret_reason = LOC_FAIL_DISK;
    r = loc_disk_sink.enter(&t->disk, t->dir, err);
    if (r < 0)
        return r;
    if (kind == LOC_ENTRY_SYMLINK)
        return loc_disk_sink.symlink(&t->disk, name, c->target, err);
    if (kind == LOC_ENTRY_FILE)
        return add_file(t, path, name, &c->st, ret_reason, err);
    r = loc_disk_sink.dir(&t->disk, name, err);
    if (r == 0 && push(t, path) < 0) {
        *ret_reason = LOC_FAIL_INTERNAL;
        r = sv_error_set(err, -ENOMEM, "directory: out of memory");
    }
    return r;
}

static mode_t type_of(enum fs_kind kind)
{
    static const mode_t types[] = {
        [FS_FILE] = S_IFREG,    [FS_DIRECTORY] = S_IFDIR, [FS_LINK] = S_IFLNK, [FS_FIFO] = S_IFIFO,
        [FS_SOCKET] = S_IFSOCK, [FS_DEVICE] = S_IFCHR,    [FS_NEITHER] = 0,
    };

    return types[kind];
}

static int add(struct tree *t, const struct fs_child *c, enum loc_fail *ret_reason,
               struct sv_error *err)
{
    char raw[LOC_PATH_MAX + FS_NAME_MAX + 2], path[LOC_PATH_MAX + 1];
    struct loc_entry e = { .path = raw,
                           .mode = type_of(c->st.kind) | (c->st.mode & 0777),
                           .symlink = c->target,
                           .size = (int64_t)SV_MIN(c->st.length, (uint64_t)INT64_MAX) };
    enum loc_entry_kind kind;
    int n = snprintf(raw, sizeof(raw), "%s%s%s", t->dir, t->dir[0] ? "/" : "", c->name), r;

    if (c->st.kind == FS_LINK && !c->target)
        return loc_source_failed(t->source, -ELOOP, ret_reason, err);
    *ret_reason = LOC_FAIL_ARCHIVE;
    if (n < 0 || (size_t)n >= sizeof(raw) || strchr(c->name, '/') || !c->name[0] ||
        strcmp(c->name, ".") == 0 || strcmp(c->name, "..") == 0)
        return sv_error_set(err, -EPERM, "directory refused: it contains an invalid file name");
    r = loc_policy_entry(&t->policy, &e, path, &kind, err);
    if (r == -EFBIG)
        *ret_reason = LOC_FAIL_LIMIT;
    if (r < 0)
        return r;
    if (!is_open(t, &c->st))
        return loc_not_public(t->source, ret_reason, err);
    return make(t, path, kind, c, ret_reason, err);
}

static int on_child(void *userdata, const struct fs_child *c)
{
    struct tree *t = userdata;
    int r = add(t, c, &t->reason, t->err);

    t->failed = r < 0;
    return r;
}

static int list(struct tree *t, enum loc_fail *ret_reason, struct sv_error *err)
{
    char full[FULL_MAX];
    int r = join(t, t->dir, full);

    r = r < 0 ? sv_error_errno(err, r, "path") : fs_list(t->source->fs, full, on_child, t, err);
    if (!t->failed)
        return r < 0 ? failed_at(t, t->dir, r, ret_reason, err) : 0;
    *ret_reason = t->reason;
    return r;
}

/* Opens the directory <name>; the worker has already created the one for an archive. */
static int open_root(const struct loc_source *s, struct sv_error *err)
{
    int fd;

    if (!s->tree_name)
        return fcntl(s->dir, F_DUPFD_CLOEXEC, 0);
    if (mkdirat(s->dir, s->tree_name, loc_mode_dir(s->request->visibility == LOC_PUBLIC)) < 0)
        return sv_error_errno(err, -errno, "directory in the cache");
    fd = sv_open_beneath(s->dir, s->tree_name, O_RDONLY | O_DIRECTORY, 0);
    return fd < 0 ? sv_error_errno(err, fd, "directory in the cache") : fd;
}

/* Checks at the end that the source itself is the same. */
static int check_end(const struct tree *t, enum loc_fail *ret_reason, struct sv_error *err)
{
    struct loc_source *s = t->source;
    struct fs_status now;
    int r = fs_status(s->fs, s->path, &now, NULL, err);

    if (r == 0 && !fs_same(&now, &s->seen))
        r = sv_error_set(err, -ESTALE, "it changed while it was read");
    return r < 0 ? loc_source_failed(s, r, ret_reason, err) : 0;
}

static int walk(struct tree *t, enum loc_fail *ret_reason, struct sv_error *err)
{
    int r = push(t, "");

    *ret_reason = LOC_FAIL_INTERNAL;
    if (r < 0)
        return sv_error_errno(err, r, "directory");
    while (r == 0 && t->dirs) {
        struct pending *p = t->dirs;

        DL_DELETE(t->dirs, p);
        t->dir = p->path;
        r = list(t, ret_reason, err);
        free(p);
    }
    return r == 0 ? check_end(t, ret_reason, err) : r;
}

/* Makes a directory of file: the root, so that what was checked is what is read, whoever renames
 * it. */
static int enter(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    struct fs_status now;
    int r = s->url.scheme == FS_SCHEME_FILE ? fs_enter(s->fs, s->path, &now, NULL, err) : 1;

    if (r == 0 && !fs_same(&now, &s->seen))
        r = sv_error_set(err, -ESTALE, "it changed while it was read");
    if (r == 0)
        s->path = "";
    return r < 0 ? loc_source_failed(s, r, ret_reason, err) : 0;
}

int loc_tree_fetch(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    struct tree t = { .source = s,
                      .policy = { .limits = s->request->limits, .what = "directory" },
                      .err = err };
    _cleanup_close_ int root = -1;
    struct pending *p, *next;
    int r;

    if (!is_open(&t, &s->seen))
        return loc_not_public(s, ret_reason, err);
    r = enter(s, ret_reason, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_DISK;
    root = open_root(s, err);
    if (root < 0)
        return root;
    t.disk = LOC_DISK_INIT(root, s->request->visibility == LOC_PUBLIC);
    r = walk(&t, ret_reason, err);
    loc_disk_close(&t.disk);
    DL_FOREACH_SAFE (t.dirs, p, next)
        free(p);
    if (r < 0)
        return r;
    s->entries = t.policy.entries;
    s->tree = true;
    return 0;
}
