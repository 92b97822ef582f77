/* The life of one unmanaged master in a secondary sub-cluster, as a table. Pure: events go in, one
 * thing to do comes out, the driver makes the calls.
 *
 * submit (the application's own id) → its report says ACCEPTED → its attempt's says LAUNCHED → the
 * report has the AMRMToken → the token is stored → register → heartbeats → finish. A failed call is
 * retried from the last step that need not be repeated. Hostile: what the ResourceManager answers.
 */
#ifndef SELVEDGE_FEDERATION_AMRM_UAM_H
#define SELVEDGE_FEDERATION_AMRM_UAM_H

#include "common/error.h"
#include "common/fsm.h"

enum fed_uam_state {
    FED_UAM_NEW = 1,
    FED_UAM_SUBMITTING,
    FED_UAM_ACCEPTING,   /* until the application is ACCEPTED */
    FED_UAM_LAUNCHING,   /* until its attempt is LAUNCHED */
    FED_UAM_FETCHING,    /* its token */
    FED_UAM_SAVING,      /* the token, before its first use */
    FED_UAM_REGISTERING, /* for the first time or again */
    FED_UAM_PAUSED,      /* until the next try */
    FED_UAM_RUNNING,     /* heartbeats */
    FED_UAM_FINISHING,
    FED_UAM_KILLING,
    FED_UAM_FINISHED, /* nothing of it is left in the sub-cluster */
    FED_UAM_FAILED,   /* may be started again */
    FED_UAM_STATES
};

enum fed_uam_event {
    FED_UAM_START = 1, /* the sub-cluster is to get requests */
    FED_UAM_ATTACH,    /* a stored token is at hand */
    FED_UAM_SUBMITTED,
    FED_UAM_REPORT,  /* arg->app, ->attempt_known, ->token */
    FED_UAM_ATTEMPT, /* arg->attempt */
    FED_UAM_SAVED,
    FED_UAM_REGISTERED,   /* also: the ResourceManager says that it already is */
    FED_UAM_CALL_FAILED,  /* arg->why; worth a retry */
    FED_UAM_CALL_REFUSED, /* arg->why; not worth one */
    FED_UAM_TIMER,
    FED_UAM_RESYNC,       /* the ResourceManager knows the attempt, not its registration */
    FED_UAM_LOST,         /* the ResourceManager does not know the attempt */
    FED_UAM_FINISH,       /* the master has finished */
    FED_UAM_UNREGISTERED, /* arg->done */
    FED_UAM_KILL,         /* the application has ended */
    FED_UAM_KILLED,
    FED_UAM_EVENTS
};

/* Each but NOTHING takes the place of an open call and of the timer: the driver cancels both. */
enum fed_uam_do {
    FED_UAM_DO_NOTHING,
    FED_UAM_DO_WAIT, /* uam->wait_ms, then FED_UAM_TIMER */
    FED_UAM_DO_SUBMIT,
    FED_UAM_DO_REPORT,         /* getApplicationReport */
    FED_UAM_DO_REPORT_ATTEMPT, /* getApplicationAttemptReport */
    FED_UAM_DO_SAVE,
    FED_UAM_DO_REGISTER,
    FED_UAM_DO_HEARTBEAT, /* registered: allocate from now on */
    FED_UAM_DO_FINISH,
    FED_UAM_DO_KILL,
    FED_UAM_DO_END, /* finished or failed: uam->state, uam->why */
};

/* yarn.federation.amrmproxy.register.uam.retry-count and .interval; Java's constants. */
struct fed_uam_settings {
    int32_t tries; /* of a launch, of a registration, of a kill: > 0 */
    int64_t retry_ms;
    int64_t poll_ms;   /* 200 */
    int64_t launch_ms; /* 10000: of one try, from its submission to the token */
};

struct fed_uam_arg {
    int app;            /* YarnApplicationStateProto */
    int attempt;        /* YarnApplicationAttemptStateProto */
    bool attempt_known; /* the report has current_application_attempt_id */
    bool token;         /* the report has am_rm_token */
    bool done;          /* isUnregistered */
    const char *why;
    int64_t now_ms; /* of every event */
};

struct fed_uam {
    struct fed_uam_settings settings;
    int state;
    int32_t tries_left;
    int64_t deadline_ms;  /* of the launch */
    bool submitted;       /* the sub-cluster may have the application */
    bool has_token;       /* stored */
    bool finish_next;     /* once registered again */
    enum fed_uam_do todo; /* of the last event */
    int64_t wait_ms;
    char why[SV_ERROR_TEXT_MAX]; /* of the last failure, "" = none */
};

void fed_uam_init(struct fed_uam *u, const struct fed_uam_settings *s);
/* Runs one event and returns what to do. -EPROTO: illegal in this state, which is unchanged. */
int fed_uam_handle(struct fed_uam *u, enum fed_uam_event event, const struct fed_uam_arg *arg);

extern const struct sv_fsm fed_uam_fsm;

#endif
