/* Containers that an earlier ResourceManager allocated, before a restart, and whose start reaches
 * the node after its registration with the one of today, which then does not know them. Hadoop
 * refuses them, and their ApplicationMaster counts a failure. A ResourceManager of ours takes them
 * over from a heartbeat, as it does from a registration. */
#ifndef SELVEDGE_NODEMANAGER_RM_EARLIER_H
#define SELVEDGE_NODEMANAGER_RM_EARLIER_H

#include "common/arena.h"
#include "wire/ipc/methods.h"

struct nm_updater;

/* Those that no registration and no delivered heartbeat has told. NULL: arena exhausted. */
Hadoop__Yarn__NMContainerStatusProto **nm_rm_earlier(struct nm_updater *u, struct sv_arena *a,
                                                     size_t *ret_n);
/* The heartbeat with them is answered. */
void nm_rm_earlier_delivered(struct nm_updater *u);

#endif
