/* One container's group: made with its limits, killed, frozen, watched, removed. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cgroups/file.h"
#include "cgroups/internal.h"
#include "common/fd.h"

#define RETRY_USEC 20000

uint32_t cg_weight_of_vcores(int32_t vcores)
{
    return vcores < 1 ? 100 : vcores > 100 ? 10000 : (uint32_t)vcores * 100;
}

static struct cg_leaf *leaf_new(struct cg_root *r, const char *name)
{
    struct cg_leaf *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->root = r;
    l->fd = l->events = -1;
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
    (void)sd_event_source_disable_unref(l->retry);
    for (int i = 0; i < CG_N_COUNTERS; i++)
        (void)sv_close(l->counters[i]);
    l->events = sv_close(l->events);
    l->fd = sv_close(l->fd);
    free(l->name);
    free(l);
    return NULL;
}

static bool name_ok(const char *name)
{
    return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) < 255;
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

static int set(struct cg_leaf *l, const char *file, struct sv_error *err, const char *format,
               uint64_t v)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "%" PRIu64 "%s", v, format);
    int r = cg_file_write(l->fd, file, text);
    return r < 0 ? sv_error_errno(err, r, "%s/%s: cannot set %s", l->root->path, l->name, file) : 0;
}

int cg_leaf_set_limits(struct cg_leaf *l, const struct cg_limits *limits, struct sv_error *err)
{
    unsigned on = l->root->controllers;
    int r;
    if (on & CG_MEMORY) {
        if ((r = set(l, "memory.max", err, "", limits->memory_bytes)) < 0 ||
            (r = set(l, "memory.oom.group", err, "", 1)) < 0)
            return r;
        /* Not there where the kernel has no swap. */
        r = set(l, "memory.swap.max", err, "", 0);
        if (r < 0 && r != -ENOENT)
            return r;
    }
    if ((on & CG_PIDS) && (r = set(l, "pids.max", err, "", limits->pids_max)) < 0)
        return r;
    if ((on & CG_CPU) && limits->cpu_weight &&
        (r = set(l, "cpu.weight", err, "", limits->cpu_weight)) < 0)
        return r;
    if ((on & CG_CPU) && limits->cpu_max_permille &&
        (r = set(l, "cpu.max", err, " 100000", (uint64_t)limits->cpu_max_permille * 100)) < 0)
        return r;
    return 0;
}

int cg_leaf_create(struct cg_root *r, const char *name, const struct cg_limits *limits,
                   struct cg_leaf **ret, struct sv_error *err)
{
    _cleanup_(cg_leaf_freep) struct cg_leaf *l = NULL;
    if (!name_ok(name))
        return sv_error_set(err, -EINVAL, "%s: not a name for a cgroup", name);
    if (mkdirat(r->fd, name, 0755) < 0)
        return sv_error_errno(err, -errno, "%s/%s: cannot make the cgroup", r->path, name);
    int e = cg_leaf_open(r, name, &l);
    if (e < 0)
        (void)sv_error_errno(err, e, "%s/%s", r->path, name);
    else if ((e = cg_leaf_set_limits(l, limits, err)) == 0)
        /* No groups below it: the container gets no delegation. Best effort on old kernels. */
        (void)!cg_file_write(l->fd, "cgroup.max.descendants", "0");
    if (e < 0) {
        (void)unlinkat(r->fd, name, AT_REMOVEDIR);
        return e;
    }
    *ret = SV_TAKE(l);
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

int cg_leaf_populated(struct cg_leaf *l)
{
    char text[CG_FILE_MAX];
    uint64_t v;
    int r = l->events >= 0 ? cg_file_pread(l->events, text)
                           : cg_file_read(l->fd, "cgroup.events", text);
    if (r < 0)
        return r;
    r = cg_parse_key(text, "populated", &v);
    return r < 0 ? r : v != 0;
}

static int on_events(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
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
    /* Empty already: nothing would change any more, so the first look is now, from the loop. */
    return cg_leaf_populated(l) > 0
               ? 0
               : sd_event_source_set_io_events(l->watch, EPOLLPRI | EPOLLIN);
}

static uint64_t now_usec(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static int on_retry(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct cg_leaf *l = userdata;
    struct sv_error err = { 0 };
    (void)usec;
    bool gone = unlinkat(l->root->fd, l->name, AT_REMOVEDIR) == 0 || errno == ENOENT;
    int error = errno;
    if (!gone && error == EBUSY && now_usec() < l->give_up) {
        (void)!cg_leaf_kill(l); /* whatever still is in it */
        int r = sd_event_source_set_time_relative(s, RETRY_USEC);
        if (r >= 0 && sd_event_source_set_enabled(s, SD_EVENT_ONESHOT) >= 0)
            return 0;
        error = r < 0 ? -r : EIO;
    }
    if (!gone)
        (void)sv_error_errno(&err, -error, "%s/%s: cannot remove the cgroup", l->root->path,
                             l->name);
    cg_removed_fn removed = l->removed;
    void *removed_userdata = l->removed_userdata;
    (void)cg_leaf_free(l);
    if (removed)
        removed(gone ? NULL : &err, removed_userdata);
    return 0;
}

int cg_leaf_remove(struct cg_leaf *l, sd_event *event, unsigned timeout_ms, cg_removed_fn removed,
                   void *userdata)
{
    l->watch = sd_event_source_disable_unref(l->watch);
    if (!removed && unlinkat(l->root->fd, l->name, AT_REMOVEDIR) == 0) {
        (void)cg_leaf_free(l);
        return 0;
    }
    l->removed = removed;
    l->removed_userdata = userdata;
    l->give_up = now_usec() + (uint64_t)timeout_ms * 1000;
    int r = sd_event_add_time_relative(event, &l->retry, CLOCK_BOOTTIME, 0, 1, on_retry, l);
    if (r < 0)
        (void)cg_leaf_free(l);
    return r;
}
