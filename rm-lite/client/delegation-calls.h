/* The methods of ApplicationClientProtocol about delegation tokens; handlers of
 * client-rm-service.c's table. */
#ifndef SELVEDGE_RM_LITE_CLIENT_DELEGATION_CALLS_H
#define SELVEDGE_RM_LITE_CLIENT_DELEGATION_CALLS_H

#include "wire/ipc/ipc-server.h"

void rm_on_getDelegationToken(struct ipc_call *call, const ProtobufCMessage *request,
                              void *userdata);
void rm_on_renewDelegationToken(struct ipc_call *call, const ProtobufCMessage *request,
                                void *userdata);
void rm_on_cancelDelegationToken(struct ipc_call *call, const ProtobufCMessage *request,
                                 void *userdata);

#endif
