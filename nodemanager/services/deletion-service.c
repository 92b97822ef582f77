/* See deletion-service.h. A task is one line of text in the store:
 * "<what> <user or -> <cluster_ts> <app> <attempt> <container> <visibility> <resource> <its
 * directory's number> <local mask> <log mask>"; it is parsed strictly when read back. */
#include "nodemanager/services/deletion-service.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/nm.h"
#include "nodemanager/store/state-store.h"

#define PARALLEL 4 /* yarn.nodemanager.delete.thread-count */
#define ATTEMPTS 3 /* then it is left, with an error in the log */
#define RETRY_MS 10000

struct task {
    struct task *prev, *next;
    struct nm_deletion *d;
    int64_t id;
    int64_t at_ms; /* wall clock: survives restarts */
    struct exe_delete_what what;
    char user[EXE_USER_MAX + 1];
    int attempts;
    bool running;
};

struct nm_deletion {
    struct nm *nm;
    struct task *tasks; /* in order of time, mostly */
    size_t n_tasks, n_running;
    int64_t next_id;
    sd_event_source *timer;
};

static void pump(struct nm_deletion *d);

static int task_text(const struct task *t, char *buf, size_t size)
{
    const struct exe_delete_what *w = &t->what;
    int n = snprintf(buf, size, "%d %s %" PRId64 " %d %d %" PRId64 " %d %" PRIu64 " %u %u %u",
                     (int)w->what, *t->user ? t->user : "-", w->app.cluster_ts, w->app.id,
                     w->container.attempt.attempt, w->container.id, (int)w->visibility,
                     w->resource_id, w->resource_dir, w->local_mask, w->log_mask);

    return n < 0 || (size_t)n >= size ? -EMSGSIZE : 0;
}

static int task_parse(struct task *t, const char *text)
{
    int what, app, attempt, visibility, end = -1;
    struct exe_delete_what *w = &t->what;

    if (sscanf(text, "%d %64s %" SCNd64 " %d %d %" SCNd64 " %d %" SCNu64 " %u %u %u%n", &what,
               t->user, &w->app.cluster_ts, &app, &attempt, &w->container.id, &visibility,
               &w->resource_id, &w->resource_dir, &w->local_mask, &w->log_mask, &end) != 11 ||
        end < 0 || text[end] || what < EXE_DELETE_CONTAINER || what > EXE_DELETE_PUBLIC)
        return -EBADMSG;
    w->what = (enum exe_delete)what;
    w->app.id = app;
    w->container.attempt.app = w->app;
    w->container.attempt.attempt = attempt;
    w->visibility = (enum exe_visibility)visibility;
    if (!strcmp(t->user, "-"))
        t->user[0] = 0;
    return 0;
}

static void forget(struct task *t)
{
    struct nm_deletion *d = t->d;

    if (nm_store_deletion_remove(d->nm->store, t->id) < 0)
        sv_log_err("deletion %lld could not be taken out of the state store", (long long)t->id);
    DL_DELETE(d->tasks, t);
    d->n_tasks--;
    free(t);
}

/* <log>/<app> is empty now and the daemon's to remove: it lies in the daemon's own directory. */
static void remove_empty_log_dirs(struct nm_deletion *d, const struct exe_delete_what *w)
{
    char app[YARN_ID_TEXT_MAX];

    yarn_app_id_text(w->app, app);
    for (int i = 0; i < nm_dirs_n_log(d->nm->dirs); i++) {
        _cleanup_close_ int fd = -1;

        if (!(w->log_mask & (1u << i)))
            continue;
        fd = open(nm_dirs_log(d->nm->dirs, i), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && unlinkat(fd, app, AT_REMOVEDIR) < 0 && errno != ENOENT)
            sv_log(SV_LOG_WARNING, app, "%s: log directory stays: %m", app);
    }
}

/* nmPrivate/<app> on each directory. Its containers are over and on record; what can still be in it
 * is the directory of a launch that a killed daemon had begun and its successor made on another
 * disk. */
static void remove_private_dirs(struct nm_deletion *d, const struct exe_delete_what *w)
{
    char app[YARN_ID_TEXT_MAX];

    yarn_app_id_text(w->app, app);
    for (int i = 0; i < nm_dirs_n_local(d->nm->dirs); i++) {
        _cleanup_close_ int fd =
            open(nm_dirs_local(d->nm->dirs, i), O_PATH | O_DIRECTORY | O_CLOEXEC);
        _cleanup_close_ int private =
            fd < 0 ? -1 : openat(fd, "nmPrivate", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        int r = private < 0 ? 0 : sv_remove_tree_at(private, app);

        if (r < 0)
            sv_log(SV_LOG_WARNING, app, "%s/nmPrivate/%s stays: %s", nm_dirs_local(d->nm->dirs, i),
                   app, strerror(-r));
    }
}

static void on_deleted(const struct exe_failure *f, void *userdata)
{
    struct task *t = userdata;
    struct nm_deletion *d = t->d;

    d->n_running--;
    t->running = false;
    if (!f) {
        if (t->what.what == EXE_DELETE_APP_LOGS)
            remove_empty_log_dirs(d, &t->what);
        if (t->what.what == EXE_DELETE_APP)
            remove_private_dirs(d, &t->what);
        forget(t);
    } else if (++t->attempts >= ATTEMPTS) {
        sv_log_err("deletion given up: %s", f->text);
        forget(t);
    } else {
        sv_log_warning("deletion is tried again: %s", f->text);
        t->at_ms = sv_wall_ms() + RETRY_MS;
    }
    pump(d);
}

/* Where it deletes: one that is the beginning of another one's holds it. */
static void tree(const struct task *t, char *buf, size_t size)
{
    const struct exe_delete_what *w = &t->what;
    char app[YARN_ID_TEXT_MAX], container[YARN_ID_TEXT_MAX];

    yarn_app_id_text(w->app, app);
    yarn_container_id_text(w->container, container);
    switch (w->what) {
    case EXE_DELETE_CONTAINER:
        (void)snprintf(buf, size, "user/%s/%s/%s/", t->user, app, container);
        return;
    case EXE_DELETE_CONTAINER_LOGS:
        (void)snprintf(buf, size, "logs/%s/%s/", app, container);
        return;
    case EXE_DELETE_APP:
        (void)snprintf(buf, size, "user/%s/%s/", t->user, app);
        return;
    case EXE_DELETE_APP_LOGS:
        (void)snprintf(buf, size, "logs/%s/", app);
        return;
    case EXE_DELETE_USER:
        (void)snprintf(buf, size, "user/%s/", t->user);
        return;
    case EXE_DELETE_RESOURCE:
        if (w->visibility == EXE_VISIBILITY_PUBLIC)
            (void)snprintf(buf, size, "public/%" PRIu64 "/", w->resource_id);
        else
            (void)snprintf(buf, size, "user/%s/%s/%" PRIu64 "/", t->user,
                           w->visibility == EXE_VISIBILITY_APPLICATION ? app : "filecache",
                           w->resource_id);
        return;
    case EXE_DELETE_PUBLIC:
        (void)snprintf(buf, size, "public/");
        return;
    }
}

/* Two helpers at one tree take each other's files away: each finds then that its directory is
 * refilled, or gone, and calls that a failure. */
static bool is_held_up(const struct task *t)
{
    char own[512], other[512];
    const struct task *o;

    tree(t, own, sizeof(own));
    DL_FOREACH (t->d->tasks, o) {
        if (!o->running)
            continue;
        tree(o, other, sizeof(other));
        if (!strncmp(own, other, SV_MIN(strlen(own), strlen(other))))
            return true;
    }
    return false;
}

static void run_task(struct task *t)
{
    struct nm_deletion *d = t->d;
    int r;

    t->what.user = *t->user ? t->user : NULL;
    t->running = true;
    d->n_running++;
    r = exe_delete(d->nm->exe, &t->what, on_deleted, t);
    if (r < 0) {
        struct exe_failure f = { .error = -r };

        snprintf(f.text, sizeof(f.text), "container-executor: %s", strerror(-r));
        on_deleted(&f, t);
    }
}

static void pump(struct nm_deletion *d)
{
    int64_t now = sv_wall_ms(), next = -1;
    struct task *t, *tmp;

    DL_FOREACH_SAFE (d->tasks, t, tmp) {
        if (t->running)
            continue;
        if (t->at_ms > now) {
            next = next < 0 ? t->at_ms : SV_MIN(next, t->at_ms);
            continue;
        }
        if (d->n_running >= PARALLEL)
            return; /* on_deleted comes back here */
        if (d->n_running > 0 && is_held_up(t))
            continue; /* the same */
        run_task(t);
        if (d->n_running == 0)
            return; /* it failed at once and has pumped by itself */
    }
    if (next < 0)
        return;
    (void)sd_event_source_set_time_relative(d->timer, (uint64_t)(next - now) * 1000);
    (void)sd_event_source_set_enabled(d->timer, SD_EVENT_ONESHOT); /* ours, ignoring */
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    (void)s;
    (void)usec;
    pump(userdata);
    return 0;
}

/* Deletion waits until the machines are through with what they do now. */
static void wake(struct nm_deletion *d)
{
    (void)sd_event_source_set_time_relative(d->timer, 0);
    (void)sd_event_source_set_enabled(d->timer, SD_EVENT_ONESHOT); /* ours, ignoring */
}

static void add(struct nm_deletion *d, const struct exe_delete_what *what, const char *user,
                int64_t delay_ms)
{
    struct task *t;
    char text[256];

    if (delay_ms < 0)
        return;
    t = calloc(1, sizeof(*t));
    if (!t) {
        sv_log_err("out of memory: something stays undeleted");
        return;
    }
    t->d = d;
    t->id = d->next_id++;
    t->at_ms = sv_wall_ms() + delay_ms;
    t->what = *what;
    snprintf(t->user, sizeof(t->user), "%s", user ? user : "");
    if (task_text(t, text, sizeof(text)) < 0 ||
        nm_store_deletion(d->nm->store, t->id, t->at_ms, text) < 0)
        sv_log_err("a deletion is not on record");
    DL_APPEND(d->tasks, t);
    d->n_tasks++;
    wake(d);
}

void nm_deletion_container(struct nm_container *c)
{
    struct nm *nm = c->nm;
    struct exe_delete_what w = {
        .what = EXE_DELETE_CONTAINER,
        .app = c->id.attempt.app,
        .container = c->id,
        .local_mask = nm_dirs_local_mask(nm->dirs),
    };

    if (c->app && (c->pid || c->launch_ms)) /* else there is none */
        add(nm->deletion, &w, c->app->run_as, nm->conf.delete_debug_delay_ms);
}

void nm_deletion_app(struct nm_app *a)
{
    struct exe_delete_what w = {
        .what = EXE_DELETE_APP,
        .app = a->id,
        .local_mask = nm_dirs_local_mask(a->nm->dirs),
    };

    if (!a->init_error)
        add(a->nm->deletion, &w, a->run_as, a->nm->conf.delete_debug_delay_ms);
}

void nm_deletion_left_app(struct nm *nm, struct yarn_app_id app, const char *user)
{
    struct exe_delete_what w = {
        .what = EXE_DELETE_APP,
        .app = app,
        .local_mask = nm_dirs_local_mask(nm->dirs),
    };
    const struct task *t;

    DL_FOREACH (nm->deletion->tasks, t)
        if (t->what.what == EXE_DELETE_APP && yarn_app_id_cmp(t->what.app, app) == 0 &&
            !strcmp(t->user, user))
            return; /* known, perhaps kept for debugging */
    add(nm->deletion, &w, user, 0);
}

void nm_deletion_app_logs(struct nm *nm, struct yarn_app_id app, const char *user)
{
    struct exe_delete_what w = {
        .what = EXE_DELETE_APP_LOGS,
        .app = app,
        .log_mask = nm_dirs_log_mask(nm->dirs),
    };

    add(nm->deletion, &w, user, 0);
}

void nm_deletion_user(struct nm *nm, const char *user)
{
    struct exe_delete_what w = {
        .what = user ? EXE_DELETE_USER : EXE_DELETE_PUBLIC,
        .local_mask = nm_dirs_local_mask(nm->dirs),
    };

    add(nm->deletion, &w, user, 0);
}

void nm_deletion_resource(struct nm *nm, const struct exe_delete_what *what)
{
    add(nm->deletion, what, what->user, 0);
}

bool nm_deletion_busy(const struct nm_deletion *d)
{
    int64_t now = sv_wall_ms();
    const struct task *t;

    DL_FOREACH (d->tasks, t)
        if (t->running || t->at_ms <= now)
            return true;
    return false;
}

int nm_deletion_new(struct nm *nm, struct nm_deletion **ret, struct sv_error *err)
{
    struct nm_deletion *d = calloc(1, sizeof(*d));
    int r;

    if (!d)
        return sv_error_errno(err, -ENOMEM, "deletion service");
    d->nm = nm;
    d->next_id = 1;
    r = sd_event_add_time_relative(nm->event, &d->timer, CLOCK_BOOTTIME, 0, 1000, on_timer, d);
    if (r >= 0)
        r = sd_event_source_set_enabled(d->timer, SD_EVENT_OFF);
    if (r >= 0) /* after everything that starts or ends containers */
        r = sd_event_source_set_priority(d->timer, SD_EVENT_PRIORITY_NORMAL + 20);
    if (r < 0) {
        nm_deletion_free(d);
        return sv_error_errno(err, r, "deletion service");
    }
    *ret = d;
    return 0;
}

struct nm_deletion *nm_deletion_free(struct nm_deletion *d)
{
    struct task *t, *tmp;

    if (!d)
        return NULL;
    sd_event_source_disable_unref(d->timer);
    DL_FOREACH_SAFE (d->tasks, t, tmp) {
        DL_DELETE(d->tasks, t);
        free(t);
    }
    free(d);
    return NULL;
}

static int recover_one(int64_t id, int64_t at_ms, const char *text, void *userdata)
{
    struct nm_deletion *d = userdata;
    struct task *t = calloc(1, sizeof(*t));

    if (!t)
        return -ENOMEM;
    if (task_parse(t, text) < 0) {
        sv_log_err("state store: deletion %lld is malformed, ignoring", (long long)id);
        free(t);
        return 0;
    }
    t->d = d;
    t->id = id;
    t->at_ms = at_ms;
    d->next_id = SV_MAX(d->next_id, id + 1);
    DL_APPEND(d->tasks, t);
    d->n_tasks++;
    return 0;
}

void nm_deletion_each(const struct nm_deletion *d,
                      void (*fn)(const struct exe_delete_what *what, void *userdata),
                      void *userdata)
{
    struct task *t;

    DL_FOREACH (d->tasks, t) {
        t->what.user = *t->user ? t->user : NULL;
        fn(&t->what, userdata);
    }
}

int nm_deletion_recover(struct nm_deletion *d)
{
    int r = nm_store_each_deletion(d->nm->store, recover_one, d);

    if (r >= 0 && d->tasks)
        wake(d);
    return r;
}
