/* Work on long messages in turns of the loop: as much a turn as NM_TURN_ROWS, whoever's it is, the
 * rest behind everything else of the daemon, one master after the other. Work that fits is done at
 * once. See federation/amrm/budget.h for what a row is. */
#ifndef SELVEDGE_NODEMANAGER_FEDERATION_TURNS_H
#define SELVEDGE_NODEMANAGER_FEDERATION_TURNS_H

#include <systemd/sd-event.h>

#include "federation/amrm/budget.h"

#define NM_TURN_ROWS 500 /* about a millisecond */

/* A piece of work, in the struct whose it is. */
struct nm_turn {
    /* Goes on until the budget is spent; true: there is more. May free the struct with false. */
    bool (*run)(struct nm_turn *t, struct fed_budget *b);
    bool waiting;                /* in the queue */
    struct nm_turn *prev, *next; /* utlist */
};

struct nm_turns {
    sd_event *event;
    sd_event_source *source;
    struct nm_turn *queue;
    struct nm_leaving *leaving; /* utlist */
    uint64_t iteration;         /* of the loop, in which `left` is */
    struct fed_budget left;
    int64_t most; /* rows that one turn took, ever */
};

int nm_turns_open(sd_event *event, struct nm_turns *ret) _must_use_;
/* Nothing is queued any more but objects that leave. */
void nm_turns_close(struct nm_turns *t);
/* Runs it: now if this turn of the loop has a budget left, then behind others until it is done. A
 * no-op while it waits. */
void nm_turns_go(struct nm_turns *t, struct nm_turn *turn);
/* Frees an object that is nobody's any more: leave(object) is called until it does not say
 * FED_MORE. Takes it. Accepts NULL. */
void nm_turns_leave(struct nm_turns *t, void *object,
                    int (*leave)(void *object, struct fed_budget *b));
/* It is not run any more. */
void nm_turns_stop(struct nm_turns *t, struct nm_turn *turn);

#endif
