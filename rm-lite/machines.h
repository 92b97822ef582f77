/* The four state machines of the ResourceManager, with YARN's names: RMApp, RMAppAttempt,
 * RMContainer, RMNode. The tables are const; they run, print themselves and are walked by tests. */
#ifndef SELVEDGE_RM_LITE_MACHINES_H
#define SELVEDGE_RM_LITE_MACHINES_H

#include "common/fsm.h"
#include "rm-lite/rm.h"
#include "wire/exit-status.h"

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
enum rm_attempt_event {
    RM_ATT_EV_START = 1,
    RM_ATT_EV_RECOVER,
    RM_ATT_EV_KILL,
    RM_ATT_EV_FAIL,
    RM_ATT_EV_ADDED,
    RM_ATT_EV_CONTAINER_ALLOCATED,
    RM_ATT_EV_NEW_SAVED,
    RM_ATT_EV_LAUNCHED,
    RM_ATT_EV_LAUNCH_FAILED,
    RM_ATT_EV_REGISTERED,
    RM_ATT_EV_STATUS_UPDATE,
    RM_ATT_EV_UNREGISTERED,
    RM_ATT_EV_CONTAINER_FINISHED,
    RM_ATT_EV_EXPIRE,
    RM_ATT_EV_UPDATE_SAVED,
    RM_ATT_EVENTS
};

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
enum rm_container_event {
    RM_CON_EV_START = 1,
    RM_CON_EV_RECOVER,
    RM_CON_EV_RESERVED,
    RM_CON_EV_ACQUIRED,
    RM_CON_EV_LAUNCHED,
    RM_CON_EV_FINISHED,
    RM_CON_EV_RELEASED,
    RM_CON_EV_EXPIRE,
    RM_CON_EV_KILL,
    RM_CON_EVENTS
};

enum rm_node_state {
    RM_NODE_ST_NEW = 1,
    RM_NODE_ST_RUNNING,
    RM_NODE_ST_UNHEALTHY,
    RM_NODE_ST_DECOMMISSIONING,
    RM_NODE_ST_DECOMMISSIONED,
    RM_NODE_ST_LOST,
    RM_NODE_ST_REBOOTED,
    RM_NODE_ST_SHUTDOWN,
    RM_NODE_STATES
};
enum rm_node_event {
    RM_NODE_EV_STARTED = 1,
    RM_NODE_EV_STATUS_UPDATE,
    RM_NODE_EV_DECOMMISSION,
    RM_NODE_EV_GRACEFUL,
    RM_NODE_EV_RECOMMISSION,
    RM_NODE_EV_EXPIRE,
    RM_NODE_EV_REBOOTING,
    RM_NODE_EV_SHUTDOWN,
    RM_NODE_EV_RECONNECTED,
    RM_NODE_EV_RESOURCE_UPDATE,
    RM_NODE_EV_CLEANUP_APP,
    RM_NODE_EV_CLEANUP_CONTAINER,
    RM_NODE_EV_PULLED_BY_AM,
    RM_NODE_EVENTS
};

extern const struct sv_fsm rm_app_fsm, rm_attempt_fsm, rm_container_fsm, rm_node_fsm;

/* rm-app.c */
struct rm_app *rm_app_new(struct rm *rm, struct yarn_app_id id, const char *user,
                          const uint8_t *submission, size_t len, struct sv_error *err);
void rm_app_free(struct rm_app *app);               /* with its attempts */
bool rm_app_is_final(const struct rm_app *app);     /* FINISHED, FAILED, KILLED */
bool rm_app_final_stored(const struct rm_app *app); /* also FINISHING */
int rm_app_wire_state(const struct rm_app *app);    /* YarnApplicationStateProto */
int rm_app_wire_final(const struct rm_app *app);    /* FinalApplicationStatusProto */
const char *rm_app_wire_state_name(const struct rm_app *app);
void rm_app_seconds(const struct rm_app *app, int64_t *ret_mb_s, int64_t *ret_vcore_s);

/* rm-app-attempt.c */
struct rm_attempt *rm_attempt_new(struct rm_app *app, int32_t number);
void rm_attempt_free(struct rm_attempt *att);
bool rm_attempt_is_final(const struct rm_attempt *att);
int rm_attempt_wire_state(const struct rm_attempt *att);
/* Recovered from the store: sets where it stands without running actions. */
void rm_attempt_restore(struct rm_attempt *att, int state);

/* rm-container.c */
struct rm_container *rm_container_new(struct rm_attempt *att, struct rm_node *node,
                                      struct yarn_container_id id, struct rm_res resource,
                                      int32_t priority, int64_t allocation_id);
void rm_container_free(struct rm_container *c);
int rm_container_wire_state(const struct rm_container *c); /* ContainerStateProto */

/* rm-node.c */
struct rm_node *rm_node_new(struct rm *rm, const struct yarn_node_id *id);
void rm_node_free(struct rm_node *n);
int rm_node_wire_state(const struct rm_node *n);
bool rm_node_is_active(const struct rm_node *n);
void rm_node_cleanup_container(struct rm_node *n, struct yarn_container_id id);
void rm_node_cleanup_app(struct rm_node *n, struct yarn_app_id id);
void rm_node_pulled(struct rm_node *n, struct yarn_container_id id);

#endif
