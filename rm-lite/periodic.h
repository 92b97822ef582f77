/* Periodic work: liveliness of nodes, masters and unused containers, rolling of the token keys,
 * eviction of old applications. */
#ifndef SELVEDGE_RM_LITE_PERIODIC_H
#define SELVEDGE_RM_LITE_PERIODIC_H

#include "common/error.h"
#include "rm-lite/core/context.h"

int rm_periodic_start(struct rm *rm, struct sv_error *err) _must_use_; /* the timer: rm->tick */
/* Containers, masters and nodes that one run ends, with the containers that end with them; the last
 * one may go beyond it. */
#define RM_EXPIRE_TURN 256
bool rm_periodic_run(struct rm *rm); /* for the timer and tests; true: it has more to end now */

#endif
