/* The launcher's state: requests, statuses, what masters have told of tasks, applications that are
 * still to be killed, the launcher's own request. It is in a file of this machine (SQLite,
 * store-sqlite.c), or where several servers share it (service/ha/): there a commit is on its way
 * when it returns, and what follows from it, answers and deeds, waits until the store keeps it.
 * Rows are checked when they are read: disks may be corrupt. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_STORE_H
#define SELVEDGE_SERVICE_LAUNCHER_STORE_H

#include "common/base.h"
#include "common/error.h"

struct svc_lr_store;

/* `path` NULL: in memory, for tests. -EBUSY: another process has it; -EPROTO: another version
 * wrote it. */
int svc_lr_store_open(const char *path, struct svc_lr_store **ret, struct sv_error *err) _must_use_;
struct svc_lr_store *svc_lr_store_close(struct svc_lr_store *s);
static inline void svc_lr_store_closep(struct svc_lr_store **s)
{
    *s = svc_lr_store_close(*s);
}

/* Writes stand between these two; a failed one makes the commit fail. -EIO: nothing of them is
 * written. */
void svc_lr_store_begin(struct svc_lr_store *s);
int svc_lr_store_commit(struct svc_lr_store *s) _must_use_;
void svc_lr_store_rollback(struct svc_lr_store *s);
bool svc_lr_store_is_open(const struct svc_lr_store *s);    /* between them */
const char *svc_lr_store_why(const struct svc_lr_store *s); /* of the last failure */
uint64_t svc_lr_store_commits(const struct svc_lr_store *s);
uint64_t svc_lr_store_failures(const struct svc_lr_store *s);

/* The number of the commit that is next (between begin and commit), or was last. */
uint64_t svc_lr_store_ticket(const struct svc_lr_store *s);
/* That commit, and all before, will be read again whatever ends now. */
bool svc_lr_store_keeps(const struct svc_lr_store *s, uint64_t ticket);
/* False: another server may have taken the frameworks over: nothing is answered or done. */
bool svc_lr_store_may_act(const struct svc_lr_store *s);
/* Bytes of a descriptor, or of a part of the launcher's own request. */
size_t svc_lr_store_value_max(const struct svc_lr_store *s);

/* `tasks`: the number of the set of tasks that is the framework's. */
void svc_lr_store_request(struct svc_lr_store *s, const char *framework, const char *request,
                          int64_t tasks);
void svc_lr_store_status(struct svc_lr_store *s, const char *framework, const char *status);
void svc_lr_store_remove(struct svc_lr_store *s, const char *framework);
/* `text` NULL: removes it. */
void svc_lr_store_task(struct svc_lr_store *s, int64_t tasks, const char *role, int32_t index,
                       const char *text);
/* Drops a set of tasks, which is swept later: it may have 100,000 rows. */
void svc_lr_store_drop_tasks(struct svc_lr_store *s, int64_t tasks);
/* Outside of begin and commit: deletes some rows of sets that were dropped. -EIO. */
int svc_lr_store_sweep(struct svc_lr_store *s) _must_use_;
struct svc_lr_store_kill {
    const char *app, *user, *framework; /* the last one "": its files stay */
    const char *owner; /* the framework whose change this is part of; NULL: of none */
};
void svc_lr_store_kill(struct svc_lr_store *s, const struct svc_lr_store_kill *k);
void svc_lr_store_killed(struct svc_lr_store *s, const char *app);
void svc_lr_store_meta(struct svc_lr_store *s, const char *key, const char *value);

struct svc_lr_rows { /* each returns 0, or -errno, which ends the load */
    int (*framework)(void *u, const char *name, const char *request, const char *status,
                     int64_t tasks);
    int (*dropped)(void *u, int64_t tasks);
    int (*task)(void *u, const char *framework, const char *role, int32_t index, const char *text);
    int (*kill)(void *u, const char *app, const char *user, const char *framework);
    int (*meta)(void *u, const char *key, const char *value);
};
/* Reads all, frameworks before their tasks. */
int svc_lr_store_load(struct svc_lr_store *s, const struct svc_lr_rows *rows, void *userdata,
                      struct sv_error *err) _must_use_;

#endif
