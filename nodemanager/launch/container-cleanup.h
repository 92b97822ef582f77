/* Signals to containers and their end (ContainerCleanup): SIGTERM, a delay, cgroup.kill. */
#ifndef SELVEDGE_NODEMANAGER_LAUNCH_CONTAINER_CLEANUP_H
#define SELVEDGE_NODEMANAGER_LAUNCH_CONTAINER_CLEANUP_H

#include "common/base.h"

struct nm_container;
struct nm_launcher;

/* Sends SIGTERM, after thawing a frozen container; when that was sent, or could not be, cgroup.kill
 * follows after yarn.nodemanager.sleep-delay-before-sigkill.ms. The exit follows as an event.
 * Allowed in any state of the launch. */
void nm_cleanup_container(struct nm_container *c);
/* Sends a signal requested by the application, the ResourceManager or an operator. -ESRCH: not
 * running. -EBUSY: it is frozen, and its init could not deliver the signal. */
int nm_cleanup_signal(struct nm_container *c, int signal) _must_use_;
/* Freezes or thaws its cgroup. -ESRCH: not running. */
int nm_cleanup_freeze(struct nm_container *c, bool frozen) _must_use_;
/* By its cgroup, which keeps it over a restart of the daemon. */
bool nm_cleanup_is_frozen(const struct nm_container *c);
/* SignalContainerCommandProto → Linux signal; 0 for unknown ones. */
int nm_cleanup_signal_number(int command);
/* Frees the requests that will get no answer: after exe_free. */
void nm_cleanup_free_terms(struct nm_launcher *launcher);

#endif
