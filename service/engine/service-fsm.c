/* State machine of the service: Hadoop's ServiceManager and the states that its other classes set
 * (ServiceState), in one table. */
#include <errno.h>

#include "service/engine/states.h"
#include "service/engine/versions.h"

#define S(x) SVC_##x
#define E(x) SVC_EV_##x

static int plain_state(const struct svc_engine *e)
{
    return e->n_ok == e->n_comps ? S(STABLE) : S(STARTED);
}

static int act_check(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    return plain_state(o);
}

static int act_upgrade(void *o, int event, void *arg)
{
    const struct svc_upgrade_step *step = arg;

    (void)o;
    (void)event;
    return step->express         ? S(EXPRESS_UPGRADING)
           : step->auto_finalize ? S(UPGRADING_AUTO_FINALIZE)
                                 : S(UPGRADING);
}

/* Upgrades that finalize themselves, and cancelled ones. */
static int act_check_upgrade(void *o, int event, void *arg)
{
    struct svc_engine *e = o;

    (void)event;
    (void)arg;
    if (!svc_upgrade_is_done(e))
        return e->state;
    svc_end_upgrade(e, e->state == S(CANCEL_UPGRADING));
    return plain_state(e);
}

/* svc_engine_finalize() looked whether it is done. */
static int act_finalize(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    svc_end_upgrade(o, false);
    return plain_state(o);
}

static const char *const state_names[SVC_N_STATES] = {
    [S(ACCEPTED)] = "ACCEPTED",
    [S(STARTED)] = "STARTED",
    [S(STABLE)] = "STABLE",
    [S(UPGRADING)] = "UPGRADING",
    [S(UPGRADING_AUTO_FINALIZE)] = "UPGRADING_AUTO_FINALIZE",
    [S(EXPRESS_UPGRADING)] = "EXPRESS_UPGRADING",
    [S(CANCEL_UPGRADING)] = "CANCEL_UPGRADING",
    [S(STOPPED)] = "STOPPED",
    [S(FAILED)] = "FAILED",
    [S(SUCCEEDED)] = "SUCCEEDED",
};

static const char *const event_names[SVC_N_EVENTS] = {
    [E(START)] = "START",       [E(CHECK_STABLE)] = "CHECK_STABLE",
    [E(UPGRADE)] = "UPGRADE",   [E(CANCEL_UPGRADE)] = "CANCEL_UPGRADE",
    [E(FINALIZE)] = "FINALIZE", [E(STOP)] = "STOP",
    [E(FAIL)] = "FAIL",         [E(SUCCEED)] = "SUCCEED",
};

#define UPGRADES                                                                                   \
    {                                                                                              \
        act_upgrade, S(UPGRADING),                                                                 \
        {                                                                                          \
            S(UPGRADING_AUTO_FINALIZE), S(EXPRESS_UPGRADING)                                       \
        }                                                                                          \
    }
#define ENDS(state)                                                                                \
    [S(state)][E(STOP)] = { NULL, S(STOPPED), { 0 } },                                             \
    [S(state)][E(FAIL)] = { NULL, S(FAILED), { 0 } },                                              \
    [S(state)][E(SUCCEED)] = { NULL, S(SUCCEEDED), { 0 } }

static const struct sv_fsm_cell cells[SVC_N_STATES][SVC_N_EVENTS] = {
    [S(ACCEPTED)][E(START)] = { NULL, S(STARTED), { 0 } },
    [S(ACCEPTED)][E(STOP)] = { NULL, S(STOPPED), { 0 } },

    [S(STARTED)][E(CHECK_STABLE)] = { act_check, S(STABLE), { S(STARTED) } },
    [S(STARTED)][E(UPGRADE)] = UPGRADES,
    ENDS(STARTED),

    [S(STABLE)][E(CHECK_STABLE)] = { act_check, S(STABLE), { S(STARTED) } },
    [S(STABLE)][E(UPGRADE)] = UPGRADES,
    ENDS(STABLE),

    [S(UPGRADING)][E(CHECK_STABLE)] = { NULL, S(UPGRADING), { 0 } }, /* its user finalizes it */
    [S(UPGRADING)][E(FINALIZE)] = { act_finalize, S(STABLE), { S(STARTED) } },
    [S(UPGRADING)][E(CANCEL_UPGRADE)] = { NULL, S(CANCEL_UPGRADING), { 0 } },
    ENDS(UPGRADING),

    [S(UPGRADING_AUTO_FINALIZE)][E(CHECK_STABLE)] = { act_check_upgrade,
                                                      S(UPGRADING_AUTO_FINALIZE),
                                                      { S(STABLE), S(STARTED) } },
    [S(UPGRADING_AUTO_FINALIZE)][E(CANCEL_UPGRADE)] = { NULL, S(CANCEL_UPGRADING), { 0 } },
    ENDS(UPGRADING_AUTO_FINALIZE),

    [S(EXPRESS_UPGRADING)][E(CHECK_STABLE)] = { act_check_upgrade,
                                                S(EXPRESS_UPGRADING),
                                                { S(STABLE), S(STARTED) } },
    [S(EXPRESS_UPGRADING)][E(CANCEL_UPGRADE)] = { NULL, S(CANCEL_UPGRADING), { 0 } },
    ENDS(EXPRESS_UPGRADING),

    [S(CANCEL_UPGRADING)][E(CHECK_STABLE)] = { act_check_upgrade,
                                               S(CANCEL_UPGRADING),
                                               { S(STABLE), S(STARTED) } },
    ENDS(CANCEL_UPGRADING),
};

static const struct sv_fsm fsm = {
    .name = "service",
    .n_states = SVC_N_STATES,
    .n_events = SVC_N_EVENTS,
    .state_names = state_names,
    .event_names = event_names,
    .cells = &cells[0][0],
};

const struct sv_fsm *svc_service_fsm(void)
{
    return &fsm;
}

bool svc_service_event(struct svc_engine *e, int event, void *arg)
{
    int was = e->state, r = sv_fsm_run(&fsm, &e->state, event, e, arg);

    if (r == -EBADE)
        abort(); /* an action and its cell disagree: a defect of this file */
    if (e->state != was)
        (void)svc_op_add(&e->ops, SVC_OP_STATE);
    return r >= 0;
}
