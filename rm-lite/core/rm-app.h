/* RMApp: one application, its states and its events. */
#ifndef SELVEDGE_RM_LITE_CORE_RM_APP_H
#define SELVEDGE_RM_LITE_CORE_RM_APP_H

#include <utlist.h>

#include "common/arena.h"
#include "common/fsm.h"
#include "proto/yarn.pb-c.h"
#include "rm-lite/core/context.h"
#include "rm-lite/scheduler/hash.h"
#include "rm-lite/scheduler/resource.h"

enum rm_app_state {
    RM_APP_ST_NEW = 1,
    RM_APP_ST_NEW_SAVING,
    RM_APP_ST_SUBMITTED,
    RM_APP_ST_ACCEPTED,
    RM_APP_ST_RUNNING,
    RM_APP_ST_FINAL_SAVING,
    RM_APP_ST_FINISHING,
    RM_APP_ST_FINISHED,
    RM_APP_ST_FAILED,
    RM_APP_ST_KILLING,
    RM_APP_ST_KILLED,
    RM_APP_STATES
};
/* The text of an event is the diagnostics; for RUNNING_ON_NODE the node's "host:port". No event of
 * an application has a payload. */
enum rm_app_event {
    RM_APP_EV_START = 1,
    RM_APP_EV_RECOVER,
    RM_APP_EV_KILL,
    RM_APP_EV_NEW_SAVED,
    RM_APP_EV_ACCEPTED,
    RM_APP_EV_REJECTED,
    RM_APP_EV_ATTEMPT_REGISTERED,
    RM_APP_EV_ATTEMPT_UNREGISTERED,
    RM_APP_EV_ATTEMPT_FINISHED,
    RM_APP_EV_ATTEMPT_FAILED,
    RM_APP_EV_ATTEMPT_KILLED,
    RM_APP_EV_UPDATE_SAVED,
    RM_APP_EV_NODE_UPDATE,
    RM_APP_EV_RUNNING_ON_NODE,
    RM_APP_EVENTS
};

struct rm_seconds { /* aggregated usage: MB·s, vcore·s, other types', counted in milliseconds */
    int64_t memory_ms, vcore_ms;
    int64_t extra_ms[RM_RES_EXTRA];
};

struct rm_preempted { /* containers that preemption ended */
    struct rm_seconds seconds;
    struct rm_res resource; /* like the counts since the daemon started: not in the store */
    int32_t containers, masters;
};

struct rm_app {
    struct {
        int64_t ts, id;
    } key;
    struct rm *rm;
    struct yarn_app_id id;
    char id_str[YARN_ID_TEXT_MAX];
    int state, before; /* RMApp state; the one reported while FINAL_SAVING or KILLING */
    int target;        /* the state after FINAL_SAVING */
    bool attempt_done; /* its attempt finished during FINAL_SAVING */
    bool recovered;
    int counted;     /* its state in rm->app_counts */
    int64_t changes; /* transitions of it, its attempts and its containers */
    char *user, *name, *queue, *type;
    struct rm_queue_counters *counters;      /* counters of its queue; NULL until used */
    struct rm_queue_counters *user_counters; /* of its user there, or NULL */
    uint8_t *submission;                     /* ApplicationSubmissionContextProto; submission.h */
    size_t submission_len;
    struct sv_arena *context_arena; /* its unpacked form; NULL until used, and at the end */
    void *context;
    int32_t priority, max_attempts;
    bool unmanaged, keep_containers;
    int64_t validity_ms; /* attempt_failures_validity_interval */
    int64_t lifetime_s;  /* LIFETIME timeout from submit_ms on, 0: none; app-lifetime.h */
    struct rm_res am_resource;
    char **tags;
    char *view_acl, *modify_acl; /* access lists VIEW_APP and MODIFY_APP, or NULL */
    int64_t submit_ms, start_ms, launch_ms, finish_ms; /* wall clock */
    char *diagnostics;
    char *kill_text;
    int final_status;              /* FinalApplicationStatusProto */
    char *tracking_url;            /* URL of the last attempt, kept when finished */
    struct rm_seconds seconds;     /* until settled_ms; rm_app_settle */
    int64_t settled_ms;            /* monotonic */
    struct rm_preempted preempted; /* usage of its preempted containers; app-usage.h */
    struct rm_res live;            /* resources of its containers that have not ended */
    int32_t n_live;
    struct rm_container *containers; /* containers that have not ended */
    struct rm_container *updated;    /* those of whose update the master is told next */
    struct rm_container *ended;      /* ended-containers.h */
    int32_t n_ended;
    int32_t total_containers;
    bool has_late;       /* a container's `late` is set */
    int32_t n_announced; /* containers whose preemption has not been reported to the master */
    struct rm_attempt *attempts; /* in order */
    struct rm_attempt *current;
    struct rm_name_set *ran_on;    /* nodes to be notified of its end */
    struct rm_name_set *log_nodes; /* log-status.h */
    int log_final;                 /* the final status of its logs, or 0 */
    UT_hash_handle hh;
    struct rm_app *prev, *next; /* rm->app_list, in order of submission */
};

/* Makes an application from a submission and puts it into the tables. NULL with `err` for a
 * submission that cannot be read or asks for an invalid resource, or -ENOMEM. */
struct rm_app *rm_app_new(struct rm *rm, struct yarn_app_id id, const char *user,
                          const uint8_t *submission, size_t len, struct sv_error *err);
/* The LIFETIME timeout of a submission in seconds, 0 without one; -EINVAL if negative. */
int rm_app_lifetime(const Hadoop__Yarn__ApplicationSubmissionContextProto *ctx, int64_t *ret_s,
                    struct sv_error *err) _must_use_;
void rm_app_free(struct rm_app *app);    /* with its attempts */
void rm_app_recount(struct rm_app *app); /* call it after each change of state */
/* Also changes the submission, which a restart reads. */
void rm_app_set_queue(struct rm_app *app, const char *path);

bool rm_app_is_final(const struct rm_app *app);     /* FINISHED, FAILED, KILLED */
bool rm_app_final_stored(const struct rm_app *app); /* also FINISHING */
int rm_app_wire_state(const struct rm_app *app);    /* YarnApplicationStateProto */
int rm_app_wire_final(const struct rm_app *app);    /* FinalApplicationStatusProto */
const char *rm_app_wire_state_name(const struct rm_app *app);
/* Updates app->seconds up to now. Call it before app->live changes. */
void rm_app_settle(struct rm_app *app);
struct rm_seconds rm_app_use(const struct rm_app *app); /* up to now */
void rm_app_seconds(const struct rm_app *app, int64_t *ret_mb_s, int64_t *ret_vcore_s);

void rm_app_post(struct rm_app *app, enum rm_app_event event, const char *text);

/* rm-app-fsm.c */
extern const struct sv_fsm rm_app_fsm;
void rm_app_handle(const struct sv_event *event, void *userdata); /* sv_event_handler */

#endif
