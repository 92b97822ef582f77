/* One container on the daemon's side: creates the cgroup, sends the request, watches the monitor,
 * reads the exit record. After a restart the record is the only source. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utlist.h>

#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "executor/door.h"
#include "executor/internal.h"
#include "executor/session.h"

/* Delay between two attempts to take the launch lock: from the first to the last, doubled each
 * time. */
#define RETRY_PROBE_USEC 2000
#define RETRY_PROBE_MAX_USEC 128000
#define PROBES_BEFORE_WARNING 80 /* some ten seconds: above every time limit of a helper */
#define EXIT_LOST 154
#define CGROUP_REMOVE_MS 10000

struct exe_container {
    struct exe *exe;
    struct exe_container *prev, *next;
    struct exe_container_ops ops;
    void *userdata;
    struct yarn_container_id id;
    char user[EXE_USER_MAX + 1];
    unsigned work_dir;
    char name[EXE_TEXT_MAX], app[EXE_TEXT_MAX];
    struct cg_leaf *leaf;
    struct exe_call *call;    /* helper, then monitor; NULL if adopted or ended */
    int init;                 /* pidfd; -1: unknown */
    sd_event_source *on_init; /* launched, not adopted: watches its end */
    struct cg_usage usage;    /* at the end of init */
    bool used;                /* `usage` is filled */
    int record;               /* launched, and started: its record */
    int monitor;              /* adopted: pidfd of the monitor */
    sd_event_source *watch;   /* adopted: end of the monitor, or the next probe */
    int lock;                 /* adopted, launch under way: its directory */
    int probes;               /* adopted: probes that found a launch in progress */
    bool killed;              /* by exe_kill */
    bool over;                /* failed or exited was called */
};

static void container_free(struct exe_container *c)
{
    DL_DELETE(c->exe->containers, c);
    exe_call_forget(c->call);
    (void)sd_event_source_disable_unref(c->watch);
    (void)sd_event_source_disable_unref(c->on_init);
    c->init = sv_close(c->init);
    c->monitor = sv_close(c->monitor);
    c->record = sv_close(c->record);
    c->lock = sv_close(c->lock);
    c->leaf = cg_leaf_free(c->leaf);
    free(c);
}

void exe_containers_free(struct exe *x)
{
    while (x->containers)
        container_free(x->containers);
}

static int container_new(struct exe *x, struct yarn_container_id id, const char *user,
                         unsigned work_dir, const struct exe_container_ops *ops, void *userdata,
                         struct exe_container **ret, struct sv_error *err)
{
    struct exe_request r = { 0 };
    exe_request_container(&r, id);
    if (exe_request_user(&r, user) < 0 || work_dir >= sv_strv_len(x->local_dirs))
        return sv_error_set(err, -EINVAL, "container: user name or directory index is not valid");
    struct exe_container *c = calloc(1, sizeof(*c));
    if (!c)
        return sv_error_errno(err, -ENOMEM, "container");
    *c = (struct exe_container){ .exe = x,
                                 .ops = *ops,
                                 .userdata = userdata,
                                 .id = id,
                                 .work_dir = work_dir,
                                 .init = -1,
                                 .monitor = -1,
                                 .lock = -1,
                                 .record = -1 };
    memcpy(c->user, r.user, sizeof(c->user));
    exe_container_text(&r, c->name);
    exe_app_text(&r, c->app);
    DL_APPEND(x->containers, c);
    *ret = c;
    return 0;
}

/* Opens nmPrivate/<app>/<container> in the work dir's local directory; creates it if `make`. */
static int private_dir(const struct exe_container *c, bool make)
{
    char path[2 * EXE_TEXT_MAX + 16];
    _cleanup_close_ int local =
        open(c->exe->local_dirs[c->work_dir], O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (local < 0)
        return -errno;
    (void)snprintf(path, sizeof(path), "nmPrivate/%s/%s", c->app, c->name);
    int e = make ? sv_mkdir_p_at(local, path, 0700) : 0;
    return e < 0 ? e : sv_open_beneath(local, path, O_RDONLY | O_DIRECTORY, 0);
}

static void record_name(const struct exe_container *c, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%s" EXE_RECORD_SUFFIX, c->name);
}

/* Removes the cgroup in the background; after a restart cg_root_list finds leftovers. */
static void drop_group(struct cg_leaf *leaf, sd_event *event)
{
    if (leaf)
        (void)!cg_leaf_remove(leaf, event, CGROUP_REMOVE_MS, NULL, NULL);
}

static void fail(struct exe_container *c, const struct exe_failure *f)
{
    if (c->over)
        return;
    c->over = true;
    drop_group(SV_TAKE(c->leaf), c->exe->event);
    c->ops.failed(c, f, c->userdata);
}

/* Opens the record; -errno. */
static int open_record(const struct exe_container *c)
{
    char name[EXE_TEXT_MAX + 16];
    _cleanup_close_ int dir = private_dir(c, false);
    if (dir < 0)
        return dir;
    record_name(c, name, sizeof(name));
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

/* Reads the record: 0, -ENOENT, -EBADMSG (not a record of this container). */
static int read_record(const struct exe_container *c, struct exe_record *ret, int *ret_fd)
{
    uint8_t buf[EXE_RECORD_SIZE + 1];
    struct exe_record r;
    _cleanup_close_ int opened = c->record < 0 ? open_record(c) : -1;
    const int fd = c->record < 0 ? opened : c->record;
    if (fd < 0)
        return fd;
    ssize_t n = pread(fd, buf, sizeof(buf), 0);
    if (n < 0)
        return -errno;
    int e = exe_record_decode(buf, (size_t)n, &r);
    if (e == 0 && (r.cluster_ts != c->id.attempt.app.cluster_ts || r.app != c->id.attempt.app.id ||
                   r.attempt != c->id.attempt.attempt || r.container != c->id.id))
        e = -EBADMSG;
    if (ret_fd)
        *ret_fd = sv_take_fd(&opened);
    if (e == 0)
        *ret = r;
    return e;
}

/* Reads the cgroup's last counters once, when no process of the container is left. */
static void read_usage(struct exe_container *c)
{
    if (!c->used && c->leaf)
        (void)!cg_leaf_totals(c->leaf,
                              &c->usage); /* unknown if the cgroup was removed with its unit */
    c->used = true;
}

static void finish_by(struct exe_container *c, const struct exe_record *r)
{
    struct exe_exit e = { .lost = true, .exit_code = EXIT_LOST };
    c->over = true;
    read_usage(c);
    e.usage = c->usage;
    e.oom = c->usage.oom_kills > 0;
    if (r && r->state == EXE_RECORD_FAILED) { /* adopted during its launch */
        struct exe_failure f;
        exe_failure_set(&f, (enum exe_status)r->exit_code, 0, c->name, "");
        e.lost = false;
        e.exit_code = c->killed ? 128 + SIGKILL : f.exit_code; /* the kill made it fail */
        e.signal = c->killed ? SIGKILL : 0;
    }
    if (r && r->state == EXE_RECORD_EXITED) {
        e.lost = false;
        e.exit_code = r->exit_code;
        e.signal = r->signal;
        e.start_ms = r->start_ms;
        e.end_ms = r->end_ms;
        e.utime_us = r->utime_us;
        e.stime_us = r->stime_us;
        e.maxrss_kib = r->maxrss_kib;
    }
    struct cg_leaf *leaf = SV_TAKE(c->leaf);
    sd_event *event = c->exe->event;
    c->ops.exited(c, &e, c->userdata); /* may free it */
    drop_group(leaf, event);
}

static void finish(struct exe_container *c)
{
    struct exe_record r;
    if (!c->over)
        finish_by(c, read_record(c, &r, NULL) == 0 ? &r : NULL);
}

/* The cgroup has become empty after a kill: the record is final. */
static void on_empty(struct cg_leaf *l, void *userdata)
{
    (void)l;
    finish(userdata);
}

/* The monitor has ended. Usually the container ended before it; kill the rest. */
static void monitor_ended(struct exe_container *c)
{
    c->call = NULL;
    if (c->leaf && cg_leaf_populated(c->leaf) > 0) {
        (void)!cg_leaf_kill(c->leaf);
        if (cg_leaf_watch_empty(c->leaf, c->exe->event, on_empty, c) >= 0)
            return;
    }
    finish(c);
}

/* memory.oom.group has killed the container; this kills processes that were exempt. */
static void on_oom(struct cg_leaf *l, void *userdata)
{
    struct exe_container *c = userdata;
    (void)!cg_leaf_kill(l); /* fails only if the cgroup is empty or removed */
    if (!c->over && c->ops.oom)
        c->ops.oom(c, c->userdata);
}

/* pid 1 has exited, after every other process; the monitor is writing the record. */
static int on_init_end(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct exe_container *c = userdata;
    (void)s;
    (void)fd;
    (void)revents;
    c->on_init = sd_event_source_disable_unref(c->on_init);
    read_usage(c);
    return 0;
}

/* Pre-opens the exit record and the counters, off the critical path; failures are retried at the
 * end. */
static void prepare_end(struct exe_container *c)
{
    struct cg_usage now;
    c->record = open_record(c);
    if (c->leaf)
        (void)!cg_leaf_totals(c->leaf, &now); /* keeps the files open */
}

static void report_started(struct exe_container *c, pid_t pid)
{
    if (c->leaf)
        (void)!cg_leaf_watch_oom(c->leaf, c->exe->event, on_oom, c); /* no controller: no event */
    c->ops.started(c, pid, c->userdata);
}

static void on_answer(const struct exe_reply *reply, int pidfd, int status, void *userdata)
{
    struct exe_container *c = userdata;
    struct exe_failure f;
    if (reply && reply->status == EXE_STATUS_OK) {
        c->init = pidfd;
        if (pidfd >= 0) /* without this event the usage is read with the record */
            (void)!sd_event_add_io(c->exe->event, &c->on_init, pidfd, EPOLLIN, on_init_end, c);
        report_started(c, reply->pid);
        prepare_end(c);
        return;
    }
    (void)sv_close(pidfd);
    exe_failure_from(reply, status, c->name, &f);
    exe_call_forget(c->call);
    c->call = NULL;
    fail(c, &f);
}

/* The record is written and pid 1 reaped. The monitor continues to tear down the container's
 * mounts, off the critical path. */
static void on_closed(void *userdata)
{
    struct exe_container *c = userdata;
    struct exe_record r;
    if (!c->over && read_record(c, &r, NULL) == 0 && r.state == EXE_RECORD_EXITED)
        finish_by(c, &r);
}

static void on_ended(int status, void *userdata)
{
    (void)status;
    monitor_ended(userdata);
}

int exe_container_private(const struct exe_container *c, struct exe **ret)
{
    *ret = c->exe;
    return c->over ? -ESRCH : private_dir(c, false);
}

int exe_launch(struct exe *x, const struct exe_launch *l, const struct exe_container_ops *ops,
               void *userdata, struct exe_container **ret, struct sv_error *err)
{
    static const struct exe_call_ops call_ops = { .answer = on_answer,
                                                  .closed = on_closed,
                                                  .ended = on_ended };
    struct exe_request r = { .op = EXE_OP_LAUNCH,
                             .local_mask = l->local_mask,
                             .log_mask = l->log_mask,
                             .what = (uint8_t)((l->again ? EXE_LAUNCH_AGAIN : 0) |
                                               (l->door && x->version >= 9 ? EXE_LAUNCH_DOOR : 0)),
                             .work_dir = (uint8_t)l->work_dir,
                             .profile = (uint8_t)l->profile,
                             .network = (uint8_t)l->network,
                             .net_index = l->net_index,
                             .net_rate_kbit = l->net_rate_kbit,
                             .net_ceil_kbit = l->net_ceil_kbit,
                             .n_devices = (uint8_t)l->n_devices };
    _cleanup_close_ int script = -1, credentials = -1, dir = -1, door = -1;
    struct exe_container *c;
    if (l->script_len > EXE_FILE_MAX || l->credentials_len > EXE_FILE_MAX)
        return sv_error_set(err, -EINVAL,
                            "container: launch script or credentials are larger than %d bytes",
                            EXE_FILE_MAX);
    if (!x->unenforced_allowed && cg_root_missing(x->cgroups))
        return sv_error_set(err, -ENOTSUP, "limits cannot be enforced: %s",
                            cg_root_missing(x->cgroups));
    if (l->n_devices > EXE_DEVICES_MAX)
        return sv_error_set(err, -EINVAL, "container: more than %d devices", EXE_DEVICES_MAX);
    if (exe_request_owner(&r, l->user, l->submitter) < 0)
        return sv_error_set(err, -EINVAL, "container: the submitter's name is too long");
    int e = container_new(x, l->id, l->user, l->work_dir, ops, userdata, &c, err);
    if (e < 0)
        return e;
    if (l->n_devices)
        memcpy(r.devices, l->devices, l->n_devices * sizeof(*l->devices));
    exe_request_categories(&r, l->categories);
    cg_demanded(x->cgroups, &l->resource, &r.memory_max, &r.pids_max);
    exe_request_container(&r, l->id);
    script = sv_memfd_sealed("launch_container.sh", l->script, l->script_len);
    credentials = sv_memfd_sealed("container_tokens", l->credentials, l->credentials_len);
    if (script < 0 || credentials < 0)
        e = sv_error_errno(err, script < 0 ? script : credentials, "memfd");
    else
        e = exe_call_open(x, &c->call, err);
    if (e == 0) { /* while the helper starts */
        dir = private_dir(c, true);
        /* Shared: the helper of an earlier launch may have answered and not yet exited. */
        e = dir < 0 ? dir : flock(dir, LOCK_SH | LOCK_NB) < 0 ? -errno : 0;
        if (e == 0 && r.what & EXE_LAUNCH_DOOR)
            e = SV_MIN(door = exe_door_make(dir), 0);
        e = e < 0 ? sv_error_errno(err, e, "%s/nmPrivate/%s", x->local_dirs[l->work_dir], c->app)
                  : cg_leaf_create(x->cgroups, c->name, &l->resource, &c->leaf, err);
        if (e < 0)
            exe_call_abandon(SV_TAKE(c->call));
    }
    if (e == 0) {
        e = exe_call_send(c->call, &r, (int[]){ script, credentials, dir, door },
                          (size_t)exe_request_fds(&r), &call_ops, c, err);
        if (e < 0) {
            c->call = NULL;
            drop_group(SV_TAKE(c->leaf), x->event);
        }
    }
    if (e < 0) {
        container_free(c);
        return e;
    }
    *ret = c;
    return 0;
}

static int on_adopted_end(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct exe_container *c = userdata;
    (void)s;
    (void)fd;
    (void)revents;
    c->watch = sd_event_source_disable_unref(c->watch);
    monitor_ended(c);
    return 0;
}

static pid_t lock_holder(int fd)
{
    struct flock l = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
    return fcntl(fd, F_GETLK, &l) < 0 || l.l_type == F_UNLCK ? 0 : l.l_pid;
}

/* The monitor holds a lock on the record. Probed before and after the pidfd is opened: while one
 * process holds the lock its number cannot be reused. */
static int find_monitor(int record)
{
    for (int i = 0; i < 8; i++) {
        pid_t pid = lock_holder(record);
        if (pid <= 0)
            return -ESRCH;
        int fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (fd >= 0 && lock_holder(record) == pid)
            return fd;
        (void)sv_close(fd);
    }
    return -ESRCH;
}

/* True if a helper, or a request that no helper has read, holds the launch lock. */
static bool launch_under_way(struct exe_container *c)
{
    if (c->lock < 0)
        c->lock = private_dir(c, false); /* without it no helper can create a record */
    if (c->lock >= 0 && flock(c->lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return true;
    c->lock = sv_close(c->lock);
    return false;
}

enum probe { PROBE_RUNS, PROBE_ENDED, PROBE_NEVER };

/* State of an adopted container by its record and the lock on it, which the helper takes when it
 * creates the record; while a launch is under way PROBE_NEVER is not final. */
static enum probe probe_record(struct exe_container *c, struct exe_record *r)
{
    _cleanup_close_ int fd = -1;
    int e = read_record(c, r, &fd);
    if (fd < 0 || (e == 0 && r->state == EXE_RECORD_FAILED))
        return PROBE_NEVER;
    if (e == 0 && r->state == EXE_RECORD_EXITED)
        return PROBE_ENDED;
    c->monitor = find_monitor(fd);
    if (c->monitor < 0) { /* it may have ended after the record was read */
        e = read_record(c, r, NULL);
        return e == 0 && r->state != EXE_RECORD_FAILED ? PROBE_ENDED : PROBE_NEVER;
    }
    if (e == 0) {
        /* A reused number is harmless: container-signal checks that it is in the cgroup. */
        c->init = (int)syscall(SYS_pidfd_open, r->init_pid, 0);
        return PROBE_RUNS;
    }
    c->monitor = sv_close(c->monitor);
    return PROBE_NEVER;
}

static int on_retry_probe(sd_event_source *s, uint64_t usec, void *userdata);

static bool retry_probe(struct exe_container *c)
{
    uint64_t usec = RETRY_PROBE_USEC;
    for (int i = 0; i < c->probes && usec < RETRY_PROBE_MAX_USEC; i++)
        usec *= 2;
    if (++c->probes == PROBES_BEFORE_WARNING)
        sv_log_warning(
            "%s: a container-executor that was started before this daemon holds the lock "
            "of %s/nmPrivate/%s/%s; waiting for its end",
            c->name, c->exe->local_dirs[c->work_dir], c->app, c->name);
    return sd_event_add_time_relative(c->exe->event, &c->watch, CLOCK_BOOTTIME, usec, usec / 2,
                                      on_retry_probe, c) >= 0;
}

static void never_launched(struct exe_container *c)
{
    struct exe_failure f;
    exe_failure_set(&f, EXE_STATUS_LOST, 0, c->name, "the launch had not happened");
    fail(c, &f);
}

static void on_group_gone(const struct sv_error *failed, void *userdata)
{
    if (failed)
        sv_log_warning("%s", failed->text);
    never_launched(userdata);
}

/* First probe of an adopted container, from the event loop; then its retries. */
static int on_adopted(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct exe_container *c = userdata;
    struct exe_record r = { 0 };
    const bool under_way = launch_under_way(c); /* first: without one the record is final */
    (void)s;
    c->watch = sd_event_source_disable_unref(c->watch);
    switch (probe_record(c, &r)) {
    case PROBE_ENDED:
        monitor_ended(c);
        return 0;
    case PROBE_NEVER:
        if (under_way && !c->killed && retry_probe(c))
            return 0;
        /* Never launched, or refused. If it was killed before, a helper still starting finds no
         * cgroup. Reported when the cgroup is removed, because the caller may launch under the same
         * name. */
        if (c->leaf)
            (void)!cg_leaf_kill(c->leaf);
        if (!c->leaf ||
            cg_leaf_remove(SV_TAKE(c->leaf), c->exe->event, CGROUP_REMOVE_MS, on_group_gone, c) < 0)
            never_launched(c);
        return 0;
    case PROBE_RUNS:
        break;
    }
    if (sd_event_add_io(c->exe->event, &c->watch, c->monitor, EPOLLIN, on_adopted_end, c) < 0) {
        monitor_ended(c); /* cannot be watched: must not run unsupervised */
        return 0;
    }
    report_started(c, r.init_pid);
    return 0;
}

static int on_retry_probe(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)usec;
    return on_adopted(s, userdata);
}

int exe_adopt(struct exe *x, struct yarn_container_id id, const char *user, unsigned work_dir,
              const struct exe_container_ops *ops, void *userdata, struct exe_container **ret,
              struct sv_error *err)
{
    struct exe_container *c;
    int e = container_new(x, id, user, work_dir, ops, userdata, &c, err);
    if (e < 0)
        return e;
    e = cg_leaf_open(x->cgroups, c->name, &c->leaf);
    if (e < 0 && e != -ENOENT) {
        (void)sv_error_errno(err, e, "%s: cgroup", c->name);
        container_free(c);
        return e;
    }
    e = sd_event_add_defer(x->event, &c->watch, on_adopted, c);
    if (e < 0) {
        container_free(c);
        return sv_error_errno(err, e, "event loop");
    }
    *ret = c;
    return 0;
}

int exe_signal(struct exe_container *c, int signal, exe_signalled done, void *userdata)
{
    struct exe_request r = { .op = EXE_OP_SIGNAL, .signal = (uint8_t)signal };
    if (c->init < 0 || c->over)
        return -ESRCH;
    exe_request_container(&r, c->id);
    (void)!exe_request_user(&r, c->user); /* container_new has checked it */
    return exe_operate_signal(c->exe, &r, c->init, c->name, done, userdata);
}

int exe_kill(struct exe_container *c)
{
    int r = c->leaf ? cg_leaf_kill(c->leaf) : 0;
    c->killed = c->killed || r >= 0;
    return r;
}

struct cg_leaf *exe_container_cgroup(struct exe_container *c)
{
    return c->leaf;
}

void exe_container_forget(struct exe_container *c)
{
    char name[EXE_TEXT_MAX + 16], path[2 * EXE_TEXT_MAX + 16];
    int dir = private_dir(c, false);
    if (dir >= 0) {
        record_name(c, name, sizeof(name));
        (void)unlinkat(dir, name, 0);
        (void)unlinkat(dir, EXE_DOOR_NAME, 0); /* it may have none, ignoring */
        (void)sv_close(dir);
        int local = open(c->exe->local_dirs[c->work_dir], O_PATH | O_DIRECTORY | O_CLOEXEC);
        (void)snprintf(path, sizeof(path), "nmPrivate/%s/%s", c->app, c->name);
        (void)unlinkat(local, path, AT_REMOVEDIR); /* fails if the daemon's own files are there */
        (void)sv_close(local);
    }
    container_free(c);
}
