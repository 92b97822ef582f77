/* One container's cgroup: created with its limits, killed, frozen, watched, removed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroups/file.h"
#include "cgroups/internal.h"
#include "cgroups/limits.h"
#include "common/fd.h"
#include "common/loop-guard.h"
#include "common/str.h"

#define REST_USEC 1000000 /* pause between reads of memory.events, which may change constantly */

static struct cg_leaf *leaf_new(struct cg_root *r, const char *name)
{
    struct cg_leaf *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->root = r;
    l->fd = l->events = l->memory_events = -1;
    for (int i = 0; i < CG_N_COUNTERS; i++)
        l->counters[i] = -1;
    l->name = strdup(name);
    return l->name ? l : cg_leaf_free(l);
}

struct cg_leaf *cg_leaf_free(struct cg_leaf *l)
{
    if (!l)
        return NULL;
    (void)sd_event_source_disable_unref(l->watch);
    (void)sd_event_source_disable_unref(l->oom_watch);
    (void)sd_event_source_disable_unref(l->oom_rest);
    for (int i = 0; i < CG_N_COUNTERS; i++)
        (void)sv_close(l->counters[i]);
    l->events = sv_close(l->events);
    l->memory_events = sv_close(l->memory_events);
    l->fd = sv_close(l->fd);
    free(l->name);
    free(l);
    return NULL;
}

static bool name_ok(const char *name)
{
    return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) < 255 &&
           !sv_streq(name, CG_MONITORS) && !sv_streq(name, CG_LOCALIZERS);
}

int cg_leaf_open(struct cg_root *r, const char *name, struct cg_leaf **ret)
{
    _cleanup_(cg_leaf_freep) struct cg_leaf *l = NULL;
    if (!name_ok(name))
        return -EINVAL;
    l = leaf_new(r, name);
    if (!l)
        return -ENOMEM;
    l->fd = openat(r->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (l->fd < 0)
        return -errno;
    *ret = SV_TAKE(l);
    return 0;
}

int cg_leaf_dir(const struct cg_leaf *l)
{
    int fd = fcntl(l->fd, F_DUPFD_CLOEXEC, 3);
    return fd < 0 ? -errno : fd;
}

int cg_leaf_set_limits(struct cg_leaf *l, const struct cg_resource *c, struct sv_error *err)
{
    return cg_apply(l->root, l->fd, l->name, cg_container_rows, cg_n_container_rows, c,
                    CG_APPLY_LIVE, err);
}

int cg_leaf_create(struct cg_root *r, const char *name, const struct cg_resource *c,
                   struct cg_leaf **ret, struct sv_error *err)
{
    _cleanup_(cg_leaf_freep) struct cg_leaf *l = NULL;
    int e;
    if (!name_ok(name))
        return sv_error_set(err, -EINVAL, "%s: not a name for a cgroup", name);
    if (mkdirat(r->fd, name, 0755) < 0) {
        e = -errno;
        if (e != -ENOENT && e != -ENODEV)
            return sv_error_errno(err, e, "%s/%s: cannot make the cgroup", r->path, name);
        e = cg_root_revive(r, err);
        if (e < 0)
            return e;
        if (mkdirat(r->fd, name, 0755) < 0)
            return sv_error_errno(err, -errno, "%s/%s: cannot make the cgroup", r->path, name);
    }
    e = cg_leaf_open(r, name, &l);
    if (e < 0)
        (void)sv_error_errno(err, e, "%s/%s", r->path, name);
    else
        e = cg_apply(r, l->fd, name, cg_container_rows, cg_n_container_rows, c, CG_APPLY_NEW, err);
    if (e < 0) {
        (void)unlinkat(r->fd, name, AT_REMOVEDIR);
        return e;
    }
    *ret = SV_TAKE(l);
    return 0;
}

static int read_line(struct cg_leaf *l, const char *file, char **ret)
{
    char text[CG_FILE_MAX];
    int r = cg_file_read(l->fd, file, text);
    if (r == -ENOENT)
        text[0] = '\0';
    else if (r < 0)
        return r;
    return sv_asprintf(ret, "%.*s", (int)strcspn(text, "\n"), text);
}

int cg_leaf_cpuset(struct cg_leaf *l, char **ret_cpus, char **ret_mems)
{
    _cleanup_free_ char *cpus = NULL, *mems = NULL;
    int r = read_line(l, "cpuset.cpus", &cpus);
    if (r >= 0)
        r = read_line(l, "cpuset.mems", &mems);
    if (r < 0)
        return r;
    *ret_cpus = SV_TAKE(cpus);
    *ret_mems = SV_TAKE(mems);
    return 0;
}

const char *cg_leaf_name(const struct cg_leaf *l)
{
    return l->name;
}

int cg_leaf_kill(struct cg_leaf *l)
{
    return cg_file_write(l->fd, "cgroup.kill", "1");
}

int cg_leaf_freeze(struct cg_leaf *l, bool frozen)
{
    return cg_file_write(l->fd, "cgroup.freeze", frozen ? "1" : "0");
}

int cg_leaf_to_freeze(struct cg_leaf *l)
{
    char text[CG_FILE_MAX];
    int r = cg_file_read(l->fd, "cgroup.freeze", text);
    return r < 0 ? r : text[0] == '1';
}

/* Value of a key of cgroup.events: 0, 1, -errno. */
static int state(struct cg_leaf *l, const char *key)
{
    char text[CG_FILE_MAX];
    uint64_t v;
    int r = l->events >= 0 ? cg_file_pread(l->events, text)
                           : cg_file_read(l->fd, "cgroup.events", text);
    if (r < 0)
        return r;
    r = cg_parse_key(text, key, &v);
    return r < 0 ? r : v != 0;
}

int cg_leaf_populated(struct cg_leaf *l)
{
    return state(l, "populated");
}

int cg_leaf_frozen(struct cg_leaf *l)
{
    return state(l, "frozen");
}

static int on_events(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct cg_leaf *l = userdata;
    (void)s;
    (void)fd;
    (void)revents;
    if (cg_leaf_populated(l) > 0)
        return 0;
    l->watch = sd_event_source_disable_unref(l->watch);
    l->empty(l, l->empty_userdata);
    return 0;
}

int cg_leaf_watch_empty(struct cg_leaf *l, sd_event *event, cg_empty_fn empty, void *userdata)
{
    l->empty = empty;
    l->empty_userdata = userdata;
    if (l->events < 0)
        l->events = openat(l->fd, "cgroup.events", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (l->events < 0)
        return -errno;
    l->watch = sd_event_source_disable_unref(l->watch);
    int r = sd_event_add_io(event, &l->watch, l->events, EPOLLPRI, on_events, l);
    if (r < 0)
        return r;
    /* Already empty: no change would follow, so check now, from the loop. */
    return cg_leaf_populated(l) > 0 ? 0
                                    : sd_event_source_set_io_events(l->watch, EPOLLPRI | EPOLLIN);
}

static int look_for_kills(struct cg_leaf *l)
{
    char text[CG_FILE_MAX];
    uint64_t kills;
    int r = cg_file_pread(l->memory_events, text);
    if (r >= 0)
        r = cg_parse_key(text, "oom_kill", &kills);
    return r < 0 ? r : kills > 0;
}

static int on_rested(sd_event_source *s, uint64_t usec, void *userdata);

static int on_memory_events(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct cg_leaf *l = userdata;
    (void)fd;
    (void)revents;
    int r = look_for_kills(l);
    if (r == 0) {
        (void)sd_event_source_set_enabled(s, SD_EVENT_OFF); /* ours, ignoring */
        l->oom_rest = sd_event_source_disable_unref(l->oom_rest);
        if (sd_event_add_time_relative(sd_event_source_get_event(s), &l->oom_rest, CLOCK_BOOTTIME,
                                       REST_USEC, 0, on_rested, l) >= 0)
            return 0;
        r = -ENOMEM;
    }
    l->oom_watch = sd_event_source_disable_unref(l->oom_watch);
    if (r > 0)
        l->killed(l, l->killed_userdata);
    return 0;
}

static int on_rested(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct cg_leaf *l = userdata;
    (void)s;
    (void)usec;
    l->oom_rest = sd_event_source_disable_unref(l->oom_rest);
    (void)sd_event_source_set_enabled(l->oom_watch, SD_EVENT_ON); /* ours, ignoring */
    return 0;
}

int cg_leaf_watch_oom(struct cg_leaf *l, sd_event *event, cg_oom_fn killed, void *userdata)
{
    l->killed = killed;
    l->killed_userdata = userdata;
    if (l->memory_events < 0)
        l->memory_events = openat(l->fd, "memory.events", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (l->memory_events < 0)
        return -errno;
    l->oom_watch = sd_event_source_disable_unref(l->oom_watch);
    int r = sd_event_add_io(event, &l->oom_watch, l->memory_events, EPOLLPRI, on_memory_events, l);
    return r < 0 ? r : 0;
}

int cg_leaf_remove(struct cg_leaf *l, sd_event *event, unsigned timeout_ms, cg_removed_fn removed,
                   void *userdata)
{
    int r = cg_remover_add(l->root, SV_TAKE(l->name), sv_take_fd(&l->fd), event, timeout_ms,
                           removed, userdata);
    (void)cg_leaf_free(l);
    return r;
}
