/* Location of the cgroup hierarchy, and the process' own cgroup. */
#ifndef SELVEDGE_CGROUPS_HIERARCHY_H
#define SELVEDGE_CGROUPS_HIERARCHY_H

#include "common/error.h"

/* Directory of this process' own cgroup v2 group, malloc'd. */
int cg_own_group(char **ret, struct sv_error *err) _must_use_;
/* Writes the reason why `controller` is unavailable on cgroup v2 here, as a message, into `buf`;
 * `available` is the root's cgroup.controllers. */
void cg_why_missing(const char *controller, const char *root, char *buf, size_t size);

#endif
