/* The NodeManager's cache of localized resources: waiting containers, one shared download for all
 * of them, references, eviction, recovery. Runs on the daemon's sd-event loop and never blocks;
 * downloading and unpacking happen in container-localizer processes (channel.h).
 *
 * Trackers as in YARN: PUBLIC (one), PRIVATE (one per user: a submitter, not the account that runs
 * its applications), APPLICATION (one per application). An entry is identified by (url, timestamp,
 * size, type, pattern) within its tracker and passes through INIT → DOWNLOADING → LOCALIZED |
 * FAILED (loc_entry_fsm). A failed entry is dropped once its waiters are notified, so that the next
 * request retries.
 *
 * The owner (nodemanager/) provides callbacks for operations of other components: starting a
 * localizer, deleting as another user, the state store. Hostile: every byte from a localizer, and
 * the resources that an application requests (url, pattern, numbers). */
#ifndef SELVEDGE_LOCALIZER_CACHE_H
#define SELVEDGE_LOCALIZER_CACHE_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"
#include "common/fsm.h"
#include "localizer/channel.h"
#include "wire/ids.h"

#define LOC_USER_MAX 256
#define LOC_RESOURCES_MAX 4096 /* per container */

struct loc_cache;

/* A requested resource (LocalResourceProto). Strings are copied. */
struct loc_resource {
    const char *url;   /* "file:///…", "http://…"; see fs/url.h */
    int64_t timestamp; /* ms since 1970, must equal the source's modification time */
    int64_t size;      /* bytes, must equal the source's; <= 0: unknown, not verified */
    enum loc_type type;
    enum loc_visibility visibility;
    const char *pattern; /* LOC_PATTERN only, else NULL */
};

/* Scope of a process: PUBLIC has neither user nor app and runs as selvedge-public; otherwise one
 * process serves PRIVATE and APPLICATION of (user, app). */
struct loc_scope {
    bool public_cache;
    const char *user;       /* NULL when public */
    struct yarn_app_id app; /* zero when public */
};

/* Record of an entry in the state store and in deletions. */
struct loc_record {
    enum loc_visibility visibility;
    const char *user;       /* NULL when PUBLIC */
    struct yarn_app_id app; /* zero unless APPLICATION */
    struct loc_resource resource;
    const char *local_dir; /* its configured local directory */
    int dir_index;         /* its index now; -1 when no longer configured */
    uint32_t dir_number;   /* 0 = directly in the cache directory; see loc_hierarchy_path */
    uint64_t id;           /* unique within the tracker, from 10 */
    uint64_t local_size;   /* bytes on disk; 0 until completed */
    const char *rel;       /* "0/3/17": hierarchy and id below the cache directory */
};

/* LOCALIZATION_COUNTERS of one container. */
struct loc_counters {
    uint64_t bytes_missed, bytes_cached;
    uint32_t files_missed, files_cached;
    int64_t millis;
};

/* Callbacks. None is called from inside loc_cache_localize or loc_cache_release: results come from
 * the loop. localized, failed and ready may call the cache (but not free it); the others must
 * not. */
struct loc_callbacks {
    /* Starts a container-localizer for the scope and returns this side of its channel
     * (non-blocking, close-on-exec; owned by the cache). `process` identifies it in later calls. A
     * negative result fails the waiting resources with err's text. A later failure is reported by
     * loc_cache_process_failed or shows as a closed channel. */
    int (*start)(void *userdata, uint64_t process, const struct loc_scope *scope,
                 int *ret_channel_fd, struct sv_error *err);
    /* The channel is closed (idle, application ended, protocol broken, stalled). The process exits
     * by itself; the owner kills it after a grace time. */
    void (*stop)(void *userdata, uint64_t process);
    /* Selects a good local directory for about `size` bytes, among those of the process: an index,
     * or -ENOSPC. */
    int (*pick_dir)(void *userdata, uint64_t process, int64_t size);
    /* Fills the source's parameters besides its url, for a request of the container: io_timeout_ms,
     * failovers, options, protection, login, servers. A negative result fails the resource with
     * err's text. May be NULL. */
    int (*describe)(void *userdata, struct yarn_container_id container,
                    const struct loc_resource *resource, struct loc_fetch *f, struct sv_error *err);
    /* Credentials for a download of the container: a memfd for loc_msg_send_with, which the cache
     * closes, or -1. Those of a PUBLIC one must not be the job's. 1: they are not there yet, and
     * loc_cache_credentials_came() follows; other downloads go on. A negative result fails the
     * resource with err's text. May be NULL. */
    int (*credentials)(void *userdata, struct yarn_container_id container,
                       const struct loc_resource *resource, int *ret_memfd, struct sv_error *err);
    /* A server has refused the credentials of a PUBLIC download. True: others will be there, so
     * that it is tried once more. May be NULL. */
    bool (*refused)(void *userdata, const struct loc_resource *resource);
    /* Deletes <cache>/<rel> and <cache>/<rel>_tmp as their owner, even across a restart, and drops
     * the record: the deletion is recorded first, then the entry's record is removed. A deletion
     * pending after a restart is announced by loc_cache_reserve. */
    void (*remove)(void *userdata, const struct loc_record *r);
    /* State store; any may be NULL. started is committed before the request to the localizer; a
     * negative result of started or completed fails the resource. removed: drop the record, there
     * is nothing to delete (the entry has vanished, is on a bad disk, is deleted with its
     * application, or the localizer has cleaned up). */
    int (*on_started)(void *userdata, const struct loc_record *r);
    int (*on_completed)(void *userdata, const struct loc_record *r);
    void (*on_removed)(void *userdata, const struct loc_record *r);
    /* Resource `index` of a request of the container is at `path` (absolute, the target of the link
     * in the work directory; the text is valid during the call) until loc_cache_release. */
    void (*localized)(void *userdata, struct yarn_container_id container, unsigned part,
                      unsigned index, const char *path);
    /* The first failure of a request; the rest of the request is dropped, references
     * already taken are kept until loc_cache_release. `diagnostics` in Hadoop's wording. */
    void (*failed)(void *userdata, struct yarn_container_id container, unsigned part,
                   unsigned index, const char *diagnostics);
    /* Called after the last localized of the request (at once for an empty one). */
    void (*ready)(void *userdata, struct yarn_container_id container, unsigned part,
                  const struct loc_counters *counters);
};

struct loc_config {
    const char *const *local_dirs; /* absolute, copied; their order is the helper's dir index */
    int n_local_dirs;
    uint64_t target_size;        /* bytes of PUBLIC + PRIVATE; localizer.cache.target-size-mb */
    int64_t cleanup_interval_ms; /* 0 = only loc_cache_cleanup; …cache.cleanup.interval-ms */
    uint32_t max_files_per_dir;  /* local-cache.max-files-per-directory, >= 37 */
    uint32_t parallel_public;    /* concurrent downloads of PUBLIC; localizer.fetch.thread-count */
    uint32_t parallel_private;   /* of all other processes, besides one per application */
    int64_t idle_ms;             /* a process without work is closed after this time */
    int64_t stall_ms;            /* a download without a message for this long fails */
    uint32_t deadline_ms;        /* for one download */
    int64_t orphan_ms; /* time after which no localizer of a daemon that died writes any more */
    struct loc_limits limits;
    bool verify_size;       /* false: sizes of requests are not verified */
    const char *no_network; /* why downloads from other machines are disabled, or NULL */
};
/* Sets defaults, Hadoop's where it has one; leaves local_dirs empty. */
void loc_config_defaults(struct loc_config *c);

int loc_cache_new(sd_event *event, const struct loc_config *config,
                  const struct loc_callbacks *callbacks, void *userdata, struct loc_cache **ret,
                  struct sv_error *err) _must_use_;
/* Closes all channels; calls no callback. Entries stay on disk. Accepts NULL, returns NULL. */
struct loc_cache *loc_cache_free(struct loc_cache *c);
static inline void loc_cache_freep(struct loc_cache **c)
{
    *c = loc_cache_free(*c);
}

/* Validates a requested resource, without side effects: url, type, pattern, numbers. */
int loc_resource_check(const struct loc_resource *r, struct sv_error *err) _must_use_;

/* Takes references for the container on all n resources. `part` tells several requests of one
 * container apart: what it needs from the start, and what is added while it runs. Invalid resources
 * are rejected at once without any reference (-EINVAL and a text); -EEXIST when there is such a
 * request already. */
int loc_cache_localize(struct loc_cache *c, struct yarn_container_id container, unsigned part,
                       const char *user, const struct loc_resource *resources, unsigned n,
                       struct sv_error *err) _must_use_;
/* Drops all references and pending waits of the request; no callback for it follows. A download
 * without waiters is cancelled. Unknown requests are ignored. */
void loc_cache_release(struct loc_cache *c, struct yarn_container_id container, unsigned part);
/* Drops the APPLICATION tracker (the owner deletes the application's directories itself) and ends
 * its process. Containers of the application must have been released. */
void loc_cache_app_finished(struct loc_cache *c, struct yarn_app_id app);

/* Asks for the credentials of all downloads that wait for them once more. */
void loc_cache_credentials_came(struct loc_cache *c);

/* Reports a process that failed to start or that ended; `text` appears in the diagnostics of its
 * downloads. */
void loc_cache_process_failed(struct loc_cache *c, uint64_t process, const char *text);
/* A disk has become unusable for containers: its resources are downloaded again when requested,
 * downloads to it fail, and the processes are replaced, since their descriptors may refer to
 * another disk than the one that comes back. `deletable`: entries on it are removed as usual, as on
 * a full disk; else records of PUBLIC and PRIVATE are kept for the next start, which finds the disk
 * back or the files gone. */
void loc_cache_dir_failed(struct loc_cache *c, int dir_index, bool deletable);

/* At the start of the daemon, before other calls. A completed record becomes a LOCALIZED entry
 * without references; a started one is deleted through remove. -EINVAL for a broken record (nothing
 * done). */
int loc_cache_recover(struct loc_cache *c, const struct loc_record *r, bool completed,
                      struct sv_error *err) _must_use_;

/* At the start of the daemon: a deletion of `id` is pending, so the id must not be reused (the
 * deletion would remove the new entry). */
int loc_cache_reserve(struct loc_cache *c, enum loc_visibility v, const char *user,
                      struct yarn_app_id app, uint64_t id) _must_use_;

/* Evicts least recently used entries without references while over the target size; returns their
 * number. Also runs every cleanup_interval_ms. */
int loc_cache_cleanup(struct loc_cache *c);

/* Counters of one visibility, since the start of the daemon. */
struct loc_tally {
    uint64_t hits, misses; /* requests that were cached, or not */
    uint64_t hit_bytes, miss_bytes;
    uint64_t downloads, failures, evictions, evicted_bytes;
    uint64_t bytes; /* current size of the cache */
    uint32_t entries;
};
struct loc_stats {
    struct loc_tally of[LOC_APPLICATION + 1]; /* indexed by enum loc_visibility */
    uint32_t downloading, processes;          /* current numbers */
    uint64_t bytes_before_cleanup;            /* of PUBLIC and PRIVATE, at the last cleanup */
};
void loc_cache_stats(const struct loc_cache *c, struct loc_stats *ret);

/* Progress of resource `index` of a request. */
struct loc_resource_progress {
    bool ready, downloading; /* neither: queued, or failed */
    uint64_t bytes;          /* fetched so far; for an archive: read, then unpacked */
    int64_t total;           /* requested size; -1: unknown */
    uint64_t rate;           /* bytes per second since the download began; 0: unknown */
};
/* -ENOENT: no such request. */
int loc_cache_progress(const struct loc_cache *c, struct yarn_container_id container, unsigned part,
                       unsigned index, struct loc_resource_progress *ret) _must_use_;

enum loc_state { LOC_INIT = 1, LOC_DOWNLOADING, LOC_LOCALIZED, LOC_FAILED };
extern const struct sv_fsm loc_entry_fsm;

/* Directory `number` of the hierarchy: 0 → "", 1…36 → "0"…"z", 37 → "0/0", …; Hadoop's
 * LocalCacheDirectoryManager. `buf` has LOC_HIERARCHY_MAX bytes; returns buf. */
#define LOC_HIERARCHY_MAX 16
char *loc_hierarchy_path(uint32_t number, char *buf);
/* Absolute cache directory of a tracker below a local directory: "<dir>/filecache",
 * "<dir>/usercache/<user>/filecache", "<dir>/usercache/<user>/appcache/<app>/filecache". */
int loc_cache_dir_path(const char *local_dir, enum loc_visibility v, const char *user,
                       struct yarn_app_id app, char *buf, size_t size) _must_use_;

#endif
