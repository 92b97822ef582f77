/* Periodic work: liveliness of nodes, masters and unused containers, rolling of the token keys,
 * eviction of old applications. */
#ifndef SELVEDGE_RM_LITE_PERIODIC_H
#define SELVEDGE_RM_LITE_PERIODIC_H

#include "common/error.h"
#include "rm-lite/core/context.h"

int rm_periodic_start(struct rm *rm, struct sv_error *err) _must_use_; /* the timer: rm->tick */
void rm_periodic_run(struct rm *rm); /* one run; for the timer and tests */

#endif
