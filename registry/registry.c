/* See registry.h. Entries that have something to do are a list, in order; at most WINDOW of them
 * are open requests. The removal of a tree runs alone. */
#include "registry/registry.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/loop-guard.h"

#define WINDOW 64

enum work { NOTHING, PUT, REMOVE, REMOVE_TREE };

struct entry {
    enum work wanted, running;
    char *text; /* to put */
    size_t len;
    bool there; /* as far as is known: it may be */
    bool queued;
    bool forgotten; /* a tree that it is in is removed; until its request ends */
    struct reg_registry *owner;
    struct entry *prev, *next;
    UT_hash_handle hh;
    char path[];
};
struct sweep {
    struct reg_registry *owner;
    char *folder; /* NULL: none is wanted */
    bool running;
};
struct reg_registry {
    struct reg_config cfg;
    struct reg_backend *backend;
    struct entry *table, *queue;
    struct sweep sweep;
    sd_event_source *turn, *timer;
    size_t n, n_queued, n_running;
    int64_t wait_ms; /* until the next attempt, while away */
    int64_t away_since_ms;
    bool away, due; /* due: while away, one request may find out whether it is back */
    bool timer_runs;
    bool alone;   /* a tree is being removed */
    bool refused; /* a refusal was told */
    struct reg_counts counts;
};

/* ---- Entries ---- */

static struct entry *find(const struct reg_registry *r, const char *path)
{
    struct entry *e;

    HASH_FIND_STR(r->table, path, e);
    return e;
}

static struct entry *add(struct reg_registry *r, const char *path)
{
    struct entry *e = find(r, path);
    size_t n = strlen(path);

    if (e)
        return e;
    e = r->n < REG_ENTRIES_MAX ? calloc(1, sizeof(*e) + n + 1) : NULL;
    if (!e)
        return NULL;
    memcpy(e->path, path, n + 1);
    e->owner = r;
    HASH_ADD_STR(r->table, path, e);
    r->n++;
    return e;
}

static void drop(struct reg_registry *r, struct entry *e)
{
    if (e->queued) {
        DL_DELETE(r->queue, e);
        r->n_queued--;
    }
    HASH_DEL(r->table, e);
    r->n--;
    free(e->text);
    free(e);
}

/* True if nothing is to be remembered of it. */
static bool is_over(const struct entry *e)
{
    return !e->there && e->wanted == NOTHING && e->running == NOTHING;
}

static void wake(struct reg_registry *r)
{
    (void)sd_event_source_set_enabled(r->turn, SD_EVENT_ONESHOT); /* exists, ignoring */
}

static void want(struct reg_registry *r, struct entry *e, enum work work)
{
    e->wanted = work;
    if (e->queued || e->running != NOTHING)
        return; /* its turn comes, or the end of its request looks at it */
    DL_APPEND(r->queue, e);
    e->queued = true;
    r->n_queued++;
    wake(r);
}

/* ---- Away and back ---- */

static void say(struct reg_registry *r, enum reg_news news, const char *fmt, ...) _printf_(3, 4);
static void say(struct reg_registry *r, enum reg_news news, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    int n = snprintf(text, sizeof(text), "registry in %.255s: ", r->backend->where);

    va_start(args, fmt);
    (void)vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, args);
    va_end(args);
    if (r->cfg.say)
        r->cfg.say(news, text, r->cfg.userdata);
}

/* Requests that were open together fail together: the interval grows once for all. */
static void go_away(struct reg_registry *r, const char *why)
{
    if (r->away && r->timer_runs)
        return;
    if (!r->away) {
        say(r, REG_AWAY, "%s; records are written when it is back", why);
        r->away_since_ms = sv_now_ms();
    }
    r->wait_ms = r->away ? SV_MIN(2 * r->wait_ms, r->cfg.retry_max_ms) : r->cfg.retry_min_ms;
    r->away = true;
    r->timer_runs = true;
    (void)sd_event_source_set_time_relative(r->timer, (uint64_t)r->wait_ms * 1000);
    (void)sd_event_source_set_enabled(r->timer, SD_EVENT_ONESHOT); /* exists, ignoring */
}

static void come_back(struct reg_registry *r)
{
    if (!r->away)
        return;
    say(r, REG_BACK, "back after %lld s, %zu records wait",
        (long long)(sv_now_ms() - r->away_since_ms) / 1000, r->n_queued);
    r->away = r->timer_runs = false;
    (void)sd_event_source_set_enabled(r->timer, SD_EVENT_OFF); /* exists, ignoring */
}

static int on_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct reg_registry *r = userdata;

    (void)s;
    (void)usec;
    r->timer_runs = false;
    r->due = true;
    wake(r);
    return 0;
}

static void on_ready(void *userdata)
{
    struct reg_registry *r = userdata;

    r->wait_ms = r->cfg.retry_min_ms;
    r->due = true;
    wake(r);
}

/* ---- Requests ---- */

static bool never(int status)
{
    return status == -EACCES || status == -EINVAL || status == -E2BIG || status == -ENOTDIR ||
           status == -ENAMETOOLONG;
}

static void count(struct reg_registry *r, enum work work, int status)
{
    if (status < 0)
        r->counts.failed++;
    else if (work == PUT)
        r->counts.written++;
    else
        r->counts.removed++;
}

static void refuse(struct reg_registry *r, const struct entry *e, const char *why)
{
    if (!r->refused)
        say(r, REG_REFUSED, "%s: %s: not published; others alike are not told", e->path, why);
    r->refused = true;
}

/* The work of a request that failed is wanted again, unless newer work is. */
static void judge(struct reg_registry *r, struct entry *e, enum work work, int status,
                  const char *why)
{
    if (status < 0 && !never(status)) {
        if (e->wanted == NOTHING && !e->forgotten)
            e->wanted = work;
        go_away(r, why);
        return;
    }
    come_back(r);
    if (status < 0)
        refuse(r, e, why);
    else
        e->there = work == PUT;
}

static void finish(struct entry *e, int status, const char *why)
{
    struct reg_registry *r = e->owner;
    enum work work = e->running;

    e->running = NOTHING;
    r->n_running--;
    r->alone = false;
    if (work != PUT && status == -ENOTEMPTY)
        status = 0; /* what others have put below it stays */
    count(r, work, status);
    judge(r, e, work, status, why);
    if (e->forgotten || (e->wanted == REMOVE && !e->there))
        e->wanted = NOTHING;
    if (e->wanted != PUT)
        free(SV_TAKE(e->text));
    if (e->wanted != NOTHING)
        want(r, e, e->wanted);
    else if (e->forgotten || is_over(e))
        drop(r, e);
    wake(r);
}

static void on_done(int status, const char *why, void *userdata)
{
    finish(userdata, status, why);
}

static int request(struct reg_registry *r, struct entry *e)
{
    const struct reg_backend_ops *ops = r->backend->ops;

    switch (e->running) {
    case PUT:
        return ops->put(r->backend, e->path, e->text, e->len, on_done, e);
    case REMOVE:
        return ops->remove(r->backend, e->path, on_done, e);
    default:
        return ops->remove_tree(r->backend, e->path, on_done, e);
    }
}

/* A put that was sent may have been done, whatever becomes of it. */
static int begin(struct reg_registry *r, struct entry *e)
{
    int status;

    DL_DELETE(r->queue, e);
    r->n_queued--;
    e->queued = false;
    e->running = e->wanted;
    e->wanted = NOTHING;
    r->n_running++;
    r->due = false;
    r->alone = e->running == REMOVE_TREE;
    status = request(r, e);
    if (status == 0 && e->running == PUT)
        e->there = true;
    return status;
}

/* ---- Sweeping ---- */

static void on_listed(int status, char *const *names, size_t n, const char *why, void *userdata)
{
    struct sweep *s = userdata;
    struct reg_registry *r = s->owner;
    char path[1024];

    s->running = false;
    r->n_running--;
    if (status < 0 && !never(status)) {
        go_away(r, why);
        return;
    }
    come_back(r);
    for (size_t i = 0; status == 0 && s->folder && i < n; i++) {
        int len = snprintf(path, sizeof(path), "%s/%s", s->folder, names[i]);
        struct entry *e;

        if (len < 0 || (size_t)len >= sizeof(path) || find(r, path) || !(e = add(r, path)))
            continue;
        e->there = true;
        want(r, e, REMOVE_TREE);
    }
    free(SV_TAKE(s->folder));
    wake(r);
}

static void begin_sweep(struct reg_registry *r)
{
    int status;

    r->due = false;
    r->sweep.running = true;
    r->n_running++;
    status = r->backend->ops->list(r->backend, r->sweep.folder, on_listed, &r->sweep);
    if (status < 0)
        on_listed(status, NULL, 0, strerror(-status), &r->sweep);
}

/* ---- Turns ---- */

/* While it is away one request at a time finds out whether it is back. */
static bool may_ask(const struct reg_registry *r)
{
    return !r->alone && (!r->away || (r->due && r->n_running == 0));
}

static bool may_begin(const struct reg_registry *r)
{
    return r->queue && r->n_running < WINDOW && may_ask(r) &&
           (r->queue->wanted != REMOVE_TREE || r->n_running == 0);
}

static int on_turn(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct reg_registry *r = userdata;

    (void)s;
    while (may_begin(r)) {
        struct entry *e = r->queue;
        int status = begin(r, e);

        if (status < 0)
            finish(e, status, strerror(-status));
    }
    if (r->sweep.folder && !r->sweep.running && !r->queue && r->n_running == 0 && may_ask(r))
        begin_sweep(r);
    if (reg_idle(r) && r->cfg.idle)
        r->cfg.idle(r->cfg.userdata);
    return 0;
}

bool reg_idle(const struct reg_registry *r)
{
    return r->away || (!r->queue && r->n_running == 0 && !r->sweep.folder);
}

struct reg_counts reg_counts(const struct reg_registry *r)
{
    struct reg_counts c = r->counts;

    c.known = r->n;
    c.waiting = r->n_queued + r->n_running;
    c.away = r->away;
    return c;
}

/* ---- Requests of the owner ---- */

int reg_put(struct reg_registry *r, const char *path, const void *text, size_t len)
{
    char *copy = malloc(len + 1);
    struct entry *e = copy ? add(r, path) : NULL;

    if (!e) {
        free(copy);
        return copy ? -ENOSPC : -ENOMEM;
    }
    memcpy(copy, text, len);
    free(e->text);
    e->text = copy;
    e->len = len;
    e->forgotten = false;
    want(r, e, PUT);
    return 0;
}

int reg_known(struct reg_registry *r, const char *path)
{
    struct entry *e = add(r, path);

    if (!e)
        return -ENOSPC;
    e->there = true;
    return 0;
}

void reg_remove(struct reg_registry *r, const char *path)
{
    struct entry *e = find(r, path);

    if (!e)
        return;
    free(SV_TAKE(e->text));
    if (e->there) {
        want(r, e, REMOVE);
        return;
    }
    e->wanted = NOTHING;
    if (is_over(e))
        drop(r, e);
}

/* Requests that are open end first. */
static void forget_below(struct reg_registry *r, const char *path)
{
    size_t n = strlen(path);
    struct entry *e, *next;

    HASH_ITER (hh, r->table, e, next) {
        if (strncmp(e->path, path, n) != 0 || e->path[n] != '/')
            continue;
        e->forgotten = true;
        if (e->running == NOTHING)
            drop(r, e);
    }
}

int reg_remove_tree(struct reg_registry *r, const char *path)
{
    struct entry *e = add(r, path);

    if (!e)
        return -ENOSPC;
    forget_below(r, path);
    free(SV_TAKE(r->sweep.folder));
    e->there = true;
    want(r, e, REMOVE_TREE);
    return 0;
}

void reg_sweep(struct reg_registry *r, const char *folder)
{
    char *copy = strdup(folder);

    if (!copy || r->sweep.running)
        free(copy); /* what is left over stays, or is being looked for, ignoring */
    else {
        free(r->sweep.folder);
        r->sweep.folder = copy;
        wake(r);
    }
}

/* ---- Life ---- */

int reg_new(sd_event *event, const struct reg_config *cfg, struct reg_registry **ret)
{
    struct reg_registry *r = calloc(1, sizeof(*r));
    int status;

    if (!r) {
        reg_backend_free(cfg->backend);
        return -ENOMEM;
    }
    r->cfg = *cfg;
    r->backend = cfg->backend;
    r->backend->ready = on_ready;
    r->backend->userdata = r;
    r->sweep.owner = r;
    status = sd_event_add_defer(event, &r->turn, on_turn, r);
    if (status >= 0)
        status = sd_event_source_set_enabled(r->turn, SD_EVENT_OFF);
    if (status >= 0)
        status = sd_event_add_time_relative(event, &r->timer, CLOCK_MONOTONIC, 0, 1000, on_time, r);
    if (status >= 0)
        status = sd_event_source_set_enabled(r->timer, SD_EVENT_OFF);
    if (status < 0) {
        reg_free(r);
        return status;
    }
    *ret = r;
    return 0;
}

struct reg_registry *reg_free(struct reg_registry *r)
{
    struct entry *e, *next;

    if (!r)
        return NULL;
    reg_backend_free(r->backend);
    sd_event_source_disable_unref(r->turn);
    sd_event_source_disable_unref(r->timer);
    HASH_ITER (hh, r->table, e, next)
        drop(r, e);
    free(r->sweep.folder);
    free(r);
    return NULL;
}
