/* Persistent state of the daemon: SQLite in WAL mode under yarn.nodemanager.recovery.dir. Writes
 * join one open transaction, which is committed when the loop is idle (group commit). Answers and
 * actions that require the record wait for the commit with nm_store_after_commit. A store that is
 * damaged, foreign or newer than this program is refused with a message; nothing in it is trusted
 * to be a path. */
#ifndef SELVEDGE_NODEMANAGER_STORE_STATE_STORE_H
#define SELVEDGE_NODEMANAGER_STORE_STATE_STORE_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"
#include "wire/token/token.h"

/* 2: containers.assigned; 3: containers.updated; 4: mcs; 5: service_data; 6: log_uploads,
 * log_skips; 7: containers.retry, ended_ms; 8: containers.late, reinit, next, previous; 9:
 * amrmproxy; older stores are upgraded when opened */
#define NM_STORE_SCHEMA 9

struct nm_store;

/* path: a file ("…/nm-state.db") or NULL for a store in memory (recovery off). */
int nm_store_open(sd_event *event, const char *path, struct nm_store **ret, struct sv_error *err)
    _must_use_;
/* Created by nm_store_open(), now or at an earlier start that did not get to
 * nm_store_not_new(): local directories may have entries of which it knows nothing. */
bool nm_store_is_new(const struct nm_store *s);
int nm_store_not_new(struct nm_store *s) _must_use_; /* for the next start */
/* Commits the open transaction. */
struct nm_store *nm_store_close(struct nm_store *s);
/* Removes the files of a closed store. */
int nm_store_unlink(const char *path) _must_use_;

/* Runs fn after everything written so far is committed. `result` is 0, or negative: the commit
 * failed. */
typedef void (*nm_store_fn)(void *userdata, int result);
int nm_store_after_commit(struct nm_store *s, nm_store_fn fn, void *userdata) _must_use_;
int nm_store_commit(struct nm_store *s); /* now; also runs the waiters */
/* Commits now, inside a handler: waiters run from the loop. */
int nm_store_flush(struct nm_store *s) _must_use_;

/* The reason why the store cannot be written; NULL: the last write succeeded. After a failure a row
 * of 64 KiB is written and removed every second until that succeeds: a node without work has
 * nothing else to write. */
const char *nm_store_failure(const struct nm_store *s);

/* Every writer returns 0 or -errno (-EIO: the store failed, see its log line). */
int nm_store_app(struct nm_store *s, const char *app, const char *user, const char *view_acl,
                 const char *modify_acl) _must_use_;
int nm_store_app_finished(struct nm_store *s, const char *app) _must_use_; /* being finished */
int nm_store_app_remove(struct nm_store *s, const char *app) _must_use_;
/* Data for an auxiliary service; removed with the application. */
int nm_store_service_data(struct nm_store *s, const char *app, const char *service, const void *p,
                          size_t n) _must_use_;

/* local_dir, log_dir: indices into the configured lists, chosen before the launch. assigned: the
 * exclusive resources of the container, a text of assignments.c. */
int nm_store_container(struct nm_store *s, const char *id, const char *app, const void *request,
                       size_t request_len, int64_t start_ms, int local_dir, int log_dir,
                       const char *assigned) _must_use_;
int nm_store_container_assigned(struct nm_store *s, const char *id, const char *assigned)
    _must_use_; /* later than its request */
int nm_store_container_launched(struct nm_store *s, const char *id, int64_t launch_ms) _must_use_;
int nm_store_container_killed(struct nm_store *s, const char *id, int exit_code) _must_use_;
int nm_store_container_completed(struct nm_store *s, const char *id, int exit_code) _must_use_;
int nm_store_container_done(struct nm_store *s, const char *id, int exit_code, int64_t finish_ms,
                            const char *diagnostics) _must_use_;
/* The identifier of an update's token; replaces that of the request. */
int nm_store_container_updated(struct nm_store *s, const char *id, const void *token, size_t len)
    _must_use_;
/* The launch that began at `ended_ms` has ended and another follows; `retry`: nm_retry_text(). */
int nm_store_container_again(struct nm_store *s, const char *id, const char *retry,
                             int64_t ended_ms) _must_use_;
/* Its request, of which the last `late` resources were added while it runs. */
int nm_store_container_extend(struct nm_store *s, const char *id, const void *request, size_t len,
                              int64_t late) _must_use_;
enum nm_reinit {
    NM_REINIT_NONE,
    NM_REINIT_UPGRADE,   /* a new launch context; the last one is kept for a rollback */
    NM_REINIT_COMMITTED, /* a new launch context for good */
    NM_REINIT_RESTART,   /* the same launch context */
    NM_REINIT_ROLLBACK,  /* the last launch context */
};
/* A re-initialization under way; `reinit`: of enum nm_reinit, with NM_STORED_REINIT_KILLS once the
 * running process is being ended for it; 0: none. The request that it brings, for an upgrade. */
#define NM_STORED_REINIT_KILLS 8
int nm_store_container_reinit(struct nm_store *s, const char *id, int reinit, const void *next,
                              size_t len) _must_use_;
int nm_store_container_reinit_kills(struct nm_store *s, const char *id) _must_use_;
/* The process that began at `ended_ms` has ended for it: the container is recorded as not launched,
 * with the request that the re-initialization (without the flag) brings. */
int nm_store_container_replace(struct nm_store *s, const char *id, int reinit, int64_t ended_ms)
    _must_use_;
int nm_store_container_commit(struct nm_store *s, const char *id) _must_use_; /* no rollback */
int nm_store_container_remove(struct nm_store *s, const char *id) _must_use_;

/* name: "nm.current", "nm.previous", "container.current", "container.previous", an application
 * attempt's id (the key that its NMToken used), or NM_STORE_AMRM_KEYS + "current" or "next". */
#define NM_STORE_AMRM_KEYS "amrmproxy."
int nm_store_key(struct nm_store *s, const char *name, const struct yarn_master_key *key)
    _must_use_;
int nm_store_key_remove(struct nm_store *s, const char *name) _must_use_;
int nm_store_used_token(struct nm_store *s, const char *container, int64_t expiry_ms) _must_use_;
int nm_store_used_tokens_expire(struct nm_store *s, int64_t now_ms) _must_use_;

/* Deletion tasks: a text of deletion-service.c. */
int nm_store_deletion(struct nm_store *s, int64_t id, int64_t at_ms, const char *task) _must_use_;
int nm_store_deletion_remove(struct nm_store *s, int64_t id) _must_use_;
int nm_store_log_deleter(struct nm_store *s, const char *app, const char *user, int64_t at_ms)
    _must_use_;
int nm_store_log_deleter_remove(struct nm_store *s, const char *app) _must_use_;
/* Log uploads (nodemanager/logs/): one per application, with the containers to skip. The numbers
 * are stored; an older daemon takes each but 0 as PENDING. */
enum nm_stored_upload_state {
    NM_STORED_UPLOAD_APP_RUNS = 0,
    NM_STORED_UPLOAD_PENDING = 1, /* the application has ended */
    NM_STORED_UPLOAD_FAILED = 2,  /* for good; the value is the reason */
};
int nm_store_log_upload(struct nm_store *s, const char *app, const char *account,
                        enum nm_stored_upload_state state, const void *value, size_t len)
    _must_use_;
int nm_store_log_upload_remove(struct nm_store *s, const char *app) _must_use_;
int nm_store_log_skip(struct nm_store *s, const char *app, const char *container) _must_use_;

/* Localized resources: the key is a text of localization-records.c; renewed credentials: one of
 * system-credentials.h. */
int nm_store_resource(struct nm_store *s, const char *key, const void *value, size_t len)
    _must_use_;
int nm_store_resource_remove(struct nm_store *s, const char *key) _must_use_;

/* Settings made by an operator on this node, such as its drain (health/). */
int nm_store_setting(struct nm_store *s, const char *name, const char *value) _must_use_;
int nm_store_setting_remove(struct nm_store *s, const char *name) _must_use_;

/* SELinux categories (mcs.c). owner: "" for a user's pair, the user for an application's. No pair
 * is recorded twice: a second row of one fails. */
int nm_store_mcs(struct nm_store *s, const char *name, const char *owner, int64_t pair) _must_use_;
int nm_store_mcs_remove(struct nm_store *s, const char *app) _must_use_; /* an application's */

/* Named records of the AMRMProxy about an application attempt. */
int nm_store_amrm(struct nm_store *s, const char *attempt, const char *name, const void *p,
                  size_t n) _must_use_;
int nm_store_amrm_remove(struct nm_store *s, const char *attempt, const char *name) _must_use_;
int nm_store_amrm_remove_all(struct nm_store *s, const char *attempt) _must_use_;

/* Reads the records back at start. A negative result of a callback stops and is returned. */
struct nm_stored_app {
    const char *id, *user, *view_acl, *modify_acl;
    bool finished;
};
struct nm_stored_container {
    const char *id, *app;
    const void *request;
    size_t request_len;
    int64_t start_ms, launch_ms, finish_ms;
    bool launched, killed, completed, done;
    int local_dir, log_dir, exit_code, kill_code;
    const char *diagnostics, *assigned;
    const void *updated; /* see nm_store_container_updated; NULL = never */
    size_t updated_len;
    const char *retry; /* see nm_store_container_again; "" = never */
    int64_t ended_ms;  /* -1 = never */
    int64_t late;      /* see nm_store_container_extend */
    int reinit;        /* see nm_store_container_reinit */
    bool has_previous; /* a request for a rollback */
};
int nm_store_each_app(struct nm_store *s, int (*fn)(const struct nm_stored_app *a, void *u),
                      void *u) _must_use_;
int nm_store_each_container(struct nm_store *s,
                            int (*fn)(const struct nm_stored_container *c, void *u), void *u)
    _must_use_;
/* A request of one container: its own, that of a re-initialization, or that for a rollback;
 * -ENOENT. */
enum nm_stored_request { NM_STORED_REQUEST, NM_STORED_NEXT, NM_STORED_PREVIOUS };
int nm_store_container_request(struct nm_store *s, const char *id, enum nm_stored_request which,
                               int (*fn)(const void *request, size_t len, void *u), void *u)
    _must_use_;
int nm_store_each_key(struct nm_store *s,
                      int (*fn)(const char *name, const struct yarn_master_key *k, void *u),
                      void *u) _must_use_;
int nm_store_each_used_token(struct nm_store *s,
                             int (*fn)(const char *container, int64_t expiry_ms, void *u), void *u)
    _must_use_;
int nm_store_each_deletion(struct nm_store *s,
                           int (*fn)(int64_t id, int64_t at_ms, const char *task, void *u), void *u)
    _must_use_;
struct nm_stored_upload {
    const char *app, *account;
    enum nm_stored_upload_state state;
    const void *value;
    size_t len;
};
int nm_store_each_log_upload(struct nm_store *s, int (*fn)(const struct nm_stored_upload *, void *),
                             void *u) _must_use_;
int nm_store_each_log_skip(struct nm_store *s, int (*fn)(const char *, const char *, void *),
                           void *u) _must_use_;
int nm_store_each_log_deleter(struct nm_store *s,
                              int (*fn)(const char *app, const char *user, int64_t at_ms, void *u),
                              void *u) _must_use_;
int nm_store_each_resource(struct nm_store *s,
                           int (*fn)(const char *key, const void *value, size_t len, void *u),
                           void *u) _must_use_;
int nm_store_each_setting(struct nm_store *s,
                          int (*fn)(const char *name, const char *value, void *u), void *u)
    _must_use_;
int nm_store_each_service_data(struct nm_store *s,
                               int (*fn)(const char *app, const char *service, const void *p,
                                         size_t n, void *u),
                               void *u) _must_use_;
/* Sorted by attempt; attempt NULL: of all. */
struct nm_stored_amrm {
    const char *attempt, *name;
    const void *value;
    size_t len;
};
int nm_store_each_amrm(struct nm_store *s, const char *attempt,
                       int (*fn)(const struct nm_stored_amrm *r, void *u), void *u) _must_use_;
int nm_store_each_mcs(struct nm_store *s,
                      int (*fn)(const char *name, const char *owner, int64_t pair, void *u),
                      void *u) _must_use_;

#endif
