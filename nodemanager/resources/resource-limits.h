/* From the node's configuration to the limits that cgroups/ sets: the policy for all containers,
 * and what each one gets. Called by nm.c at start, by the launch, by updates of running containers
 * and when the ResourceManager gives the node another size. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_RESOURCE_LIMITS_H
#define SELVEDGE_NODEMANAGER_RESOURCES_RESOURCE_LIMITS_H

#include "cgroups/cg.h"
#include "common/error.h"

struct nm;
struct nm_container;
struct nm_limits;

/* Opens nm->cgroups and sets the policy. A setting that this node cannot honour is an error. */
int nm_limits_new(struct nm *nm, struct nm_limits **ret, struct sv_error *err) _must_use_;
struct nm_limits *nm_limits_free(struct nm_limits *l);
/* nm->conf.resource has another value. */
void nm_limits_node_changed(struct nm *nm);
/* What a container gets; strings are the container's. */
void nm_limits_of(const struct nm_container *c, struct cg_resource *ret);

#endif
