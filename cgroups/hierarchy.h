/* Location of the cgroup hierarchy, and the process' own cgroup. */
#ifndef SELVEDGE_CGROUPS_HIERARCHY_H
#define SELVEDGE_CGROUPS_HIERARCHY_H

#include "common/error.h"

/* Directory of this process' own cgroup v2 group, malloc'd. */
int cg_own_group(char **ret, struct sv_error *err) _must_use_;
/* Why `controller` cannot be had on cgroup v2 here, for a person; `available` as the root's
 * cgroup.controllers has it. Into `buf`. */
void cg_why_missing(const char *controller, const char *root, char *buf, size_t size);

#endif
