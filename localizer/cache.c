/* The cache's public functions: requests of containers, event sources, delivery of results. */
#include "localizer/cache.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "fs/url.h"
#include "localizer/cache-internal.h"

#define TICK_MS 1000

void loc_config_defaults(struct loc_config *c)
{
    *c = (struct loc_config){
        .target_size = 10240ull << 20,
        .cleanup_interval_ms = 600000,
        .max_files_per_dir = 8192,
        .parallel_public = 4,
        .parallel_private = 16,
        .idle_ms = 10000,
        .stall_ms = 60000,
        .deadline_ms = 3600000,
        .orphan_ms = 2000,
        .limits = { .bytes = 64ull << 30,
                    .entries = 500000,
                    .ratio = 200,
                    .path = 1024,
                    .depth = 64,
                    .slowest_rate = 1024 },
        .verify_size = true,
    };
}

/* ---- trackers ---- */

struct cache_tracker *loc_cache_tracker_get(struct loc_cache *c, enum loc_visibility v,
                                            const char *user, struct yarn_app_id app)
{
    _cleanup_free_ char *key = NULL;
    char id[YARN_ID_TEXT_MAX];
    struct cache_tracker *t = NULL;
    int r;

    if (v == LOC_PUBLIC)
        r = sv_asprintf(&key, "public");
    else if (v == LOC_PRIVATE)
        r = sv_asprintf(&key, "user %s", user);
    else
        r = sv_asprintf(&key, "app %s %s", yarn_app_id_text(app, id), user);
    if (r < 0)
        return NULL;
    HASH_FIND_STR(c->trackers, key, t);
    if (t)
        return t;
    t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->visibility = v;
    t->next_id = FIRST_ID;
    t->user = v == LOC_PUBLIC ? NULL : strdup(user);
    t->app = v == LOC_APPLICATION ? app : (struct yarn_app_id){ 0 };
    t->key = SV_TAKE(key);
    if (v != LOC_PUBLIC && !t->user) {
        free(t->key);
        free(t);
        return NULL;
    }
    HASH_ADD_KEYPTR(hh, c->trackers, t->key, strlen(t->key), t);
    return t;
}

/* Frees a tracker without entries. */
void loc_cache_tracker_free(struct loc_cache *c, struct cache_tracker *t)
{
    HASH_DEL(c->trackers, t);
    for (int i = 0; i < LOC_DIRS_MAX; i++)
        loc_cache_hierarchy_free(&t->dirs[i]);
    free(t->key);
    free(t->user);
    free(t);
}

/* ---- requests ---- */

static void request_key(struct yarn_container_id container, unsigned part,
                        char ret[CACHE_REQUEST_KEY])
{
    char id[YARN_ID_TEXT_MAX];

    (void)snprintf(ret, CACHE_REQUEST_KEY, "%s/%u", yarn_container_id_text(container, id), part);
}

static struct cache_request *cache_request_find(const struct loc_cache *c,
                                                struct yarn_container_id container, unsigned part)
{
    char key[CACHE_REQUEST_KEY];
    struct cache_request *r = NULL;

    request_key(container, part, key);
    HASH_FIND_STR(c->requests, key, r);
    return r;
}

void loc_cache_request_mark(struct cache_request *r)
{
    struct loc_cache *c = r->cache;

    if (!r->dirty) {
        r->dirty = true;
        DL_APPEND(c->dirty, r);
    }
    loc_cache_wake(c);
}

static void hold_drop(struct cache_hold *h)
{
    struct cache_entry *e = h->entry;

    if (!e)
        return;
    h->entry = NULL;
    DL_DELETE(e->holds, h);
    e->n_holds--;
    loc_cache_entry_run(e, EV_RELEASE, NULL);
}

static void cache_request_free(struct loc_cache *c, struct cache_request *r)
{
    if (r->dirty)
        DL_DELETE(c->dirty, r);
    HASH_DEL(c->requests, r);
    for (unsigned i = 0; i < r->n; i++)
        hold_drop(&r->holds[i]);
    free(r->holds);
    free(r->failure);
    free(r);
}

static struct cache_request *cache_request_new(struct loc_cache *c,
                                               struct yarn_container_id container, unsigned part,
                                               unsigned n)
{
    struct cache_request *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->holds = calloc(n + 1, sizeof(*r->holds));
    if (!r->holds) {
        free(r);
        return NULL;
    }
    r->cache = c;
    r->container = container;
    r->part = part;
    r->n = n;
    r->serial = ++c->next_serial;
    r->start_ms = sv_now_ms();
    request_key(container, part, r->key);
    HASH_ADD_STR(c->requests, key, r);
    return r;
}

static int add_hold(struct loc_cache *c, struct cache_request *r, unsigned index, const char *user,
                    const struct loc_resource *res)
{
    struct cache_tracker *t =
        loc_cache_tracker_get(c, res->visibility, user, r->container.attempt.app);
    struct loc_tally *tally = &c->stats.of[res->visibility];
    struct cache_hold *h = &r->holds[index];
    struct cache_entry *e = t ? loc_cache_entry_find(t, res) : NULL;
    uint64_t bytes = res->size > 0 ? (uint64_t)res->size : 0;

    if (e && e->state == LOC_LOCALIZED && !loc_cache_entry_is_there(e)) {
        e->vanished = true;
        loc_cache_entry_run(e, EV_LOST, NULL);
        e = NULL;
    }
    h->cached = e && e->state == LOC_LOCALIZED;
    tally->hits += e ? 1 : 0;
    tally->hit_bytes += e ? bytes : 0;
    tally->misses += e ? 0 : 1;
    tally->miss_bytes += e ? 0 : bytes;
    if (!e)
        e = t ? loc_cache_entry_new(c, t, res) : NULL;
    if (!e)
        return -ENOMEM;
    h->request = r;
    h->index = index;
    h->entry = e;
    DL_APPEND(e->holds, h);
    e->n_holds++;
    r->counters.bytes_cached += h->cached ? bytes : 0;
    r->counters.files_cached += h->cached ? 1 : 0;
    r->counters.bytes_missed += h->cached ? 0 : bytes;
    r->counters.files_missed += h->cached ? 0 : 1;
    loc_cache_entry_run(e, EV_REQUEST, h);
    return 0;
}

/* Rejects a resource of another machine if the container has no network, unless it is already
 * cached. */
static int check_network(struct loc_cache *c, struct yarn_container_id container, const char *user,
                         const struct loc_resource *res, struct sv_error *err)
{
    struct fs_url url;
    struct cache_tracker *t;
    const struct cache_entry *e;
    int r = fs_url_parse(res->url, &url, err);

    if (r < 0 || !c->config.no_network || url.scheme == FS_SCHEME_FILE)
        return r;
    t = loc_cache_tracker_get(c, res->visibility, user, container.attempt.app);
    e = t ? loc_cache_entry_find(t, res) : NULL;
    if (e && e->state == LOC_LOCALIZED)
        return 0;
    return sv_error_set(err, -EPERM, "Resource %s is not fetched: %s", res->url,
                        c->config.no_network);
}

int loc_cache_localize(struct loc_cache *c, struct yarn_container_id container, unsigned part,
                       const char *user, const struct loc_resource *resources, unsigned n,
                       struct sv_error *err)
{
    struct cache_request *r;

    if (!user || !fs_name_valid(user) || n > LOC_RESOURCES_MAX)
        return sv_error_set(err, -EINVAL, "Invalid request: user name, or more than %d resources",
                            LOC_RESOURCES_MAX);
    for (unsigned i = 0; i < n; i++) {
        int k = loc_resource_check(&resources[i], err);

        if (k >= 0)
            k = check_network(c, container, user, &resources[i], err);
        if (k < 0)
            return k;
    }
    if (cache_request_find(c, container, part))
        return sv_error_set(err, -EEXIST, "the container has already requested its resources");
    r = cache_request_new(c, container, part, n);
    for (unsigned i = 0; r && i < n; i++)
        if (add_hold(c, r, i, user, &resources[i]) < 0) {
            cache_request_free(c, r);
            r = NULL;
        }
    if (!r)
        return sv_error_set(err, -ENOMEM, "resources of the container: out of memory");
    loc_cache_request_mark(r);
    return 0;
}

void loc_cache_release(struct loc_cache *c, struct yarn_container_id container, unsigned part)
{
    struct cache_request *r = cache_request_find(c, container, part);

    if (r)
        cache_request_free(c, r);
}

/* ---- delivery ---- */

static int path_of(const struct cache_entry *e, char **ret)
{
    char dir[4096];
    int r = loc_cache_dir_path(e->record.local_dir, e->record.visibility, e->user, e->record.app,
                               dir, sizeof(dir));

    return r < 0 ? r : sv_asprintf(ret, "%s/%s/%s", dir, e->rel, e->name);
}

/* The owner may release the request, or release and repeat it, in any callback: check that it still
 * exists. */
static bool request_exists(struct loc_cache *c, struct yarn_container_id container, unsigned part,
                           uint64_t serial)
{
    struct cache_request *r = cache_request_find(c, container, part);

    return r && r->serial == serial;
}

static void deliver(struct loc_cache *c, struct cache_request *r)
{
    struct yarn_container_id id = r->container;
    unsigned part = r->part;
    uint64_t serial = r->serial;

    for (unsigned i = 0; i < r->n && !r->failure; i++) {
        struct cache_hold *h = &r->holds[i];
        _cleanup_free_ char *path = NULL;

        if (!h->ready || h->told || !h->entry)
            continue;
        if (path_of(h->entry, &path) < 0) {
            r->failure = strdup("path of the resource is too long");
            r->failed_index = i;
            break;
        }
        h->told = true;
        r->n_told++;
        c->cb.localized(c->userdata, id, part, i, path);
        if (!request_exists(c, id, part, serial))
            return;
    }
    if (r->failure && !r->failure_told) {
        r->failure_told = true;
        c->cb.failed(c->userdata, id, part, r->failed_index, r->failure);
        return;
    }
    if (!r->failure && r->n_told == r->n && !r->ready_told) {
        struct loc_counters counters = r->counters;

        r->ready_told = true;
        counters.millis = sv_now_ms() - r->start_ms;
        c->cb.ready(c->userdata, id, part, &counters);
    }
}

static void free_doomed(struct loc_cache *c)
{
    struct cache_entry *e, *next;
    int64_t now = sv_now_ms();

    DL_FOREACH_SAFE (c->doomed, e, next) {
        if (e->doomed_until > now)
            continue;
        DL_DELETE(c->doomed, e);
        if (e->doom == DOOM_REMOVE)
            c->cb.remove(c->userdata, &e->record);
        else if (e->doom == DOOM_FORGET && c->cb.on_removed)
            c->cb.on_removed(c->userdata, &e->record);
        loc_cache_entry_free(e);
    }
    while (c->ended) {
        struct cache_process *p = c->ended;

        DL_DELETE(c->ended, p);
        if (p->started)
            c->cb.stop(c->userdata, p->id);
        loc_cache_process_free(p);
    }
}

/* ---- the loop ---- */

void loc_cache_credentials_came(struct loc_cache *c)
{
    struct cache_process *p, *next;

    HASH_ITER (hh, c->processes, p, next)
        loc_cache_process_resume(p);
    loc_cache_wake(c);
}

void loc_cache_wake(struct loc_cache *c)
{
    if (c->pump)
        (void)sd_event_source_set_enabled(c->pump, SD_EVENT_ONESHOT); /* cannot fail, ignoring */
}

static void arm_tick(struct loc_cache *c)
{
    int64_t ms = SV_MIN(SV_MIN(c->config.idle_ms, c->config.stall_ms) / 2 + 1, TICK_MS);

    (void)sd_event_source_set_time_relative(c->tick, (uint64_t)ms * 1000);
    (void)sd_event_source_set_enabled(c->tick,
                                      c->processes || c->doomed ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static int on_pump(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct loc_cache *c = userdata;

    (void)source;
    loc_cache_process_pump(c);
    free_doomed(c);
    while (c->dirty) {
        struct cache_request *r = c->dirty;

        DL_DELETE(c->dirty, r);
        r->dirty = false;
        deliver(c, r);
    }
    arm_tick(c);
    return 0;
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct loc_cache *c = userdata;

    (void)source;
    (void)usec;
    loc_cache_process_tick(c);
    free_doomed(c);
    arm_tick(c);
    return 0;
}

static int on_cleanup(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct loc_cache *c = userdata;

    (void)usec;
    (void)loc_cache_cleanup(c);
    (void)sd_event_source_set_time_relative(source, (uint64_t)c->config.cleanup_interval_ms * 1000);
    (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
    return 0;
}

static int add_sources(struct loc_cache *c)
{
    int r = sd_event_add_defer(c->event, &c->pump, on_pump, c);

    if (r >= 0)
        r = sd_event_source_set_enabled(c->pump, SD_EVENT_OFF);
    if (r >= 0)
        r = sd_event_add_time_relative(c->event, &c->tick, CLOCK_BOOTTIME, TICK_MS * 1000, 0,
                                       on_tick, c);
    if (r >= 0)
        r = sd_event_source_set_enabled(c->tick, SD_EVENT_OFF);
    if (r >= 0 && c->config.cleanup_interval_ms > 0)
        r = sd_event_add_time_relative(c->event, &c->cleanup, CLOCK_BOOTTIME,
                                       (uint64_t)c->config.cleanup_interval_ms * 1000, 0,
                                       on_cleanup, c);
    return r;
}

static int check_config(const struct loc_config *k, struct sv_error *err)
{
    if (k->n_local_dirs < 1 || k->n_local_dirs > LOC_DIRS_MAX)
        return sv_error_set(err, -EINVAL, "yarn.nodemanager.local-dirs: 1 to %d directories",
                            LOC_DIRS_MAX);
    if (k->max_files_per_dir <= SUB_DIRS)
        return sv_error_set(err, -EINVAL,
                            "yarn.nodemanager.local-cache.max-files-per-directory: "
                            "must be greater than %u",
                            SUB_DIRS);
    if (k->parallel_public < 1 || k->parallel_public > LOC_WORKERS_MAX || k->parallel_private < 1 ||
        k->parallel_private > LOC_WORKERS_MAX) /* also the ranges of the keys */
        return sv_error_set(err, -EINVAL, "localizer: 1 to %d downloads at a time",
                            LOC_WORKERS_MAX);
    if (k->idle_ms < 1 || k->stall_ms < 1 || k->deadline_ms < 1 || !loc_limits_valid(&k->limits))
        return sv_error_set(err, -EINVAL, "localizer: a limit is zero or too large");
    return 0;
}

int loc_cache_new(sd_event *event, const struct loc_config *config,
                  const struct loc_callbacks *callbacks, void *userdata, struct loc_cache **ret,
                  struct sv_error *err)
{
    _cleanup_(loc_cache_freep) struct loc_cache *c = NULL;
    int r = check_config(config, err);

    if (r < 0)
        return r;
    c = calloc(1, sizeof(*c));
    if (!c)
        return sv_error_set(err, -ENOMEM, "cache: out of memory");
    c->config = *config;
    c->config.local_dirs = NULL;
    c->cb = *callbacks;
    c->userdata = userdata;
    c->event = sd_event_ref(event);
    for (int i = 0; i < config->n_local_dirs; i++) {
        c->local_dirs[i] = strdup(config->local_dirs[i]);
        if (!c->local_dirs[i])
            return sv_error_set(err, -ENOMEM, "cache: out of memory");
    }
    r = add_sources(c);
    if (r < 0)
        return sv_error_errno(err, r, "cache: event sources");
    *ret = SV_TAKE(c);
    return 0;
}

struct loc_cache *loc_cache_free(struct loc_cache *c)
{
    struct cache_process *p, *next_p;
    struct cache_request *r, *next_r;
    struct cache_tracker *t, *next_t;
    struct cache_entry *e, *next_e;

    if (!c)
        return NULL;
    c->pump = sd_event_source_disable_unref(c->pump);
    c->tick = sd_event_source_disable_unref(c->tick);
    c->cleanup = sd_event_source_disable_unref(c->cleanup);
    HASH_ITER (hh, c->processes, p, next_p)
        loc_cache_process_end(p, "the NodeManager stops"); /* may requeue entries: see below */
    HASH_ITER (hh, c->processes, p, next_p)
        loc_cache_process_end(p, "the NodeManager stops");
    HASH_ITER (hh, c->requests, r, next_r)
        cache_request_free(c, r);
    DL_FOREACH_SAFE (c->doomed, e, next_e)
        loc_cache_entry_free(e);
    DL_FOREACH_SAFE (c->ended, p, next_p)
        loc_cache_process_free(p);
    HASH_ITER (hh, c->trackers, t, next_t) {
        t->finished = false; /* freed here instead of with its last entry */
        HASH_ITER (hh, t->entries, e, next_e) {
            loc_cache_entry_detach(e);
            loc_cache_entry_free(e);
        }
        loc_cache_tracker_free(c, t);
    }
    for (int i = 0; i < LOC_DIRS_MAX; i++)
        free(c->local_dirs[i]);
    sd_event_unref(c->event);
    free(c);
    return NULL;
}

/* ---- the rest of the interface ---- */

void loc_cache_app_finished(struct loc_cache *c, struct yarn_app_id app)
{
    struct cache_tracker *t, *next_t;
    struct cache_entry *e, *next;

    HASH_ITER (hh, c->trackers, t, next_t) {
        if (t->visibility != LOC_APPLICATION || yarn_app_id_cmp(t->app, app) != 0)
            continue;
        HASH_ITER (hh, t->entries, e, next) {
            e->vanished = true; /* deleted with the application's directories */
            if (e->state == LOC_LOCALIZED)
                loc_cache_entry_run(e, EV_LOST, NULL);
        }
        t->finished = true;
        if (t->alive == 0)
            loc_cache_tracker_free(c, t);
    }
    loc_cache_process_app_finished(c, app);
}

void loc_cache_process_failed(struct loc_cache *c, uint64_t process, const char *text)
{
    struct cache_process *p, *next;

    HASH_ITER (hh, c->processes, p, next)
        if (p->id == process) {
            loc_cache_process_end(p, text);
            break;
        }
}

int loc_cache_progress(const struct loc_cache *c, struct yarn_container_id container, unsigned part,
                       unsigned index, struct loc_resource_progress *ret)
{
    const struct cache_request *r = cache_request_find(c, container, part);
    const struct cache_entry *e;
    int64_t ms;

    if (!r || index >= r->n)
        return -ENOENT;
    *ret = (struct loc_resource_progress){ .ready = r->holds[index].ready, .total = -1 };
    e = r->holds[index].entry;
    if (!e)
        return 0;
    ret->total = e->record.resource.size > 0 ? e->record.resource.size : -1;
    ret->downloading = e->state == LOC_DOWNLOADING && e->in_flight;
    ret->bytes = e->state == LOC_LOCALIZED ? e->record.local_size : e->fetched;
    ms = e->heard_ms - e->sent_ms;
    if (ret->downloading && ms > 0)
        ret->rate =
            e->fetched / (uint64_t)ms * 1000 + e->fetched % (uint64_t)ms * 1000 / (uint64_t)ms;
    return 0;
}

void loc_cache_stats(const struct loc_cache *c, struct loc_stats *ret)
{
    *ret = c->stats;
}
