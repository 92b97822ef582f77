/* One application on this node and its state machine with YARN's states (ApplicationImpl). */
#ifndef SELVEDGE_NODEMANAGER_CORE_APPLICATION_H
#define SELVEDGE_NODEMANAGER_CORE_APPLICATION_H

#include <uthash.h>

#include "common/fsm.h"
#include "executor/request.h"
#include "wire/ids.h"

struct nm;
struct nm_container;

enum nm_app_state {
    NM_APP_NEW = 1,
    NM_APP_INITING,
    NM_APP_RUNNING,
    NM_APP_FINISHING_CONTAINERS_WAIT,
    NM_APP_RESOURCES_CLEANINGUP,
    NM_APP_FINISHED,
    NM_APP_N_STATES
};

enum nm_app_event {
    NM_APP_EV_INIT_APPLICATION = 1,
    NM_APP_EV_INIT_CONTAINER,
    NM_APP_EV_APPLICATION_INITED, /* directories are there, or text says why not */
    NM_APP_EV_CONTAINER_FINISHED,
    NM_APP_EV_FINISH_APPLICATION,
    NM_APP_EV_RESOURCES_CLEANEDUP,
    NM_APP_EV_LOG_HANDLING_FINISHED, /* its logs are deleted: nothing is left to show */
    NM_APP_N_EVENTS
};

struct nm_app_member {
    UT_hash_handle hh;
    struct nm_container *c;
};

struct nm_app {
    UT_hash_handle hh; /* nm->apps */
    struct nm_app *next_dead;
    struct nm *nm;
    struct yarn_app_id id;
    char text[YARN_ID_TEXT_MAX];
    int state;
    char *user;   /* who submitted it */
    char *run_as; /* the local account of its processes and directories */
    char *view_acl, *modify_acl;
    uint16_t categories[EXE_CATEGORIES]; /* of SELinux; zeros where nothing is labelled */
    char *init_error;                    /* why its directories could not be made */
    struct nm_app_member *members;       /* containers that are known here, by text */
    int64_t start_ms;
    bool finish_recorded;
    bool initing; /* the helper makes its directories */
};

int nm_app_new(struct nm *nm, struct yarn_app_id id, const char *user, struct nm_app **ret)
    _must_use_;
void nm_app_add(struct nm_app *a);    /* into nm->apps */
void nm_app_remove(struct nm_app *a); /* out of it; freed when no event is pending */
void nm_app_free_dead(struct nm *nm);
void nm_app_free_inits(struct nm *nm); /* answers that do not come any more: after exe_free */
struct nm_app *nm_app_find(struct nm *nm, const char *text);
int nm_app_join(struct nm_app *a, struct nm_container *c) _must_use_;
void nm_app_leave(struct nm_app *a, struct nm_container *c);

void nm_app_handle(struct nm_app *a, int event, const char *text); /* only by nm.c */
/* The ResourceManager or a stop says that it is over. */
void nm_app_finish(struct nm_app *a, const char *why);
const char *nm_app_state_name(int state);
const struct sv_fsm *nm_app_fsm(void);

#endif
