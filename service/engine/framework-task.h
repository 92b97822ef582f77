/* Objects of svc_framework_policy beside the engine's. Its files alone include this. */
#ifndef SELVEDGE_SERVICE_ENGINE_FRAMEWORK_TASK_H
#define SELVEDGE_SERVICE_ENGINE_FRAMEWORK_TASK_H

#include "service/engine/framework.h"
#include "service/engine/policy.h"

enum svc_task_wait { /* of a task without container and request; `place` is in a heap */
                     SVC_TASK_NO_WAIT,
                     SVC_TASK_WAITS, /* to be asked for, lowest index first: svc_fw_role_state */
                     SVC_TASK_RESTS, /* to be asked for later: the engine's timers */
};

struct svc_task {
    struct svc_inst *inst;
    struct svc_fw_retries retries;
    int64_t created_at, completed_at;
    /* The last container; cleared when the task is retried. */
    struct yarn_container_id container;
    struct svc_node *node; /* NULL: it has none */
    int64_t launched_at, ended_at;
    bool exited;
    bool given_back; /* its container ends uncounted */
    bool restored;
    int32_t exit_code;
    enum svc_fw_type type;
    const char *description;
    struct svc_timer place;
    uint8_t wait;
    bool gated;     /* allocated, and not launched: in the gang's list */
    uint64_t round; /* of the gang, since when */
    struct svc_task *g_prev, *g_next;
    uint32_t refusals;                    /* in a row */
    uint32_t told;                        /* generation of the operations that have its STATE */
    uint32_t listed, missing, missing_in; /* the list that had it; how often none did, since when */
};

struct svc_exceeded { /* a container that is listed and no task's */
    int64_t key[3];
    uint32_t list;
    int32_t times;
    UT_hash_handle hh;
};

struct svc_fw_role_state {
    struct svc_timers waiting; /* a heap by index */
};

struct svc_fw { /* of an engine */
    const struct svc_fw_descriptor *descriptor;
    const struct svc_fw_exits *exits;
    struct svc_fw_times times;
    int64_t wall_ms;
    struct svc_fw_role_state *roles;
    size_t n_roles;
    bool looked;  /* the tasks of the attempt before were looked at */
    bool blocked; /* no request is made: svc_fw_strangers() */

    struct svc_task *gated; /* by round: those of rounds that are complete, then the others */
    struct svc_timer gang;  /* while tasks are outstanding */
    uint64_t round;         /* that is not complete */

    uint32_t list, epoch; /* the list of containers that goes on; tasks' counts since then hold */
    bool listing, sweeping;
    struct svc_exceeded *exceeded;

    struct svc_fw_end end; /* but for texts that are not const: */
    char *diagnostics, *trigger;
};

enum { SVC_TIMER_REST = SVC_TIMER_POLICY, SVC_TIMER_GANG };

static inline const struct svc_fw_role *svc_fw_role_of(const struct svc_inst *i)
{
    return &i->comp->engine->fw->descriptor->roles[i->comp->index];
}

/* ---- framework-views.c ---- */
int64_t svc_fw_outstanding(const struct svc_engine *e); /* tasks without a container */
void svc_task_tell(struct svc_inst *i);                 /* STATE, once in a list of operations */

/* ---- framework-requests.c ---- */
void svc_task_wait(struct svc_inst *i); /* to be asked for */
void svc_task_rested(struct svc_task *t);
void svc_task_unwait(struct svc_inst *i); /* takes back its request, too */
void svc_fw_ask(struct svc_comp *c, int64_t n);
void svc_fw_escalate(struct svc_request *r);
void svc_fw_hold(struct svc_comp *c, struct svc_inst *i, int64_t count, enum svc_hold why);
struct svc_request *svc_fw_match(const struct svc_engine *e, const struct svc_allocated *a);

/* ---- framework-task.c ---- */
void svc_task_moved(struct svc_inst *i, int from, int to);
bool svc_task_may_launch(struct svc_inst *i);
bool svc_task_relaunch(struct svc_inst *i, int32_t exit_status, enum svc_outcome *outcome);
void svc_task_ended(struct svc_inst *i, struct svc_entry *n, bool short_lived);
/* Whatever the exit of its container will be, it is this. */
void svc_task_decide(struct svc_inst *i, int32_t code, const char *why);
/* Decides, and ends the container. */
void svc_task_end(struct svc_inst *i, int32_t code, const char *why);

/* ---- gang.c ---- */
bool svc_gang_may_launch(struct svc_inst *i);
void svc_gang_forget(struct svc_inst *i);   /* it has no container any more */
void svc_gang_settle(struct svc_engine *e); /* nothing is left to do */
void svc_gang_expired(struct svc_engine *e);

/* ---- completion.c ---- */
/* The task ended for good: does the application? */
void svc_completion_of_task(struct svc_inst *i);
/* Nothing is left to do: have all ended? */
void svc_completion_of_all(struct svc_engine *e);
/* The application ends with the code; `task`: which triggered it, with its exit; NULL: none. */
void svc_application_end(struct svc_engine *e, int32_t code, const struct svc_inst *task,
                         const char *diagnostics, const char *trigger);

/* ---- container-list.c ---- */
/* A container of the attempt before is no task's, is released and has not ended: it may have been a
 * task's of the same index, which is not started a second time. */
static inline bool svc_fw_strangers(const struct svc_engine *e)
{
    const struct svc_container *s;

    DL_FOREACH (e->surplus, s)
        if (s->kept)
            return true;
    return false;
}
void svc_list_settle(struct svc_engine *e);
void svc_list_free(struct svc_fw *f);

#endif
