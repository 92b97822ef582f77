/* The registration of the node with the ResourceManager, with its recovered containers. */
#ifndef SELVEDGE_NODEMANAGER_RM_REGISTRATION_H
#define SELVEDGE_NODEMANAGER_RM_REGISTRATION_H

struct nm_updater;

/* The first heartbeat follows its answer. */
void nm_rm_send_register(struct nm_updater *u);

#endif
