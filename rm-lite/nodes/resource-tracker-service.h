/* ResourceTrackerService: ResourceTracker (8031). */
#ifndef SELVEDGE_RM_LITE_NODES_RESOURCE_TRACKER_SERVICE_H
#define SELVEDGE_RM_LITE_NODES_RESOURCE_TRACKER_SERVICE_H

#include "wire/ipc/ipc-server.h"

extern const struct ipc_protocol *const rm_tracker_protocols[];

#endif
