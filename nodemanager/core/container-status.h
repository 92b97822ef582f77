/* The messages that describe a container to the ResourceManager and to ApplicationMasters. NULL
 * when the arena is exhausted. */
#ifndef SELVEDGE_NODEMANAGER_CORE_CONTAINER_STATUS_H
#define SELVEDGE_NODEMANAGER_CORE_CONTAINER_STATUS_H

#include "common/arena.h"
#include "wire/ipc/methods.h"

struct nm_container;

/* For heartbeats and getContainerStatuses. */
Hadoop__Yarn__ContainerStatusProto *nm_container_status(const struct nm_container *c,
                                                        struct sv_arena *a);
/* For registrations. */
Hadoop__Yarn__NMContainerStatusProto *nm_container_nm_status(const struct nm_container *c,
                                                             struct sv_arena *a);

#endif
