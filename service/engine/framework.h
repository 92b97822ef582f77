/* The third policy of the engine: FrameworkLauncher's. What the framework's master calls beside
 * engine.h; pure like it.
 *
 * A role is a component, "role<i>" (i: its place in the descriptor), a task an instance,
 * "role<i>-<index>". States of a task, from the engine's:
 *
 *     TASK_WAITING         INIT, no request; also: the container of a task that was removed and
 *                          is wanted again ends (STOPPING)
 *     CONTAINER_REQUESTED  INIT, SVC_OP_ASK was emitted for it
 *     CONTAINER_ALLOCATED  LAUNCHING, the gang is not complete: no SVC_OP_LAUNCH yet
 *     CONTAINER_LAUNCHED   LAUNCHING, SVC_OP_LAUNCH was emitted
 *     CONTAINER_RUNNING    STARTED, READY
 *     CONTAINER_COMPLETED  STOPPING: its end is decided (did not start, lost, migrates), the exit
 *                          is that of the decision; svc_engine_completed() follows
 *     TASK_COMPLETED       SUCCEEDED, FAILED
 *     (removed)            no instance, or one whose container ends: svc_fw_view() is -ENOENT
 *
 * A container that ends by itself goes from RUNNING to WAITING or TASK_COMPLETED in one input.
 *
 * Operations, where they differ from engine.h:
 *   ASK     one container of one task: instance, request, priority (unique, 0, 1, 2, …), label.
 *           The master chooses the node (place.h), or calls svc_engine_rejected(): it is requested
 *           with another priority after 30..150 s. Not answered in 10..200 s: CANCEL, ASK.
 *   CANCEL  has instance.
 *   STATE   with instance: what svc_fw_view() says of the task changed, or the task is gone. Tell
 *           it, and wait until that is stored, before a LAUNCH that comes later in the list.
 *   STOP    without instance: of a container that was handed over and is no task's. A released one
 *           is gone for the ResourceManager while it still runs; a stopped one is not.
 *   CHECK   means nothing: tasks have no readiness checks.
 *   UNREGISTER follows the application's end at once; containers are the ResourceManager's to
 *           end. Tasks stay as they were, to be told a last time.
 * svc_engine_flex() is taskNumber; svc_engine_stop() ends as -7351. Not for frameworks:
 * svc_engine_expected(), _decommission(), _spec(), _upgrade…(), _kill(). */
#ifndef SELVEDGE_SERVICE_ENGINE_FRAMEWORK_H
#define SELVEDGE_SERVICE_ENGINE_FRAMEWORK_H

#include "service/engine/engine.h"
#include "service/engine/exit-table.h"
#include "service/framework/status.h"

extern const struct svc_policy svc_framework_policy;

/* ---- Set-up ---- */

struct svc_fw_times {                 /* ms; default in brackets */
    int64_t request_min, request_max; /* [10 s, 200 s] a request is outstanding */
    int64_t retry_min, retry_max;     /* [30 s, 150 s] until one that has no node is repeated */
    int64_t gang;                     /* [500 s] of a round */
    int32_t resync_rounds;            /* [6] amRmResyncFrequency: max_lost -2 means this */
};
#define SVC_FW_TIMES_DEFAULT                                                                       \
    {                                                                                              \
        .request_min = 10000, .request_max = 200000, .retry_min = 30000, .retry_max = 150000,      \
        .gang = 500000, .resync_rounds = 6                                                         \
    }

struct svc_fw_setup {                           /* svc_setup.framework */
    const struct svc_fw_descriptor *descriptor; /* lives until svc_fw_update() replaces it */
    const struct svc_fw_exits *exits;           /* lives as long as the engine; NULL: defaults */
    struct svc_fw_times times;
    int64_t wall_ms; /* wall clock minus the engine's, for the timestamps of views */
};
/* The definition and the options (labels) that svc_setup needs beside it: components role0,
 * role1, … -EINVAL: more tasks than SVC_INSTANCES_MAX. */
int svc_fw_definition(const struct svc_fw_descriptor *d, struct sv_arena *a,
                      struct svc_definition **ret, struct svc_options **ret_options,
                      struct sv_error *err) _must_use_;

/* ---- Inputs ---- */

/* Before svc_engine_start(): what the attempt before told of a task, which goes on from there.
 * Its container counts as alive until the ResourceManager says otherwise (`node`: from the
 * ResourceManager's list; NULL: not known yet, svc_engine_recovered() of it tells). One that was
 * allocated and perhaps never launched is given back, uncounted; CONTAINER_COMPLETED is ended
 * again. Call it for all tasks, then svc_engine_recovered() for what the ResourceManager lists:
 * others are stopped. -ERANGE: the index is beyond the role's count: the task was removed since,
 * tell so. -EINVAL: no such role, a container's id that is none. */
int svc_fw_restore(struct svc_engine *e, int64_t now, size_t role, const struct svc_fw_task *t,
                   const struct yarn_node_id *node, struct sv_error *err) _must_use_;
/* The descriptor of the same version with other retry and completion policies: used from the next
 * end on. Counts are svc_engine_flex()'s. -EINVAL: its roles are others. */
int svc_fw_update(struct svc_engine *e, int64_t now, const struct svc_fw_descriptor *d,
                  struct sv_error *err) _must_use_;
/* MigrateTasks: ends the container as -7153; its task starts elsewhere if its policy says so.
 * -ESRCH: no task has it, or it ends already. */
int svc_fw_migrate(struct svc_engine *e, int64_t now, struct yarn_container_id id,
                   struct sv_error *err) _must_use_;
/* The application ends with a code of exit-table.h (-7251, …). No effect if it ends already. */
void svc_fw_finish(struct svc_engine *e, int64_t now, int32_t code, const char *diagnostics);
/* Every (node expiry + 60 s) / 6: containers that the ResourceManager lists as not ended, in any
 * number of calls, then the list's end. A task's that is missing more than max_lost times in a
 * row ends as -7151; one of no task is released when it was listed more than max_exceed times.
 * complete = false: there was no list; no task's container counts as missing any more. */
void svc_fw_listed(struct svc_engine *e, int64_t now, const struct yarn_container_id *ids,
                   size_t n);
void svc_fw_list_end(struct svc_engine *e, int64_t now, bool complete);

/* ---- Views ---- */

struct svc_fw_view {
    size_t role;
    struct svc_fw_task task; /* but for service_version, ip, ports, log_url and gpus */
    bool has_container;      /* task.container names it; it may have ended */
    struct yarn_container_id container;
    char text[YARN_ID_TEXT_MAX]; /* task.container points here: copy with care */
};
/* -ENOENT: no such task (any more). Texts live until the next input. */
int svc_fw_view(const struct svc_engine *e, const char *instance, struct svc_fw_view *ret)
    _must_use_;
/* Role and index of an instance's name, which may be gone. -ENOENT: no such role. */
int svc_fw_name(const struct svc_engine *e, const char *instance, size_t *ret_role,
                int32_t *ret_index) _must_use_;
/* Walks a role's tasks by index: *cursor = 0 first; false at the end. */
bool svc_fw_walk(const struct svc_engine *e, size_t role, size_t *cursor, struct svc_fw_view *ret);

struct svc_fw_end { /* of the application: AMDiagnostics */
    bool ended;
    int32_t code;
    enum svc_fw_type type;
    const char *description, *diagnostics; /* "" = none */
    const char *trigger;                   /* applicationExitTriggerMessage; NULL = null */
    const char *role;                      /* NULL: no task triggered it */
    int32_t task;
};
void svc_fw_end(const struct svc_engine *e, struct svc_fw_end *ret);

struct svc_fw_state {
    int64_t total, final, outstanding; /* tasks; outstanding: without a container */
    double progress;                   /* final/total; 0 of none */
    uint64_t round;                    /* of the gang */
    int64_t gang_until;                /* 0: no round goes on */
};
void svc_fw_state(const struct svc_engine *e, struct svc_fw_state *ret);

#endif
