/* One container: the object. YARN's states (ContainerImpl); their table and actions are in
 * fsm/container-fsm.c. Texts come from users (commands, paths in diagnostics) and are never
 * interpreted here. */
#ifndef SELVEDGE_NODEMANAGER_CORE_CONTAINER_H
#define SELVEDGE_NODEMANAGER_CORE_CONTAINER_H

#include <systemd/sd-event.h>
#include <uthash.h>

#include "cgroups/cg.h"
#include "common/arena.h"
#include "executor/request.h"
#include "nodemanager/core/container-retry.h"
#include "wire/exit-status.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

struct exe_container;
struct nm_app;
struct nm_context;
struct nm_launcher;
struct nm_localizing;
struct nm_numa_taken;
struct nm_stored_container;

enum nm_container_state {
    NM_CONTAINER_NEW = 1,
    NM_CONTAINER_LOCALIZING,
    NM_CONTAINER_LOCALIZATION_FAILED,
    NM_CONTAINER_SCHEDULED,
    NM_CONTAINER_RUNNING,
    NM_CONTAINER_RELAUNCHING,
    NM_CONTAINER_REINITIALIZING,
    NM_CONTAINER_REINITIALIZING_AWAITING_KILL,
    NM_CONTAINER_PAUSING,
    NM_CONTAINER_PAUSED,
    NM_CONTAINER_RESUMING,
    NM_CONTAINER_KILLING,
    NM_CONTAINER_EXITED_WITH_SUCCESS,
    NM_CONTAINER_EXITED_WITH_FAILURE,
    NM_CONTAINER_CLEANEDUP_AFTER_KILL,
    NM_CONTAINER_DONE,
    NM_CONTAINER_N_STATES
};

/* Payload of KILL, EXITED_WITH_… and KILLED_ON_REQUEST; of RESOURCE_… the number of the part. */
struct nm_container_exit {
    int code; /* enum yarn_exit_status, the exit code of a process, or a part */
};

enum nm_container_event {
    NM_CONTAINER_EV_INIT = 1,
    NM_CONTAINER_EV_KILL,
    NM_CONTAINER_EV_UPDATE_DIAGNOSTICS,
    NM_CONTAINER_EV_RESOURCE_LOCALIZED, /* all of its resources */
    NM_CONTAINER_EV_RESOURCE_FAILED,
    NM_CONTAINER_EV_LAUNCHED,
    NM_CONTAINER_EV_EXITED_WITH_SUCCESS,
    NM_CONTAINER_EV_EXITED_WITH_FAILURE,
    NM_CONTAINER_EV_KILLED_ON_REQUEST,
    NM_CONTAINER_EV_RESOURCES_CLEANEDUP,
    NM_CONTAINER_EV_PAUSE,
    NM_CONTAINER_EV_PAUSED,
    NM_CONTAINER_EV_RESUME,
    NM_CONTAINER_EV_RESUMED,
    NM_CONTAINER_EV_RECOVER_PAUSED,
    NM_CONTAINER_EV_REINITIALIZE,
    NM_CONTAINER_EV_ROLLBACK_REINIT,
    NM_CONTAINER_N_EVENTS
};

/* GPUs and private network address assigned exclusively to one container. Zero = none. */
struct nm_assigned {
    struct exe_device gpus[EXE_DEVICES_MAX]; /* their nodes, ascending */
    size_t n_gpus;
    size_t units;     /* of yarn.io/gpu */
    uint32_t address; /* number of its address + 1; 0 = none */
};

#define NM_APPLICATION_MASTER 1 /* container_type: ContainerTypeProto */

enum nm_recovered {
    NM_RECOVERED_NOT,       /* started by this daemon process */
    NM_RECOVERED_REQUESTED, /* the store has no record of its start */
    NM_RECOVERED_LAUNCHED,
    NM_RECOVERED_COMPLETED, /* with exit_code and diagnostics */
};

struct nm_container {
    UT_hash_handle hh; /* ctx->containers */
    struct nm_container *next_dead;
    struct nm_context *ctx;
    struct nm_app *app;
    struct yarn_container_id id;
    char text[YARN_ID_TEXT_MAX];
    int state; /* enum nm_container_state */

    /* From the token, which the ResourceManager has signed: */
    struct yarn_resource resource;
    int32_t priority, version, execution_type, container_type;
    int64_t allocation_request_id, creation_ms, rm_identifier;
    char *node_label; /* "" = none */
    char *tags;       /* allocation tags, each with its NUL; NULL = none */
    size_t n_tags;
    bool began_opportunistic; /* by the token of its request, before any update */

    /* The request; freed when the container runs, and read again for another launch. */
    struct sv_arena *arena;
    const Hadoop__Yarn__ContainerLaunchContextProto *clc;

    char command[64]; /* first word of its command, for display; see first_word() */
    int exit_code;
    char *diagnostics;                      /* never NULL */
    int64_t start_ms, launch_ms, finish_ms; /* wall clock; 0 = not yet */
    int64_t localize_ms;                    /* duration */

    bool init_posted;    /* of its application: INIT comes once */
    bool recorded;       /* its request is committed: it may begin */
    bool aux_init;       /* auxiliary services were notified of it */
    bool kill_requested; /* a kill is recorded, with kill_code */
    int kill_code;
    bool recovering; /* adoption under way: NMNotYetReadyException */
    enum nm_recovered recovered;

    struct nm_localizing *localizing; /* services/container-resources.h: utlist of its parts */
    int64_t late_resources;           /* the last ones of its request, added while it runs */
    struct nm_retry retry;            /* of the launch context */

    struct {               /* reInitializeContainer; core/container-reinit.h */
        int kind;          /* enum nm_reinit: under way */
        bool kills;        /* recorded: the running process is ended for it */
        bool can_rollback; /* the last launch context is recorded */
        struct sv_arena *arena;
        /* The launch context that it brings, while its resources are localized; else NULL. */
        const Hadoop__Yarn__ContainerLaunchContextProto *clc;
    } reinit;

    struct {                          /* launch/ */
        struct nm_launcher *launcher; /* NULL = not launched yet */
        int local_dir, log_dir;       /* indices */
        bool no_dirs;                 /* no usable directory: the launch is refused */
        struct exe_container *exe;    /* from the launch to the recorded exit */
        pid_t pid;                    /* of its init; 0 = not started */
        sd_event_source *kill_timer;
        int64_t waits_since_ms; /* share-wait.c, monotonic; 0 = does not wait */
        bool cleanup_started;   /* TERM or KILL has been requested */
        bool frozen;            /* its cgroup, in which that survives a restart */
        bool again;             /* another launch: its directories are there; see relaunch.h */
        int64_t ended_ms; /* start of the last launch whose end is known, by its exit record */
        int64_t group_since_ms; /* monotonic; 0 = does not wait for its last cgroup */
        sd_event_source *again_timer;
        bool linking;  /* live-links.c: the helper has not answered yet */
        struct {       /* an exit that waits for its commit */
            int event; /* 0 = none */
            int code;
            char *text;
            bool ran;     /* of a process, not of a launch that failed */
            int replaced; /* enum nm_reinit for which it ended, recorded */
            bool again;   /* recorded as followed by another launch; until the event is handled */
        } exit;
    } launch;

    struct {                        /* resources/: its share of the node */
        char *cpus, *mems;          /* NUMA: cpuset lists, or NULL */
        struct nm_numa_taken *numa; /* its part of each NUMA node, or NULL */
        struct nm_assigned assigned;
        struct cg_override set; /* set-limit.c */
        uint64_t wanted_pids;   /* likewise, its own wish; 0: none */
    } share;

    struct {                              /* resources/container-scheduler.c */
        struct nm_container *prev, *next; /* of its place, a list; utlist */
        int place;
        int64_t memory_mb, vcores; /* as they are counted there */
        int64_t arrival;           /* rank among those that wait */
        int64_t order;             /* of its first start among the others; 0 = not started */
        bool again;                /* accepted by the last daemon: it is not refused */
        bool pausing, resuming;    /* decided; the state follows */
    } schedule;

    struct { /* resources/containers-monitor.c */
        struct cg_usage last;
        int64_t read_ms; /* monotonic time of `last` */
        float cpu_cores; /* between the last two readings */
        uint64_t peak_bytes;
        unsigned over_readings; /* consecutive readings above its memory; see check_memory */
        unsigned pass;          /* last pass of the monitor over all containers that has read it */
        uint64_t vmem_bytes;    /* virtual-memory.c: 0 where it is not checked */
        int64_t vmem_read_ms;   /* when its processes were read last, monotonic; 0 = never */
        bool vmem_reading;
    } usage;

    struct {            /* resources/log-monitor.c: its measurement */
        unsigned pass;  /* to which the next two belong */
        uint32_t seen;  /* log directories, as bits */
        uint64_t bytes; /* in those that are measured */
        bool warned;
    } logs;

    struct {                                 /* rm/: its part in heartbeats */
        int64_t delivered_ms;                /* monotonic, of the completed status; 0 = never */
        bool in_flight;                      /* included in the unanswered heartbeat */
        bool increased, increased_in_flight; /* since the last report (container-resize.c) */
        bool acknowledged;                   /* the ResourceManager needs no further report of it */
        bool told, telling; /* rm/earlier.h; telling: in the unanswered heartbeat */
    } report;
};

/* Creates a container from a verified request. Copies the needed parts of the token; `request` is
 * the packed StartContainerRequestProto. In no table yet. */
int nm_container_new(struct nm_context *ctx, const struct yarn_container_token *t,
                     const uint8_t *request, size_t request_len, struct nm_container **ret)
    _must_use_;
/* Creates a container from the state store, in no table yet and without its share of the node. 1:
 * restored, but its recorded update, retries or re-initialization are malformed and ignored.
 * -EBADMSG: malformed. */
int nm_container_restore(struct nm_context *ctx, const struct nm_stored_container *s,
                         struct nm_container **ret) _must_use_;
struct nm_container *nm_container_free(struct nm_container *c); /* must be in no table */
/* Frees the request. */
void nm_container_drop_request(struct nm_container *c);
/* Reads a freed request from the state store. */
int nm_container_load_request(struct nm_container *c) _must_use_;

/* Posts an event to its state machine; `text` (NULL: none) is copied. */
void nm_container_post(struct nm_container *c, int event, const char *text);
/* As nm_container_post(), for the events with a payload. */
void nm_container_post_exit(struct nm_container *c, int event, int code, const char *text);
/* Requests its end with a reason (a KILL event); committed before any signal is sent. */
void nm_container_kill(struct nm_container *c, int exit_code, const char *why);

void nm_container_add_diagnostics(struct nm_container *c, const char *text);
/* As above, with a newline; NULL: no text. */
void nm_container_add_diagnostics_line(struct nm_container *c, const char *text);

/* Takes a reading of its cgroup, and adds what it was throttled since the last one to the node's
 * counters. */
void nm_container_take_usage(struct nm_container *c, const struct cg_usage *now);

bool nm_container_is_done(const struct nm_container *c);
/* True for one whose process runs, or stands still, and that is not being ended. */
bool nm_container_is_live(const struct nm_container *c);
/* True for one that is to be launched, and neither is being launched nor was killed. */
bool nm_container_may_launch(const struct nm_container *c);
extern const char *const nm_container_state_names[NM_CONTAINER_N_STATES];
const char *nm_container_state_name(int state);

#endif
