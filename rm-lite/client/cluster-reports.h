/* Methods of ApplicationClientProtocol that report nodes and queues; client-rm-service.c has the
 * table. */
#ifndef SELVEDGE_RM_LITE_CLIENT_CLUSTER_REPORTS_H
#define SELVEDGE_RM_LITE_CLIENT_CLUSTER_REPORTS_H

#include "wire/ipc/ipc-server.h"

void rm_on_getClusterMetrics(struct ipc_call *call, const ProtobufCMessage *request,
                             void *userdata);
void rm_on_getClusterNodes(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);
void rm_on_getQueueInfo(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);
void rm_on_getQueueUserAcls(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);

#endif
