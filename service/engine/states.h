/* The engine's state machines: tables (common/fsm.h) with the names of Hadoop's ServiceManager,
 * Component and ComponentInstance. docs/design/service-engine.md has their graphs, printed from
 * the tables. */
#ifndef SELVEDGE_SERVICE_ENGINE_STATES_H
#define SELVEDGE_SERVICE_ENGINE_STATES_H

#include "common/fsm.h"
#include "service/engine/model.h"

enum svc_service_event {
    SVC_EV_START = 1,
    SVC_EV_CHECK_STABLE,
    SVC_EV_UPGRADE,
    SVC_EV_CANCEL_UPGRADE,
    SVC_EV_FINALIZE,
    SVC_EV_STOP,
    SVC_EV_FAIL,
    SVC_EV_SUCCEED,
    SVC_N_EVENTS
};
enum svc_component_event {
    SVC_COMPONENT_EV_START = 1, /* its dependencies are ready */
    SVC_COMPONENT_EV_UPGRADE,
    SVC_COMPONENT_EV_CANCEL_UPGRADE,
    SVC_COMPONENT_EV_CHECK_STABLE,
    SVC_COMPONENT_EV_FAIL, /* too many of its containers failed */
    SVC_COMPONENT_N_EVENTS
};
enum svc_instance_event {
    SVC_INSTANCE_EV_ALLOCATED = 1,
    SVC_INSTANCE_EV_RECOVERED,
    SVC_INSTANCE_EV_START, /* the node started or re-initialized its container */
    SVC_INSTANCE_EV_START_FAILED,
    SVC_INSTANCE_EV_REINIT_FAILED,
    SVC_INSTANCE_EV_BECOME_READY,
    SVC_INSTANCE_EV_BECOME_NOT_READY,
    SVC_INSTANCE_EV_UPGRADE,
    SVC_INSTANCE_EV_CANCEL_UPGRADE,
    SVC_INSTANCE_EV_UPGRADED, /* by the master's attempt before */
    SVC_INSTANCE_EV_DESTROY,  /* release its container */
    SVC_INSTANCE_EV_STOP,     /* its container ended */
    SVC_INSTANCE_EV_ENDED_BEFORE,
    SVC_INSTANCE_N_EVENTS
};

/* Argument of SVC_EV_UPGRADE. */
struct svc_upgrade_step {
    bool auto_finalize, express;
};
/* Argument of SVC_INSTANCE_EV_STOP and _ENDED_BEFORE. */
struct svc_stop_step {
    bool success, relaunch;
};

/* Run the machine and emit what a changed state means; false: illegal in this state, ignored. */
bool svc_service_event(struct svc_engine *e, int event, void *arg);
bool svc_component_event(struct svc_comp *c, int event);
bool svc_instance_event(struct svc_inst *i, int event, void *arg);

/* Removes a wanted instance: at once, or when its container ended. Its number becomes free. */
void svc_instance_retire(struct svc_inst *i);

const struct sv_fsm *svc_service_fsm(void);
const struct sv_fsm *svc_component_fsm(void);
const struct sv_fsm *svc_instance_fsm(void);

#endif
