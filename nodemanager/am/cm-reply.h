/* Common parts of the container manager's methods: the caller, and rows of answers. For the files
 * of am/ alone. */
#ifndef SELVEDGE_NODEMANAGER_AM_CM_REPLY_H
#define SELVEDGE_NODEMANAGER_AM_CM_REPLY_H

#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

#define NM_CM_TARGET "ContainerManageImpl" /* audit lines, as Hadoop spells it on success … */
#define NM_CM_TARGET_FAILURE "ContainerManagerImpl" /* … and on failure */

#define NM_CM_REQUEST_MAX (8 << 20) /* bytes of one container's request */

/* The NMToken presented by the caller. If it is refused, the call is already finished. */
int nm_cm_caller(struct ipc_call *call, struct yarn_nm_token *ret) _must_use_;
void nm_cm_out_of_memory(struct ipc_call *call); /* finishes the call */
/* One row of a failed map; NULL when the arena is exhausted. */
Hadoop__Yarn__ContainerExceptionMapProto *nm_cm_failed_row(struct sv_arena *a,
                                                           struct yarn_container_id id,
                                                           const char *java_class,
                                                           const char *message);
/* nm_cm_failed_row() with the id's message of the request: 10,000 rows fit into the arena of a
 * request. */
Hadoop__Yarn__ContainerExceptionMapProto *nm_cm_failed_id(struct sv_arena *a,
                                                          Hadoop__Yarn__ContainerIdProto *id,
                                                          const char *java_class,
                                                          const char *message);

#endif
