/* startContainers: containers started by an ApplicationMaster. */
#ifndef SELVEDGE_NODEMANAGER_AM_START_CONTAINERS_H
#define SELVEDGE_NODEMANAGER_AM_START_CONTAINERS_H

#include "wire/ipc/ipc-server.h"

/* An ipc_handler; userdata is the struct nm_am. */
void nm_cm_start_containers(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);

#endif
