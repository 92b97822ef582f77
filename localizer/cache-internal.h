/* What the files of the cache share among themselves; nobody else includes it. */
#ifndef SELVEDGE_LOCALIZER_CACHE_INTERNAL_H
#define SELVEDGE_LOCALIZER_CACHE_INTERNAL_H

#include <uthash.h>
#include <utlist.h>

#include "localizer/cache.h"

#define FIRST_ID 10u /* as YARN's trackers */
#define SUB_DIRS 36u /* 0-9a-z, which also count as files of a directory */

/* ---- hierarchy.c: which numbered directories of one cache directory have room ---- */
struct hierarchy {
    uint32_t *counts; /* entries in directory `number` */
    uint32_t n;
};
int hierarchy_take(struct hierarchy *h, uint32_t per_dir, uint32_t *ret_number) _must_use_;
int hierarchy_note(struct hierarchy *h, uint32_t number) _must_use_; /* recovery: taken before */
void hierarchy_release(struct hierarchy *h, uint32_t number);
void hierarchy_free(struct hierarchy *h);

/* ---- one tracker: PUBLIC, PRIVATE of a user, APPLICATION of an application ---- */
struct tracker {
    char *key;
    enum loc_visibility visibility;
    char *user;
    struct yarn_app_id app;
    uint64_t next_id;
    struct hierarchy dirs[LOC_DIRS_MAX];
    struct entry *entries; /* hash by key */
    unsigned alive;        /* entries that point here, also detached ones */
    bool finished;         /* goes with the last of them */
    UT_hash_handle hh;
};

/* ---- one resource ---- */
enum doom { DOOM_NONE = 0, DOOM_REMOVE, DOOM_FORGET }; /* remove or on_removed is due */

struct entry {
    char *key;
    struct loc_cache *cache;
    struct tracker *tracker; /* NULL for a doomed one whose tracker went */
    int state;               /* enum loc_state */
    struct loc_record record;
    char *url, *pattern, *user, *lost_dir; /* what the record points to */
    char rel[LOC_REL_MAX + 1];
    char name[LOC_NAME_MAX + 1];
    bool placed;   /* it has an id and a directory, and the store knows it */
    bool counted;  /* it is part of the sizes in the statistics */
    bool detached; /* not found any more: cancelled, lost, or on a bad disk */
    bool vanished; /* nothing left to delete */
    int64_t used_ms;
    struct hold *holds;
    unsigned n_holds;
    /* While DOWNLOADING, or cancelled and not yet answered: */
    struct process *process;
    bool in_flight;
    uint64_t request;
    int64_t sent_ms, heard_ms;
    struct entry *prev, *next; /* the process' queue or flights, or the doomed */
    enum doom doom;
    UT_hash_handle hh;
};

/* One container's reference on one entry. */
struct hold {
    struct entry *entry; /* NULL when it failed */
    struct request *request;
    unsigned index;
    bool cached, ready, told;
    struct hold *prev, *next;
};

struct request {
    struct loc_cache *cache;
    char key[YARN_ID_TEXT_MAX];
    struct yarn_container_id container;
    uint64_t serial; /* tells it from a later one of the same container */
    unsigned n, n_told;
    struct hold *holds;
    int64_t start_ms;
    struct loc_counters counters;
    char *failure;
    unsigned failed_index;
    bool failure_told, ready_told, dirty;
    struct request *prev, *next; /* the dirty ones */
    UT_hash_handle hh;
};

/* ---- one container-localizer ---- */
struct process {
    char *key;
    uint64_t id;
    struct loc_cache *cache;
    char *user; /* NULL: PUBLIC */
    struct yarn_app_id app;
    int fd; /* -1 before the start */
    sd_event_source *io;
    struct entry *queue, *flights;
    unsigned n_flights;
    int64_t idle_since_ms;
    bool started;
    UT_hash_handle hh;
    struct process *prev, *next; /* the ended ones: stop is due */
};

struct loc_cache {
    struct loc_config config;
    char *local_dirs[LOC_DIRS_MAX];
    struct loc_callbacks cb;
    void *userdata;
    sd_event *event;
    sd_event_source *pump, *tick, *cleanup;
    struct tracker *trackers;
    struct request *requests, *dirty;
    struct process *processes, *ended;
    struct entry *doomed;
    uint64_t next_process, next_request, next_serial;
    struct loc_stats stats;
};

/* cache.c */
void cache_wake(struct loc_cache *c);
struct tracker *tracker_get(struct loc_cache *c, enum loc_visibility v, const char *user,
                            struct yarn_app_id app);
void tracker_free(struct loc_cache *c, struct tracker *t);
void request_mark(struct request *r);

/* entry.c */
enum entry_event { EV_REQUEST = 1, EV_RELEASE, EV_DONE, EV_FAILED, EV_RECOVERED, EV_LOST, EV_END };
struct entry *entry_new(struct loc_cache *c, struct tracker *t, const struct loc_resource *r);
struct entry *entry_find(struct tracker *t, const struct loc_resource *r);
/* Runs the table, and lets go of an entry that has FAILED. `arg`: struct loc_done for EV_DONE, the
 * text for EV_FAILED. The entry may be gone afterwards. */
void entry_run(struct entry *e, enum entry_event event, void *arg);
int entry_place(struct entry *e, struct sv_error *err) _must_use_; /* directory, id, store */
bool entry_is_there(const struct entry *e);
void entry_detach(struct entry *e);
void entry_doom(struct entry *e, enum doom doom);
void entry_free(struct entry *e);
void entry_stop_counting(struct entry *e);
void entry_count(struct entry *e);

/* process.c */
int process_enqueue(struct loc_cache *c, struct entry *e);
void process_unqueue(struct entry *e);
void process_cancel(struct entry *e); /* in flight: the answer is awaited */
void process_pump(struct loc_cache *c);
void process_tick(struct loc_cache *c);
void process_app_finished(struct loc_cache *c, struct yarn_app_id app);
void process_end(struct process *p, const char *text); /* what is in flight fails with the text */
struct process *process_free(struct process *p);

#endif
