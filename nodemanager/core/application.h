/* One application on this node: the object. It exists from its first container until the
 * ResourceManager ends it and its logs are handled. YARN's states (ApplicationImpl); their table
 * and actions are in fsm/application-fsm.c. */
#ifndef SELVEDGE_NODEMANAGER_CORE_APPLICATION_H
#define SELVEDGE_NODEMANAGER_CORE_APPLICATION_H

#include <uthash.h>

#include "common/base.h"
#include "executor/request.h"
#include "wire/ids.h"

struct nm_container;
struct nm_conf;
struct nm_context;

enum nm_app_state {
    NM_APP_NEW = 1,
    NM_APP_INITING,
    NM_APP_RUNNING,
    NM_APP_FINISHING_CONTAINERS_WAIT,
    NM_APP_RESOURCES_CLEANINGUP,
    NM_APP_FINISHED,
    NM_APP_N_STATES
};

/* Events; none has a payload. */
enum nm_app_event {
    NM_APP_EV_INIT_APPLICATION = 1,
    NM_APP_EV_INIT_CONTAINER,     /* text: its id */
    NM_APP_EV_APPLICATION_INITED, /* its directories exist; a text is the reason why they do not */
    NM_APP_EV_CONTAINER_FINISHED, /* text: its id */
    NM_APP_EV_FINISH_APPLICATION, /* text: the reason */
    NM_APP_EV_RESOURCES_CLEANEDUP,
    NM_APP_EV_LOG_HANDLING_FINISHED, /* its logs are deleted */
    NM_APP_N_EVENTS
};

struct nm_app_member {
    UT_hash_handle hh;
    struct nm_container *c;
};

struct nm_app {
    UT_hash_handle hh; /* ctx->apps */
    struct nm_app *next_dead;
    struct nm_context *ctx;
    struct yarn_app_id id;
    char text[YARN_ID_TEXT_MAX];
    int state;    /* enum nm_app_state */
    char *user;   /* the submitter: usercache/<user> has its files */
    char *run_as; /* the local account of its processes, and owner of its files */
    char *view_acl, *modify_acl;
    uint16_t categories[EXE_CATEGORIES]; /* SELinux categories; zeros if nothing is labelled */
    char *init_error;                    /* reason why its directories could not be created */
    struct nm_app_member *members;       /* its containers on this node, by text */
    int64_t start_ms;
    bool init_posted; /* INIT_APPLICATION comes once */
    bool finish_recorded;
    unsigned initing;              /* pending requests to the helper to create its directories */
    uint32_t local_dirs, log_dirs; /* masks of the directories created */
};

/* The local account that runs the applications of a submitter. */
const char *nm_account_of(const struct nm_conf *conf, const char *submitter);
int nm_app_new(struct nm_context *ctx, struct yarn_app_id id, const char *user, struct nm_app **ret)
    _must_use_;
struct nm_app *nm_app_free(struct nm_app *a); /* must be in no table */
int nm_app_join(struct nm_app *a, struct nm_container *c) _must_use_;
void nm_app_leave(struct nm_app *a, struct nm_container *c);

/* Posts an event to its state machine; `text` (NULL: none) is copied. */
void nm_app_post(struct nm_app *a, int event, const char *text);
/* Posts FINISH_APPLICATION, for the ResourceManager or a stop of the daemon. */
void nm_app_finish(struct nm_app *a, const char *why);

extern const char *const nm_app_state_names[NM_APP_N_STATES];
const char *nm_app_state_name(int state);

#endif
