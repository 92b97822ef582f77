/* Private to the cache: one module in four files (cache.c, cache-entry.c, cache-process.c,
 * cache-recovery.c) that share these structures and call each other (a listed call cycle). */
#ifndef SELVEDGE_LOCALIZER_CACHE_INTERNAL_H
#define SELVEDGE_LOCALIZER_CACHE_INTERNAL_H

#include <uthash.h>
#include <utlist.h>

#include "localizer/cache.h"

#define FIRST_ID 10u /* as YARN's trackers */
#define TAKEN_MAX                                                                                  \
    20 /* ids tried for an entry; each try skips twice as many: 2^20 unknown entries */
#define SUB_DIRS 36u /* 0-9a-z, which also count as files of a directory */

/* ---- cache-hierarchy.c: free space in the numbered directories of one cache directory ---- */
struct cache_hierarchy {
    uint32_t *counts; /* entries in directory `number` */
    uint32_t n;
};
int loc_cache_hierarchy_take(struct cache_hierarchy *h, uint32_t per_dir, uint32_t *ret_number)
    _must_use_;
int loc_cache_hierarchy_note(struct cache_hierarchy *h, uint32_t number)
    _must_use_; /* recovery: in use */
void loc_cache_hierarchy_release(struct cache_hierarchy *h, uint32_t number);
void loc_cache_hierarchy_free(struct cache_hierarchy *h);

/* ---- tracker: PUBLIC, PRIVATE of a user, APPLICATION of an application ---- */
struct cache_tracker {
    char *key;
    enum loc_visibility visibility;
    char *user;
    struct yarn_app_id app;
    uint64_t next_id;
    struct cache_hierarchy dirs[LOC_DIRS_MAX];
    struct cache_entry *entries; /* hash by key */
    unsigned alive;              /* entries that point here, including detached ones */
    bool finished;               /* freed with the last of them */
    UT_hash_handle hh;
};

/* ---- one resource ---- */
/* Pending action: none, remove, on_removed, or none with the record kept. */
enum cache_doom { DOOM_NONE = 0, DOOM_REMOVE, DOOM_FORGET, DOOM_KEEP };

struct cache_entry {
    char *key;
    struct loc_cache *cache;
    struct cache_tracker *tracker; /* NULL for a doomed entry whose tracker was freed */
    int state;                     /* enum loc_state */
    struct loc_record record;
    char *url, *pattern, *user, *lost_dir; /* strings of the record */
    char rel[LOC_REL_MAX + 1];
    char name[FS_NAME_MAX + 1];
    unsigned taken;   /* ids that it could not have */
    bool placed;      /* has an id, a directory and a record in the state store */
    bool counted;     /* its size is included in the statistics */
    bool detached;    /* no longer found by look-ups: cancelled, lost, or on a bad disk */
    bool vanished;    /* nothing left to delete */
    bool disk_failed; /* loc_cache_dir_failed … */
    bool stranded;    /* … where nothing can be deleted */
    int64_t used_ms;
    struct cache_hold *holds;
    unsigned n_holds;
    /* While DOWNLOADING, or cancelled with an outstanding answer: */
    struct cache_process *process;
    bool in_flight;
    bool waits;   /* for its credentials, in the process' `waiting` */
    bool refused; /* its credentials were, once */
    uint64_t request;
    int64_t sent_ms, heard_ms;
    uint64_t fetched;                /* as reported by the localizer */
    struct cache_entry *prev, *next; /* in a list of the process, or in `doomed` */
    enum cache_doom doom;
    int64_t doomed_until; /* when it may be deleted, sv_now_ms() */
    UT_hash_handle hh;
};

/* One container's reference on one entry. */
struct cache_hold {
    struct cache_entry *entry; /* NULL when it failed */
    struct cache_request *request;
    unsigned index;
    bool cached, ready, told;
    struct cache_hold *prev, *next;
};

#define CACHE_REQUEST_KEY (YARN_ID_TEXT_MAX + 16) /* "CONTAINER/PART" */
struct cache_request {
    struct loc_cache *cache;
    char key[CACHE_REQUEST_KEY];
    struct yarn_container_id container;
    unsigned part;
    uint64_t serial; /* distinguishes it from a later request of the same key */
    unsigned n, n_told;
    struct cache_hold *holds;
    int64_t start_ms;
    struct loc_counters counters;
    char *failure;
    unsigned failed_index;
    bool failure_told, ready_told, dirty;
    struct cache_request *prev, *next; /* list of dirty requests */
    UT_hash_handle hh;
};

/* ---- one container-localizer ---- */
struct cache_process {
    char *key;
    uint64_t id;
    struct loc_cache *cache;
    char *user; /* NULL: PUBLIC */
    struct yarn_app_id app;
    int fd; /* -1 before the start */
    sd_event_source *io;
    struct cache_entry *queue, *flights;
    struct cache_entry *waiting; /* for credentials; comes back into the queue */
    unsigned n_flights;
    bool full; /* its socket buffer is full */
    int64_t idle_since_ms;
    bool started;
    bool retired; /* replaced by a successor; ends after its last download */
    UT_hash_handle hh;
    struct cache_process *prev, *next; /* in `ended`: stop is pending */
};

struct loc_cache {
    struct loc_config config;
    char *local_dirs[LOC_DIRS_MAX];
    struct loc_callbacks cb;
    void *userdata;
    sd_event *event;
    sd_event_source *pump, *tick, *cleanup;
    struct cache_tracker *trackers;
    struct cache_request *requests, *dirty;
    struct cache_process *processes, *ended;
    struct cache_entry *doomed;
    unsigned private_flights; /* of all processes except PUBLIC's */
    uint64_t next_process, next_request, next_serial;
    struct loc_stats stats;
};

/* cache.c */
void loc_cache_wake(struct loc_cache *c);
struct cache_tracker *loc_cache_tracker_get(struct loc_cache *c, enum loc_visibility v,
                                            const char *user, struct yarn_app_id app);
void loc_cache_tracker_free(struct loc_cache *c, struct cache_tracker *t);
void loc_cache_request_mark(struct cache_request *r);

/* cache-entry.c */
enum cache_event { EV_REQUEST = 1, EV_RELEASE, EV_DONE, EV_FAILED, EV_RECOVERED, EV_LOST, EV_END };
struct cache_entry *loc_cache_entry_new(struct loc_cache *c, struct cache_tracker *t,
                                        const struct loc_resource *r);
struct cache_entry *loc_cache_entry_find(struct cache_tracker *t, const struct loc_resource *r);
/* Runs the state table and detaches an entry that has FAILED. `arg`: struct loc_done for EV_DONE,
 * the text for EV_FAILED. May free the entry. */
void loc_cache_entry_run(struct cache_entry *e, enum cache_event event, void *arg);
int loc_cache_entry_place(struct cache_entry *e, struct sv_error *err) _must_use_;
/* Gives up the place, which an unknown entry has; later entries have higher ids. */
void loc_cache_entry_unplace(struct cache_entry *e); /* directory, id, store */
bool loc_cache_entry_is_there(const struct cache_entry *e);
void loc_cache_entry_detach(struct cache_entry *e);
void loc_cache_entry_doom(struct cache_entry *e, enum cache_doom doom);
void loc_cache_entry_free(struct cache_entry *e);
struct loc_tally *loc_cache_entry_tally(const struct cache_entry *e);

/* cache-process.c */
int loc_cache_process_enqueue(struct loc_cache *c, struct cache_entry *e);
void loc_cache_process_unqueue(struct cache_entry *e);
void loc_cache_process_cancel(struct cache_entry *e); /* in flight: waits for the answer */
void loc_cache_process_pump(struct loc_cache *c);
void loc_cache_process_resume(struct cache_process *p); /* what waits for credentials */
void loc_cache_process_tick(struct loc_cache *c);
void loc_cache_process_retire_all(struct loc_cache *c);
void loc_cache_process_app_finished(struct loc_cache *c, struct yarn_app_id app);
void loc_cache_process_end(struct cache_process *p,
                           const char *text); /* requests in flight fail with the text */
struct cache_process *loc_cache_process_free(struct cache_process *p);

#endif
