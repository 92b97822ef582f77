/* Another launch of a container whose process has ended (Hadoop: RetryFailureTransition,
 * KilledForReInitializationTransition, ContainerRelaunch): in its work and log directories, with
 * what it has of the node. */
#ifndef SELVEDGE_NODEMANAGER_LAUNCH_RELAUNCH_H
#define SELVEDGE_NODEMANAGER_LAUNCH_RELAUNCH_H

#include "common/base.h"

#define NM_RELAUNCH_PROBE_MS 20 /* between looks at what a launch waits for */

struct nm_container;

/* Decides whether the end of the running process is followed by another launch, by a retry, a
 * re-initialization or a rollback after a failed one, and records that in the place of the end: 1.
 * 0: it is the end. May change the event. */
int nm_relaunch_decide(struct nm_container *c, int *event, int code) _must_use_;
/* The end of the last launch is recorded as followed by another. */
void nm_relaunch_prepare(struct nm_container *c);
/* True for an end that the store records as followed by another launch, which has not begun. */
bool nm_relaunch_is_stale(const struct nm_container *c, int64_t record_start_ms);
/* Launches it after `ms`; a container that is killed meanwhile is not launched. */
void nm_relaunch_after(struct nm_container *c, int64_t ms);
/* The cgroup of the last launch is still being removed: the launch is tried again. False: for too
 * long. */
bool nm_relaunch_wait(struct nm_container *c);
/* The container ends: no launch follows. */
void nm_relaunch_cancel(struct nm_container *c);

#endif
