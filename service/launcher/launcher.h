/* The FrameworkLauncher: keeps frameworks as users have asked for them. Without a loop and without
 * YARN: what it needs of the world is a struct of functions, what happens is told to it. All that
 * it answers or does next is on disk first. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_LAUNCHER_H
#define SELVEDGE_SERVICE_LAUNCHER_LAUNCHER_H

#include <jansson.h>

#include "service/launcher/machine.h"
#include "service/launcher/model.h"
#include "service/launcher/settings.h"
#include "service/launcher/store.h"

#define SVC_LR_IDS_AT_ONCE 16  /* application ids that are asked for */
#define SVC_LR_WORKS_AT_ONCE 8 /* processes that submit and kill */
#define SVC_LR_KILLS_AT_ONCE 6 /* of these, those that kill */
#define SVC_LR_SUBMISSIONS 3   /* of one application, where the ResourceManager cannot be asked */

struct svc_lr;

/* The launcher's needs. Each starts something and returns at once; -errno: not started, and it
 * is wanted again later; -EALREADY: because of another work of the same framework. */
struct svc_lr_world {
    void *userdata; /* first argument of all */
    int64_t (*wall_ms)(void *u);
    uint64_t (*random)(void *u);
    /* An id for an application of this framework: svc_lr_on_id(). */
    int (*new_id)(void *u, const char *framework, uint64_t generation);
    /* Submits f's master as f's user under f->st.app: svc_lr_on_submitted(). */
    int (*submit)(void *u, const struct svc_framework *f);
    /* `framework`: its files go, too; NULL: they stay. svc_lr_on_killed(). */
    int (*kill)(void *u, const char *app, const char *user, const char *framework);
    void (*poll)(void *u);                           /* soon: svc_lr_on_reports() */
    void (*soon)(void *u);                           /* svc_lr_tick(), in the loop's next turn */
    void (*changed)(void *u, const char *framework); /* its master may wait; NULL: any may */
};

struct svc_lr_counts { /* since the start */
    uint64_t submitted, refused, retried, completed, killed, collected, reports, told;
};
struct svc_lr_kill {
    char *app, *user, *framework; /* the last one NULL: its files stay */
    bool busy;
    bool again;       /* when it has ended: it was begun before its files were to go */
    int32_t failures; /* in a row */
    int64_t after_ms; /* wall time of the next trial */
    uint64_t ticket;  /* of the commit that it is in; 0: it was read */
    UT_hash_handle hh;
};

struct svc_lr {
    const struct svc_lr_settings *settings;
    struct svc_lr_world world;
    struct svc_lr_store *store;
    bool broken; /* the store is down: what is in memory may not be on disk */
    struct svc_lr_all all;
    json_t *cluster, *acl;        /* ClusterConfiguration, AclConfiguration: checked; never NULL */
    json_t *launching, *launched; /* data deployment versions: texts or null */
    int64_t revision;             /* of the cluster configuration */
    char host[256], ip[64];       /* of this server */
    uint8_t secret[32];           /* of masters' tokens */
    bool has_secret;
    struct svc_framework *queue; /* those that want an id or a submission */
    struct svc_lr_kill *kills;   /* by application */
    int n_ids, n_works, n_kills;
    struct svc_lr_family *families; /* that are being stopped or deleted */
    json_t *unfinished;             /* those of the store, while it is read; or NULL */
    int64_t last_tasks;             /* the highest number of a set of tasks */
    uint64_t round;                 /* of polls */
    int64_t polled_ms;              /* wall time when the present one was asked for; 0: not known */
    bool again;                     /* the poll is wanted again soon: a master ends */
    struct svc_lr_counts counts;
};

/* `store` is taken in every case. */
int svc_lr_new(const struct svc_lr_settings *settings, const struct svc_lr_world *world,
               struct svc_lr_store *store, struct svc_lr **ret, struct sv_error *err) _must_use_;
struct svc_lr *svc_lr_free(struct svc_lr *l);
/* Once a second, and whenever something of the world has ended, or the store keeps more. */
void svc_lr_tick(struct svc_lr *l);

/* ---- Events of the world ---- */
void svc_lr_on_id(struct svc_lr *l, const char *framework, uint64_t generation, int status,
                  struct yarn_app_id app);
/* `code` 0: submitted; else SVC_FW_EXIT_SUBMIT_…, and why. */
void svc_lr_on_submitted(struct svc_lr *l, struct yarn_app_id app, int32_t code, const char *why);
void svc_lr_on_killed(struct svc_lr *l, const char *app, bool killed);

struct svc_lr_report { /* of an application, by the ResourceManager */
    struct yarn_app_id app;
    enum { SVC_LR_IS_WAITING, SVC_LR_IS_RUNNING, SVC_LR_HAS_ENDED } state;
    enum { SVC_LR_FINAL_UNKNOWN, SVC_LR_FINAL_SUCCEEDED, SVC_LR_FINAL_KILLED } final;
    const char *diagnostics, *tracking_url;
};
/* One poll: svc_lr_poll_asked() when the ResourceManager is asked for the live applications; with
 * its answer svc_lr_poll_begin() and svc_lr_poll_seen() for each. Those of which this returns true
 * have news: svc_lr_poll_take(), at most SVC_LR_REPORTS_AT_ONCE in one turn of the loop. Then
 * svc_lr_poll_missing(): the ResourceManager is asked for each of these, and svc_lr_poll_take() or
 * svc_lr_poll_unknown() has the answer. svc_lr_poll_end() ends it: `again` then says whether the
 * next one is wanted soon. So what has ended and is waited for is asked for, and nothing else of a
 * history. */
#define SVC_LR_REPORTS_AT_ONCE 32
#define SVC_LR_MISSING_MAX 256 /* of one poll */
void svc_lr_poll_asked(struct svc_lr *l);
void svc_lr_poll_begin(struct svc_lr *l);
bool svc_lr_poll_seen(struct svc_lr *l, const struct svc_lr_report *r);
void svc_lr_poll_take(struct svc_lr *l, const struct svc_lr_report *r, size_t n);
size_t svc_lr_poll_missing(struct svc_lr *l, struct yarn_app_id ret[SVC_LR_MISSING_MAX]);
void svc_lr_poll_unknown(struct svc_lr *l, struct yarn_app_id app);
void svc_lr_poll_end(struct svc_lr *l);

/* The token of an application's master, in hex. */
#define SVC_LR_TOKEN_TEXT 65
int svc_lr_token(const struct svc_lr *l, const struct svc_framework *f, char ret[SVC_LR_TOKEN_TEXT])
    _must_use_;

#endif
