/* Which localized containers run and which wait (Hadoop: ContainerScheduler,
 * AllocationBasedResourceUtilizationTracker). Memory and virtual cores are counted as they were
 * granted, against the node's total. Guaranteed containers go before opportunistic ones, which are
 * killed or paused, youngest first, where a guaranteed one lacks room. Without a queue
 * (yarn.nodemanager.opportunistic-containers-max-queue-length 0) every guaranteed container starts
 * at once and every opportunistic one is refused.
 *
 * The state is nowhere but here and in the containers: a container whose request is recorded and
 * whose launch is not waits again after a restart. Starts, kills and pauses are made in turns of
 * the loop: one large guaranteed container may need the resources of a thousand others. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_CONTAINER_SCHEDULER_H
#define SELVEDGE_NODEMANAGER_RESOURCES_CONTAINER_SCHEDULER_H

#include "common/base.h"

struct nm_container;
struct nm_context;
struct nm_scheduler;

struct nm_scheduler *nm_scheduler_new(struct nm_context *ctx); /* NULL: out of memory */
struct nm_scheduler *nm_scheduler_free(struct nm_scheduler *s);
/* Starts the launch of a container whose time has come. */
void nm_scheduler_on_start(struct nm_scheduler *s,
                           void (*start)(void *userdata, struct nm_container *c), void *userdata);

/* A container is localized: it starts, waits, or is killed because the queue is full. again: the
 * last daemon had accepted it, it is not refused. */
void nm_scheduler_add(struct nm_scheduler *s, struct nm_container *c, bool again);
/* Recovery, in the order of their requests. One that was launched counts until its adoption fails.
 */
void nm_scheduler_restore(struct nm_scheduler *s, struct nm_container *c);
/* Its process runs. frozen: adopted, and it stands still. */
void nm_scheduler_launched(struct nm_scheduler *s, struct nm_container *c, bool frozen);
/* Its process stands still, by nm_scheduler_run() or an operator; it goes on. */
void nm_scheduler_paused(struct nm_scheduler *s, struct nm_container *c);
void nm_scheduler_resumed(struct nm_scheduler *s, struct nm_container *c);
/* It is being ended: its resources come free without another kill. */
void nm_scheduler_ending(struct nm_scheduler *s, struct nm_container *c);
/* It has no process and gets none: others may have its resources. For every container, also
 * twice. */
void nm_scheduler_leave(struct nm_scheduler *s, struct nm_container *c);
/* Its resource or its execution type has changed. */
void nm_scheduler_updated(struct nm_scheduler *s, struct nm_container *c);
/* True while it is queued, or paused for another. */
bool nm_scheduler_waits(const struct nm_container *c);

/* The ResourceManager's limit of this moment: what is queued beyond it is killed, last come first;
 * negative: no limit. */
void nm_scheduler_shed(struct nm_scheduler *s, int32_t max_queue_length);
/* Makes every decision that is due; also after a change of the node's total. */
void nm_scheduler_run(struct nm_scheduler *s);

struct nm_scheduler_figures {
    int32_t queued_guaranteed, queued_opportunistic; /* with those that are paused */
    int32_t queue_capacity;                          /* of opportunistic ones */
    int32_t running;                                 /* opportunistic ones, from start to end */
    int64_t memory_mb, vcores;                       /* theirs */
};
void nm_scheduler_figures(const struct nm_scheduler *s, struct nm_scheduler_figures *ret);

#endif
