/* ApplicationMasterProtocol's allocate: the heartbeat of an ApplicationMaster. */
#ifndef SELVEDGE_RM_LITE_AM_AM_ALLOCATE_H
#define SELVEDGE_RM_LITE_AM_AM_ALLOCATE_H

#include "wire/ipc/ipc-server.h"

void rm_on_allocate(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);

#endif
