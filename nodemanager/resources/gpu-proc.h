/* Cards and MIG instances by the files of NVIDIA's driver in /proc/driver/nvidia, and by their
 * nodes in /dev; no program of the vendor is run. The texts are the kernel's, yet parsed strictly:
 * a driver may be of any version. Reading may block where a driver hangs: on a thread, or before
 * the loop runs. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_GPU_PROC_H
#define SELVEDGE_NODEMANAGER_RESOURCES_GPU_PROC_H

#include "common/error.h"
#include "nodemanager/resources/gpu.h"

struct nm_gpu_card { /* …/gpus/<PCI address>/information */
    uint32_t minor;
    char bus[24], uuid[NM_GPU_TEXT_MAX], model[NM_GPU_TEXT_MAX]; /* "" = not told */
    bool excluded;                                               /* by the driver's parameters */
};

/* -EBADMSG with the line at fault. */
int nm_gpu_parse_information(const char *text, size_t len, struct nm_gpu_card *ret,
                             struct sv_error *err) _must_use_;
/* DeviceFileMinor of a capability's access file. */
int nm_gpu_parse_access(const char *text, size_t len, uint32_t *ret, struct sv_error *err)
    _must_use_;

/* Reads all cards, with their instances, below `root` ("" for the machine). A card that cannot be
 * used is there with its reason; without a driver there are none, and `why` says so. Never fails
 * otherwise. `major`: of the cards' nodes. */
void nm_gpu_scan(const char *root, uint32_t major, struct nm_gpus *ret);
/* Why the node /dev/nvidia<minor> cannot serve; "" = it can. */
void nm_gpu_check_node(const char *root, uint32_t major, uint32_t minor, char why[NM_GPU_WHY_MAX]);
/* "card 3 (NVIDIA A100, 0000:3b:00.0)", "instance 1/0 of card 3 (…)"; for people. */
void nm_gpu_text(const struct nm_gpu *g, char *text, size_t size);
void nm_gpu_sort(struct nm_gpus *g);

#endif
