/* The status message of the node, part of registrations and heartbeats. */
#ifndef SELVEDGE_NODEMANAGER_RM_NODE_STATUS_H
#define SELVEDGE_NODEMANAGER_RM_NODE_STATUS_H

#include "common/arena.h"
#include "wire/ipc/methods.h"

struct nm_updater;

/* Marks the completed containers in it as in flight. NULL: arena exhausted. */
Hadoop__Yarn__NodeStatusProto *nm_rm_node_status(struct nm_updater *u, struct sv_arena *a);

#endif
