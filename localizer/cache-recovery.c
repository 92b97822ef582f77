/* Recovery after a restart, handling of bad disks, and eviction. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/str.h"
#include "localizer/cache-internal.h"

static int dir_index(const struct loc_cache *c, const char *local_dir)
{
    for (int i = 0; i < c->config.n_local_dirs; i++)
        if (sv_streq(c->local_dirs[i], local_dir))
            return i;
    return -1;
}

static bool record_is_sane(const struct loc_record *r)
{
    char dir[LOC_HIERARCHY_MAX], rel[LOC_REL_MAX + 1];
    size_t n;

    if (r->visibility < LOC_PUBLIC || r->visibility > LOC_APPLICATION || !r->local_dir || !r->rel ||
        r->id < FIRST_ID || r->id >= INT64_MAX || !loc_rel_valid(r->rel) ||
        (r->visibility != LOC_PUBLIC && (!r->user || !fs_name_valid(r->user))))
        return false;
    loc_hierarchy_path(r->dir_number, dir);
    n = strlen(dir);
    if (snprintf(rel, sizeof(rel), "%s%s%llu", dir, n ? "/" : "", (unsigned long long)r->id) < 0)
        return false;
    return strcmp(rel, r->rel) == 0 && loc_resource_check(&r->resource, NULL) == 0;
}

int loc_cache_recover(struct loc_cache *c, const struct loc_record *r, bool completed,
                      struct sv_error *err)
{
    struct cache_tracker *t;
    struct cache_entry *e, *other;
    int index = r->local_dir ? dir_index(c, r->local_dir) : -1;

    if (!record_is_sane(r))
        return sv_error_set(err, -EINVAL, "state store: broken record of a localized resource");
    t = loc_cache_tracker_get(c, r->visibility, r->user, r->app);
    if (!t)
        return sv_error_set(err, -ENOMEM, "localized resource: out of memory");
    other = completed ? loc_cache_entry_find(t, &r->resource) : NULL;
    if (other && other->record.id > r->id)
        completed = false; /* fetch again: its disk was lost */
    else if (other)
        loc_cache_entry_run(other, EV_LOST, NULL);
    e = loc_cache_entry_new(c, t, &r->resource);
    if (!e)
        return sv_error_set(err, -ENOMEM, "localized resource: out of memory");
    e->record.id = r->id;
    e->record.dir_number = r->dir_number;
    e->record.local_size = r->local_size;
    memcpy(e->rel, r->rel, strlen(r->rel) + 1);
    t->next_id = SV_MAX(t->next_id, r->id + 1);
    if (index < 0 || loc_cache_hierarchy_note(&t->dirs[index], r->dir_number) < 0) {
        e->placed = e->vanished = true; /* on a disk that is no longer configured */
        e->lost_dir = strdup(r->local_dir);
        e->record.local_dir = e->lost_dir;
        loc_cache_entry_doom(e, DOOM_FORGET);
        return 0;
    }
    e->record.dir_index = index;
    e->record.local_dir = c->local_dirs[index];
    if (!completed) {
        e->placed = true;
        /* Its localizer ends when it notices that the daemon has died, and may make the directory
         * until then. */
        e->doomed_until = sv_now_ms() + c->config.orphan_ms;
        loc_cache_entry_doom(e, DOOM_REMOVE);
        return 0;
    }
    loc_cache_entry_run(e, EV_RECOVERED, NULL);
    return 0;
}

int loc_cache_reserve(struct loc_cache *c, enum loc_visibility v, const char *user,
                      struct yarn_app_id app, uint64_t id)
{
    struct cache_tracker *t;

    if (v < LOC_PUBLIC || v > LOC_APPLICATION || id >= INT64_MAX ||
        (v != LOC_PUBLIC && (!user || !fs_name_valid(user))))
        return -EINVAL;
    t = loc_cache_tracker_get(c, v, user, app);
    if (!t)
        return -ENOMEM;
    t->next_id = SV_MAX(t->next_id, id + 1);
    return 0;
}

void loc_cache_dir_failed(struct loc_cache *c, int dir, bool deletable)
{
    struct cache_tracker *t, *next_t;
    struct cache_entry *e, *next;

    HASH_ITER (hh, c->trackers, t, next_t)
        HASH_ITER (hh, t->entries, e, next)
            if (e->placed && e->record.dir_index == dir) {
                e->disk_failed = true;
                e->stranded = !deletable;
                if (e->state == LOC_LOCALIZED)
                    loc_cache_entry_run(e, EV_LOST, NULL);
            }
    loc_cache_process_retire_all(c);
}

static int compare_age(const void *a, const void *b)
{
    const struct cache_entry *const *x = a, *const *y = b;

    return ((*x)->used_ms > (*y)->used_ms) - ((*x)->used_ms < (*y)->used_ms);
}

/* Collects PUBLIC and PRIVATE entries without references; malloc'd. */
static size_t candidates(struct loc_cache *c, struct cache_entry ***ret)
{
    struct cache_entry **list = NULL, *e, *next;
    struct cache_tracker *t, *next_t;
    size_t n = 0, max = c->stats.of[LOC_PUBLIC].entries + c->stats.of[LOC_PRIVATE].entries;

    list = calloc(max + 1, sizeof(struct cache_entry *));
    *ret = list;
    if (!list)
        return 0;
    HASH_ITER (hh, c->trackers, t, next_t) {
        if (t->visibility == LOC_APPLICATION)
            continue;
        HASH_ITER (hh, t->entries, e, next)
            if (e->state == LOC_LOCALIZED && e->n_holds == 0 && n < max)
                list[n++] = e;
    }
    return n;
}

static uint64_t counted_bytes(const struct loc_cache *c)
{
    return c->stats.of[LOC_PUBLIC].bytes + c->stats.of[LOC_PRIVATE].bytes;
}

int loc_cache_cleanup(struct loc_cache *c)
{
    _cleanup_free_ struct cache_entry **list = NULL;
    size_t n;
    int evicted = 0;

    c->stats.bytes_before_cleanup = counted_bytes(c);
    if (counted_bytes(c) <= c->config.target_size)
        return 0;
    n = candidates(c, &list);
    if (n > 0)
        qsort(list, n, sizeof(*list), compare_age);
    for (size_t i = 0; i < n; i++) {
        if (counted_bytes(c) <= c->config.target_size)
            break;
        loc_cache_entry_tally(list[i])->evictions++;
        loc_cache_entry_tally(list[i])->evicted_bytes += list[i]->record.local_size;
        loc_cache_entry_run(list[i], EV_LOST, NULL); /* no references: removed */
        evicted++;
    }
    return evicted;
}
