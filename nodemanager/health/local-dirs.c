/* Health and choice of directories; see local-dirs.h. Only dir-probe.c accesses the disks. */
#include "nodemanager/health/local-dirs.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "executor/request.h"
#include "nodemanager/health/dir-probe.h"

#define FIRST_CHECK_MS 10000 /* for all directories, before the loop runs */
#define HANG_MS 2000         /* a check older than this hangs, whatever the check interval */

struct dir {
    const char *path;
    bool local;
    enum {
        DIR_GOOD,
        DIR_FULL,  /* over a threshold: no new files */
        DIR_STUCK, /* no file can be created; existing ones can be read and deleted */
        DIR_BAD
    } state;
    char why[256];
    uint64_t free_bytes, all_bytes;
    double used_percent;
    uint64_t device, inode;     /* as of the last check that reached it */
    uint64_t content_next;      /* see dir-content.h */
    struct nm_dir_probe *probe; /* NULL: none runs */
    int64_t probed_ms;          /* when `probe` began, CLOCK_BOOTTIME */
    bool hangs;                 /* `probe` exceeded its time */
    struct nm_dir_probe *gauge; /* measurement of its space; NULL: none runs */
    int64_t gauged_ms;          /* when `gauge` began, CLOCK_BOOTTIME */
};

struct nm_dirs {
    const struct nm_conf *conf;
    struct dir local[EXE_DIRS_MAX], log[EXE_DIRS_MAX];
    int n_local, n_log;
    sd_event_source *timer, *on_told;
    int told; /* eventfd: a probe has ended */
    nm_dir_changed_fn changed;
    void *userdata;
    bool healthy;
    char report[1024];
    int64_t checked_ms;
    int64_t measured_ms; /* when the last measurement of all began, CLOCK_BOOTTIME */
};

_printf_(3, 4) static void set_bad(struct dir *d, int state, const char *fmt, ...)
{
    va_list ap;

    d->state = state;
    va_start(ap, fmt);
    (void)vsnprintf(d->why, sizeof(d->why), fmt, ap);
    va_end(ap);
}

static void take_space(struct dir *d, const struct nm_dir_facts *f)
{
    d->free_bytes = f->free_bytes;
    d->all_bytes = f->all_bytes;
    d->used_percent = f->used_percent;
}

/* As in Hadoop, the watermarks count for a directory that was not good. */
static void judge_space(const struct nm_conf *conf, struct dir *d, bool was_good)
{
    double most = was_good ? conf->max_disk_utilization : conf->low_disk_utilization;
    int64_t least = was_good ? conf->min_free_mb : conf->high_free_mb;

    if (conf->utilization_checked && (d->used_percent > most || d->used_percent >= 100.0))
        set_bad(d, DIR_FULL, "used space above threshold of %.1f%%", most);
    else if (conf->free_space_checked && (int64_t)(d->free_bytes >> 20) < least)
        set_bad(d, DIR_FULL, "free space below the minimum of %lld MB", (long long)least);
}

/* ENOSPC makes it DIR_STUCK, EIO, EROFS and the like make it bad. */
static void judge_one(const struct nm_conf *conf, struct dir *d, const struct nm_dir_facts *f)
{
    bool full = f->written && (f->error == -ENOSPC || f->error == -EDQUOT),
         was_good = d->state == DIR_GOOD;

    d->state = DIR_GOOD;
    d->why[0] = 0;
    d->content_next = f->content.next;
    take_space(d, f);
    if (f->error < 0 && !full)
        set_bad(d, DIR_BAD, "%s%s%s: %s", f->content.entry, *f->content.entry ? ": " : "", f->what,
                strerror(-f->error));
    else if (!conf->disk_check_enabled)
        return;
    else if (f->counts_inodes && f->free_inodes < (uint64_t)conf->min_free_inodes)
        set_bad(d, full ? DIR_STUCK : DIR_FULL, "%llu free inodes, below the minimum of %lld",
                (unsigned long long)f->free_inodes, (long long)conf->min_free_inodes);
    else if (full)
        set_bad(d, DIR_STUCK, "%s: %s", f->what, strerror(-f->error));
    else
        judge_space(conf, d, was_good);
}

/* Appends one list to the report; returns true if enough directories are good. */
static bool judge(const struct nm_conf *conf, struct dir *list, int n, const char *name,
                  char *report, size_t size)
{
    int bad = 0;
    size_t at = strlen(report);

    for (int i = 0; i < n; i++) {
        if (list[i].state == DIR_GOOD)
            continue;
        bad++;
        if (at < size)
            at += (size_t)snprintf(report + at, size - at, "%s%s : %s", at ? "; " : "",
                                   list[i].path, list[i].why);
    }
    if (bad && at < size)
        (void)snprintf(report + at, size - at, "; %d/%d %s are bad", bad, n, name);
    return (double)(n - bad) / n >= conf->min_healthy_disks && bad < n;
}

static struct dir *nth(struct nm_dirs *d, int i)
{
    return i < d->n_local              ? &d->local[i]
           : i < d->n_local + d->n_log ? &d->log[i - d->n_local]
                                       : NULL;
}

static void judge_all(struct nm_dirs *d)
{
    char report[sizeof(d->report)] = "";
    bool healthy = judge(d->conf, d->local, d->n_local, "local-dirs", report, sizeof(report));

    healthy = judge(d->conf, d->log, d->n_log, "log-dirs", report, sizeof(report)) && healthy;
    if (strcmp(report, d->report) || healthy != d->healthy)
        sv_log(healthy ? SV_LOG_INFO : SV_LOG_WARNING, NULL, "directories: %s",
               *report ? report : "all good");
    memcpy(d->report, report, sizeof(report));
    d->healthy = healthy;
    d->checked_ms = sv_wall_ms();
}

static unsigned steps_of(const struct nm_conf *conf, const struct dir *d)
{
    unsigned steps = d->local ? NM_PROBE_LOCAL : 0;

    if (conf->disk_check_enabled)
        steps |= NM_PROBE_WRITE | (conf->content_checked ? NM_PROBE_CONTENT : 0u);
    return steps;
}

/* Starts a check of every directory, except those whose last check still runs. */
static void begin_check(struct nm_dirs *d)
{
    int64_t now = sv_now_ms();
    struct dir *x;

    for (int i = 0; (x = nth(d, i)); i++) {
        int r;

        x->hangs = x->probe && now - x->probed_ms >= HANG_MS;
        if (x->probe)
            continue;
        x->probed_ms = now;
        r = nm_dir_probe_start(x->path, steps_of(d->conf, x), x->content_next, d->told, &x->probe);
        if (r < 0)
            sv_log_warning("%s: not checked this time: %s", x->path, strerror(-r));
    }
}

/* True if the directory is another one than at the last check: its disk was unmounted or
 * replaced. */
static bool replaced(struct dir *d, const struct nm_dir_facts *f)
{
    bool other = d->inode && f->inode && (d->device != f->device || d->inode != f->inode);

    if (f->inode) {
        d->device = f->device;
        d->inode = f->inode;
    }
    if (other)
        sv_log_warning("%s: another file system is mounted there than before", d->path);
    return other;
}

/* Collects the available results, and judges. */
static void take_results(struct nm_dirs *d)
{
    struct dir *x;

    for (int i = 0; (x = nth(d, i)); i++) {
        bool was_usable = x->state < DIR_STUCK, was_readable = x->state < DIR_BAD, usable,
             lost = false;
        struct nm_dir_facts f;

        if (x->probe && nm_dir_probe_result(x->probe, &f) == 0) {
            x->probe = nm_dir_probe_free(x->probe);
            x->hangs = false;
            judge_one(d->conf, x, &f);
            lost = replaced(x, &f);
        } else if (x->hangs) {
            set_bad(x, DIR_BAD, "a check of it does not end: the disk hangs");
        }
        usable = x->state < DIR_STUCK;
        lost = lost || (was_readable && x->state == DIR_BAD);
        if ((usable != was_usable || lost) && d->changed)
            d->changed(x->local ? i : -1, usable, lost, d->userdata);
    }
    judge_all(d);
}

static bool all_ended(struct nm_dirs *d)
{
    struct dir *x;
    struct nm_dir_facts f;

    for (int i = 0; (x = nth(d, i)); i++)
        if (x->probe && !x->hangs && nm_dir_probe_result(x->probe, &f) < 0)
            return false;
    return true;
}

void nm_dirs_check(struct nm_dirs *d)
{
    struct pollfd p = { .fd = d->told, .events = POLLIN };
    int64_t end = sv_now_ms() + FIRST_CHECK_MS, left;
    struct dir *x;
    uint64_t n;

    begin_check(d);
    while (!all_ended(d) && (left = end - sv_now_ms()) > 0) {
        if (poll(&p, 1, (int)left) > 0)
            (void)!read(d->told, &n, sizeof(n)); /* only a wakeup, ignoring */
    }
    for (int i = 0; (x = nth(d, i)); i++)
        x->hangs = x->probe != NULL; /* a result is available: collected now */
    take_results(d);
}

static int on_told(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    uint64_t n;

    (void)s;
    (void)events;
    (void)!read(fd, &n, sizeof(n)); /* only a wakeup, ignoring */
    take_results(userdata);
    return 0;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_dirs *d = userdata;

    (void)usec;
    begin_check(d);
    take_results(d);
    (void)sd_event_source_set_time_relative(s, (uint64_t)d->conf->disk_check_ms * 1000);
    (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT); /* cannot fail for our own, ignoring */
    return 0;
}

static int fill(struct dir *list, int *n, char **paths, bool local, const char *name,
                struct sv_error *err)
{
    for (*n = 0; paths[*n]; (*n)++) {
        if (*n == EXE_DIRS_MAX)
            return sv_error_set(err, -E2BIG, "%s: more than %d directories", name, EXE_DIRS_MAX);
        list[*n] = (struct dir){ .path = paths[*n], .local = local };
    }
    return 0;
}

int nm_dirs_new(sd_event *event, const struct nm_conf *conf, nm_dir_changed_fn changed,
                void *userdata, struct nm_dirs **ret, struct sv_error *err)
{
    struct nm_dirs *d = calloc(1, sizeof(*d));
    int r;

    if (!d)
        return sv_error_errno(err, -ENOMEM, "directories");
    d->conf = conf;
    d->userdata = userdata;
    d->healthy = true;
    d->told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    r = d->told < 0 ? sv_error_errno(err, -errno, "directories") : 0;
    if (r >= 0)
        r = fill(d->local, &d->n_local, conf->local_dirs, true, "yarn.nodemanager.local-dirs", err);
    if (r >= 0)
        r = fill(d->log, &d->n_log, conf->log_dirs, false, "yarn.nodemanager.log-dirs", err);
    if (r < 0)
        goto fail;
    nm_dirs_check(d);
    if (!nm_dirs_local_mask(d) || !nm_dirs_log_mask(d)) {
        r = sv_error_set(err, -ENODEV, "no usable directory: %s", d->report);
        goto fail;
    }
    d->changed = changed;
    if (conf->disk_check_enabled) {
        r = sd_event_add_time_relative(event, &d->timer, CLOCK_BOOTTIME,
                                       (uint64_t)conf->disk_check_ms * 1000, 0, on_timer, d);
        if (r >= 0)
            r = sd_event_add_io(event, &d->on_told, d->told, EPOLLIN, on_told, d);
        if (r < 0) {
            r = sv_error_errno(err, r, "directories");
            goto fail;
        }
    }
    *ret = d;
    return 0;
fail:
    nm_dirs_free(d);
    return r;
}

struct nm_dirs *nm_dirs_free(struct nm_dirs *d)
{
    struct dir *x;

    if (!d)
        return NULL;
    sd_event_source_disable_unref(d->timer);
    sd_event_source_disable_unref(d->on_told);
    for (int i = 0; (x = nth(d, i)); i++) {
        x->probe = nm_dir_probe_free(x->probe);
        x->gauge = nm_dir_probe_free(x->gauge);
    }
    d->told = sv_close(d->told);
    free(d);
    return NULL;
}

static uint32_t mask(const struct dir *list, int n, int up_to)
{
    uint32_t m = 0;

    for (int i = 0; i < n; i++)
        if ((int)list[i].state <= up_to)
            m |= 1u << i;
    return m;
}

uint32_t nm_dirs_local_mask(const struct nm_dirs *d)
{
    return mask(d->local, d->n_local, DIR_STUCK);
}
uint32_t nm_dirs_log_mask(const struct nm_dirs *d)
{
    return mask(d->log, d->n_log, DIR_STUCK);
}
uint32_t nm_dirs_local_usable(const struct nm_dirs *d)
{
    return mask(d->local, d->n_local, DIR_FULL);
}
uint32_t nm_dirs_log_usable(const struct nm_dirs *d)
{
    return mask(d->log, d->n_log, DIR_FULL);
}

static bool suits(const struct dir *list, int i, uint32_t mask, uint64_t bytes)
{
    return list[i].state == DIR_GOOD && (mask & 1u << i) && list[i].free_bytes >= bytes;
}

static int pick(const struct dir *list, int n, uint32_t mask, uint64_t bytes)
{
    uint64_t total = 0, at;

    for (int i = 0; i < n; i++)
        if (suits(list, i, mask, bytes))
            total += (list[i].free_bytes >> 20) + 1;
    if (total == 0)
        return -ENOSPC;
    if (n == 1)
        return 0;
    if (getrandom(&at, sizeof(at), 0) != sizeof(at))
        at = 0;
    at %= total;
    for (int i = 0; i < n; i++) {
        uint64_t weight;

        if (!suits(list, i, mask, bytes))
            continue;
        weight = (list[i].free_bytes >> 20) + 1;
        if (at < weight)
            return i;
        at -= weight;
    }
    return -ENOSPC;
}

int nm_dirs_pick_local(struct nm_dirs *d, uint32_t mask, int64_t bytes)
{
    return pick(d->local, d->n_local, mask, bytes > 0 ? (uint64_t)bytes : 0);
}
int nm_dirs_pick_log(struct nm_dirs *d)
{
    return pick(d->log, d->n_log, UINT32_MAX, 0);
}
const char *nm_dirs_local(const struct nm_dirs *d, int index)
{
    return index >= 0 && index < d->n_local ? d->local[index].path : NULL;
}
const char *nm_dirs_log(const struct nm_dirs *d, int index)
{
    return index >= 0 && index < d->n_log ? d->log[index].path : NULL;
}
int nm_dirs_n_local(const struct nm_dirs *d)
{
    return d->n_local;
}
int nm_dirs_n_log(const struct nm_dirs *d)
{
    return d->n_log;
}
bool nm_dirs_healthy(const struct nm_dirs *d, const char **ret_report)
{
    *ret_report = d->report;
    return d->healthy;
}
int64_t nm_dirs_checked_ms(const struct nm_dirs *d)
{
    return d->checked_ms;
}

/* ---- Space ---- */

void nm_dirs_measure(struct nm_dirs *d)
{
    int64_t now = sv_now_ms();
    bool due = now - d->measured_ms >= NM_DIRS_MEASURE_MS;
    struct nm_dir_facts f;
    struct dir *x;

    for (int i = 0; (x = nth(d, i)); i++) {
        if (x->gauge && nm_dir_probe_result(x->gauge, &f) == 0) {
            x->gauge = nm_dir_probe_free(x->gauge);
            if (f.error == 0)
                take_space(x, &f);
        }
        if (!due || x->gauge)
            continue;
        x->gauged_ms = now;
        if (nm_dir_probe_measure(x->path, &x->gauge) < 0)
            x->gauge = NULL; /* keeps the values of the last check */
    }
    if (due)
        d->measured_ms = now;
}

bool nm_dirs_space(const struct nm_dirs *d, int index, struct nm_dir_space *ret)
{
    const struct dir *x;

    if (index < 0 || index >= d->n_local + d->n_log)
        return false;
    x = index < d->n_local ? &d->local[index] : &d->log[index - d->n_local];
    *ret = (struct nm_dir_space){
        .path = x->path,
        .local = x->local,
        .readable = x->state <= DIR_STUCK,
        .usable = x->state <= DIR_FULL,
        .why = x->state == DIR_GOOD ? "" : x->why,
        .device = x->device,
        .used_bytes = x->all_bytes - SV_MIN(x->free_bytes, x->all_bytes),
        .all_bytes = x->all_bytes,
        .used_percent = x->used_percent,
        .silent_ms = x->gauge ? sv_now_ms() - x->gauged_ms : 0,
    };
    return true;
}
