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
#include "localizer/disk.h"
#include "localizer/policy.h"

struct pending {
    struct pending *prev, *next;
    char path[];
};

struct loc_tree {
    struct loc_source *source;
    const struct loc_tree_backend *backend;
    struct loc_policy policy;
    struct loc_disk disk;
    struct pending *dirs;
    const char *dir;  /* directory being listed */
    const char *path; /* file being read */
    uint64_t written; /* bytes of it written */
    struct sv_error *err;
};

static int push(struct loc_tree *t, const char *path)
{
    size_t n = strlen(path) + 1;
    struct pending *p = malloc(sizeof(*p) + n);

    if (!p)
        return -ENOMEM;
    memcpy(p->path, path, n);
    DL_APPEND(t->dirs, p);
    return 0;
}

static bool is_open(const struct loc_tree *t, const struct loc_tree_child *c)
{
    mode_t wanted = S_ISDIR(c->mode) ? S_IROTH | S_IXOTH : S_ISREG(c->mode) ? S_IROTH : 0;

    return t->source->request->visibility != LOC_PUBLIC ||
           ((c->mode & wanted) == wanted && !c->closed);
}

int loc_tree_write(void *tree, const void *p, size_t n)
{
    struct loc_tree *t = tree;
    struct loc_source *s = t->source;
    int r = loc_policy_bytes(&t->policy, n, UINT64_MAX, t->path, t->err);

    if (r == 0)
        r = loc_disk_sink.write(&t->disk, p, n, t->written, t->err);
    if (r < 0)
        return r;
    t->written += n;
    s->size += n;
    s->progress(s->progress_userdata, s->size);
    return 0;
}

static int add_file(struct loc_tree *t, const char *path, const char *name,
                    const struct loc_tree_child *c, enum loc_fail *ret_reason, struct sv_error *err)
{
    int r = loc_disk_sink.file(&t->disk, name, err);

    if (r < 0)
        return r;
    t->path = path;
    t->written = 0;
    r = t->backend->read(t->source, t, path, c, ret_reason, err);
    if (r < 0) {
        if (r == -EFBIG)
            *ret_reason = LOC_FAIL_LIMIT;
        return r;
    }
    *ret_reason = LOC_FAIL_CHANGED;
    if (t->written != c->size)
        return sv_error_set(err, -ESTALE, "Resource %s: a file in it changed while it was read",
                            t->source->request->url);
    *ret_reason = LOC_FAIL_DISK;
    return loc_disk_sink.close(&t->disk, t->written, err);
}

static int make(struct loc_tree *t, const char *path, enum loc_entry_kind kind,
                const struct loc_tree_child *c, enum loc_fail *ret_reason, struct sv_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int r;

    *ret_reason = LOC_FAIL_DISK;
    r = loc_disk_sink.enter(&t->disk, t->dir, err);
    if (r < 0)
        return r;
    if (kind == LOC_ENTRY_SYMLINK)
        return loc_disk_sink.symlink(&t->disk, name, c->symlink, err);
    if (kind == LOC_ENTRY_FILE)
        return add_file(t, path, name, c, ret_reason, err);
    r = loc_disk_sink.dir(&t->disk, name, err);
    if (r == 0 && push(t, path) < 0) {
        *ret_reason = LOC_FAIL_INTERNAL;
        r = sv_error_set(err, -ENOMEM, "directory: out of memory");
    }
    return r;
}

int loc_tree_add(struct loc_tree *t, const struct loc_tree_child *c, enum loc_fail *ret_reason,
                 struct sv_error *err)
{
    char raw[LOC_PATH_MAX + FS_NAME_MAX + 2], path[LOC_PATH_MAX + 1];
    struct loc_entry e = { .path = raw,
                           .mode = c->mode,
                           .symlink = c->symlink,
                           .size = c->size > INT64_MAX ? INT64_MAX : (int64_t)c->size };
    enum loc_entry_kind kind;
    int n = snprintf(raw, sizeof(raw), "%s%s%s", t->dir, t->dir[0] ? "/" : "", c->name), r;

    *ret_reason = LOC_FAIL_ARCHIVE;
    if (n < 0 || (size_t)n >= sizeof(raw) || strchr(c->name, '/') || !c->name[0] ||
        strcmp(c->name, ".") == 0 || strcmp(c->name, "..") == 0)
        return sv_error_set(err, -EPERM, "directory refused: it contains an invalid file name");
    r = loc_policy_entry(&t->policy, &e, path, &kind, err);
    if (r == -EFBIG)
        *ret_reason = LOC_FAIL_LIMIT;
    if (r < 0)
        return r;
    if (!is_open(t, c))
        return loc_not_public(t->source, ret_reason, err);
    return make(t, path, kind, c, ret_reason, err);
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

static int walk(struct loc_tree *t, enum loc_fail *ret_reason, struct sv_error *err)
{
    int r = push(t, "");

    *ret_reason = LOC_FAIL_INTERNAL;
    if (r < 0)
        return sv_error_errno(err, r, "directory");
    while (r == 0 && t->dirs) {
        struct pending *p = t->dirs;

        DL_DELETE(t->dirs, p);
        t->dir = p->path;
        *ret_reason = LOC_FAIL_SOURCE;
        r = t->backend->list(t->source, t, p->path, ret_reason, err);
        free(p);
    }
    return r == 0 ? t->backend->unchanged(t->source, ret_reason, err) : r;
}

int loc_tree_fetch(struct loc_source *s, const struct loc_tree_backend *b, mode_t mode,
                   enum loc_fail *ret_reason, struct sv_error *err)
{
    struct loc_tree t = { .source = s,
                          .backend = b,
                          .policy = { .limits = s->request->limits, .what = "directory" },
                          .err = err };
    const struct loc_tree_child top = { .name = "", .mode = mode };
    _cleanup_close_ int root = -1;
    struct pending *p, *next;
    int r;

    if (!is_open(&t, &top))
        return loc_not_public(s, ret_reason, err);
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
