/* What of the node belongs to one container alone: GPUs and the address in a private network.
 * Hadoop: GpuResourceAllocator, and what its Docker runtimes leave to Docker.
 *
 * Assigned when the container's request is put on record, and recorded with it, so that a restarted
 * daemon gives nothing away twice; free again when the container's exit is on record. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_ASSIGNMENTS_H
#define SELVEDGE_NODEMANAGER_RESOURCES_ASSIGNMENTS_H

#include "common/error.h"
#include "executor/exe.h"

struct nm;
struct nm_container;
struct nm_assignments;

/* A container's share. Zero = nothing. */
struct nm_assigned {
    struct exe_device gpus[EXE_DEVICES_MAX]; /* ascending */
    size_t n_gpus;
    uint32_t address; /* number of its address + 1; 0 = none */
};
#define NM_ASSIGNED_TEXT_MAX 512

/* Finds the GPUs (yarn.nodemanager.resource-plugins…) and adds them to nm->conf.resource. */
int nm_assignments_new(struct nm *nm, struct nm_assignments **ret, struct sv_error *err) _must_use_;
struct nm_assignments *nm_assignments_free(struct nm_assignments *a);

/* Into c->assigned, with its text for the store. -EBUSY with words: too few are free. */
int nm_assign(struct nm_container *c, char text[NM_ASSIGNED_TEXT_MAX], struct sv_error *err)
    _must_use_;
/* After a restart; -EBADMSG: not a text of nm_assign, or it names what another container has. */
int nm_assign_again(struct nm_container *c, const char *text) _must_use_;
void nm_assign_release(struct nm_container *c);
/* Devices, address and rates of the launch; devices stay the container's. */
void nm_assign_launch(const struct nm_container *c, struct exe_launch *l);

#endif
