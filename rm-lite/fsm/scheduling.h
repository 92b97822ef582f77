/* Between the scheduler (scheduler.h, a pure library) and the state machines: applies events to it
 * and turns its decisions into events of applications, attempts and containers. */
#ifndef SELVEDGE_RM_LITE_FSM_SCHEDULING_H
#define SELVEDGE_RM_LITE_FSM_SCHEDULING_H

#include "common/error.h"
#include "rm-lite/core/context.h"
#include "rm-lite/scheduler/scheduler.h"

/* Applies a scheduler event and posts the resulting events. */
int rm_schedule(struct rm *rm, const struct rm_sched_event *ev, struct sv_error *err);
/* Logs a line for each queue key that the scheduler does not honour. */
void rm_log_queue_keys(struct rm *rm, struct sv_conf *conf);
/* Runs a round of preemption if its interval has passed. */
void rm_preempt_tick(struct rm *rm, int64_t now_ms);
/* Requests an allocation pass over the recently seen nodes on which something has become possible,
 * when the event queue is empty. A long pass continues in the next turns of the event loop. */
void rm_request_pass(struct rm *rm);
void rm_run_requested_pass(struct rm *rm); /* the first turn, if a pass is requested */

#endif
