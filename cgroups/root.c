/* The containers' parent cgroup: opened or created at the start, controllers enabled, missing ones
 * explained. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cgroups/cg.h"
#include "cgroups/file.h"
#include "cgroups/hierarchy.h"
#include "cgroups/internal.h"
#include "cgroups/limits.h"
#include "common/fd.h"
#include "common/str.h"

#define HUGE_SIZES_MAX 8

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

/* Moves this process from `dir` to its child `supervisor`: the kernel gives the children of a
 * cgroup no domain controller (memory) while processes are in the cgroup itself. Must precede the
 * enabling of any controller: cpu and pids alone would be granted, and make `dir` a thread root,
 * which gets no other. */
static void leave(int dir)
{
    char self[32];
    (void)snprintf(self, sizeof(self), "%d", (int)getpid());
    if (mkdirat(dir, "supervisor", 0755) == 0 || errno == EEXIST)
        (void)!cg_file_write(dir, "supervisor/cgroup.procs",
                             self); /* missing controllers are reported */
}

static unsigned controllers(int dir, const char *file)
{
    char text[CG_FILE_MAX];
    return cg_file_read(dir, file, text) < 0 ? 0 : cg_parse_controllers(text);
}

/* Enables as many of `wanted` as possible, one at a time: a refused one must not affect the others.
 * `within`: we may be in the cgroup itself. */
static void turn_on_each(int dir, unsigned wanted, bool within)
{
    unsigned off = wanted & ~controllers(dir, "cgroup.subtree_control");
    char text[CG_FILE_MAX];
    if (off && within)
        leave(dir);
    for (unsigned i = 0; cg_controller_names[i]; i++)
        if (off >> i & 1) {
            cg_format_controllers(1u << i, "+", text);
            (void)!cg_file_write(dir, "cgroup.subtree_control", text); /* reported later */
        }
}

static int describe_missing(struct cg_root *r, unsigned missing)
{
    char one[512];
    free(r->missing);
    r->missing = NULL;
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

static int make_group(const struct cg_root *r, const char *name, struct sv_error *err)
{
    return mkdirat(r->fd, name, 0755) == 0 || errno == EEXIST
               ? 0
               : sv_error_errno(err, -errno, "%s/%s: cannot make the cgroup", r->path, name);
}

/* "2MB" of hugetlb.2MB.max, … */
static int find_huge_sizes(struct cg_root *r)
{
    _cleanup_strv_ char **v = calloc(HUGE_SIZES_MAX + 1, sizeof(*v));
    size_t n = 0;
    int fd = openat(r->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d || !v) {
        (void)sv_close(d ? -1 : fd);
        if (d)
            (void)closedir(d);
        return d ? -ENOMEM : -errno;
    }
    int e = 0;
    for (struct dirent *entry; e >= 0 && n < HUGE_SIZES_MAX && (entry = readdir(d));) {
        const char *size = entry->d_name + strlen("hugetlb.");
        if (!sv_has_prefix(entry->d_name, "hugetlb.") || !sv_has_suffix(size, ".max") ||
            sv_has_suffix(size, ".rsvd.max"))
            continue;
        e = sv_asprintf(&v[n], "%.*s", (int)(strlen(size) - strlen(".max")), size);
        n += e >= 0;
    }
    (void)closedir(d);
    (void)sv_strv_free(r->huge_sizes);
    r->huge_sizes = SV_TAKE(v);
    return e < 0 ? e : 0;
}

/* `own`: the cgroup in which the daemon was started. */
static int prepare(struct cg_root *r, const char *own, struct sv_error *err)
{
    const unsigned all = r->wanted | r->optional;
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
        turn_on_each(up, all & controllers(up, "cgroup.controllers"), own && sv_streq(own, parent));
    turn_on_each(r->fd, all & controllers(r->fd, "cgroup.controllers"), false);
    r->controllers = controllers(r->fd, "cgroup.subtree_control");
    int e = make_group(r, CG_MONITORS, err);
    if (e == 0)
        e = make_group(r, CG_LOCALIZERS, err);
    if (e == 0)
        e = find_huge_sizes(r);
    return e < 0 ? e : describe_missing(r, r->wanted & ~r->controllers);
}

int cg_root_open(const char *path, unsigned wanted, unsigned optional, struct cg_root **ret,
                 struct sv_error *err)
{
    _cleanup_(cg_root_freep) struct cg_root *r = calloc(1, sizeof(*r));
    _cleanup_free_ char *own = NULL;
    bool by_default = !path || !*path;
    int e;
    if (!r)
        return -ENOMEM;
    r->fd = r->events = -1;
    r->wanted = wanted;
    r->policy = (struct cg_policy){ .memory_enforced = true, .pids_max = 16384 };
    r->optional = optional;
    for (int i = 0; i < CG_N_COUNTERS; i++)
        r->counters[i] = -1;
    e = cg_own_group(&own, by_default ? err : NULL);
    if (e < 0 && by_default)
        return e;
    /* After a restart in `supervisor` the parent is still the unit's cgroup. */
    if (own && sv_has_suffix(own, "/supervisor"))
        own[strlen(own) - strlen("/supervisor")] = '\0';
    e = by_default ? sv_asprintf(&r->path, "%s/containers", own)
                   : sv_asprintf(&r->path, "%s", path);
    if (e < 0)
        return e;
    e = prepare(r, own, err);
    if (e < 0)
        return e;
    *ret = SV_TAKE(r);
    return 0;
}

static void close_files(struct cg_root *r)
{
    for (int i = 0; i < CG_N_COUNTERS; i++) {
        (void)sv_close(r->counters[i]);
        r->counters[i] = -1;
    }
    r->events = sv_close(r->events);
    r->fd = sv_close(r->fd);
}

/* The unit that holds the cgroup was restarted: its directory is a new one. */
int cg_root_revive(struct cg_root *r, struct sv_error *err)
{
    const unsigned before = r->controllers;
    r->watch = sd_event_source_disable_unref(r->watch);
    r->rest = sd_event_source_disable_unref(r->rest);
    close_files(r);
    int e = prepare(r, NULL, err);
    if (e >= 0 && (before & ~r->controllers))
        e = sv_error_set(err, -ENOTSUP, "%s: %s", r->path, r->missing ? r->missing : "controllers");
    if (e >= 0)
        e = cg_root_set_policy(r, &r->policy, err);
    if (e >= 0 && r->changed)
        e = cg_root_watch_memory(r, r->event, r->changed, r->changed_userdata);
    return e;
}

struct cg_root *cg_root_free(struct cg_root *r)
{
    if (!r)
        return NULL;
    r->remover = cg_remover_free(r->remover);
    (void)sd_event_source_disable_unref(r->watch);
    (void)sd_event_source_disable_unref(r->rest);
    close_files(r);
    r->huge_sizes = sv_strv_free(r->huge_sizes);
    free(r->path);
    free(r->missing);
    free(r->unfulfilled);
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
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
            sv_streq(entry->d_name, CG_MONITORS) || sv_streq(entry->d_name, CG_LOCALIZERS))
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
