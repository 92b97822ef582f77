/* One container: what is known of it, and its state machine with YARN's states (ContainerImpl). The
 * table in container.c runs it, prints its graph and drives the test that walks every edge. */
#ifndef SELVEDGE_NODEMANAGER_CORE_CONTAINER_H
#define SELVEDGE_NODEMANAGER_CORE_CONTAINER_H

#include <stdio.h>
#include <systemd/sd-event.h>
#include <uthash.h>

#include "cgroups/cg.h"
#include "common/arena.h"
#include "common/fsm.h"
#include "nodemanager/resources/assignments.h"
#include "wire/exit-status.h"
#include "wire/methods.h"
#include "wire/token.h"

struct exe_container;
struct nm;
struct nm_app;
struct nm_localizing;
struct nm_numa_taken;

enum nm_container_state {
    NM_CONTAINER_NEW = 1,
    NM_CONTAINER_LOCALIZING,
    NM_CONTAINER_LOCALIZATION_FAILED,
    NM_CONTAINER_SCHEDULED,
    NM_CONTAINER_RUNNING,
    NM_CONTAINER_KILLING,
    NM_CONTAINER_EXITED_WITH_SUCCESS,
    NM_CONTAINER_EXITED_WITH_FAILURE,
    NM_CONTAINER_CLEANEDUP_AFTER_KILL,
    NM_CONTAINER_DONE,
    NM_CONTAINER_N_STATES
};

enum nm_container_event {
    NM_CONTAINER_EV_INIT = 1,
    NM_CONTAINER_EV_KILL,
    NM_CONTAINER_EV_UPDATE_DIAGNOSTICS,
    NM_CONTAINER_EV_RESOURCE_LOCALIZED, /* all of them: the cache counts */
    NM_CONTAINER_EV_RESOURCE_FAILED,
    NM_CONTAINER_EV_LAUNCHED,
    NM_CONTAINER_EV_EXITED_WITH_SUCCESS,
    NM_CONTAINER_EV_EXITED_WITH_FAILURE,
    NM_CONTAINER_EV_KILLED_ON_REQUEST,
    NM_CONTAINER_EV_RESOURCES_CLEANEDUP,
    NM_CONTAINER_N_EVENTS
};

struct nm_container {
    UT_hash_handle hh; /* nm->containers */
    struct nm_container *next_dead;
    struct nm *nm;
    struct nm_app *app;
    struct yarn_container_id id;
    char text[YARN_ID_TEXT_MAX];
    int state; /* enum nm_container_state */

    /* From the token, which the ResourceManager has signed. */
    struct yarn_resource resource;
    int32_t priority, version, execution_type, container_type;
    int64_t allocation_request_id, creation_ms;
    char *node_label; /* "" = none */

    /* The request; dropped when the container runs and nothing more is needed of it. */
    struct sv_arena *arena;
    const Hadoop__Yarn__ContainerLaunchContextProto *clc;

    int local_dir, log_dir;     /* indices */
    char *cpus, *mems;          /* NUMA: cpuset lists, or NULL */
    struct nm_numa_taken *numa; /* what it has of each node, or NULL */
    struct nm_assigned assigned;
    char *unassigned; /* why it did not get its share: its launch fails with these words */
    int exit_code;
    char *diagnostics;                      /* never NULL */
    int64_t start_ms, launch_ms, finish_ms; /* wall clock; 0 = not yet */
    int64_t localize_ms;                    /* took */

    struct exe_container *exe; /* from the launch to the recorded exit */
    pid_t pid;                 /* init; 0 = not started */
    struct nm_localizing *localizing;
    sd_event_source *kill_timer;
    enum {
        NM_RECOVERED_NOT,       /* new in this life of the daemon */
        NM_RECOVERED_REQUESTED, /* the store does not say that it had started */
        NM_RECOVERED_LAUNCHED,
        NM_RECOVERED_COMPLETED, /* with exit_code and diagnostics */
    } recovered;
    bool recorded;       /* its request is in the store: it may begin */
    bool recovering;     /* adoption under way: NMNotYetReadyException */
    bool kill_requested; /* a kill is on record, with kill_code */
    int kill_code;
    bool cleanup_started; /* TERM or KILL has been asked for */
    int pending_event;    /* the event of an exit that waits for its commit; 0 = none */
    int pending_code;
    char *pending_text;

    /* Monitor. */
    struct cg_usage usage;
    int64_t usage_ms; /* monotonic time of `usage` */
    float cpu_cores;  /* between the last two readings */
    uint64_t peak_bytes;
    unsigned over_readings; /* in a row, over its memory; see check_memory */

    /* Heartbeats (node-status-updater.c). */
    int64_t reported_ms; /* monotonic, when the completed status was delivered; 0 = never */
    bool in_flight;      /* it is in the heartbeat that waits for its answer */
    bool increased, increased_in_flight; /* it has grown (container-update.c) */
    bool acknowledged;                   /* the ResourceManager wants to hear of it no more */
};

/* A container of a verified request. Copies what it needs of the token; `request` is the packed
 * StartContainerRequestProto. Not yet in nm->containers. */
int nm_container_new(struct nm *nm, const struct yarn_container_token *t, const uint8_t *request,
                     size_t request_len, struct nm_container **ret) _must_use_;
/* Into the table of containers and of its application. */
void nm_container_add(struct nm_container *c, struct nm_app *app);
/* Out of all tables; freed when no event is pending. */
void nm_container_remove(struct nm_container *c);
void nm_container_discard(struct nm_container *c); /* one that was never added */
void nm_container_free_dead(struct nm *nm);
struct nm_container *nm_container_find(struct nm *nm, const char *text);

/* Runs the machine for one event; called only by the queue of nm.c. */
void nm_container_handle(struct nm_container *c, int event, int code, const char *text);
void nm_container_add_diagnostics(struct nm_container *c, const char *text);

/* Asks for its end with a reason (a KILL event); recorded before anything is sent. */
void nm_container_kill(struct nm_container *c, int exit_code, const char *why);

bool nm_container_is_done(const struct nm_container *c);
const char *nm_container_state_name(int state);
/* Rows of heartbeats, registrations and getContainerStatuses; NULL when the arena is exhausted. */
Hadoop__Yarn__ContainerStatusProto *nm_container_status(const struct nm_container *c,
                                                        struct sv_arena *a);
Hadoop__Yarn__NMContainerStatusProto *nm_container_nm_status(const struct nm_container *c,
                                                             struct sv_arena *a);

const struct sv_fsm *nm_container_fsm(void);

#endif
