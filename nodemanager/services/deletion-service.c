/* See deletion-service.h. A task is one line of text in the store:
 * "<what> <account or -> <cluster_ts> <app> <attempt> <container> <visibility> <resource> <its
 * directory's number> <local mask> <log mask> <submitter or ->"; it is parsed strictly when read
 * back. */
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
#include "common/loop-guard.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/services/deletion-own-dirs.h"
#include "nodemanager/store/state-store.h"

#define PARALLEL 4 /* yarn.nodemanager.delete.thread-count */
#define ATTEMPTS 3 /* after that an error is logged and shown by REST, and the deletion is kept */
#define RETRY_MS 10000
#define RETRY_LATER_MS 600000 /* after ATTEMPTS */
#define GATHER_MS 100         /* time a container's directory waits for others in its batch */

struct deletion {
    struct deletion *prev, *next;
    struct nm_deletion *d;
    int64_t id;
    int64_t at_ms; /* wall clock: survives restarts */
    struct exe_delete_what what;
    char user[EXE_USER_MAX + 1], submitter[EXE_SUBMITTER_MAX + 1];
    int attempts;
    bool running;
};

/* One request to the helper: a task, or containers of one attempt. */
struct batch {
    struct batch *prev, *next;
    struct nm_deletion *d;
    size_t n;
    struct deletion *tasks[1 + EXE_MORE_MAX]; /* containers ascend */
    int64_t more[EXE_MORE_MAX];
};

struct nm_deletion {
    struct nm_context *ctx;
    struct deletion *tasks;    /* in order of time, mostly */
    struct batch *running;     /* utlist */
    size_t n_tasks, n_running; /* batches */
    int64_t next_id;
    sd_event_source *timer;
    int64_t timer_ms; /* expiry, CLOCK_BOOTTIME; -1 = off */
};

static void run_due(struct nm_deletion *d);

static int task_text(const struct deletion *t, char *buf, size_t size)
{
    const struct exe_delete_what *w = &t->what;
    int n =
        snprintf(buf, size, "%d %s %" PRId64 " %d %d %" PRId64 " %d %" PRIu64 " %u %u %u %s",
                 (int)w->what, *t->user ? t->user : "-", w->app.cluster_ts, w->app.id,
                 w->container.attempt.attempt, w->container.id, (int)w->visibility, w->resource_id,
                 w->resource_dir, w->local_mask, w->log_mask, *t->submitter ? t->submitter : "-");

    return n < 0 || (size_t)n >= size ? -EMSGSIZE : 0;
}

static int task_parse(struct deletion *t, const char *text)
{
    int what, app, attempt, visibility, end = -1;
    struct exe_delete_what *w = &t->what;

    if (sscanf(text, "%d %64s %" SCNd64 " %d %d %" SCNd64 " %d %" SCNu64 " %u %u %u %255s%n", &what,
               t->user, &w->app.cluster_ts, &app, &attempt, &w->container.id, &visibility,
               &w->resource_id, &w->resource_dir, &w->local_mask, &w->log_mask, t->submitter,
               &end) != 12 ||
        end < 0 || text[end] || what < EXE_DELETE_CONTAINER || what > EXE_DELETE_PUBLIC)
        return -EBADMSG;
    w->what = (enum exe_delete)what;
    w->app.id = app;
    w->container.attempt.app = w->app;
    w->container.attempt.attempt = attempt;
    w->visibility = (enum exe_visibility)visibility;
    if (!strcmp(t->user, "-"))
        t->user[0] = 0;
    if (!strcmp(t->submitter, "-"))
        t->submitter[0] = 0;
    return 0;
}

static void remove_task(struct deletion *t)
{
    struct nm_deletion *d = t->d;
    int r = nm_store_deletion_remove(d->ctx->store, t->id);

    if (r < 0)
        sv_log_err("cannot remove deletion %lld from state store: %s", (long long)t->id,
                   strerror(-r));
    if (t->attempts >= ATTEMPTS)
        d->ctx->stuck_deletions--;
    DL_DELETE(d->tasks, t);
    d->n_tasks--;
    free(t);
}

static void end_task(struct deletion *t, const struct exe_failure *f)
{
    struct nm_deletion *d = t->d;

    t->running = false;
    if (!f) {
        t->what.submitter = t->submitter;
        nm_deletion_own_dirs(d->ctx, &t->what);
        remove_task(t);
    } else if (++t->attempts >= ATTEMPTS) {
        if (t->attempts == ATTEMPTS) {
            sv_log_err("deletion fails, and is tried every 10 minutes from now on: %s", f->text);
            d->ctx->stuck_deletions++;
        }
        t->at_ms = sv_wall_ms() + RETRY_LATER_MS;
    } else {
        sv_log_warning("deletion is retried: %s", f->text);
        t->at_ms = sv_wall_ms() + RETRY_MS;
    }
}

static void on_deleted(const struct exe_failure *f, void *userdata)
{
    struct batch *b = userdata;
    struct nm_deletion *d = b->d;

    DL_DELETE(d->running, b);
    d->n_running--;
    for (size_t i = 0; i < b->n; i++)
        end_task(b->tasks[i], f);
    free(b);
    run_due(d);
}

/* The path of the tree to delete; a tree contains every tree of which it is a prefix. */
static void tree_of(const struct deletion *t, char *buf, size_t size)
{
    const struct exe_delete_what *w = &t->what;
    char app[YARN_ID_TEXT_MAX], container[YARN_ID_TEXT_MAX];

    yarn_app_id_text(w->app, app);
    yarn_container_id_text(w->container, container);
    switch (w->what) {
    case EXE_DELETE_CONTAINER:
        (void)snprintf(buf, size, "user/%s/%s/%s/", t->submitter, app, container);
        return;
    case EXE_DELETE_CONTAINER_LOGS:
        (void)snprintf(buf, size, "logs/%s/%s/", app, container);
        return;
    case EXE_DELETE_APP:
        (void)snprintf(buf, size, "user/%s/%s/", t->submitter, app);
        return;
    case EXE_DELETE_APP_LOGS:
        (void)snprintf(buf, size, "logs/%s/", app);
        return;
    case EXE_DELETE_USER:
        (void)snprintf(buf, size, "user/%s/", t->submitter);
        return;
    case EXE_DELETE_RESOURCE:
        if (w->visibility == EXE_VISIBILITY_PUBLIC)
            (void)snprintf(buf, size, "public/%" PRIu64 "/", w->resource_id);
        else
            (void)snprintf(buf, size, "user/%s/%s/%" PRIu64 "/", t->submitter,
                           w->visibility == EXE_VISIBILITY_APPLICATION ? app : "filecache",
                           w->resource_id);
        return;
    case EXE_DELETE_PUBLIC:
        (void)snprintf(buf, size, "public/");
        return;
    }
}

static bool has_container(const struct batch *b, struct yarn_container_id id)
{
    for (size_t i = 0; i < b->n; i++)
        if (yarn_container_id_cmp(b->tasks[i]->what.container, id) == 0)
            return true;
    return false;
}

static bool container_runs(const struct deletion *t)
{
    const struct batch *b;

    DL_FOREACH (t->d->running, b)
        if (b->tasks[0]->what.what == t->what.what && has_container(b, t->what.container))
            return true;
    return false;
}

/* Two helpers that delete in one tree remove each other's files: each finds its directory changed,
 * or missing, and reports a failure. Other trees overlap with those of all containers of a batch or
 * none. */
static bool overlaps_running(const struct deletion *t)
{
    char own[512], other[512];
    const struct batch *b;

    tree_of(t, own, sizeof(own));
    DL_FOREACH (t->d->running, b) {
        if (b->n > 1 && t->what.what == EXE_DELETE_CONTAINER) {
            if (has_container(b, t->what.container))
                return true;
            continue;
        }
        tree_of(b->tasks[0], other, sizeof(other));
        if (!strncmp(own, other, SV_MIN(strlen(own), strlen(other))))
            return true;
    }
    return false;
}

/* One helper deletes the directories of containers that end together: each alone costs as much as
 * half a launch. A failed one is retried alone, so that the error names it. */
static bool can_gather(const struct deletion *t)
{
    return t->what.what == EXE_DELETE_CONTAINER && t->attempts == 0;
}

static bool belongs(const struct deletion *t, const struct deletion *first)
{
    const struct yarn_container_id a = t->what.container, b = first->what.container;

    return can_gather(t) && yarn_app_id_cmp(a.attempt.app, b.attempt.app) == 0 &&
           a.attempt.attempt == b.attempt.attempt && a.id >> 40 == b.id >> 40 && a.id != b.id &&
           llabs(a.id - b.id) < UINT32_MAX / 2 && t->what.local_mask == first->what.local_mask &&
           !strcmp(t->user, first->user);
}

static int by_container(const void *a, const void *b)
{
    const struct deletion *const *x = a, *const *y = b;

    return yarn_container_id_cmp((*x)->what.container, (*y)->what.container);
}

/* Adds those after `first` that can share its request. */
static void gather(struct batch *b, struct deletion *first, int64_t now)
{
    struct deletion *t;

    b->tasks[b->n++] = first;
    if (!can_gather(first))
        return;
    for (t = first->next; t && b->n < SV_ARRAY_LEN(b->tasks); t = t->next)
        if (!t->running && t->at_ms <= now && belongs(t, first) &&
            !has_container(b, t->what.container) && !container_runs(t))
            b->tasks[b->n++] = t;
    qsort(b->tasks, b->n, sizeof(b->tasks[0]), by_container);
    for (size_t i = 1; i < b->n; i++)
        b->more[i - 1] = b->tasks[i]->what.container.id;
}

/* Negative: on_deleted was called, or (-ENOMEM) the task waits. */
static int run_batch(struct deletion *first, int64_t now)
{
    struct nm_deletion *d = first->d;
    struct batch *b = calloc(1, sizeof(*b));
    struct exe_delete_what what;
    int r;

    if (!b) {
        first->at_ms = now + RETRY_MS;
        return -ENOMEM;
    }
    b->d = d;
    gather(b, first, now);
    for (size_t i = 0; i < b->n; i++)
        b->tasks[i]->running = true;
    DL_APPEND(d->running, b);
    d->n_running++;
    what = b->tasks[0]->what;
    what.user = *first->user ? first->user : NULL;
    what.submitter = *first->submitter ? first->submitter : NULL;
    what.more = b->more;
    what.n_more = b->n - 1;
    r = exe_delete(d->ctx->exe, &what, on_deleted, b);
    if (r < 0) {
        struct exe_failure f = { .error = -r };

        snprintf(f.text, sizeof(f.text), "container-executor: %s", strerror(-r));
        on_deleted(&f, b);
        return -EIO;
    }
    return 0;
}

static bool is_cache(const struct deletion *t)
{
    return t->what.what == EXE_DELETE_USER || t->what.what == EXE_DELETE_PUBLIC;
}

/* An attempt that failed comes again when the node works: the application that has begun meanwhile
 * keeps its files. */
static bool in_use(const struct deletion *t)
{
    if (!is_cache(t))
        return false;
    for (const struct nm_app *a = t->d->ctx->apps; a; a = a->hh.next)
        if (t->what.what == EXE_DELETE_PUBLIC || !strcmp(a->user, t->submitter))
            return true;
    return false;
}

static int64_t due_ms(const struct deletion *t)
{
    return t->at_ms + (can_gather(t) ? GATHER_MS : 0);
}

static void arm(struct nm_deletion *d, int64_t at_ms)
{
    const int64_t left = SV_MAX(at_ms - sv_wall_ms(), 0), due = sv_now_ms() + left;

    if (d->timer_ms >= 0 && d->timer_ms <= due)
        return;
    d->timer_ms = due;
    (void)sd_event_source_set_time_relative(d->timer, (uint64_t)left * 1000);
    (void)sd_event_source_set_enabled(d->timer, SD_EVENT_ONESHOT); /* ours, ignoring */
}

static void run_due(struct nm_deletion *d)
{
    int64_t now = sv_wall_ms(), next = -1;
    struct deletion *t, *tmp;

    DL_FOREACH_SAFE (d->tasks, t, tmp) {
        int r;

        if (t->running)
            continue;
        if (due_ms(t) <= now) {
            if (d->n_running >= PARALLEL)
                return; /* on_deleted calls again */
            if (in_use(t)) {
                t->at_ms = now + RETRY_LATER_MS;
                next = next < 0 ? due_ms(t) : SV_MIN(next, due_ms(t));
                continue;
            }
            if (d->n_running > 0 && overlaps_running(t))
                continue; /* as above */
            r = run_batch(t, now);
            if (r < 0 && r != -ENOMEM)
                return; /* on_deleted has continued */
            if (r >= 0)
                continue;
        }
        next = next < 0 ? due_ms(t) : SV_MIN(next, due_ms(t));
    }
    if (next >= 0)
        arm(d, next);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_deletion *d = userdata;

    (void)s;
    (void)usec;
    d->timer_ms = -1;
    run_due(d);
    return 0;
}

static void add(struct nm_deletion *d, const struct exe_delete_what *what, int64_t delay_ms)
{
    struct deletion *t;
    char text[512];
    int r;

    if (delay_ms < 0)
        return;
    t = calloc(1, sizeof(*t));
    if (!t) {
        sv_log_err("deletion service: out of memory: a directory is not deleted");
        return;
    }
    t->d = d;
    t->id = d->next_id++;
    t->at_ms = sv_wall_ms() + delay_ms;
    t->what = *what;
    snprintf(t->user, sizeof(t->user), "%s", what->user ? what->user : "");
    snprintf(t->submitter, sizeof(t->submitter), "%s", what->submitter ? what->submitter : "");
    r = task_text(t, text, sizeof(text));
    if (r >= 0)
        r = nm_store_deletion(d->ctx->store, t->id, t->at_ms, text);
    if (r < 0)
        sv_log_err("cannot record deletion %lld in state store: %s", (long long)t->id,
                   strerror(-r));
    DL_APPEND(d->tasks, t);
    d->n_tasks++;
    arm(d, due_ms(t)); /* not immediately: the state machines handle their events first */
}

void nm_deletion_container(struct nm_deletion *d, struct nm_container *c)
{
    struct exe_delete_what w = {
        .what = EXE_DELETE_CONTAINER,
        .app = c->id.attempt.app,
        .container = c->id,
        .local_mask = nm_dirs_local_mask(d->ctx->dirs),
    };

    if (!c->app || (!c->launch.pid && !c->launch_ms)) /* it has no directory */
        return;
    w.user = c->app->run_as;
    w.submitter = c->app->user;
    add(d, &w, d->ctx->conf->delete_debug_delay_ms);
}

void nm_deletion_app(struct nm_deletion *d, struct nm_app *a)
{
    struct exe_delete_what w = {
        .what = EXE_DELETE_APP,
        .user = a->run_as,
        .submitter = a->user,
        .app = a->id,
        .local_mask = nm_dirs_local_mask(d->ctx->dirs),
    };

    if (!a->init_error)
        add(d, &w, d->ctx->conf->delete_debug_delay_ms);
}

static bool is_pending(const struct nm_deletion *d, const struct exe_delete_what *w)
{
    const struct deletion *t;

    DL_FOREACH (d->tasks, t)
        if (t->what.what == w->what && yarn_app_id_cmp(t->what.app, w->app) == 0 &&
            !strcmp(t->submitter, w->submitter ? w->submitter : ""))
            return true;
    return false;
}

void nm_deletion_left_app(struct nm_deletion *d, struct yarn_app_id app, const char *user,
                          const char *submitter)
{
    struct exe_delete_what w = {
        .what = EXE_DELETE_APP,
        .user = user,
        .submitter = submitter,
        .app = app,
        .local_mask = nm_dirs_local_mask(d->ctx->dirs),
    };

    if (!is_pending(d, &w)) /* perhaps delayed for debugging */
        add(d, &w, 0);
}

void nm_deletion_app_logs(struct nm_deletion *d, struct yarn_app_id app, const char *user)
{
    struct exe_delete_what w = {
        .what = EXE_DELETE_APP_LOGS,
        .user = user,
        .app = app,
        .log_mask = nm_dirs_log_mask(d->ctx->dirs),
    };

    add(d, &w, d->ctx->conf->delete_debug_delay_ms);
}

bool nm_deletion_has_app_logs(const struct nm_deletion *d, struct yarn_app_id app)
{
    return is_pending(d, &(struct exe_delete_what){ .what = EXE_DELETE_APP_LOGS, .app = app });
}

void nm_deletion_user(struct nm_deletion *d, const char *user, const char *submitter)
{
    struct exe_delete_what w = {
        .what = user ? EXE_DELETE_USER : EXE_DELETE_PUBLIC,
        .user = user,
        .submitter = submitter,
        .local_mask = nm_dirs_local_mask(d->ctx->dirs),
    };

    if (!is_pending(d, &w)) /* one for all disks */
        add(d, &w, 0);
}

void nm_deletion_resource(struct nm_deletion *d, const struct exe_delete_what *what)
{
    add(d, what, 0);
}

bool nm_deletion_busy(const struct nm_deletion *d)
{
    int64_t now = sv_wall_ms();
    const struct deletion *t;

    DL_FOREACH (d->tasks, t)
        if (t->running || t->at_ms <= now)
            return true;
    return false;
}

bool nm_deletion_clears(const struct nm_deletion *d)
{
    const struct deletion *t;

    DL_FOREACH (d->tasks, t)
        if (is_cache(t) && t->attempts < ATTEMPTS)
            return true;
    return false;
}

int nm_deletion_new(struct nm_context *ctx, struct nm_deletion **ret, struct sv_error *err)
{
    struct nm_deletion *d = calloc(1, sizeof(*d));
    int r;

    if (!d)
        return sv_error_errno(err, -ENOMEM, "deletion service");
    d->ctx = ctx;
    d->next_id = 1;
    d->timer_ms = -1;
    r = sd_event_add_time_relative(ctx->event, &d->timer, CLOCK_BOOTTIME, 0, 1000, on_timer, d);
    if (r >= 0)
        r = sd_event_source_set_enabled(d->timer, SD_EVENT_OFF);
    if (r >= 0) /* after all events that start or end containers */
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
    struct batch *b, *next;
    struct deletion *t, *tmp;

    if (!d)
        return NULL;
    sd_event_source_disable_unref(d->timer);
    DL_FOREACH_SAFE (d->running, b, next) {
        DL_DELETE(d->running, b);
        free(b);
    }
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
    struct deletion *t = calloc(1, sizeof(*t));

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
    struct deletion *t;

    DL_FOREACH (d->tasks, t) {
        t->what.user = *t->user ? t->user : NULL;
        t->what.submitter = *t->submitter ? t->submitter : NULL;
        fn(&t->what, userdata);
    }
}

int nm_deletion_recover(struct nm_deletion *d)
{
    int r = nm_store_each_deletion(d->ctx->store, recover_one, d);

    if (r >= 0 && d->tasks)
        arm(d, 0);
    return r;
}
