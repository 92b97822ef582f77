/* Methods of ApplicationClientProtocol that report applications, attempts and containers;
 * client-rm-service.c has the table. */
#ifndef SELVEDGE_RM_LITE_CLIENT_APPLICATION_REPORTS_H
#define SELVEDGE_RM_LITE_CLIENT_APPLICATION_REPORTS_H

#include "rm-lite/requests/call-list.h"
#include "rm-lite/requests/viewer.h"
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

/* The applications of getQueueInfo: those in the queue and below it. False: no memory. */
extern const struct rm_call_kind rm_call_queue_apps;
bool rm_call_apps_in(const struct rm_viewer *who, const char *queue, struct rm_call_items *ret)
    _must_use_;

#endif
