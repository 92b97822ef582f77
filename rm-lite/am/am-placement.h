/* SchedulingRequests and placement constraints of ApplicationMasters, by
 * yarn.resourcemanager.placement-constraints.handler: refused with Hadoop's words (disabled), asks
 * that wait (scheduler), or asks that come back rejected after some calls (placement-processor).
 * Requests are hostile. */
#ifndef SELVEDGE_RM_LITE_AM_AM_PLACEMENT_H
#define SELVEDGE_RM_LITE_AM_AM_PLACEMENT_H

#include "common/arena.h"
#include "proto/yarn_service.pb-c.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/scheduler/scheduler.h"
#include "wire/ipc/ipc-server.h"

/* The constraints of a registration. False after the call was refused. */
bool rm_am_register_constraints(struct ipc_call *call, struct rm_attempt *att,
                                const Hadoop__Yarn__RegisterApplicationMasterRequestProto *q);
/* Adds the SchedulingRequests to the event, in the call's arena. Below 0: the call was refused. */
int rm_am_scheduling_requests(struct ipc_call *call, const struct rm_attempt *att,
                              const Hadoop__Yarn__AllocateRequestProto *q, struct rm_ev_ask *ev)
    _must_use_;
/* Adds the rejected ones and forgets them. False without memory. */
bool rm_am_pull_rejected(struct sv_arena *a, struct rm_attempt *att,
                         Hadoop__Yarn__AllocateResponseProto *resp);

#endif
