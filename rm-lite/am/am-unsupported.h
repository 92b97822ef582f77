/* Requests of ApplicationMasters that this ResourceManager does not support get an error: a master
 * would wait for ever for an answer. Requests are hostile. */
#ifndef SELVEDGE_RM_LITE_AM_AM_UNSUPPORTED_H
#define SELVEDGE_RM_LITE_AM_AM_UNSUPPORTED_H

#include "rm-lite/core/rm-app-attempt.h"
#include "wire/ipc/ipc-server.h"

/* SchedulingRequests and placement constraints, refused as by Hadoop with its default of
 * yarn.resourcemanager.placement-constraints.handler. False after the call was refused. */
bool rm_am_no_scheduling_requests(struct ipc_call *call, const struct rm_attempt *att, size_t n);
bool rm_am_no_placement_constraints(struct ipc_call *call, const struct rm_attempt *att, size_t n);

#endif
