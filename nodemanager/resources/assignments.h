/* Exclusive resources of containers: GPUs and the address in a private network. Hadoop:
 * GpuResourceAllocator; addresses are Docker's part there.
 *
 * Assigned when the container's request is recorded, and recorded with it, or if others still have
 * it before the launch (launch/share-wait.h), so that a restarted daemon assigns nothing twice;
 * released when the container's exit is recorded. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_ASSIGNMENTS_H
#define SELVEDGE_NODEMANAGER_RESOURCES_ASSIGNMENTS_H

#include "common/arena.h"
#include "common/base.h"
#include "common/error.h"
#include "executor/exe.h"

struct nm_context;
struct nm_container;
struct nm_assignments;
struct nm_gpus;

#define NM_ASSIGNED_TEXT_MAX 512

/* Finds the GPUs (yarn.nodemanager.resource-plugins…) below `root`, "" for the machine. */
int nm_assignments_new(const struct nm_context *ctx, const char *root, struct nm_assignments **ret,
                       struct sv_error *err) _must_use_;
struct nm_assignments *nm_assignments_free(struct nm_assignments *a);
int32_t nm_assignments_gpus(const struct nm_assignments *a); /* offered by the node */
/* All, with those that are withdrawn and who has them. */
const struct nm_gpus *nm_assignments_gpu_list(const struct nm_assignments *a);
/* True once NVIDIA's driver was there: its absence is then a fault. */
bool nm_assignments_had_driver(const struct nm_assignments *a);
/* Takes over a later look at the cards; true if something has changed. */
bool nm_assignments_found(struct nm_assignments *a, const struct nm_gpus *found);

/* Sets c->share.assigned, with its text for the store. -EBUSY with a message: too few are free, or
 * not those that the container names (wanted-gpus.h); -EINVAL: it names them wrongly. */
int nm_assign(struct nm_assignments *a, struct nm_container *c, char text[NM_ASSIGNED_TEXT_MAX],
              struct sv_error *err) _must_use_;
/* After a restart; -EBADMSG: not a text of nm_assign, or in conflict with another container. */
int nm_assign_again(struct nm_assignments *a, struct nm_container *c, const char *text) _must_use_;
/* Whether it has what it asks for, and whether this node can ever give it that. */
bool nm_assign_is_whole(const struct nm_assignments *a, const struct nm_container *c);
bool nm_assign_may_come(const struct nm_assignments *a, const struct nm_container *c);
/* fn() runs when something was released; it must not assign itself. NULL: none. */
void nm_assignments_on_release(struct nm_assignments *a, void (*fn)(void *userdata),
                               void *userdata);
/* Allowed for a container without a share. */
void nm_assign_release(struct nm_assignments *a, struct nm_container *c);
/* Adds devices, address and rates to the launch; the container keeps the devices' ownership. */
void nm_assign_launch(struct nm_assignments *a, struct nm_container *c, struct exe_launch *l);

struct nm_variable {
    const char *name, *value;
};
/* Variables that tell a container of its GPUs, in the arena: those of CDI, then
 * CUDA_VISIBLE_DEVICES, NVIDIA_VISIBLE_DEVICES and SELVEDGE_GPU_INDEXES, their places in the node's
 * list; none without a GPU. -ENOMEM. */
int nm_assign_env(const struct nm_assignments *a, const struct nm_container *c,
                  struct sv_arena *arena, struct nm_variable **ret, size_t *ret_n) _must_use_;

#endif
