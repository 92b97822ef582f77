/* The cache's localizer processes: one per scope, started on demand, with up to `parallel`
 * downloads at once, closed when idle. Messages of a process are hostile: anything but an answer to
 * an open request ends it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "localizer/cache-internal.h"

#define MESSAGES_AT_ONCE 64
#define DEADLINE_GRACE_MS 5000 /* the localizer itself ends a download at its deadline */

static int scope_key(const struct cache_entry *e, char **ret)
{
    char id[YARN_ID_TEXT_MAX];

    if (e->record.visibility == LOC_PUBLIC)
        return sv_asprintf(ret, "public");
    if (e->record.visibility == LOC_PRIVATE) /* those of the first requesting application */
        return sv_asprintf(ret, "%s %s", e->user,
                           yarn_app_id_text(e->holds->request->container.attempt.app, id));
    return sv_asprintf(ret, "%s %s", e->user, yarn_app_id_text(e->record.app, id));
}

struct cache_process *loc_cache_process_free(struct cache_process *p)
{
    if (!p)
        return NULL;
    sd_event_source_disable_unref(p->io);
    sv_close(p->fd);
    free(p->key);
    free(p->user);
    free(p);
    return NULL;
}

static struct cache_process *cache_process_new(struct loc_cache *c, const char *key,
                                               const char *user, struct yarn_app_id app)
{
    struct cache_process *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->cache = c;
    p->fd = -1;
    p->id = ++c->next_process;
    p->app = app;
    p->key = strdup(key);
    p->user = user ? strdup(user) : NULL;
    if (!p->key || (user && !p->user))
        return loc_cache_process_free(p);
    HASH_ADD_KEYPTR(hh, c->processes, p->key, strlen(p->key), p);
    c->stats.processes++;
    return p;
}

int loc_cache_process_enqueue(struct loc_cache *c, struct cache_entry *e)
{
    _cleanup_free_ char *key = NULL;
    bool is_public = e->record.visibility == LOC_PUBLIC;
    struct cache_process *p = NULL;
    int r = scope_key(e, &key);

    if (r < 0)
        return r;
    HASH_FIND_STR(c->processes, key, p);
    if (!p)
        p = cache_process_new(c, key, is_public ? NULL : e->user,
                              is_public ? (struct yarn_app_id){ 0 }
                                        : e->holds->request->container.attempt.app);
    if (!p)
        return -ENOMEM;
    e->process = p;
    e->in_flight = e->waits = false;
    DL_APPEND(p->queue, e);
    loc_cache_wake(c);
    return 0;
}

void loc_cache_process_unqueue(struct cache_entry *e)
{
    if (e->waits)
        DL_DELETE(e->process->waiting, e);
    else
        DL_DELETE(e->process->queue, e);
    e->waits = false;
    e->process->idle_since_ms = sv_now_ms();
    e->process = NULL;
}

static void leave_flight(struct cache_entry *e)
{
    DL_DELETE(e->process->flights, e);
    e->process->n_flights--;
    e->cache->private_flights -= e->process->user ? 1 : 0;
    e->process->idle_since_ms = sv_now_ms();
    e->cache->stats.downloading--;
    e->process = NULL;
    e->in_flight = false;
    loc_cache_wake(e->cache); /* the queue may continue */
}

void loc_cache_process_cancel(struct cache_entry *e)
{
    struct loc_msg m = { .type = LOC_MSG_CANCEL, .request = e->request };
    int r = loc_msg_send(e->process->fd, &m);

    if (r < 0)
        sv_log_debug("localizer %s: cancel: %s, ignoring", e->process->key, strerror(-r));
}

/* Fails an entry whose process ended: waiters get the text, the owner deletes its files. */
static void fail_entry(struct cache_entry *e, const char *text)
{
    if (e->in_flight)
        leave_flight(e);
    else
        loc_cache_process_unqueue(e);
    if (e->state == LOC_DOWNLOADING)
        loc_cache_entry_run(e, EV_FAILED, (void *)(uintptr_t)text);
    else
        loc_cache_entry_doom(e, DOOM_REMOVE); /* cancelled before */
}

void loc_cache_process_resume(struct cache_process *p)
{
    struct cache_entry *e;

    DL_FOREACH (p->waiting, e)
        e->waits = false;
    DL_CONCAT(p->queue, p->waiting);
    p->waiting = NULL;
}

/* Moves the queue of a process that ended while working to its successor. */
static void requeue(struct cache_process *p)
{
    while (p->queue) {
        struct cache_entry *e = p->queue;

        DL_DELETE(p->queue, e);
        if (loc_cache_process_enqueue(p->cache, e) < 0) {
            DL_APPEND(p->queue, e);
            e->process = p;
            fail_entry(e, "out of memory");
        }
    }
}

void loc_cache_process_end(struct cache_process *p, const char *text)
{
    struct loc_cache *c = p->cache;
    bool worked = p->flights != NULL;
    char why[512];

    (void)snprintf(why, sizeof(why), "%.*s", (int)sizeof(why) - 1, text);
    HASH_DEL(c->processes, p);
    c->stats.processes--;
    p->io = sd_event_source_disable_unref(p->io);
    loc_cache_process_resume(p);
    while (p->flights)
        fail_entry(p->flights, why);
    if (worked)
        requeue(p);
    while (p->queue)
        fail_entry(p->queue, why);
    p->fd = sv_close(p->fd);
    DL_APPEND(c->ended, p);
    loc_cache_wake(c);
}

static struct cache_entry *flight_of(struct cache_process *p, uint64_t request)
{
    struct cache_entry *e;

    DL_FOREACH (p->flights, e)
        if (e->request == request)
            return e;
    return NULL;
}

/* True if the answer is consistent with the request. */
static bool done_is_sane(const struct cache_entry *e, const struct loc_done *d)
{
    const struct loc_config *k = &e->cache->config;
    const struct loc_resource *r = &e->record.resource;

    if (r->type == LOC_FILE && r->size > 0 && k->verify_size && !d->tree &&
        d->size != (uint64_t)r->size)
        return false;
    return d->size / 2 <= k->limits.bytes; /* PATTERN stores the jar beside its content */
}

/* A directory that the cache does not know has the entry's id: of a run whose records are lost.
 * Costs another id; the files of the other one stay. */
static bool try_another_id(struct cache_entry *e)
{
    if (e->state != LOC_DOWNLOADING || e->detached || e->disk_failed || e->taken >= TAKEN_MAX)
        return false;
    sv_log_debug("%s: id %llu is taken by an unknown entry", e->url,
                 (unsigned long long)e->record.id);
    loc_cache_entry_unplace(e);
    return loc_cache_process_enqueue(e->cache, e) == 0;
}

/* The credentials that the server refused may have ended before their time: it is tried once more
 * with others. The localizer has left nothing behind. */
static bool try_other_credentials(struct cache_entry *e)
{
    struct loc_cache *c = e->cache;

    if (e->state != LOC_DOWNLOADING || e->detached || e->disk_failed || e->refused ||
        e->record.visibility != LOC_PUBLIC || !c->cb.refused)
        return false;
    e->refused = true;
    return c->cb.refused(c->userdata, &e->record.resource) && loc_cache_process_enqueue(c, e) == 0;
}

static int on_message(struct cache_process *p, const struct loc_msg *m)
{
    struct cache_entry *e = flight_of(p, m->request);

    if (!e)
        return -EBADMSG;
    e->heard_ms = sv_now_ms();
    if (m->type == LOC_MSG_PROGRESS) {
        e->fetched = SV_MIN(m->progress.bytes, (uint64_t)INT64_MAX);
        return 0;
    }
    if (m->type == LOC_MSG_DONE && !done_is_sane(e, &m->done))
        return -EBADMSG;
    leave_flight(e);
    if (m->type == LOC_MSG_FAILED && m->failed.reason == LOC_FAIL_TAKEN && try_another_id(e))
        return 0;
    if (m->type == LOC_MSG_FAILED && m->failed.reason == LOC_FAIL_AUTH && try_other_credentials(e))
        return 0;
    if (m->type == LOC_MSG_FAILED)
        e->vanished = m->failed.reason != LOC_FAIL_LEFTOVER;
    if (e->state != LOC_DOWNLOADING) {
        loc_cache_entry_doom(e, DOOM_REMOVE);
    } else if (m->type == LOC_MSG_DONE && e->disk_failed) {
        loc_cache_entry_run(e, EV_FAILED,
                            "its local directory became full, went bad or was replaced");
    } else if (m->type == LOC_MSG_DONE) {
        struct loc_done d = m->done;

        loc_cache_entry_tally(e)->downloads++;
        loc_cache_entry_run(e, EV_DONE, &d);
    } else {
        loc_cache_entry_run(e, EV_FAILED, (void *)(uintptr_t)m->failed.text);
    }
    return 0;
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    struct cache_process *p = userdata;

    (void)source;
    (void)events;
    for (int i = 0; i < MESSAGES_AT_ONCE; i++) {
        struct loc_msg m;
        int r = loc_msg_recv(fd, LOC_PEER_LOCALIZER, &m);

        if (r == -EAGAIN)
            break;
        if (r > 0)
            r = on_message(p, &m);
        else if (r == 0)
            r = -ECONNRESET;
        if (r == -EBADMSG)
            loc_cache_process_end(p, "the localizer broke its protocol");
        else if (r < 0)
            loc_cache_process_end(p, "the localizer ended before it had answered");
        if (r < 0)
            break;
    }
    return 0;
}

static int start(struct cache_process *p, struct sv_error *err)
{
    struct loc_cache *c = p->cache;
    struct loc_scope scope = { .public_cache = !p->user, .user = p->user, .app = p->app };
    int r;

    p->started = true;
    p->idle_since_ms = sv_now_ms();
    r = c->cb.start(c->userdata, p->id, &scope, &p->fd, err);
    if (r < 0) {
        p->fd = -1;
        return r;
    }
    r = sd_event_add_io(c->event, &p->io, p->fd, EPOLLIN, on_io, p);
    return r < 0 ? sv_error_errno(err, r, "channel to the localizer") : 0;
}

static int fill_fetch(const struct cache_entry *e, struct loc_msg *m, struct sv_error *err)
{
    const struct loc_config *k = &e->cache->config;
    const struct loc_callbacks *cb = &e->cache->cb;
    const struct loc_record *r = &e->record;
    struct loc_fetch *f = &m->fetch;
    size_t url = strlen(e->url), pattern = e->pattern ? strlen(e->pattern) : 0;

    *m = (struct loc_msg){ .type = LOC_MSG_FETCH, .request = e->request };
    if (url > FS_URL_MAX || pattern > SV_PATTERN_MAX)
        return sv_error_set(err, -ENAMETOOLONG, "the localizer does not accept the request");
    f->type = (uint8_t)r->resource.type;
    f->visibility = (uint8_t)r->visibility;
    f->dir = (uint8_t)r->dir_index;
    f->timestamp = r->resource.timestamp;
    f->size = k->verify_size && r->resource.size > 0 ? r->resource.size : -1;
    f->limits = k->limits;
    f->deadline_ms = k->deadline_ms;
    memcpy(f->url, e->url, url + 1);
    memcpy(f->pattern, e->pattern ? e->pattern : "", pattern + 1);
    memcpy(f->rel, e->rel, sizeof(f->rel));
    memcpy(f->name, e->name, sizeof(f->name));
    if (cb->describe && e->holds)
        return cb->describe(e->cache->userdata, e->holds->request->container, &r->resource, f, err);
    return 0;
}

/* Those of the container that has waited longest. 1: not there yet. */
static int take_credentials(const struct cache_entry *e, int *ret, struct sv_error *err)
{
    const struct loc_callbacks *cb = &e->cache->cb;

    return cb->credentials && e->holds
               ? cb->credentials(e->cache->userdata, e->holds->request->container,
                                 &e->record.resource, ret, err)
               : 0;
}

/* Leaves the queue, so that those behind it go on. */
static void wait_for_credentials(struct cache_process *p, struct cache_entry *e)
{
    DL_DELETE(p->queue, e);
    DL_APPEND(p->waiting, e);
    e->waits = true;
}

/* Sends the head of the queue. 1 = sent, waiting or failed for good, 0 = retry later. */
static int send_first(struct cache_process *p)
{
    struct cache_entry *e = p->queue;
    _cleanup_close_ int credentials = -1;
    struct sv_error err = { 0 };
    struct loc_msg m;
    int r = take_credentials(e, &credentials, &err);

    if (r > 0) {
        wait_for_credentials(p, e);
        return 1;
    }
    if (r < 0)
        e->vanished = true; /* it may have been placed for an earlier try */
    if (r == 0 && !e->placed)
        r = loc_cache_entry_place(e, &err);
    if (r < 0) {
        fail_entry(e, err.text);
        return 1;
    }
    e->request = ++p->cache->next_request;
    r = fill_fetch(e, &m, &err);
    if (r == 0) {
        r = loc_msg_send_with(p->fd, &m, credentials);
        explicit_bzero(&m, sizeof(m)); /* keys */
        (void)sv_error_set(&err, r < 0 ? r : -EIO, "the localizer does not accept the request");
    }
    if (r == -EAGAIN && p->flights)
        return 0;
    if (r < 0) {
        e->vanished = true; /* the localizer never received it */
        fail_entry(e, err.text);
        return 1;
    }
    DL_DELETE(p->queue, e);
    DL_APPEND(p->flights, e);
    p->n_flights++;
    p->cache->private_flights += p->user ? 1 : 0;
    e->in_flight = true;
    e->sent_ms = e->heard_ms = sv_now_ms();
    e->fetched = 0;
    p->cache->stats.downloading++;
    return 1;
}

/* True if the process may start another download. PUBLIC has a limit of its own. Every application
 * may run one; further ones share a limit, so that nobody's single file waits behind thousands of
 * another application's. */
static bool may_send(const struct cache_process *p)
{
    const struct loc_cache *c = p->cache;

    if (!p->queue || p->full || !p->started)
        return false;
    if (!p->user)
        return p->n_flights < c->config.parallel_public;
    return p->n_flights == 0 ||
           (c->private_flights < c->config.parallel_private && p->n_flights < LOC_WORKERS_MAX);
}

/* Returns the process with the fewest downloads among those that may start another. */
static struct cache_process *next_in_turn(struct loc_cache *c)
{
    struct cache_process *p, *next, *best = NULL;

    HASH_ITER (hh, c->processes, p, next)
        if (may_send(p) && (!best || p->n_flights < best->n_flights))
            best = p;
    return best;
}

void loc_cache_process_pump(struct loc_cache *c)
{
    struct cache_process *p, *next;

    HASH_ITER (hh, c->processes, p, next) {
        struct sv_error err = { 0 };

        p->full = false;
        if (p->queue && !p->started && start(p, &err) < 0)
            loc_cache_process_end(p, err.text);
    }
    while ((p = next_in_turn(c)))
        p->full = !send_first(p);
}

void loc_cache_process_tick(struct loc_cache *c)
{
    int64_t now = sv_now_ms();
    struct cache_process *p, *next;

    HASH_ITER (hh, c->processes, p, next) {
        struct cache_entry *e;
        bool stalled = false;

        DL_FOREACH (p->flights, e)
            stalled |= now - e->heard_ms >= c->config.stall_ms ||
                       now - e->sent_ms >= (int64_t)c->config.deadline_ms + DEADLINE_GRACE_MS;
        if (stalled)
            loc_cache_process_end(p, "the localizer gave no sign of life in time");
        else if (!p->flights && !p->queue && !p->waiting &&
                 (p->retired || now - p->idle_since_ms >= c->config.idle_ms))
            loc_cache_process_end(p, "idle");
    }
}

/* Lets downloads in progress finish; the queue moves to a successor, which opens the directories
 * anew. */
static int retire(struct cache_process *p)
{
    struct loc_cache *c = p->cache;
    char *key;
    int r = sv_asprintf(&key, "retired %llu", (unsigned long long)p->id);

    if (r < 0)
        return r;
    loc_cache_process_resume(p);
    HASH_DEL(c->processes, p);
    free(p->key);
    p->key = key;
    p->retired = true;
    HASH_ADD_KEYPTR(hh, c->processes, p->key, strlen(p->key), p);
    while (p->queue && r >= 0) {
        struct cache_entry *e = p->queue;

        DL_DELETE(p->queue, e);
        r = loc_cache_process_enqueue(c, e);
        if (r < 0)
            DL_APPEND(p->queue, e);
    }
    return r;
}

void loc_cache_process_retire_all(struct loc_cache *c)
{
    struct cache_process *p, *next;

    HASH_ITER (hh, c->processes, p, next)
        if (p->started && !p->flights && !p->queue && !p->waiting)
            loc_cache_process_end(p, "idle");
        else if (p->started && !p->retired && retire(p) < 0)
            loc_cache_process_end(p, "out of memory");
}

/* Downloads for other applications of the user continue; the process ends after them. */
void loc_cache_process_app_finished(struct loc_cache *c, struct yarn_app_id app)
{
    struct cache_process *p, *next;

    HASH_ITER (hh, c->processes, p, next) {
        struct cache_entry *e;
        bool wanted = false;

        if (!p->user || yarn_app_id_cmp(p->app, app) != 0)
            continue;
        DL_FOREACH (p->queue, e)
            wanted |= e->n_holds > 0;
        DL_FOREACH (p->waiting, e)
            wanted |= e->n_holds > 0;
        DL_FOREACH (p->flights, e)
            wanted |= e->n_holds > 0;
        if (!wanted)
            loc_cache_process_end(p, "the application has finished");
    }
}
