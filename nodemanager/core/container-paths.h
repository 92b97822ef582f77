/* Directories of a container. -ENAMETOOLONG cannot happen with the helper's limits, but is checked.
 * `size` PATH_MAX. */
#ifndef SELVEDGE_NODEMANAGER_CORE_CONTAINER_PATHS_H
#define SELVEDGE_NODEMANAGER_CORE_CONTAINER_PATHS_H

#include "common/base.h"

struct nm_container;

int nm_container_work_dir(const struct nm_container *c, char *buf, size_t size) _must_use_;
/* Below the log directory chosen for the container. */
int nm_container_log_dir(const struct nm_container *c, char *buf, size_t size) _must_use_;

#endif
