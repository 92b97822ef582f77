/* NVIDIA's program nvidia-smi, where an operator names it
 * (yarn.nodemanager.resource-plugins.gpu.path-to-discovery-executables): it knows the UUIDs of MIG
 * instances, which /proc does not. The program is the vendor's, its output is not trusted. Blocks
 * for PATIENCE_MS at most: before the loop runs. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_GPU_SMI_H
#define SELVEDGE_NODEMANAGER_RESOURCES_GPU_SMI_H

#include "common/error.h"
#include "nodemanager/resources/gpu.h"

#define NM_SMI_GPUS_MAX 64
#define NM_SMI_MIG_MAX 16

struct nm_smi { /* in the order of the output, whose numbers are Hadoop's indices */
    struct nm_smi_gpu {
        uint32_t minor;
        char uuid[NM_GPU_TEXT_MAX], model[NM_GPU_TEXT_MAX];
        struct {
            uint32_t index, gi, ci;
            char uuid[NM_GPU_TEXT_MAX]; /* "" until nm_smi_parse_list */
        } mig[NM_SMI_MIG_MAX];
        size_t n_mig;
    } v[NM_SMI_GPUS_MAX];
    size_t n;
};

/* The program that `named` names, itself or by its directory. */
int nm_smi_find(const char *named, char *path, size_t size, struct sv_error *err) _must_use_;
/* Runs it: `-q -x`, and `-L` where there are instances. */
int nm_smi_run(const char *path, struct nm_smi *ret, struct sv_error *err) _must_use_;

/* The output of `-q -x`; each GPU needs a minor number of its own. */
int nm_smi_parse(const char *xml, size_t len, struct nm_smi *ret, struct sv_error *err) _must_use_;
/* The output of `-L`, for the instances' UUIDs; other lines are ignored. */
void nm_smi_parse_list(const char *text, size_t len, struct nm_smi *smi);

#endif
