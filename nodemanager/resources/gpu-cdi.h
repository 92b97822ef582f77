/* Parts of CDI specifications (nodemanager/conf/cdi-spec.h) that belong to a GPU: nodes that the
 * helper allows, variables. Mounts are the helper's: here it is only told which of them containers
 * do not see. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_GPU_CDI_H
#define SELVEDGE_NODEMANAGER_RESOURCES_GPU_CDI_H

#include "nodemanager/conf/cdi-spec.h"
#include "nodemanager/resources/gpu.h"

struct exe;
struct nm_conf;
struct nm_gpu_cdi;

/* Before the loop runs. `root` is "" for the machine, whose specifications belong to `owner`.
 * *ret is NULL where no kind is configured. */
int nm_gpu_cdi_new(const char *root, uid_t owner, const struct nm_conf *conf,
                   struct nm_gpu_cdi **ret) _must_use_;
struct nm_gpu_cdi *nm_gpu_cdi_free(struct nm_gpu_cdi *c);

/* The edits for a GPU, found by its UUID or by its number ("0", "0:1"): those of all devices of the
 * file, and its own. False: there are none. */
bool nm_gpu_cdi_edits(const struct nm_gpu_cdi *c, const struct nm_gpu *g,
                      const struct nm_cdi_edits *ret[2]);
/* The device of a node in the edits, if the helper lets a container have it and does not give it
 * anyway. */
bool nm_gpu_cdi_node(struct nm_gpu_cdi *c, const struct exe *exe, const struct nm_cdi_place *node,
                     struct exe_device *ret);

#endif
