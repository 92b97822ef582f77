/* Translates the node's configuration into the limits that cgroups/ sets: the policy for all
 * containers, and the limits of each one. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_RESOURCE_LIMITS_H
#define SELVEDGE_NODEMANAGER_RESOURCES_RESOURCE_LIMITS_H

#include "cgroups/cg.h"
#include "common/error.h"
#include "wire/ids.h"

struct nm_context;
struct nm_container;
struct nm_limits;

/* Opens ctx->cgroups and sets the policy for ctx->total. A setting that this node cannot honour is
 * an error. */
int nm_limits_new(struct nm_context *ctx, struct nm_limits **ret, struct sv_error *err) _must_use_;
struct nm_limits *nm_limits_free(struct nm_limits *l);
/* The ResourceManager changes the node's size: ctx->total and the policy. */
void nm_limits_set_total(struct nm_limits *l, struct yarn_resource total);
/* The limits of one container; strings are borrowed from it. */
void nm_limits_of(const struct nm_container *c, struct cg_resource *ret);

#endif
