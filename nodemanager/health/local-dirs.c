/* Health and choice of directories; see local-dirs.h. Users write the trees below; this file
 * accesses only the top directories, which belong to the daemon. */
#include "nodemanager/health/local-dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "executor/request.h"

struct dir {
    const char *path;
    enum { DIR_GOOD, DIR_FULL, DIR_BAD } state;
    char why[128];
    uint64_t free_bytes;
};

struct nm_dirs {
    const struct nm_conf *conf;
    struct dir local[EXE_DIRS_MAX], log[EXE_DIRS_MAX];
    int n_local, n_log;
    sd_event_source *timer;
    nm_dir_failed_fn failed;
    void *userdata;
    bool healthy;
    char report[1024];
    int64_t checked_ms;
};

/* Creates a directory that belongs to the daemon, or accepts an existing one. */
static int own_dir(int parent, const char *name, mode_t mode)
{
    struct stat st;

    if (mkdirat(parent, name, mode) == 0)
        return fchmodat(parent, name, mode, 0) < 0 ? -errno : 0; /* independent of the umask */
    if (errno != EEXIST)
        return -errno;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    return !S_ISDIR(st.st_mode) ? -ENOTDIR : 0;
}

static int prepare(const char *path, bool local)
{
    _cleanup_close_ int fd = -1;
    struct stat st;
    int r = sv_mkdir_p(path, 0755);

    if (r < 0)
        return r;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (st.st_uid != geteuid())
        return -EPERM;
    if (!local)
        return 0;
    r = own_dir(fd, "nmPrivate", 0700);
    if (r >= 0)
        r = own_dir(fd, "usercache", 0755);
    return r;
}

static void set_bad(struct dir *d, int state, const char *why)
{
    d->state = state;
    snprintf(d->why, sizeof(d->why), "%s", why);
}

static void check_one(const struct nm_conf *conf, struct dir *d, bool local)
{
    struct statvfs vfs;
    int r = prepare(d->path, local);
    double used;

    d->state = DIR_GOOD;
    d->why[0] = 0;
    d->free_bytes = 0;
    if (r == -EPERM) {
        set_bad(d, DIR_BAD, "not owned by the NodeManager's account");
        return;
    }
    if (r >= 0 && access(d->path, R_OK | W_OK | X_OK) < 0)
        r = -errno;
    if (r >= 0 && statvfs(d->path, &vfs) < 0)
        r = -errno;
    if (r < 0) {
        set_bad(d, DIR_BAD, strerror(-r));
        return;
    }
    d->free_bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize;
    if (!conf->disk_check_enabled)
        return;
    used = vfs.f_blocks ? 100.0 * (1.0 - (double)vfs.f_bavail / (double)vfs.f_blocks) : 100.0;
    if (used > conf->max_disk_utilization) {
        char why[128];

        snprintf(why, sizeof(why), "used space above threshold of %.1f%%",
                 conf->max_disk_utilization);
        set_bad(d, DIR_FULL, why);
    } else if ((int64_t)(d->free_bytes >> 20) < conf->min_free_mb) {
        set_bad(d, DIR_FULL, "free space below the minimum");
    }
}

/* The part of one list in the report; returns whether enough directories are good. */
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

void nm_dirs_check(struct nm_dirs *d)
{
    char report[sizeof(d->report)] = "";
    bool healthy;

    for (int i = 0; i < d->n_local; i++) {
        bool was_bad = d->local[i].state == DIR_BAD;

        check_one(d->conf, &d->local[i], true);
        if (!was_bad && d->local[i].state == DIR_BAD && d->failed)
            d->failed(i, d->userdata);
    }
    for (int i = 0; i < d->n_log; i++)
        check_one(d->conf, &d->log[i], false);
    healthy = judge(d->conf, d->local, d->n_local, "local-dirs", report, sizeof(report));
    healthy = judge(d->conf, d->log, d->n_log, "log-dirs", report, sizeof(report)) && healthy;
    if (strcmp(report, d->report) || healthy != d->healthy)
        sv_log(healthy ? SV_LOG_INFO : SV_LOG_WARNING, NULL, "directories: %s",
               *report ? report : "all good");
    memcpy(d->report, report, sizeof(report));
    d->healthy = healthy;
    d->checked_ms = sv_wall_ms();
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_dirs *d = userdata;

    (void)usec;
    nm_dirs_check(d);
    (void)sd_event_source_set_time_relative(s, (uint64_t)d->conf->disk_check_ms * 1000);
    (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT); /* cannot fail for our own, ignoring */
    return 0;
}

static int fill(struct dir *list, int *n, char **paths, const char *name, struct sv_error *err)
{
    for (*n = 0; paths[*n]; (*n)++) {
        if (*n == EXE_DIRS_MAX)
            return sv_error_set(err, -E2BIG, "%s: more than %d directories", name, EXE_DIRS_MAX);
        list[*n].path = paths[*n];
    }
    return 0;
}

int nm_dirs_new(sd_event *event, const struct nm_conf *conf, nm_dir_failed_fn failed,
                void *userdata, struct nm_dirs **ret, struct sv_error *err)
{
    struct nm_dirs *d = calloc(1, sizeof(*d));
    int r;

    if (!d)
        return sv_error_errno(err, -ENOMEM, "directories");
    d->conf = conf;
    d->userdata = userdata;
    d->healthy = true;
    r = fill(d->local, &d->n_local, conf->local_dirs, "yarn.nodemanager.local-dirs", err);
    if (r >= 0)
        r = fill(d->log, &d->n_log, conf->log_dirs, "yarn.nodemanager.log-dirs", err);
    if (r < 0)
        goto fail;
    nm_dirs_check(d);
    if (!nm_dirs_local_mask(d) || !nm_dirs_log_mask(d)) {
        r = sv_error_set(err, -ENODEV, "no usable directory: %s", d->report);
        goto fail;
    }
    d->failed = failed;
    if (conf->disk_check_enabled) {
        r = sd_event_add_time_relative(event, &d->timer, CLOCK_BOOTTIME,
                                       (uint64_t)conf->disk_check_ms * 1000, 0, on_timer, d);
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
    if (!d)
        return NULL;
    sd_event_source_disable_unref(d->timer);
    free(d);
    return NULL;
}

static uint32_t mask(const struct dir *list, int n)
{
    uint32_t m = 0;

    for (int i = 0; i < n; i++)
        if (list[i].state != DIR_BAD)
            m |= 1u << i;
    return m;
}

uint32_t nm_dirs_local_mask(const struct nm_dirs *d)
{
    return mask(d->local, d->n_local);
}
uint32_t nm_dirs_log_mask(const struct nm_dirs *d)
{
    return mask(d->log, d->n_log);
}

static int pick(const struct dir *list, int n, uint64_t bytes)
{
    uint64_t total = 0, at;

    for (int i = 0; i < n; i++)
        if (list[i].state == DIR_GOOD && list[i].free_bytes >= bytes)
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

        if (list[i].state != DIR_GOOD || list[i].free_bytes < bytes)
            continue;
        weight = (list[i].free_bytes >> 20) + 1;
        if (at < weight)
            return i;
        at -= weight;
    }
    return -ENOSPC;
}

int nm_dirs_pick_local(struct nm_dirs *d, int64_t bytes)
{
    return pick(d->local, d->n_local, bytes > 0 ? (uint64_t)bytes : 0);
}
int nm_dirs_pick_log(struct nm_dirs *d)
{
    return pick(d->log, d->n_log, 0);
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
