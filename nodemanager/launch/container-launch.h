/* Launch of containers (ContainersLauncher, ContainerLaunch): from a localized container to a call
 * of executor/, from an exit to an event with Hadoop's exit code and diagnostics. */
#ifndef SELVEDGE_NODEMANAGER_LAUNCH_CONTAINER_LAUNCH_H
#define SELVEDGE_NODEMANAGER_LAUNCH_CONTAINER_LAUNCH_H

#include "common/base.h"

struct nm_assignments;
struct nm_aux;
struct nm_container;
struct nm_context;
struct nm_launcher;
struct nm_numa;
struct nm_scheduler;

/* `numa` and `aux` may be NULL (off). Launches what the scheduler starts. NULL: out of memory. */
struct nm_launcher *nm_launcher_new(struct nm_context *ctx, struct nm_assignments *assignments,
                                    struct nm_scheduler *scheduler, struct nm_numa *numa,
                                    const struct nm_aux *aux);
struct nm_launcher *nm_launcher_free(struct nm_launcher *l); /* after exe_free */

/* Ends in LAUNCHED or EXITED_WITH_FAILURE, later. Adopts a recovered container that may have been
 * launched. */
void nm_launch_start(struct nm_launcher *l, struct nm_container *c);
/* Gives back what a container that ends had of the node; no launch follows. */
void nm_launch_release(struct nm_container *c);

#endif
