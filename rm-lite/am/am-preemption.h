/* The preemption message in the answer to allocate. */
#ifndef SELVEDGE_RM_LITE_AM_AM_PREEMPTION_H
#define SELVEDGE_RM_LITE_AM_AM_PREEMPTION_H

#include "common/arena.h"
#include "proto/yarn_service.pb-c.h"
#include "rm-lite/core/context.h"

/* Reports each container of the application to be preempted once; adds nothing if there are none.
 * False without memory. */
bool rm_am_preemption(struct sv_arena *a, struct rm_app *app,
                      Hadoop__Yarn__AllocateResponseProto *resp) _must_use_;

#endif
