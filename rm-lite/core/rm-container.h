/* RMContainer: one container from its allocation to its end, its states and its events. */
#ifndef SELVEDGE_RM_LITE_CORE_RM_CONTAINER_H
#define SELVEDGE_RM_LITE_CORE_RM_CONTAINER_H

#include <utlist.h>

#include "common/fsm.h"
#include "rm-lite/core/context.h"
#include "rm-lite/scheduler/hash.h"
#include "rm-lite/scheduler/resource.h"

enum rm_container_state {
    RM_CON_ST_NEW = 1,
    RM_CON_ST_RESERVED,
    RM_CON_ST_ALLOCATED,
    RM_CON_ST_ACQUIRED,
    RM_CON_ST_RUNNING,
    RM_CON_ST_COMPLETED,
    RM_CON_ST_EXPIRED,
    RM_CON_ST_RELEASED,
    RM_CON_ST_KILLED,
    RM_CON_STATES
};
/* The text of an event is the diagnostics. */
enum rm_container_event {
    RM_CON_EV_START = 1,
    RM_CON_EV_RECOVER, /* struct rm_container_exit */
    RM_CON_EV_RESERVED,
    RM_CON_EV_ACQUIRED,
    RM_CON_EV_LAUNCHED,
    RM_CON_EV_CHANGE_RESOURCE,           /* struct rm_container_size */
    RM_CON_EV_ACQUIRE_UPDATED_CONTAINER, /* its master has the token of an increase */
    RM_CON_EV_NM_DONE_CHANGE_RESOURCE,   /* struct rm_container_size, as its node reports it */
    RM_CON_EV_FINISHED,                  /* from here on: struct rm_container_exit */
    RM_CON_EV_RELEASED,
    RM_CON_EV_EXPIRE,
    RM_CON_EV_KILL,
    RM_CON_EVENTS
};
struct rm_container_exit {
    int32_t exit_status;
    int wire_state; /* only for RECOVER: ContainerStateProto, as its node reports it */
};

struct rm_container_size {
    struct rm_res resource; /* CHANGE_RESOURCE: what the scheduler counts from now on */
    int32_t version;        /* of the node's token; 0: not told */
};

struct rm_container {
    struct {
        int64_t ts, app_attempt, id;
    } key;
    struct rm *rm;
    struct rm_app *app;
    struct rm_attempt *attempt;
    struct rm_node *node; /* NULL once the node is gone */
    struct yarn_container_id id;
    char id_str[YARN_ID_TEXT_MAX];
    int state;
    bool is_master, in_fresh, in_updated;
    bool opportunistic; /* its execution type */
    bool node_waits;    /* for its resource: rm_node_update_container */
    bool late;          /* its master, of a later attempt, is not told of it yet */
    bool announced;     /* its preemption; the next answer to its ApplicationMaster reports it */
    struct rm_res resource;
    struct rm_res confirmed; /* to which an increase falls back that its master does not use */
    int32_t version;         /* number of its updates, in its token */
    int updated;             /* ContainerUpdateTypeProto of the last one */
    int64_t update_call;     /* number of the last call that updated it, of rm->update_calls */
    int32_t priority;
    int64_t allocation_id;
    int64_t created_ms, finish_ms; /* wall */
    int64_t acquired_ms;           /* wall: its master took it; 0: not yet, or before the restart */
    int64_t started_ms;            /* wall: its node reported it first */
    int64_t running_ms;            /* wall: its node reported that its process runs */
    struct {                       /* as a node of ours reported last */
        bool told;
        int64_t bytes, peak_bytes; /* 0: not known to the node */
        float cores;
    } use;
    int64_t expires_ms; /* monotonic; 0 = no expiry running */
    int32_t exit_status;
    char *diagnostics;
    struct yarn_node_id node_id;
    char *node_http;
    char **tags;                          /* its allocation tags, or NULL */
    UT_hash_handle hh;                    /* rm->containers */
    struct rm_container *f_prev, *f_next; /* attempt->fresh */
    struct rm_container *n_prev, *n_next; /* node->containers */
    struct rm_container *p_prev, *p_next; /* app->containers */
    struct rm_container *x_prev, *x_next; /* rm->expiring, in order of expires_ms */
    struct rm_container *u_prev, *u_next; /* app->updated */
};

struct rm_container *rm_container_new(struct rm_attempt *att, struct rm_node *node,
                                      struct yarn_container_id id, struct rm_res resource,
                                      int32_t priority, int64_t allocation_id);
/* Its node reports it; `running`: its process runs, and is not being localized or queued. */
void rm_container_note_alive(struct rm_container *c, bool running);
/* Reads the usage that a node of ours reports, YARN_USE_KEY of wire/container-use.h; malformed:
 * none. */
void rm_container_note_use(struct rm_container *c, const char *text);
void rm_container_set_tags(struct rm_container *c, const char *const *tags, size_t n); /* once */
void rm_container_free(struct rm_container *c);
int rm_container_wire_state(const struct rm_container *c); /* ContainerStateProto */
int rm_container_wire_type(bool opportunistic);            /* ExecutionTypeProto */

void rm_container_post(struct rm_container *c, enum rm_container_event event);
/* The next answer to its ApplicationMaster reports its preemption. */
void rm_container_announce_preemption(struct rm_container *c);
/* It expires in yarn.resourcemanager.rm.container-allocation.expiry-interval-ms, or not. */
void rm_container_expiry_start(struct rm_container *c);
void rm_container_expiry_stop(struct rm_container *c);
/* CHANGE_RESOURCE, NM_DONE_CHANGE_RESOURCE */
void rm_container_post_size(struct rm_container *c, enum rm_container_event event,
                            struct rm_res resource, int32_t version);
/* FINISHED, RELEASED, EXPIRE, KILL */
void rm_container_post_exit(struct rm_container *c, enum rm_container_event event,
                            int32_t exit_status, const char *diagnostics);
void rm_container_post_recover(struct rm_container *c, int wire_state, int32_t exit_status,
                               const char *diagnostics);

/* rm-container-fsm.c */
extern const struct sv_fsm rm_container_fsm;
void rm_container_handle(const struct sv_event *event, void *userdata); /* sv_event_handler */

#endif
