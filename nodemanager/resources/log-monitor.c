/* See log-monitor.h. */
#include "nodemanager/resources/log-monitor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <utlist.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "executor/request.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/log-size.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/log-disks.h"

/* Containers that are measured on one disk by turns, each with directories open. One with many
 * files holds up those behind them only where fifteen more have as many. */
#define TOGETHER 16

struct walk { /* one container on one disk */
    struct walk *prev, *next;
    char container[YARN_ID_TEXT_MAX];
    unsigned pass;
    struct nm_log_size *size; /* NULL: the thread has it */
};

struct disk {
    struct nm_log_monitor *m;
    int index;
    struct walk *walks; /* the first one is on the thread while `busy` */
    unsigned n;
    bool busy;
    char last[YARN_ID_TEXT_MAX]; /* the last container of this pass */
};

struct nm_log_monitor {
    struct nm_context *ctx;
    sd_event_source *timer;
    unsigned pass;
    struct disk disks[EXE_DIRS_MAX];
    int n, busy;
    bool freed;
};

struct turn { /* the thread's */
    struct nm_log_size *size;
    bool whole;
};

/* ---- On the thread ---- */

static void take_turn(void *data)
{
    struct turn *t = data;

    t->whole = nm_log_size_turn(t->size, NM_LOG_SIZE_TURN_MS);
}

static void turn_free(void *data)
{
    struct turn *t = data;

    nm_log_size_free(t->size);
    free(t);
}

/* ---- A container that is measured ---- */

static char *text_of(const struct nm_container *c, const char *dir, const struct nm_log_sum *sum)
{
    const struct nm_conf *conf = c->ctx->conf;
    char *s = NULL;
    int r = 0;

    if (sum->bytes > (uint64_t)conf->log_dir_bytes)
        r = sv_asprintf(&s,
                        "Container [pid=%d,containerID=%s] has larger logs than one log directory "
                        "may have (yarn.nodemanager.container-log-monitor.dir-size-limit-bytes). "
                        "Limit: %lld bytes, size: %llu bytes, log directory: %s. Killing "
                        "container.\n",
                        (int)c->launch.pid, c->text, (long long)conf->log_dir_bytes,
                        (unsigned long long)sum->bytes, dir);
    else if (sum->too_many)
        r = sv_asprintf(&s,
                        "Container [pid=%d,containerID=%s] has more than %d files below log "
                        "directory %s, or directories more than %d deep: its logs cannot be "
                        "measured (yarn.nodemanager.container-log-monitor.enable). Killing "
                        "container.\n",
                        (int)c->launch.pid, c->text, NM_LOG_SIZE_ENTRIES, dir, NM_LOG_SIZE_DEPTH);
    else if (c->logs.bytes > (uint64_t)conf->log_total_bytes)
        r = sv_asprintf(&s,
                        "Container [pid=%d,containerID=%s] has larger logs than it may have in all "
                        "log directories "
                        "(yarn.nodemanager.container-log-monitor.total-size-limit-bytes). Limit: "
                        "%lld bytes, size: %llu bytes at least. Killing container.\n",
                        (int)c->launch.pid, c->text, (long long)conf->log_total_bytes,
                        (unsigned long long)c->logs.bytes);
    return r < 0 ? NULL : s;
}

static void judge(const struct disk *d, const struct walk *w, const struct nm_log_sum *sum)
{
    struct nm_container *c = nm_container_find(d->m->ctx, w->container);
    const char *dir = nm_dirs_log(d->m->ctx->dirs, d->index);
    _cleanup_free_ char *why = NULL;

    if (!c || c->kill_requested || !nm_container_is_live(c))
        return;
    if (c->logs.pass == w->pass && /* a walk that a hanging disk has held up counts alone */
        __builtin_add_overflow(c->logs.bytes, sum->bytes, &c->logs.bytes))
        c->logs.bytes = UINT64_MAX;
    if (sum->unread && !c->logs.warned)
        sv_log(SV_LOG_WARNING, c->text,
               "%s: it has kept a directory of its logs below %s from this daemon's group: files "
               "in there do not count for yarn.nodemanager.container-log-monitor.enable",
               c->text, dir);
    c->logs.warned |= sum->unread;
    why = text_of(c, dir, sum);
    if (!why)
        return;
    sv_log(SV_LOG_WARNING, c->text, "%s", why);
    nm_container_kill(c, YARN_EXIT_KILLED_FOR_EXCESS_LOGS, why);
}

/* ---- A disk ---- */

/* The next container of the pass on this disk. If the last one is gone, the first one that the pass
 * has not had. */
static struct nm_container *next_of_pass(const struct disk *d)
{
    struct nm_context *ctx = d->m->ctx;
    struct nm_container *last = nm_container_find(ctx, d->last), *c;

    for (c = last ? last->hh.next : ctx->containers; c; c = c->hh.next) {
        if (c->logs.pass != d->m->pass) {
            c->logs.pass = d->m->pass;
            c->logs.seen = 0;
            c->logs.bytes = 0;
        }
        if (!(c->logs.seen & 1u << d->index) && nm_container_is_live(c))
            return c;
    }
    return NULL;
}

static void walk_free(struct disk *d, struct walk *w)
{
    DL_DELETE(d->walks, w);
    d->n--;
    nm_log_size_free(w->size);
    free(w);
}

static bool add_walk(struct disk *d, struct nm_container *c)
{
    struct walk *w = calloc(1, sizeof(*w));

    if (!w)
        return false;
    w->size = nm_log_size_new(nm_dirs_log(d->m->ctx->dirs, d->index), c->id);
    if (!w->size) {
        free(w);
        return false;
    }
    w->pass = d->m->pass;
    memcpy(w->container, c->text, sizeof(w->container));
    memcpy(d->last, c->text, sizeof(d->last));
    c->logs.seen |= 1u << d->index;
    DL_APPEND(d->walks, w);
    d->n++;
    return true;
}

static void on_turn(int status, void *data, void *userdata);

/* Begins the next turn of a disk. One that is refused, as its disk is bad or hangs, is tried again
 * in the next pass. */
static void step(struct disk *d)
{
    struct nm_container *c;
    struct turn *t;
    struct sv_error why = { 0 };
    struct sv_job job = { .run = take_turn, .done = on_turn, .free = turn_free, .userdata = d };

    while (d->n < TOGETHER && (c = next_of_pass(d)) && add_walk(d, c))
        ;
    t = d->walks ? calloc(1, sizeof(*t)) : NULL;
    if (!t)
        return;
    t->size = SV_TAKE(d->walks->size);
    job.data = t;
    if (nm_log_disks_run(d->m->ctx->log_disks, d->index, NM_LOG_DISK_ALL, &job, &why) >= 0) {
        d->busy = true;
        d->m->busy++;
        return;
    }
    d->walks->size = t->size;
    free(t);
}

/* ---- The passes ---- */

static void free_all(struct nm_log_monitor *m)
{
    for (int i = 0; i < m->n; i++)
        while (m->disks[i].walks)
            walk_free(&m->disks[i], m->disks[i].walks);
    free(m);
}

static void end_pass(struct nm_log_monitor *m)
{
    if (m->busy)
        return;
    (void)sd_event_source_set_time_relative(m->timer, (uint64_t)m->ctx->conf->log_check_ms * 1000);
    (void)sd_event_source_set_enabled(m->timer, SD_EVENT_ONESHOT); /* ours, ignoring */
}

/* A walk that was given up is the thread's. */
static void on_turn(int status, void *data, void *userdata)
{
    struct disk *d = userdata;
    struct nm_log_monitor *m = d->m;
    struct turn *t = data;
    struct walk *w = d->walks;

    d->busy = false;
    m->busy--;
    if (m->freed) {
        if (!m->busy)
            free_all(m);
        return;
    }
    if (status < 0) {
        walk_free(d, w);
    } else if (t->whole) {
        judge(d, w, nm_log_size_sum(t->size));
        walk_free(d, w);
    } else { /* behind the others */
        w->size = SV_TAKE(t->size);
        DL_DELETE(d->walks, w);
        DL_APPEND(d->walks, w);
    }
    step(d);
    end_pass(m);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_log_monitor *m = userdata;

    (void)s;
    (void)usec;
    if (++m->pass == 0)
        m->pass = 1; /* 0: never measured */
    for (int i = 0; i < m->n; i++) {
        m->disks[i].last[0] = '\0';
        step(&m->disks[i]);
    }
    end_pass(m);
    return 0;
}

int nm_log_monitor_new(struct nm_context *ctx, struct nm_log_monitor **ret, struct sv_error *err)
{
    struct nm_log_monitor *m;
    int r;

    *ret = NULL;
    if (!ctx->conf->log_check)
        return 0;
    m = calloc(1, sizeof(*m));
    if (!m)
        return sv_error_errno(err, -ENOMEM, "container log monitor");
    m->ctx = ctx;
    m->n = nm_dirs_n_log(ctx->dirs);
    for (int i = 0; i < m->n; i++)
        m->disks[i] = (struct disk){ .m = m, .index = i };
    r = sd_event_add_time_relative(ctx->event, &m->timer, CLOCK_BOOTTIME,
                                   (uint64_t)ctx->conf->log_check_ms * 1000, 0, on_timer, m);
    if (r < 0) {
        free(m);
        return sv_error_errno(err, r, "container log monitor");
    }
    *ret = m;
    return 0;
}

struct nm_log_monitor *nm_log_monitor_free(struct nm_log_monitor *m)
{
    if (!m)
        return NULL;
    m->timer = sd_event_source_disable_unref(m->timer);
    m->freed = true;
    if (!m->busy)
        free_all(m);
    return NULL;
}
