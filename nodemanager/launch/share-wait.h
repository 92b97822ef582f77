/* Containers whose launch waits for GPUs or an address that others still have. The ResourceManager
 * grants what a container that is being killed has as soon as it orders the kill, its processes end
 * later; Hadoop's GpuResourceAllocator waits likewise. */
#ifndef SELVEDGE_NODEMANAGER_LAUNCH_SHARE_WAIT_H
#define SELVEDGE_NODEMANAGER_LAUNCH_SHARE_WAIT_H

#include "common/base.h"

#define NM_SHARE_WAIT_MS 120000 /* GpuResourceAllocator.waitPeriodForResource */

struct nm_container;
struct nm_launcher;

/* The launch is tried again when others release, and when the time is over. False: it is over, or
 * the timer failed. */
bool nm_share_wait(struct nm_container *c);
/* As soon as the records made so far are committed the launch is tried again. */
int nm_share_recorded(struct nm_container *c) _must_use_;
/* For nm_assignments_on_release(). */
void nm_share_released(void *launcher);
void nm_share_stop(struct nm_launcher *l);

#endif
