/* One unit of yarn.io/gpu: a card, or a MIG instance of a card that is partitioned. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_GPU_H
#define SELVEDGE_NODEMANAGER_RESOURCES_GPU_H

#include "common/base.h"
#include "executor/request.h"

struct nm_container;

#define NM_GPUS_MAX 128
#define NM_GPU_TEXT_MAX 96
#define NM_GPU_WHY_MAX 256
#define NM_GPU_MINOR_MAX 253 /* 254 is nvidia-modeset, 255 nvidiactl */
#define NM_GPU_NO_MINOR UINT32_MAX

struct nm_gpu {
    uint32_t index; /* of the card, as Hadoop counts: the list's, nvidia-smi's, or by PCI address */
    uint32_t minor; /* of the card's node; NM_GPU_NO_MINOR: the card could not be read */
    bool instance;  /* with the numbers of its GPU and compute instance, and their nodes */
    uint32_t gi, ci;
    struct exe_device access[2];
    int32_t mig_index;          /* nvidia-smi's number of the instance on its card; -1 = unknown */
    char bus[24];               /* "0000:3b:00.0"; "" = unknown */
    char uuid[NM_GPU_TEXT_MAX]; /* the name by which CUDA selects it; "" = unknown */
    char model[NM_GPU_TEXT_MAX];
    char gone[NM_GPU_WHY_MAX]; /* why it is withdrawn; "" = it is offered */

    const struct nm_container *owner; /* NULL = free */
};

struct nm_gpus { /* ascending by index, minor, gi, ci */
    struct nm_gpu v[NM_GPUS_MAX];
    size_t n;
    char driver[48];          /* version; "" = unknown */
    char why[NM_GPU_WHY_MAX]; /* why nothing could be read; "" = it was */
};

#endif
