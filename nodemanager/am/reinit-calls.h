/* localize, reInitializeContainer, restartContainer, rollbackLastReInitialization and
 * commitLastReInitialization: what an ApplicationMaster changes in a running container. */
#ifndef SELVEDGE_NODEMANAGER_AM_REINIT_CALLS_H
#define SELVEDGE_NODEMANAGER_AM_REINIT_CALLS_H

#include "wire/ipc/ipc-server.h"

/* ipc_handlers; userdata is the struct nm_am. */
void nm_cm_localize(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);
void nm_cm_reinitialize(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);
void nm_cm_restart(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);
void nm_cm_rollback(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);
void nm_cm_commit(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);

#endif
