/* Calls with rows for many containers, done in turns of the event loop: a row for each of 10,000
 * ids or tokens takes more than a heartbeat may wait. A call that fits into one turn is done at
 * once. Between two turns containers come and go: a row looks its container up by id. */
#ifndef SELVEDGE_NODEMANAGER_AM_CALL_TURNS_H
#define SELVEDGE_NODEMANAGER_AM_CALL_TURNS_H

#include <systemd/sd-event.h>

#include "common/base.h"

#define NM_CALL_ROWS_MAX 10000 /* of one call; more are refused */
#define NM_CALL_TURN_ROWS 256
#define NM_CALL_TURN_MS 2

struct ipc_call;
struct nm_call_turns;
struct nm_store;

struct nm_call {  /* the first member of a method's own state */
    size_t n, at; /* rows; the next one */
    /* Handles row `at`; negative: the rows end. */
    int (*row)(struct nm_call *c);
    /* All rows are handled (0), or one was negative; finishes the call and frees the state.
     * -ESHUTDOWN: the daemon ends. */
    void (*done)(struct nm_call *c, int result);
    /* Rows write records there: `done` waits for the commits of all turns. Or NULL. */
    struct nm_store *store;
    bool lost; /* for `done`: a commit failed */
    /* private */
    struct nm_call *prev, *next;
    unsigned commits; /* waited for */
    bool ended;
    int result;
};

int nm_call_turns_new(sd_event *event, struct nm_call_turns **ret) _must_use_;
/* Ends calls under way with -ESHUTDOWN. Accepts NULL. */
struct nm_call_turns *nm_call_turns_free(struct nm_call_turns *t);
/* Begins the rows of a call, now; `c` may be freed when this returns. */
void nm_call_turns_run(struct nm_call_turns *t, struct nm_call *c);
/* False: the call has more than NM_CALL_ROWS_MAX rows, and was answered so. */
bool nm_call_turns_takes(struct ipc_call *call, size_t n);

#endif
