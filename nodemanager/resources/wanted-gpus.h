/* The GPUs that a container's ApplicationMaster names for it, by their places in the node's list,
 * as SELVEDGE_GPU_INDEXES tells them. Hostile: the variable. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_WANTED_GPUS_H
#define SELVEDGE_NODEMANAGER_RESOURCES_WANTED_GPUS_H

#include "common/base.h"
#include "common/error.h"
#include "nodemanager/resources/gpu.h"

struct nm_container;

struct nm_wanted_gpus {
    bool place[NM_GPUS_MAX];
    size_t n; /* 0: any will do */
};

/* -EINVAL: not a list of different places, or not as many as the container has GPUs. */
int nm_wanted_gpus(const struct nm_container *c, struct nm_wanted_gpus *ret, struct sv_error *err)
    _must_use_;

#endif
