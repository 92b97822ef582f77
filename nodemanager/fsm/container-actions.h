/* Actions of the state machine of containers; for container-fsm.c alone, whose table names each. */
#ifndef SELVEDGE_NODEMANAGER_FSM_CONTAINER_ACTIONS_H
#define SELVEDGE_NODEMANAGER_FSM_CONTAINER_ACTIONS_H

#include "nodemanager/fsm/container-fsm.h"

struct nm_container;

struct nm_container_step { /* argument of an action */
    const struct nm_container_services *services;
    const char *text; /* the event's; NULL = none */
    int code;         /* its struct nm_container_exit */
};

/* Actions: see sv_fsm_action; `o` is a struct nm_container, `arg` a struct nm_container_step. */
int nm_act_diagnostics(void *o, int event, void *arg);
int nm_act_done(void *o, int event, void *arg);
int nm_act_failed_live(void *o, int event, void *arg);
int nm_act_localized_live(void *o, int event, void *arg);
int nm_act_reinit(void *o, int event, void *arg);
int nm_act_reinit_killed(void *o, int event, void *arg);
int nm_act_exit_failure(void *o, int event, void *arg);
int nm_act_failure(void *o, int event, void *arg);
int nm_act_ignore(void *o, int event, void *arg);
int nm_act_init(void *o, int event, void *arg);
int nm_act_kill(void *o, int event, void *arg);
int nm_act_kill_before_running(void *o, int event, void *arg);
int nm_act_kill_new(void *o, int event, void *arg);
int nm_act_killed(void *o, int event, void *arg);
int nm_act_killed_externally(void *o, int event, void *arg);
int nm_act_launched(void *o, int event, void *arg);
int nm_act_localization_failed(void *o, int event, void *arg);
int nm_act_localized(void *o, int event, void *arg);
int nm_act_pause(void *o, int event, void *arg);
int nm_act_paused(void *o, int event, void *arg);
int nm_act_resume(void *o, int event, void *arg);
int nm_act_resumed(void *o, int event, void *arg);
int nm_act_success(void *o, int event, void *arg);

/* reinit-actions.c: a re-initialization begins; its process runs; it is launched, and the state;
 * what a restarted daemon needs for one. */
void nm_reinit_started(struct nm_container *c);
void nm_reinit_finished(struct nm_container *c);
int nm_reinit_launch(struct nm_container *c, const struct nm_container_services *services);
void nm_reinit_recover(struct nm_container *c, const struct nm_container_services *services);

#endif
