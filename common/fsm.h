/* State machines as tables: [state][event] → {action, next}. The same table runs the machine,
 * prints its graph (docs) and drives the tests that walk every edge.
 *
 * A cell with next == SV_FSM_REFUSED (the zero value) is an illegal event in that state. An action
 * returns the next state: one of those declared in the cell, `next` or `alt`. */
#ifndef SELVEDGE_COMMON_FSM_H
#define SELVEDGE_COMMON_FSM_H

#include <stdio.h>

#include "common/base.h"

#define SV_FSM_REFUSED 0 /* so states are numbered from 1 */

/* `object` is the container or application, `event` the event's number, `arg` its payload. Returns
 * the next state; a NULL action selects `next`. */
typedef int (*sv_fsm_action)(void *object, int event, void *arg);

struct sv_fsm_cell {
    sv_fsm_action action;
    uint8_t next;   /* 0 = refused */
    uint8_t alt[3]; /* further states that the action may return; 0 = none */
};

struct sv_fsm {
    const char *name;
    int n_states, n_events;          /* counts including the unused number 0 */
    const char *const *state_names;  /* [n_states], YARN's names */
    const char *const *event_names;  /* [n_events] */
    const struct sv_fsm_cell *cells; /* [n_states * n_events], row = state */
};

/* Runs the cell and updates *state. -EPROTO: the event is illegal in that state, which is unchanged
 * (the caller logs); -EBADE: the action returned a state that its cell does not declare. */
int sv_fsm_run(const struct sv_fsm *fsm, int *state, int event, void *object, void *arg) _must_use_;
/* Prints every declared edge as Graphviz dot. */
void sv_fsm_print_dot(const struct sv_fsm *fsm, FILE *out);

#endif
