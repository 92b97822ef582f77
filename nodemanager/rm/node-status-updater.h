/* The ResourceManager's view of this node (NodeStatusUpdater): registration, heartbeats, what they
 * carry both ways, and patience while the ResourceManager is away. Containers live on in all of it.
 * The ResourceManager is trusted with containers, not with memory: its lists are bounded by the
 * frame, its ids are checked. */
#ifndef SELVEDGE_NODEMANAGER_RM_NODE_STATUS_UPDATER_H
#define SELVEDGE_NODEMANAGER_RM_NODE_STATUS_UPDATER_H

#include "common/base.h"
#include "common/error.h"
#include "wire/ids.h"

struct nm;
struct nm_app;
struct nm_container;
struct nm_updater;

int nm_updater_new(struct nm *nm, struct nm_updater **ret, struct sv_error *err) _must_use_;
struct nm_updater *nm_updater_free(struct nm_updater *u);
/* Begins to register; goes on by itself. */
void nm_updater_start(struct nm_updater *u);
/* Tells the ResourceManager that the node leaves, then calls `done` (also on failure). */
void nm_updater_unregister(struct nm_updater *u, void (*done)(void *userdata), void *userdata);

/* A container is DONE: remembered as recently stopped, told by a heartbeat at once. */
void nm_updater_container_done(struct nm_updater *u, struct nm_container *c);
/* The application is over: nobody will acknowledge the ends of its containers; delivered ones go.
 */
void nm_updater_app_finished(struct nm_updater *u, const struct nm_app *a);
bool nm_updater_recently_stopped(struct nm_updater *u, const char *container);

bool nm_updater_registered(const struct nm_updater *u);
int64_t nm_updater_rm_identifier(const struct nm_updater *u);
int64_t nm_updater_last_heartbeat_ms(const struct nm_updater *u); /* wall clock; 0 = none yet */

#endif
