/* Heartbeats to the ResourceManager, and the orders in their answers. */
#ifndef SELVEDGE_NODEMANAGER_RM_HEARTBEAT_H
#define SELVEDGE_NODEMANAGER_RM_HEARTBEAT_H

struct nm_container;
struct nm_updater;

/* Its answer schedules the next one. */
void nm_rm_send_heartbeat(struct nm_updater *u);
/* Removes a completed container, whose end was acknowledged, from the store and the tables. */
void nm_rm_forget_container(struct nm_container *c);

#endif
