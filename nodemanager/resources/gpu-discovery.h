/* The GPUs of this node (Hadoop: GpuDiscoverer): by the driver's files, restricted to the
 * operator's list where there is one, with nvidia-smi's names where an operator names that program.
 * A card that is missing or cannot be used is there with its reason: no card ends the daemon. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_GPU_DISCOVERY_H
#define SELVEDGE_NODEMANAGER_RESOURCES_GPU_DISCOVERY_H

#include "common/error.h"
#include "nodemanager/resources/gpu.h"

/* Strings are borrowed. */
struct nm_gpu_sources {
    const char *root;    /* "" for the machine */
    const char *allowed; /* allowed-gpu-devices: "auto", or "index:minor,…" */
    const char *program; /* path-to-discovery-executables; NULL or "": no program is run */
    uint32_t major;      /* of the cards' nodes */
};

/* Once, before the loop runs. An error is one of the configuration. */
int nm_gpu_discover(const struct nm_gpu_sources *s, struct nm_gpus *ret, struct sv_error *err)
    _must_use_;
/* A later look, without the program, on a thread; `driver`: it was loaded once, so that its absence
 * is a fault. `allowed` has been accepted by nm_gpu_discover. */
void nm_gpu_look(const struct nm_gpu_sources *s, bool driver, struct nm_gpus *ret);
/* Takes over what was found by nm_gpu_look, keeps names and owners, and logs what has changed. True
 * if something has. */
bool nm_gpu_merge(struct nm_gpus *known, const struct nm_gpus *found);

/* Logs nodes that not every account may open, and the remedy. */
void nm_gpu_warn_modes(const char *root, const struct nm_gpus *g);

size_t nm_gpu_offered(const struct nm_gpus *g);
/* "GPU …: withdrawn: …;…", or "". */
void nm_gpu_report(const struct nm_gpus *g, char *text, size_t size);

#endif
