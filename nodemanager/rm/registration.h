/* The registration of the node with the ResourceManager, with its recovered containers. */
#ifndef SELVEDGE_NODEMANAGER_RM_REGISTRATION_H
#define SELVEDGE_NODEMANAGER_RM_REGISTRATION_H

#include "wire/ids.h"

struct nm_updater;

/* The first heartbeat follows its answer. */
void nm_rm_send_register(struct nm_updater *u);
/* The ResourceManager gives the node another size; NULL or malformed: none. */
void nm_rm_set_total(struct nm_updater *u, const Hadoop__Yarn__ResourceProto *m);

#endif
