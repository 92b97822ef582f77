/* Runs one event of a state machine and logs the state change in Hadoop's format. */
#ifndef SELVEDGE_RM_LITE_CORE_FSM_STEP_H
#define SELVEDGE_RM_LITE_CORE_FSM_STEP_H

#include "common/dispatcher.h"
#include "common/fsm.h"
#include "common/log.h"

/* Actions get `ev` as their `arg`. An event that is illegal in the state is logged and dropped. */
void rm_fsm_step(const struct sv_fsm *fsm, const char *id_str, int *state,
                 const struct sv_event *ev);
/* As rm_fsm_step(), with the log level of the line. */
void rm_fsm_step_at(enum sv_log_level level, const struct sv_fsm *fsm, const char *id_str,
                    int *state, const struct sv_event *ev);

#endif
