/* See container-fsm.h. */
#include "nodemanager/fsm/container-fsm.h"

#include "common/log.h"
#include "nodemanager/core/container.h"
#include "nodemanager/fsm/container-actions.h"

/* ---- table ----------------------------------------------------------------------------------*/

static const char *const event_names[NM_CONTAINER_N_EVENTS] = {
    [NM_CONTAINER_EV_INIT] = "INIT_CONTAINER",
    [NM_CONTAINER_EV_KILL] = "KILL_CONTAINER",
    [NM_CONTAINER_EV_UPDATE_DIAGNOSTICS] = "UPDATE_DIAGNOSTICS_MSG",
    [NM_CONTAINER_EV_RESOURCE_LOCALIZED] = "RESOURCE_LOCALIZED",
    [NM_CONTAINER_EV_RESOURCE_FAILED] = "RESOURCE_FAILED",
    [NM_CONTAINER_EV_LAUNCHED] = "CONTAINER_LAUNCHED",
    [NM_CONTAINER_EV_EXITED_WITH_SUCCESS] = "CONTAINER_EXITED_WITH_SUCCESS",
    [NM_CONTAINER_EV_EXITED_WITH_FAILURE] = "CONTAINER_EXITED_WITH_FAILURE",
    [NM_CONTAINER_EV_KILLED_ON_REQUEST] = "CONTAINER_KILLED_ON_REQUEST",
    [NM_CONTAINER_EV_RESOURCES_CLEANEDUP] = "CONTAINER_RESOURCES_CLEANEDUP",
    [NM_CONTAINER_EV_PAUSE] = "PAUSE_CONTAINER",
    [NM_CONTAINER_EV_PAUSED] = "CONTAINER_PAUSED",
    [NM_CONTAINER_EV_RESUME] = "RESUME_CONTAINER",
    [NM_CONTAINER_EV_RESUMED] = "CONTAINER_RESUMED",
    [NM_CONTAINER_EV_RECOVER_PAUSED] = "RECOVER_PAUSED_CONTAINER",
    [NM_CONTAINER_EV_REINITIALIZE] = "REINITIALIZE_CONTAINER",
    [NM_CONTAINER_EV_ROLLBACK_REINIT] = "ROLLBACK_REINIT",
};

#define S(x) NM_CONTAINER_##x
#define E(x) NM_CONTAINER_EV_##x
#define STAY(state, event) [S(state)][E(event)] = { nm_act_ignore, S(state), { 0 } }
/* A process that ends or is to end, and is neither retried nor rolled back. */
#define EXITS(state)                                                                               \
    [S(state)][E(EXITED_WITH_SUCCESS)] = { nm_act_success, S(EXITED_WITH_SUCCESS), { 0 } },        \
    [S(state)][E(EXITED_WITH_FAILURE)] = { nm_act_failure, S(EXITED_WITH_FAILURE), { 0 } },        \
    [S(state)][E(KILLED_ON_REQUEST)] = { nm_act_killed_externally,                                 \
                                         S(EXITED_WITH_FAILURE),                                   \
                                         { 0 } },                                                  \
    [S(state)][E(KILL)] = { nm_act_kill, S(KILLING), { 0 } }, DIAG(state)
/* Resources localized while its process runs. */
#define LIVE(state)                                                                                \
    [S(state)][E(RESOURCE_LOCALIZED)] = { nm_act_localized_live, S(state), { 0 } },                \
    [S(state)][E(RESOURCE_FAILED)] = { nm_act_failed_live, S(state), { 0 } }
#define DIAG(state) [S(state)][E(UPDATE_DIAGNOSTICS)] = { nm_act_diagnostics, S(state), { 0 } }

static const struct sv_fsm_cell cells[NM_CONTAINER_N_STATES][NM_CONTAINER_N_EVENTS] = {
    [S(NEW)][E(INIT)] = { nm_act_init,
                          S(LOCALIZING),
                          { S(SCHEDULED), S(LOCALIZATION_FAILED), S(DONE) } },
    [S(NEW)][E(KILL)] = { nm_act_kill_new, S(DONE), { S(NEW) } },
    DIAG(NEW),

    [S(LOCALIZING)][E(RESOURCE_LOCALIZED)] = { nm_act_localized, S(SCHEDULED), { 0 } },
    [S(LOCALIZING)][E(RESOURCE_FAILED)] = { nm_act_localization_failed,
                                            S(LOCALIZATION_FAILED),
                                            { S(SCHEDULED), S(KILLING) } },
    [S(LOCALIZING)][E(KILL)] = { nm_act_kill_before_running, S(KILLING), { 0 } },
    DIAG(LOCALIZING),

    [S(LOCALIZATION_FAILED)][E(RESOURCES_CLEANEDUP)] = { nm_act_done, S(DONE), { 0 } },
    STAY(LOCALIZATION_FAILED, KILL),
    STAY(LOCALIZATION_FAILED, PAUSE),
    STAY(LOCALIZATION_FAILED, RESOURCE_LOCALIZED),
    STAY(LOCALIZATION_FAILED, RESOURCE_FAILED),
    DIAG(LOCALIZATION_FAILED),

    [S(SCHEDULED)][E(LAUNCHED)] = { nm_act_launched, S(RUNNING), { 0 } },
    STAY(SCHEDULED, RESOURCE_LOCALIZED),
    STAY(SCHEDULED, RESOURCE_FAILED),
    [S(SCHEDULED)][E(RECOVER_PAUSED)] = { nm_act_launched, S(PAUSED), { 0 } },
    [S(SCHEDULED)][E(EXITED_WITH_FAILURE)] = { nm_act_failure, S(EXITED_WITH_FAILURE), { 0 } },
    [S(SCHEDULED)][E(KILL)] = { nm_act_kill_before_running, S(KILLING), { 0 } },
    DIAG(SCHEDULED),

    [S(RUNNING)][E(EXITED_WITH_SUCCESS)] = { nm_act_success, S(EXITED_WITH_SUCCESS), { 0 } },
    [S(RUNNING)][E(EXITED_WITH_FAILURE)] = { nm_act_exit_failure,
                                             S(EXITED_WITH_FAILURE),
                                             { S(RELAUNCHING), S(SCHEDULED) } },
    [S(RUNNING)][E(KILLED_ON_REQUEST)] = { nm_act_killed_externally,
                                           S(EXITED_WITH_FAILURE),
                                           { 0 } },
    [S(RUNNING)][E(KILL)] = { nm_act_kill, S(KILLING), { 0 } },
    [S(RUNNING)][E(REINITIALIZE)] = { nm_act_reinit,
                                      S(REINITIALIZING),
                                      { S(REINITIALIZING_AWAITING_KILL), S(RUNNING) } },
    [S(RUNNING)][E(ROLLBACK_REINIT)] = { nm_act_reinit,
                                         S(REINITIALIZING_AWAITING_KILL),
                                         { S(REINITIALIZING), S(RUNNING) } },
    LIVE(RUNNING),
    [S(RUNNING)][E(PAUSE)] = { nm_act_pause, S(PAUSING), { S(RUNNING) } },
    DIAG(RUNNING),

    [S(PAUSING)][E(PAUSED)] = { nm_act_paused, S(PAUSED), { 0 } },
    LIVE(PAUSING),
    EXITS(PAUSING),

    [S(PAUSED)][E(RESUME)] = { nm_act_resume, S(RESUMING), { S(PAUSED) } },
    STAY(PAUSED, PAUSE),
    LIVE(PAUSED),
    EXITS(PAUSED),

    [S(RESUMING)][E(RESUMED)] = { nm_act_resumed, S(RUNNING), { 0 } },
    LIVE(RESUMING),
    EXITS(RESUMING),

    [S(REINITIALIZING)][E(RESOURCE_LOCALIZED)] = { nm_act_localized_live,
                                                   S(REINITIALIZING),
                                                   { S(REINITIALIZING_AWAITING_KILL) } },
    [S(REINITIALIZING)][E(RESOURCE_FAILED)] = { nm_act_failed_live,
                                                S(RUNNING),
                                                { S(REINITIALIZING) } },
    EXITS(REINITIALIZING),

    [S(REINITIALIZING_AWAITING_KILL)][E(EXITED_WITH_SUCCESS)] = { nm_act_success,
                                                                  S(EXITED_WITH_SUCCESS),
                                                                  { 0 } },
    [S(REINITIALIZING_AWAITING_KILL)][E(EXITED_WITH_FAILURE)] = { nm_act_failure,
                                                                  S(EXITED_WITH_FAILURE),
                                                                  { 0 } },
    [S(REINITIALIZING_AWAITING_KILL)][E(KILLED_ON_REQUEST)] = { nm_act_reinit_killed,
                                                                S(SCHEDULED),
                                                                { S(EXITED_WITH_FAILURE) } },
    [S(REINITIALIZING_AWAITING_KILL)][E(KILL)] = { nm_act_kill, S(KILLING), { 0 } },
    LIVE(REINITIALIZING_AWAITING_KILL),
    DIAG(REINITIALIZING_AWAITING_KILL),

    STAY(RELAUNCHING, RESOURCE_LOCALIZED),
    STAY(RELAUNCHING, RESOURCE_FAILED),
    [S(RELAUNCHING)][E(LAUNCHED)] = { nm_act_launched, S(RUNNING), { 0 } },
    [S(RELAUNCHING)][E(EXITED_WITH_FAILURE)] = { nm_act_failure, S(EXITED_WITH_FAILURE), { 0 } },
    [S(RELAUNCHING)][E(KILL)] = { nm_act_kill_before_running, S(KILLING), { 0 } },
    DIAG(RELAUNCHING),

    [S(KILLING)][E(KILLED_ON_REQUEST)] = { nm_act_killed, S(CLEANEDUP_AFTER_KILL), { 0 } },
    [S(KILLING)][E(EXITED_WITH_SUCCESS)] = { nm_act_success, S(EXITED_WITH_SUCCESS), { 0 } },
    [S(KILLING)][E(EXITED_WITH_FAILURE)] = { nm_act_failure, S(EXITED_WITH_FAILURE), { 0 } },
    [S(KILLING)][E(RESOURCES_CLEANEDUP)] = { nm_act_done, S(DONE), { 0 } },
    STAY(KILLING, KILL),
    STAY(KILLING, PAUSE),
    STAY(KILLING, REINITIALIZE),
    STAY(KILLING, ROLLBACK_REINIT),
    STAY(KILLING, LAUNCHED),
    STAY(KILLING, RESOURCE_LOCALIZED),
    STAY(KILLING, RESOURCE_FAILED),
    DIAG(KILLING),

    [S(EXITED_WITH_SUCCESS)][E(RESOURCES_CLEANEDUP)] = { nm_act_done, S(DONE), { 0 } },
    STAY(EXITED_WITH_SUCCESS, KILL),
    STAY(EXITED_WITH_SUCCESS, PAUSE),
    STAY(EXITED_WITH_SUCCESS, RESOURCE_LOCALIZED),
    STAY(EXITED_WITH_SUCCESS, RESOURCE_FAILED),
    STAY(EXITED_WITH_SUCCESS, REINITIALIZE),
    STAY(EXITED_WITH_SUCCESS, ROLLBACK_REINIT),
    DIAG(EXITED_WITH_SUCCESS),
    [S(EXITED_WITH_FAILURE)][E(RESOURCES_CLEANEDUP)] = { nm_act_done, S(DONE), { 0 } },
    STAY(EXITED_WITH_FAILURE, KILL),
    STAY(EXITED_WITH_FAILURE, PAUSE),
    STAY(EXITED_WITH_FAILURE, RESOURCE_LOCALIZED),
    STAY(EXITED_WITH_FAILURE, RESOURCE_FAILED),
    STAY(EXITED_WITH_FAILURE, REINITIALIZE),
    STAY(EXITED_WITH_FAILURE, ROLLBACK_REINIT),
    DIAG(EXITED_WITH_FAILURE),
    [S(CLEANEDUP_AFTER_KILL)][E(RESOURCES_CLEANEDUP)] = { nm_act_done, S(DONE), { 0 } },
    STAY(CLEANEDUP_AFTER_KILL, KILL),
    STAY(CLEANEDUP_AFTER_KILL, PAUSE),
    STAY(CLEANEDUP_AFTER_KILL, RESOURCE_LOCALIZED),
    STAY(CLEANEDUP_AFTER_KILL, RESOURCE_FAILED),
    STAY(CLEANEDUP_AFTER_KILL, REINITIALIZE),
    STAY(CLEANEDUP_AFTER_KILL, ROLLBACK_REINIT),
    DIAG(CLEANEDUP_AFTER_KILL),

    STAY(DONE, INIT),
    STAY(DONE, KILL),
    STAY(DONE, PAUSE),
    STAY(DONE, RESOURCE_LOCALIZED),
    STAY(DONE, RESOURCE_FAILED),
    STAY(DONE, REINITIALIZE),
    STAY(DONE, ROLLBACK_REINIT),
    DIAG(DONE),
};

static const struct sv_fsm fsm = {
    .name = "container",
    .n_states = NM_CONTAINER_N_STATES,
    .n_events = NM_CONTAINER_N_EVENTS,
    .state_names = nm_container_state_names,
    .event_names = event_names,
    .cells = &cells[0][0],
};

const struct sv_fsm *nm_container_fsm(void)
{
    return &fsm;
}

void nm_container_handle(const struct sv_event *event, void *userdata)
{
    const struct nm_container_exit *exit = event->payload;
    struct nm_container *c = event->object;
    struct nm_container_step step = {
        .services = userdata,
        .text = event->text,
        .code = exit ? exit->code : 0,
    };
    int was = c->state;

    if (sv_fsm_run(&fsm, &c->state, event->type, c, &step) < 0)
        sv_log(SV_LOG_WARNING, c->text,
               "%s: Can't handle this event at current state: Current: "
               "[%s], eventType: [%s]",
               c->text, nm_container_state_name(was), event_names[event->type]);
    else if (was != c->state)
        sv_log(SV_LOG_DEBUG, c->text, "Container %s transitioned from %s to %s", c->text,
               nm_container_state_name(was), nm_container_state_name(c->state));
}
