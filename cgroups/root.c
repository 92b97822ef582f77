/* The group under which containers get theirs: found or made, controllers turned on, what is missing
 * put into words. Runs once, when the daemon starts. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cgroups/cg.h"
#include "cgroups/file.h"
#include "cgroups/hierarchy.h"
#include "cgroups/internal.h"
#include "common/fd.h"
#include "common/str.h"

static int open_group(const char *path)
{
    struct statfs fs;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    if (fstatfs(fd, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC) {
        (void)sv_close(fd);
        return -ENOTSUP;
    }
    return fd;
}

static int parent_of(const char *path, char **ret)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return -EINVAL;
    return sv_asprintf(ret, "%.*s", (int)(slash - path), path);
}

/* Turns `bits` on for the children of `dir`. Where that is refused because processes are in the group
 * itself and we are among them, we move to its child `supervisor` and try again. */
static int turn_on(int dir, unsigned bits, bool may_move)
{
    char text[CG_FILE_MAX], self[32];
    cg_format_controllers(bits, "+", text);
    int r = bits ? cg_file_write(dir, "cgroup.subtree_control", text) : 0;
    if (r != -EBUSY || !may_move)
        return r;
    if (mkdirat(dir, "supervisor", 0755) < 0 && errno != EEXIST)
        return -errno;
    (void)snprintf(self, sizeof(self), "%d", (int)getpid());
    r = cg_file_write(dir, "supervisor/cgroup.procs", self);
    return r < 0 ? r : cg_file_write(dir, "cgroup.subtree_control", text);
}

static unsigned controllers(int dir, const char *file)
{
    char text[CG_FILE_MAX];
    return cg_file_read(dir, file, text) < 0 ? 0 : cg_parse_controllers(text);
}

/* As many of `wanted` as can be had, one at a time: one that is refused must not cost the others. */
static void turn_on_each(int dir, unsigned wanted, bool may_move)
{
    unsigned on = controllers(dir, "cgroup.subtree_control");
    for (unsigned i = 0; cg_controller_names[i]; i++)
        if ((wanted & ~on) >> i & 1)
            (void)turn_on(dir, 1u << i, may_move); /* what is missing afterwards is reported */
}

static int describe_missing(struct cg_root *r, unsigned missing)
{
    char one[512];
    for (unsigned i = 0; cg_controller_names[i]; i++) {
        if (!(missing >> i & 1))
            continue;
        char *before = r->missing;
        cg_why_missing(cg_controller_names[i], r->path, one, sizeof(one));
        if (sv_asprintf(&r->missing, "%s%s%s", before ? before : "", before ? "; " : "", one) < 0)
            return -ENOMEM;
        free(before);
    }
    return 0;
}

static int prepare(struct cg_root *r, unsigned wanted, bool own_parent, struct sv_error *err)
{
    _cleanup_free_ char *parent = NULL;
    _cleanup_close_ int up = -1;
    if (parent_of(r->path, &parent) < 0)
        return sv_error_set(err, -EINVAL, "%s: a cgroup below a mount is needed", r->path);
    up = open_group(parent);
    r->fd = open_group(r->path);
    if (r->fd == -ENOENT && up >= 0) {
        if (mkdir(r->path, 0755) < 0)
            return sv_error_errno(err, -errno,
                                  "%s: cannot make the containers' cgroup; its parent must belong "
                                  "to this account (Delegate=yes)",
                                  r->path);
        r->fd = open_group(r->path);
    }
    if (r->fd == -ENOTSUP)
        return sv_error_set(err, -ENOTSUP, "%s: not on a cgroup2 file system", r->path);
    if (r->fd < 0)
        return sv_error_errno(err, r->fd, "%s: cannot open the containers' cgroup", r->path);
    if (faccessat(r->fd, ".", W_OK, AT_EACCESS) < 0)
        return sv_error_errno(err, -errno,
                              "%s: this account cannot make cgroups here; it must own the group "
                              "(Delegate=yes)",
                              r->path);
    if (up >= 0)
        turn_on_each(up, wanted & controllers(up, "cgroup.controllers"), own_parent);
    turn_on_each(r->fd, wanted & controllers(r->fd, "cgroup.controllers"), false);
    r->controllers = controllers(r->fd, "cgroup.subtree_control");
    return describe_missing(r, wanted & ~r->controllers);
}

int cg_root_open(const char *path, unsigned wanted, struct cg_root **ret, struct sv_error *err)
{
    _cleanup_(cg_root_freep) struct cg_root *r = calloc(1, sizeof(*r));
    _cleanup_free_ char *own = NULL;
    bool own_parent = !path || !*path;
    int e;
    if (!r)
        return -ENOMEM;
    r->fd = -1;
    if (own_parent) {
        e = cg_own_group(&own, err);
        if (e < 0)
            return e;
        /* After a restart in `supervisor` the parent is still the unit's group. */
        if (sv_has_suffix(own, "/supervisor"))
            own[strlen(own) - strlen("/supervisor")] = '\0';
    }
    e = own_parent ? sv_asprintf(&r->path, "%s/containers", own) : sv_asprintf(&r->path, "%s", path);
    if (e < 0)
        return e;
    e = prepare(r, wanted, own_parent, err);
    if (e < 0)
        return e;
    *ret = SV_TAKE(r);
    return 0;
}

struct cg_root *cg_root_free(struct cg_root *r)
{
    if (!r)
        return NULL;
    r->fd = sv_close(r->fd);
    free(r->path);
    free(r->missing);
    free(r);
    return NULL;
}

unsigned cg_root_controllers(const struct cg_root *r)
{
    return r->controllers;
}

const char *cg_root_path(const struct cg_root *r)
{
    return r->path;
}

const char *cg_root_missing(const struct cg_root *r)
{
    return r->missing;
}

int cg_root_list(struct cg_root *r, char ***ret)
{
    _cleanup_strv_ char **v = NULL;
    size_t n = 0;
    int fd = openat(r->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        int e = -errno;
        (void)sv_close(fd);
        return e;
    }
    int e = 0;
    for (struct dirent *entry; e == 0 && (entry = readdir(d));) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        char **grown = reallocarray(v, n + 2, sizeof(*v));
        if (!grown) {
            e = -ENOMEM;
            break;
        }
        v = grown;
        v[n + 1] = NULL;
        v[n] = strdup(entry->d_name);
        e = v[n] ? 0 : -ENOMEM;
        n++;
    }
    (void)closedir(d);
    if (e == 0 && !v && !(v = calloc(1, sizeof(*v))))
        e = -ENOMEM;
    if (e == 0)
        *ret = SV_TAKE(v);
    return e;
}
