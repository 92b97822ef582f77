/* One step of a state machine; see fsm-step.h. */
#include "rm-lite/core/fsm-step.h"

void rm_fsm_step_at(enum sv_log_level level, const struct sv_fsm *fsm, const char *id_str,
                    int *state, const struct sv_event *ev)
{
    int before = *state;
    int r = sv_fsm_run(fsm, state, ev->type, ev->object, (void *)(uintptr_t)ev);

    if (r < 0)
        sv_log(SV_LOG_WARNING, id_str, "%s: %s cannot take event %s in state %s, ignoring", id_str,
               fsm->name, fsm->event_names[ev->type], fsm->state_names[before]);
    else if (before != *state)
        sv_log(level, id_str, "%s State change from %s to %s on event = %s", id_str,
               fsm->state_names[before], fsm->state_names[*state], fsm->event_names[ev->type]);
}

void rm_fsm_step(const struct sv_fsm *fsm, const char *id_str, int *state,
                 const struct sv_event *ev)
{
    rm_fsm_step_at(SV_LOG_INFO, fsm, id_str, state, ev);
}
