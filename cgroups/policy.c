/* The node's limits: checks that this kernel and this cgroup can enforce the configuration, and
 * sets the limits of the root and of localizers. Called at the start, when the ResourceManager
 * changes the node's size, and when the root's unit was restarted. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cgroups/file.h"
#include "cgroups/hierarchy.h"
#include "cgroups/internal.h"
#include "cgroups/limits.h"
#include "common/fd.h"
#include "common/loop-guard.h"
#include "common/str.h"

#define REST_USEC 100000

static int add_unfulfilled(struct cg_root *r, const char *text)
{
    char *before = r->unfulfilled;
    if (sv_asprintf(&r->unfulfilled, "%s%s%s", before ? before : "", before ? "; " : "", text) < 0)
        return -ENOMEM;
    free(before);
    return 0;
}

static int demand(const struct cg_root *r, bool asked, unsigned controller, const char *file,
                  const char *what, struct sv_error *err)
{
    char why[512];
    unsigned bit = (unsigned)__builtin_ctz(controller);
    if (!asked)
        return 0;
    if (!(r->controllers & controller)) {
        cg_why_missing(cg_controller_names[bit], r->path, why, sizeof(why));
        return sv_error_set(err, -ENOTSUP, "%s cannot be had: %s", what, why);
    }
    if (file && faccessat(r->fd, file, F_OK, 0) < 0)
        return sv_error_set(err, -ENOTSUP, "%s cannot be had: this kernel has no %s for cgroups",
                            what, file);
    return 0;
}

static int check(const struct cg_root *r, const struct cg_policy *p, struct sv_error *err)
{
    const struct {
        bool asked;
        unsigned controller;
        const char *file, *what;
    } demands[] = {
        { p->cap_cpu, CG_CPU, "cpu.max", "a limit on the processors of all containers" },
        { p->strict_cpu, CG_CPU, NULL, "strict processor shares" },
        { p->elastic, CG_MEMORY, "memory.high", "elastic memory" },
        { p->memory_high_percent != 0, CG_MEMORY, NULL, "memory.high of containers" },
        { p->swap_percent != 0, CG_MEMORY, "memory.swap.max", "swap for containers" },
        { p->io_weight != 0, CG_IO, "io.weight", "weights of disk I/O" },
        { p->n_io_max != 0, CG_IO, NULL, "limits of disk I/O" },
        { p->hugetlb_bytes != 0, CG_HUGETLB, NULL, "huge pages for containers" },
    };
    for (size_t i = 0; i < SV_ARRAY_LEN(demands); i++) {
        int e = demand(r, demands[i].asked, demands[i].controller, demands[i].file, demands[i].what,
                       err);
        if (e < 0)
            return e;
    }
    for (size_t i = 0; i < p->n_io_max; i++) {
        unsigned major_number, minor_number;
        int e = cg_disk_of(p->io_max[i].path, &major_number, &minor_number);
        if (e < 0)
            return sv_error_set(err, e,
                                "%s: limits of disk I/O need a block device, or a file on "
                                "one: %s",
                                p->io_max[i].path, strerror(-e));
    }
    return 0;
}

/* Writes one row of the root, unless the file has the value already: it may be systemd's, not
 * ours. */
static int root_row(struct cg_root *r, const struct cg_row *row, bool asked, struct sv_error *err)
{
    char now[CG_FILE_MAX], text[64];
    struct sv_error why = { 0 };
    if (!row->text(&r->policy, NULL, text, sizeof(text)))
        return 0;
    int e = cg_file_read(r->fd, row->file, now);
    if (e >= 0) {
        now[strcspn(now, "\n")] = '\0';
        if (sv_streq(now, text))
            return 0;
        e = cg_file_write(r->fd, row->file, text);
    }
    if (e >= 0)
        return 0;
    if (!asked && sv_has_prefix(text, "max"))
        return 0; /* a root cgroup of the hierarchy, or without the controller */
    (void)sv_error_errno(&why, e,
                         "%s/%s: cannot be set to %s; the root must be a group that the "
                         "daemon has made itself, a child of the delegated one",
                         r->path, row->file, text);
    return asked ? sv_error_set(err, e, "%s", why.text) : add_unfulfilled(r, why.text);
}

int cg_root_set_policy(struct cg_root *r, const struct cg_policy *p, struct sv_error *err)
{
    int e = check(r, p, err);
    if (e < 0)
        return e;
    r->policy = *p;
    free(r->unfulfilled);
    r->unfulfilled = NULL;
    for (size_t i = 0; i < CG_N_ROOT_ROWS && e >= 0; i++) {
        const struct cg_row *row = &cg_root_rows[i];
        if (r->controllers & row->controller)
            e = root_row(r, row, row->controller == CG_CPU ? p->cap_cpu : p->elastic, err);
    }
    if (e < 0)
        return e;
    _cleanup_close_ int fd = openat(r->fd, CG_LOCALIZERS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return sv_error_errno(err, -errno, "%s/%s", r->path, CG_LOCALIZERS);
    return cg_apply(r, fd, CG_LOCALIZERS, cg_localizers_rows, CG_N_LOCALIZERS_ROWS, NULL,
                    CG_APPLY_NEW, err);
}

const struct cg_policy *cg_root_policy(const struct cg_root *r)
{
    return &r->policy;
}

const char *cg_root_unfulfilled(const struct cg_root *r)
{
    return r->unfulfilled;
}

/* ---- memory of all containers -----------------------------------------------------------------*/

static int on_rested(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct cg_root *r = userdata;
    (void)s;
    (void)usec;
    r->rest = sd_event_source_disable_unref(r->rest);
    (void)sd_event_source_set_enabled(r->watch, SD_EVENT_ON); /* ours, ignoring */
    return 0;
}

static int on_memory(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct cg_root *r = userdata;
    char text[CG_FILE_MAX];
    (void)revents;
    if (cg_file_pread(fd, text) < 0) { /* the cgroup was removed */
        r->watch = sd_event_source_disable_unref(r->watch);
        return 0;
    }
    (void)sd_event_source_set_enabled(s, SD_EVENT_OFF); /* ours, ignoring */
    r->rest = sd_event_source_disable_unref(r->rest);
    if (sd_event_add_time_relative(r->event, &r->rest, CLOCK_BOOTTIME, REST_USEC, 0, on_rested, r) <
        0)
        (void)sd_event_source_set_enabled(s, SD_EVENT_ON); /* without a pause then */
    r->changed(r, r->changed_userdata);
    return 0;
}

int cg_root_watch_memory(struct cg_root *r, sd_event *event, cg_memory_fn changed, void *userdata)
{
    r->event = event;
    r->changed = changed;
    r->changed_userdata = userdata;
    r->watch = sd_event_source_disable_unref(r->watch);
    if (r->events < 0)
        r->events = openat(r->fd, "memory.events", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (r->events < 0)
        return -errno;
    int e = sd_event_add_io(event, &r->watch, r->events, EPOLLPRI, on_memory, r);
    return e < 0 ? e : 0;
}
