/* One resource of the cache: its state table and its lifecycle, from the first request to the last
 * reference. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/str.h"
#include "fs/url.h"
#include "localizer/cache-internal.h"

/* Urls are hostile, so hash keys begin with a random secret of this process: collisions in one
 * bucket cannot be prepared. */
static const char *secret(void)
{
    static char text[33];
    uint64_t v[2];

    if (!text[0]) {
        if (getrandom(v, sizeof(v), 0) != sizeof(v))
            abort();
        (void)snprintf(text, sizeof(text), "%016llx%016llx", (unsigned long long)v[0],
                       (unsigned long long)v[1]);
    }
    return text;
}

static int key_of(const struct loc_resource *r, char **ret)
{
    const char *pattern = r->pattern ? r->pattern : "";

    /* the pattern's length separates it from the url */
    return sv_asprintf(ret, "%s %lld %lld %d %zu %s %s", secret(), (long long)r->timestamp,
                       (long long)r->size, (int)r->type, strlen(pattern), pattern, r->url);
}

struct cache_entry *loc_cache_entry_find(struct cache_tracker *t, const struct loc_resource *r)
{
    _cleanup_free_ char *key = NULL;
    struct cache_entry *e = NULL;

    if (key_of(r, &key) < 0)
        return NULL;
    HASH_FIND_STR(t->entries, key, e);
    return e;
}

static void leave_tracker(struct cache_entry *e)
{
    struct cache_tracker *t = e->tracker;

    e->tracker = NULL;
    if (t && --t->alive == 0 && t->finished)
        loc_cache_tracker_free(e->cache, t);
}

void loc_cache_entry_free(struct cache_entry *e)
{
    if (!e)
        return;
    leave_tracker(e);
    free(e->lost_dir);
    free(e->key);
    free(e->url);
    free(e->pattern);
    free(e->user);
    free(e);
}

struct cache_entry *loc_cache_entry_new(struct loc_cache *c, struct cache_tracker *t,
                                        const struct loc_resource *r)
{
    struct cache_entry *e = calloc(1, sizeof(*e));
    struct fs_url url;

    if (!e)
        return NULL;
    e->cache = c;
    e->tracker = t;
    t->alive++;
    e->detached = true;
    e->state = LOC_INIT;
    e->url = strdup(r->url);
    e->pattern = r->pattern && r->pattern[0] ? strdup(r->pattern) : NULL;
    e->user = t->user ? strdup(t->user) : NULL;
    if (key_of(r, &e->key) < 0 || !e->url || (r->pattern && r->pattern[0] && !e->pattern) ||
        (t->user && !e->user) || fs_url_parse(r->url, &url, NULL) < 0) {
        loc_cache_entry_free(e);
        return NULL;
    }
    memcpy(e->name, url.name, sizeof(e->name));
    e->record = (struct loc_record){ .visibility = t->visibility,
                                     .user = e->user,
                                     .app = t->app,
                                     .resource = *r,
                                     .dir_index = -1,
                                     .rel = e->rel };
    e->record.resource.url = e->url;
    e->record.resource.pattern = e->pattern;
    e->detached = false;
    HASH_ADD_KEYPTR(hh, t->entries, e->key, strlen(e->key), e);
    return e;
}

struct loc_tally *loc_cache_entry_tally(const struct cache_entry *e)
{
    return &e->cache->stats.of[e->record.visibility];
}

static void count(struct cache_entry *e)
{
    struct loc_tally *t = loc_cache_entry_tally(e);

    e->counted = true;
    t->bytes += e->record.local_size;
    t->entries++;
}

static void stop_counting(struct cache_entry *e)
{
    struct loc_tally *t = loc_cache_entry_tally(e);

    if (!e->counted)
        return;
    e->counted = false;
    t->bytes -= e->record.local_size;
    t->entries--;
}

void loc_cache_entry_detach(struct cache_entry *e)
{
    if (e->detached)
        return;
    stop_counting(e);
    HASH_DEL(e->tracker->entries, e);
    e->detached = true;
}

/* Schedules the removal of an entry without references: the loop calls remove or on_removed and
 * frees it. */
void loc_cache_entry_doom(struct cache_entry *e, enum cache_doom doom)
{
    struct loc_cache *c = e->cache;

    loc_cache_entry_detach(e);
    if (e->placed && e->tracker && e->record.dir_index >= 0)
        loc_cache_hierarchy_release(&e->tracker->dirs[e->record.dir_index], e->record.dir_number);
    leave_tracker(e);
    if (!e->placed)
        e->doom = DOOM_NONE;
    else if (e->stranded) /* an application's directories are deleted with it */
        e->doom = e->record.visibility == LOC_APPLICATION ? DOOM_FORGET : DOOM_KEEP;
    else
        e->doom = e->vanished ? DOOM_FORGET : doom;
    DL_APPEND(c->doomed, e);
    loc_cache_wake(c);
}

int loc_cache_entry_place(struct cache_entry *e, struct sv_error *err)
{
    struct loc_cache *c = e->cache;
    struct loc_record *k = &e->record;
    char dir[LOC_HIERARCHY_MAX];
    int index = c->cb.pick_dir(c->userdata, e->process->id, k->resource.size), r;

    if (index < 0 || index >= c->config.n_local_dirs)
        return sv_error_set(err, -ENOSPC, "no local directory is good for %lld bytes",
                            (long long)k->resource.size);
    k->dir_index = index;
    k->local_dir = c->local_dirs[index];
    k->dir_number = 0; /* an application's entries share one directory, as in YARN */
    r = k->visibility == LOC_APPLICATION
            ? 0
            : loc_cache_hierarchy_take(&e->tracker->dirs[index], c->config.max_files_per_dir,
                                       &k->dir_number);
    if (r < 0)
        return sv_error_errno(err, r, "directory for the resource");
    k->id = e->tracker->next_id++;
    loc_hierarchy_path(k->dir_number, dir);
    (void)snprintf(e->rel, sizeof(e->rel), "%s%s%llu", dir, dir[0] ? "/" : "",
                   (unsigned long long)k->id);
    r = c->cb.on_started ? c->cb.on_started(c->userdata, k) : 0;
    if (r < 0) {
        if (k->visibility != LOC_APPLICATION)
            loc_cache_hierarchy_release(&e->tracker->dirs[index], k->dir_number);
        return sv_error_errno(err, r, "state store: record of the resource");
    }
    e->placed = true;
    return 0;
}

void loc_cache_entry_unplace(struct cache_entry *e)
{
    struct loc_cache *c = e->cache;
    struct cache_tracker *t = e->tracker;

    if (c->cb.on_removed)
        c->cb.on_removed(c->userdata, &e->record);
    if (e->record.visibility != LOC_APPLICATION)
        loc_cache_hierarchy_release(&t->dirs[e->record.dir_index], e->record.dir_number);
    t->next_id = SV_MAX(t->next_id, e->record.id + (UINT64_C(1) << e->taken));
    e->taken++;
    e->placed = false;
}

/* Only ENOENT or ENOTDIR count as missing: an unreadable directory proves nothing. */
bool loc_cache_entry_is_there(const struct cache_entry *e)
{
    char dir[4096];
    _cleanup_free_ char *path = NULL;
    struct stat st;

    if (loc_cache_dir_path(e->record.local_dir, e->record.visibility, e->user, e->record.app, dir,
                           sizeof(dir)) < 0 ||
        sv_asprintf(&path, "%s/%s", dir, e->rel) < 0)
        return false;
    return lstat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

static void wake_holders(struct cache_entry *e)
{
    struct cache_hold *h;

    DL_FOREACH (e->holds, h) {
        h->ready = true;
        loc_cache_request_mark(h->request);
    }
}

static void fail_holders(struct cache_entry *e, const char *text)
{
    struct cache_hold *h, *next;

    DL_FOREACH_SAFE (e->holds, h, next) {
        struct cache_request *r = h->request;

        DL_DELETE(e->holds, h);
        e->n_holds--;
        h->entry = NULL;
        if (!r->failure) {
            r->failure = strdup(text);
            r->failed_index = h->index;
        }
        loc_cache_request_mark(r);
    }
}

static int act_request_first(void *object, int event, void *arg)
{
    struct cache_entry *e = object;

    (void)event;
    (void)arg;
    if (loc_cache_process_enqueue(e->cache, e) == 0)
        return LOC_DOWNLOADING;
    fail_holders(e, "out of memory");
    return LOC_FAILED;
}

/* Only the new hold waits: the others may be many. */
static int act_request_again(void *object, int event, void *arg)
{
    struct cache_entry *e = object;
    struct cache_hold *h = arg;

    (void)event;
    e->used_ms = sv_now_ms();
    h->ready = true;
    loc_cache_request_mark(h->request);
    return LOC_LOCALIZED;
}

static int act_release_download(void *object, int event, void *arg)
{
    struct cache_entry *e = object;

    (void)event;
    (void)arg;
    return e->n_holds > 0 ? LOC_DOWNLOADING : LOC_FAILED; /* no waiters: cancelled */
}

static int act_release(void *object, int event, void *arg)
{
    struct cache_entry *e = object;

    (void)event;
    (void)arg;
    e->used_ms = sv_now_ms();
    return LOC_LOCALIZED;
}

static int act_done(void *object, int event, void *arg)
{
    struct cache_entry *e = object;
    const struct loc_done *d = arg;
    struct loc_cache *c = e->cache;
    int r;

    (void)event;
    e->record.local_size = d->size;
    r = c->cb.on_completed ? c->cb.on_completed(c->userdata, &e->record) : 0;
    if (r < 0) {
        fail_holders(e, "state store: record of the resource cannot be written");
        return LOC_FAILED;
    }
    e->used_ms = sv_now_ms();
    count(e);
    wake_holders(e);
    return LOC_LOCALIZED;
}

static int act_failed(void *object, int event, void *arg)
{
    struct cache_entry *e = object;

    (void)event;
    loc_cache_entry_tally(e)->failures++;
    fail_holders(e, arg);
    return LOC_FAILED;
}

static int act_recovered(void *object, int event, void *arg)
{
    struct cache_entry *e = object;

    (void)event;
    (void)arg;
    e->placed = true;
    e->used_ms = sv_now_ms();
    count(e);
    return LOC_LOCALIZED;
}

static const char *const state_names[] = { "-", "INIT", "DOWNLOADING", "LOCALIZED", "FAILED" };
static const char *const event_names[] = { "-",      "REQUEST",   "RELEASE", "DONE",
                                           "FAILED", "RECOVERED", "LOST" };
#define STATES SV_ARRAY_LEN(state_names)
#define EVENTS SV_ARRAY_LEN(event_names)
_Static_assert(STATES == LOC_FAILED + 1 && EVENTS == EV_END, "names and numbers");

static const struct sv_fsm_cell cells[STATES][EVENTS] = {
    [LOC_INIT] = {
        [EV_REQUEST] = { act_request_first, LOC_DOWNLOADING, { LOC_FAILED } },
        [EV_RECOVERED] = { act_recovered, LOC_LOCALIZED },
    },
    [LOC_DOWNLOADING] = {
        [EV_REQUEST] = { NULL, LOC_DOWNLOADING },
        [EV_RELEASE] = { act_release_download, LOC_DOWNLOADING, { LOC_FAILED } },
        [EV_DONE] = { act_done, LOC_LOCALIZED, { LOC_FAILED } },
        [EV_FAILED] = { act_failed, LOC_FAILED },
    },
    [LOC_LOCALIZED] = {
        [EV_REQUEST] = { act_request_again, LOC_LOCALIZED },
        [EV_RELEASE] = { act_release, LOC_LOCALIZED },
        [EV_LOST] = { NULL, LOC_FAILED },
    },
    [LOC_FAILED] = {
        [EV_RELEASE] = { NULL, LOC_FAILED },
    },
};

const struct sv_fsm loc_entry_fsm = {
    .name = "LocalizedResource",
    .n_states = STATES,
    .n_events = EVENTS,
    .state_names = state_names,
    .event_names = event_names,
    .cells = &cells[0][0],
};

void loc_cache_entry_run(struct cache_entry *e, enum cache_event event, void *arg)
{
    int before = e->state;

    if (sv_fsm_run(&loc_entry_fsm, &e->state, event, e, arg) < 0)
        abort(); /* a bug: the cache raised an event that is illegal in this state */
    if (e->state != LOC_FAILED)
        return;
    loc_cache_entry_detach(e);
    if (e->n_holds > 0)
        return; /* lost, but containers still use open files */
    if (event == EV_RELEASE && before == LOC_DOWNLOADING && e->in_flight) {
        loc_cache_process_cancel(e);
        return;
    }
    if (e->process && !e->in_flight)
        loc_cache_process_unqueue(e);
    loc_cache_entry_doom(e, DOOM_REMOVE);
}
