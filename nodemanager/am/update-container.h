/* Another Resource or ExecutionType for a container, requested by its ApplicationMaster. */
#ifndef SELVEDGE_NODEMANAGER_AM_UPDATE_CONTAINER_H
#define SELVEDGE_NODEMANAGER_AM_UPDATE_CONTAINER_H

#include "wire/ipc/ipc-server.h"

/* ipc_handlers; userdata is the struct nm_am. */
void nm_cm_update_container(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);
void nm_cm_increase_containers(struct ipc_call *call, const ProtobufCMessage *request,
                               void *userdata);

#endif
