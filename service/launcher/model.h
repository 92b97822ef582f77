/* Frameworks as the launcher has them in memory: what was asked, what became of it, and the texts
 * of their tasks. All of it is in the store as well. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_MODEL_H
#define SELVEDGE_SERVICE_LAUNCHER_MODEL_H

#include <uthash.h>

#include "service/framework/descriptor.h"
#include "wire/ids.h"

#define SVC_LR_FRAMEWORKS_MAX 10000
#define SVC_LR_MIGRATES_MAX 1000 /* of one framework */
#define SVC_LR_REQUESTS_MAX                                                                        \
    ((size_t)256 << 20)                        /* bytes of all descriptors; memory: thrice that    \
                                                */
#define SVC_LR_TEXTS_MAX ((size_t)512 << 20)   /* bytes of all tasks' texts */
#define SVC_LR_TEXTS_OF_ONE ((size_t)64 << 20) /* of one framework's */
#define SVC_LR_TEXT_MAX ((size_t)32 << 10)     /* of one task's */

enum svc_lr_state { /* FrameworkState */
                    SVC_LR_WAITING = 1,
                    SVC_LR_CREATED,
                    SVC_LR_LAUNCHED,
                    SVC_LR_APP_WAITING,
                    SVC_LR_APP_RUNNING,
                    SVC_LR_RETRIEVING,
                    SVC_LR_APP_COMPLETED,
                    SVC_LR_COMPLETED,
                    SVC_LR_N_STATES
};
enum svc_lr_client { /* LaunchClientType */
                     SVC_LR_UNKNOWN,
                     SVC_LR_LIB,
                     SVC_LR_DATA_DEPLOYMENT,
                     SVC_LR_APPLICATION_MASTER,
                     SVC_LR_CLI,
                     SVC_LR_WEB_UI,
                     SVC_LR_N_CLIENTS
};

struct svc_lr_exit { /* of an application; texts malloc'd, or NULL */
    bool known;      /* there is one */
    int32_t code;
    enum svc_fw_type type;
    char *description, *diagnostics;
    char *trigger, *trigger_role;
    int32_t trigger_index; /* < 0: null */
};
void svc_lr_exit_free(struct svc_lr_exit *x);

struct svc_lr_status {
    int state;
    struct svc_fw_retries retries;
    int64_t created_ms, completed_ms, launched_ms, app_completed_ms; /* wall; 0 = null */
    struct yarn_app_id app;                                          /* id 0: none */
    char *user;         /* of the application: the framework's when it was submitted */
    double progress;    /* < 0 = null */
    char *tracking_url; /* or NULL */
    struct svc_lr_exit exit;
    bool code_kept;      /* the ResourceManager has said how it ended */
    int64_t retry_at_ms; /* in SVC_LR_APP_COMPLETED; < 0: no retry */
    int32_t attempt;     /* of the master that told last; 0: none has */
    int64_t sequence;    /* of what it told; -1: nothing */
};
void svc_lr_status_reset(struct svc_lr_status *s, int64_t created_ms); /* to SVC_LR_WAITING */
void svc_lr_status_free(struct svc_lr_status *s);

struct svc_lr_role {
    char *name;
    char **tasks; /* JSON by index; NULL: none was told */
    bool *running, *completed;
    int32_t n;
};

/* One user, and its part of the bounds of all. */
struct svc_lr_user {
    char *name;
    size_t frameworks, request_bytes, text_bytes;
    int64_t tasks;
    UT_hash_handle hh;
};

struct svc_lr_parent { /* a name that frameworks have as their parent's; it need not be there */
    char *name;
    struct svc_framework *children; /* list by .elder, .younger */
    UT_hash_handle hh;
};

struct svc_framework {
    char *name;
    uint64_t generation; /* another one has other tasks */
    int64_t tasks;       /* number of its set of tasks in the store */
    /* ---- The request ---- */
    struct sv_arena *arena; /* of the descriptor */
    struct svc_fw_descriptor *d;
    struct svc_lr_user *owner; /* the descriptor's user; NULL: there is no descriptor yet */
    char *text;                /* the descriptor's JSON */
    struct svc_lr_parent *parent;
    struct svc_framework *elder, *younger; /* of the parent's other children */
    enum svc_lr_client client;
    char *client_host, *client_user;
    int64_t first_ms, last_ms; /* wall */
    double progress;           /* OverrideApplicationProgressRequest; < 0: none */
    char **migrates;           /* containers' ids */
    size_t n_migrates;
    int64_t revision; /* grows with each change of the above */
    /* ---- The status ---- */
    struct svc_lr_status st;
    struct svc_lr_role *roles; /* by name */
    size_t n_roles, text_bytes;
    int32_t running; /* tasks in CONTAINER_RUNNING */
    /* ---- In memory alone ---- */
    uint64_t ticket;                   /* of the commit that its status is in */
    bool marked;                       /* while a family is gathered */
    bool pending;                      /* its family is being stopped or deleted */
    bool doomed;                       /* it is deleted for all who ask, and has still to go */
    bool busy;                         /* an application id or a submission is under way */
    bool queued;                       /* in the list of those that wait for one */
    bool ending;                       /* its master has said so */
    uint64_t seen;                     /* round of the poll that found the application */
    uint64_t missed;                   /* round of the poll that asked for it alone */
    int32_t asked;                     /* times that there were no diagnostics */
    int32_t failures;                  /* submissions that found no process in a row */
    struct svc_framework *prev, *next; /* of that list */
    UT_hash_handle hh, by_app;
};

struct svc_lr_all {
    struct svc_framework *by_name, *by_app;
    struct svc_lr_parent *parents;
    struct svc_lr_user *users; /* those that have frameworks */
    int64_t user_share;        /* percent of each bound that one user may have */
    int64_t n_tasks;           /* asked for, of all */
    size_t n, text_bytes, request_bytes;
    uint64_t generations;
};

/* NULL: there is none, or it is doomed. */
struct svc_framework *svc_lr_find(const struct svc_lr_all *all, const char *name);
struct svc_framework *svc_lr_find_any(const struct svc_lr_all *all, const char *name);
/* The first child; the others by .younger. */
struct svc_framework *svc_lr_children(const struct svc_lr_all *all, const char *parent);
struct svc_framework *svc_lr_find_app(const struct svc_lr_all *all, struct yarn_app_id app);
/* Adds a framework without a descriptor; NULL: no memory. */
struct svc_framework *svc_lr_add(struct svc_lr_all *all, const char *name);
void svc_lr_remove(struct svc_lr_all *all, struct svc_framework *f);
/* Takes arena, descriptor and text (malloc'd), on success. -ENOMEM: nothing has changed. */
int svc_lr_set_descriptor(struct svc_lr_all *all, struct svc_framework *f, struct sv_arena *a,
                          struct svc_fw_descriptor *d, char *text) _must_use_;
/* Changes in the descriptor and its text, without printing it anew: it may have a MiB. -ENOMEM:
 * nothing has changed. */
int svc_lr_set_number_of(struct svc_lr_all *all, struct svc_framework *f, struct svc_fw_role *r,
                         int32_t n) _must_use_;
int svc_lr_set_stop(struct svc_lr_all *all, struct svc_framework *f, bool stop) _must_use_;
char *svc_lr_text_of(const struct svc_fw_descriptor *d); /* malloc'd; NULL: no memory */
/* The text with `value` behind the first `key`, which ends with a colon, in the place of `old`;
 * NULL: no memory, or no such place. Within a text of JSON quotes are escaped: it is a key. */
char *svc_lr_with_value(const char *text, const char *key, const char *old, const char *value);
/* The user's part of a bound; what a user has: all 0 where it has no framework. */
int64_t svc_lr_share(const struct svc_lr_all *all, int64_t bound);
struct svc_lr_user svc_lr_user_of(const struct svc_lr_all *all, const char *user);
/* Tasks' texts of the framework have become longer by `more` bytes, or shorter. */
void svc_lr_count_texts(struct svc_lr_all *all, struct svc_framework *f, int64_t more);
/* Call it when st.app has changed. */
void svc_lr_index_app(struct svc_lr_all *all, struct svc_framework *f, struct yarn_app_id before);
void svc_lr_drop_tasks(struct svc_lr_all *all, struct svc_framework *f);
void svc_lr_drop_migrate(struct svc_framework *f, size_t i);

/* Sets a task's text, which is taken; NULL removes the task. -EFBIG: too many bytes, and -EINVAL:
 * neither the descriptor nor an earlier one has such a task; the text is the caller's then. */
struct svc_lr_task {
    const char *role;
    int32_t index;
    char *text;
    bool running, completed;
};
int svc_lr_set_task(struct svc_lr_all *all, struct svc_framework *f, const struct svc_lr_task *t)
    _must_use_;
struct svc_lr_role *svc_lr_role_of(const struct svc_framework *f, const char *name);

bool svc_lr_live(int state); /* the application may be in the ResourceManager, and not ended */
const char *svc_lr_state_name(int state);
const char *svc_lr_client_name(enum svc_lr_client c);
/* -ENOENT: no such type. */
int svc_lr_client_named(const char *name, enum svc_lr_client *ret) _must_use_;

#endif
