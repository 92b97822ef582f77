/* The states of a framework, as a table: events in, a changed status and operations out. Pure: no
 * clock, no random number and no input but its arguments. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_MACHINE_H
#define SELVEDGE_SERVICE_LAUNCHER_MACHINE_H

#include "common/fsm.h"
#include "service/launcher/model.h"

enum svc_lr_event {
    SVC_LR_CREATE = 1,    /* there is an application id */
    SVC_LR_SUBMITTED,     /* the ResourceManager has the application */
    SVC_LR_NOT_SUBMITTED, /* it refused, or could not be asked */
    SVC_LR_RECOVER,       /* the launcher has started anew */
    SVC_LR_SEEN_WAITING,  /* the ResourceManager's word */
    SVC_LR_SEEN_RUNNING,
    SVC_LR_SEEN_ENDED,
    SVC_LR_LOST,        /* it does not know the application */
    SVC_LR_DIAGNOSTICS, /* the application's last words, or that there are none */
    SVC_LR_RETRY,       /* its time has come */
    SVC_LR_GIVE_UP,     /* no retry */
    SVC_LR_STOP,        /* the user wants it stopped */
    SVC_LR_N_EVENTS
};

struct svc_lr_input {
    /* ---- In ---- */
    int64_t now_ms; /* wall */
    const struct svc_fw_retry_policy *policy;
    int64_t delay_min_s, delay_max_s; /* after a transient conflict */
    uint64_t random;
    struct yarn_app_id app;         /* SVC_LR_CREATE */
    const char *user;               /* likewise */
    bool has_code;                  /* SVC_LR_SEEN_ENDED: the ResourceManager knows how */
    int32_t code;                   /* then; and of SVC_LR_NOT_SUBMITTED */
    const char *words;              /* why; or NULL */
    const struct svc_lr_exit *exit; /* SVC_LR_DIAGNOSTICS: what they say, copied */
    /* ---- Out ---- */
    bool kill;       /* the application .killed of .killed_user */
    bool drop_tasks; /* they were of an application that has ended */
};

/* -EPROTO: not in this state. */
int svc_lr_run(struct svc_lr_status *s, enum svc_lr_event e, struct svc_lr_input *in) _must_use_;
const struct sv_fsm *svc_lr_machine(void); /* for tests */

#endif
