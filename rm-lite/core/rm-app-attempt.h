/* RMAppAttempt: one run of an application's ApplicationMaster, its states and its events. */
#ifndef SELVEDGE_RM_LITE_CORE_RM_APP_ATTEMPT_H
#define SELVEDGE_RM_LITE_CORE_RM_APP_ATTEMPT_H

#include <utlist.h>

#include "common/fsm.h"
#include "rm-lite/core/context.h"
#include "rm-lite/scheduler/hash.h"
#include "rm-lite/scheduler/resource.h"

struct ipc_call;

enum rm_attempt_state {
    RM_ATT_ST_NEW = 1,
    RM_ATT_ST_SUBMITTED,
    RM_ATT_ST_SCHEDULED,
    RM_ATT_ST_ALLOCATED_SAVING,
    RM_ATT_ST_ALLOCATED,
    RM_ATT_ST_LAUNCHED_UNMANAGED_SAVING,
    RM_ATT_ST_LAUNCHED,
    RM_ATT_ST_RUNNING,
    RM_ATT_ST_FINAL_SAVING,
    RM_ATT_ST_FINISHING,
    RM_ATT_ST_FINISHED,
    RM_ATT_ST_FAILED,
    RM_ATT_ST_KILLED,
    RM_ATT_STATES
};
/* The text of an event is the diagnostics. */
enum rm_attempt_event {
    RM_ATT_EV_START = 1,
    RM_ATT_EV_RECOVER,
    RM_ATT_EV_KILL,
    RM_ATT_EV_FAIL,
    RM_ATT_EV_ADDED,
    RM_ATT_EV_CONTAINER_ALLOCATED, /* struct rm_attempt_allocated */
    RM_ATT_EV_NEW_SAVED,
    RM_ATT_EV_LAUNCHED,
    RM_ATT_EV_LAUNCH_FAILED,
    RM_ATT_EV_REGISTERED,
    RM_ATT_EV_STATUS_UPDATE,
    RM_ATT_EV_UNREGISTERED,       /* struct rm_attempt_unregistered */
    RM_ATT_EV_CONTAINER_FINISHED, /* the master's; struct rm_attempt_master_exit */
    RM_ATT_EV_EXPIRE,
    RM_ATT_EV_UPDATE_SAVED,
    RM_ATT_EVENTS
};
struct rm_attempt_allocated {
    struct rm_container *container; /* not owned */
};
struct rm_attempt_unregistered {
    int final_status; /* FinalApplicationStatusProto */
};
struct rm_attempt_master_exit {
    int32_t exit_status;
};

struct rm_attempt {
    struct rm *rm;
    struct rm_app *app;
    struct yarn_attempt_id id;
    char id_str[YARN_ID_TEXT_MAX];
    int state, before, target;   /* as in struct rm_app */
    struct rm_container *master; /* NULL until allocated, and after it is gone */
    struct yarn_container_id master_id;
    struct yarn_node_id master_node;
    char *master_http;         /* "host:port" of that node's web */
    bool master_done;          /* its container ended */
    bool has_master;           /* master_id is valid */
    int32_t exit_status;       /* of the master container; -1000 */
    char *host, *tracking_url; /* from register/finish; NULL before */
    bool is_here;              /* it registered from this host: its page may be on loopback */
    int32_t rpc_port;
    float progress;
    int final_status;
    char *diagnostics;
    int64_t start_ms, finish_ms; /* wall */
    int64_t seen_ms;             /* monotonic: last allocate, for liveliness */
    bool registered, token_live;
    int32_t amrm_key; /* key id of the token sent to the master */
    int32_t response_id;
    uint8_t *last_response; /* packed, for a repeated request */
    size_t last_response_len;
    struct rm_name_set *nm_tokens; /* nodes for which it has an NMToken; number: key id */
    struct rm_container *fresh;    /* allocated, not pulled yet */
    struct rm_done *done;          /* completed containers for the next allocate */
    struct rm_done *sent;          /* sent with last_response, not acknowledged */
    struct rm_unplaced *unplaced;  /* for the next allocate */
    int64_t updates_told;          /* node-updates.h */
    struct ipc_call *finish_call;  /* finishApplicationMaster that waits for the store */
    void (*finish_answer)(struct rm_attempt *att); /* answers it; set with finish_call */
    bool failure_counts;
    struct rm_attempt *prev, *next;
};

struct rm_unplaced { /* a SchedulingRequest that was given up */
    int32_t count;
    bool fitted; /* a node would have satisfied it: RM_DECIDE_UNPLACED */
    struct rm_unplaced *prev, *next;
    size_t len;
    uint8_t request[]; /* SchedulingRequestProto */
};

struct rm_done { /* a completed container to be reported to the ApplicationMaster */
    struct yarn_container_id id;
    int32_t exit_status;
    char *diagnostics;
    struct rm_res resource;
    bool opportunistic;
    char *node; /* "host:port" to notify when the status was pulled */
    char id_str[YARN_ID_TEXT_MAX];
    struct rm *rm;
    struct rm_done *prev, *next;
    UT_hash_handle hh; /* rm->done: not acknowledged by the ApplicationMaster yet */
};
/* Bytes of the diagnostics of all of them; further ones are cut to RM_ENDED_DIAGNOSTICS_MAX. They
 * are nodes', in part jobs', and wait as long as a master does not ask. */
#define RM_DONE_TEXTS_MAX ((size_t)32 << 20)
void rm_done_set_text(struct rm_done *d, const char *diagnostics); /* once; may be NULL */
void rm_done_free(struct rm_done *d);

struct rm_attempt *rm_attempt_new(struct rm_app *app, int32_t number); /* becomes the current */
/* An unmanaged master registers again, as its AMRMProxy was killed: ends of containers in an answer
 * that it has not acknowledged may not have arrived, and go into the next one, too. */
void rm_attempt_tell_again(struct rm_attempt *att);
void rm_attempt_free(struct rm_attempt *att);
bool rm_attempt_is_final(const struct rm_attempt *att);
int rm_attempt_wire_state(const struct rm_attempt *att);
void rm_attempt_unplaced(struct rm_attempt *att, const uint8_t *request, size_t len, int32_t count,
                         bool fitted);
/* Answers the finishApplicationMaster that waits for the store, if any. */
void rm_attempt_answer_finish(struct rm_attempt *att);

void rm_attempt_post(struct rm_attempt *att, enum rm_attempt_event event, const char *text);
void rm_attempt_post_allocated(struct rm_attempt *att, struct rm_container *c);
void rm_attempt_post_unregistered(struct rm_attempt *att, int final_status,
                                  const char *diagnostics);
void rm_attempt_post_master_exit(struct rm_attempt *att, int32_t exit_status,
                                 const char *diagnostics);

/* rm-app-attempt-fsm.c */
extern const struct sv_fsm rm_attempt_fsm;
void rm_attempt_handle(const struct sv_event *event, void *userdata); /* sv_event_handler */

#endif
