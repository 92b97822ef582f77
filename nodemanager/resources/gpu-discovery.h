/* The GPUs of this node. Hadoop: GpuDiscoverer. Runs once, when the daemon starts. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_GPU_DISCOVERY_H
#define SELVEDGE_NODEMANAGER_RESOURCES_GPU_DISCOVERY_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define NM_GPUS_MAX 64

/* Minor numbers, ascending, without duplicates. `allowed` is allowed-gpu-devices of
 * yarn.nodemanager.resource-plugins.gpu: "auto", or "index:minor,…" as in Hadoop. `discovery` is
 * path-to-discovery-executables: the program, its directory, or NULL for the usual places; used
 * only for "auto". */
int nm_gpu_discover(const char *allowed, const char *discovery, uint32_t ret[NM_GPUS_MAX],
                    size_t *ret_n, struct sv_error *err) _must_use_;
/* Parses the output of `nvidia-smi -q -x`; the program is the vendor's, its output is not
 * trusted. */
int nm_gpu_parse_smi(const char *xml, size_t len, uint32_t ret[NM_GPUS_MAX], size_t *ret_n,
                     struct sv_error *err) _must_use_;

#endif
