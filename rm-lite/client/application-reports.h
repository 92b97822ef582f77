/* Methods of ApplicationClientProtocol that report applications, attempts and containers;
 * client-rm-service.c has the table. */
#ifndef SELVEDGE_RM_LITE_CLIENT_APPLICATION_REPORTS_H
#define SELVEDGE_RM_LITE_CLIENT_APPLICATION_REPORTS_H

#include "rm-lite/requests/call-list.h"
#include "wire/ipc/ipc-server.h"

void rm_on_getApplicationReport(struct ipc_call *call, const ProtobufCMessage *request,
                                void *userdata);
void rm_on_getApplications(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);
void rm_on_getApplicationAttemptReport(struct ipc_call *call, const ProtobufCMessage *request,
                                       void *userdata);
void rm_on_getApplicationAttempts(struct ipc_call *call, const ProtobufCMessage *request,
                                  void *userdata);
void rm_on_getContainerReport(struct ipc_call *call, const ProtobufCMessage *request,
                              void *userdata);
void rm_on_getContainers(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);

/* Applications as entries of the answers to getApplications and getQueueInfo. */
extern const struct rm_call_kind rm_call_queue_apps;

#endif
