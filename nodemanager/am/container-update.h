/* Another Resource or ExecutionType for a container that is there: asked for by its
 * ApplicationMaster (updateContainer, increaseContainersResource) or told by the ResourceManager in
 * a heartbeat. */
#ifndef SELVEDGE_NODEMANAGER_AM_CONTAINER_UPDATE_H
#define SELVEDGE_NODEMANAGER_AM_CONTAINER_UPDATE_H

#include "wire/ipc-server.h"
#include "wire/methods.h"

struct nm;

void nm_cm_update_container(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);
void nm_cm_increase_containers(struct ipc_call *call, const ProtobufCMessage *request,
                               void *userdata);
/* Containers of a heartbeat's answer, with tokens that the ResourceManager has signed. */
void nm_update_from_rm(struct nm *nm, Hadoop__Yarn__ContainerProto *const *containers, size_t n);
/* The list for the next heartbeat: what grew since the last that arrived. NULL: arena exhausted. */
Hadoop__Yarn__ContainerProto **nm_update_increased(struct nm *nm, struct sv_arena *a,
                                                   size_t *ret_n);
void nm_update_increased_delivered(struct nm *nm);

#endif
