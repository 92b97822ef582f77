/* The capability of one container that an ApplicationMaster asks for. Hostile. */
#ifndef SELVEDGE_RM_LITE_AM_AM_CAPABILITY_H
#define SELVEDGE_RM_LITE_AM_AM_CAPABILITY_H

#include "rm-lite/core/rm-app-attempt.h"
#include "wire/ipc/ipc-server.h"

/* Rounds it as the scheduler counts; NULL is zero. Below 0: the call was refused. */
int rm_am_capability(struct ipc_call *call, const struct rm_attempt *att,
                     const Hadoop__Yarn__ResourceProto *m, struct rm_res *ret) _must_use_;

#endif
