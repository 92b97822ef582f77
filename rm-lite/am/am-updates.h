/* Updates of running containers in the calls of ApplicationMasters: what they request, and what
 * they are told. Requests are hostile. */
#ifndef SELVEDGE_RM_LITE_AM_AM_UPDATES_H
#define SELVEDGE_RM_LITE_AM_AM_UPDATES_H

#include "common/arena.h"
#include "proto/yarn_service.pb-c.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "wire/ipc/ipc-server.h"

#define RM_AM_UPDATES_MAX 10000 /* requested by one call */
#define RM_AM_UPDATES_TOLD 1000 /* by one answer: each has a token */

/* False after the call was refused: it requests more of them. */
bool rm_am_updates_fit(struct ipc_call *call, size_t n);
/* Requests the updates and answers those that cannot be with an error each; what becomes of the
 * others is told by a later answer, or by this one. False without memory. */
bool rm_am_updates(struct rm_attempt *att, const Hadoop__Yarn__AllocateRequestProto *q,
                   struct sv_arena *a, Hadoop__Yarn__AllocateResponseProto *resp);
/* The containers updated since the last answer, with their new tokens. False without memory. */
bool rm_am_pull_updates(struct sv_arena *a, struct rm_attempt *att,
                        Hadoop__Yarn__AllocateResponseProto *resp);

#endif
