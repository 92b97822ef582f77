/* stopContainers, getContainerStatuses and getLocalizationStatuses: a list of containers, a row of
 * the answer or a failure for each. */
#ifndef SELVEDGE_NODEMANAGER_AM_LIST_CALLS_H
#define SELVEDGE_NODEMANAGER_AM_LIST_CALLS_H

#include "wire/ids.h"
#include "wire/ipc/ipc-server.h"

void nm_cm_stop_containers(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);
void nm_cm_container_statuses(struct ipc_call *call, const ProtobufCMessage *request,
                              void *userdata);
void nm_cm_localization_statuses(struct ipc_call *call, const ProtobufCMessage *request,
                                 void *userdata);
/* -EACCES: the container is of another application than the caller's. */
struct yarn_nm_token;
int nm_cm_authorize(const struct yarn_nm_token *nmt, struct yarn_container_id id, bool stop,
                    struct sv_error *err) _must_use_;

#endif
