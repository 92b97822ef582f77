/* Looks at the cards again and again, on a thread, since a driver may hang: one that has gone, or
 * cannot be read, is withdrawn, and told in the node's health report; one that is back is offered
 * again. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_GPU_WATCH_H
#define SELVEDGE_NODEMANAGER_RESOURCES_GPU_WATCH_H

#include "common/base.h"

struct nm_assignments;
struct nm_context;
struct nm_gpu_watch;

#define NM_GPU_LOOK_MS 30000 /* a driver that takes longer hangs */

/* `changed`: ctx->total.gpus has another value. `root` as in nm_assignments_new(), borrowed. *ret
 * is NULL without GPUs. */
int nm_gpu_watch_new(struct nm_context *ctx, const char *root, struct nm_assignments *a,
                     void (*changed)(void *userdata), void *userdata, struct nm_gpu_watch **ret)
    _must_use_;
struct nm_gpu_watch *nm_gpu_watch_free(struct nm_gpu_watch *w);

#endif
