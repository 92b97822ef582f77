/* Constraints of a component as those of a scheduling request. Pure. */
#ifndef SELVEDGE_SERVICE_AM_LAUNCH_PLACEMENT_H
#define SELVEDGE_SERVICE_AM_LAUNCH_PLACEMENT_H

#include "client/lib/placement.h"
#include "common/arena.h"
#include "service/definition/definition.h"

/* All of them have to hold; containers have the name of their component as a tag. In the arena;
 * NULL in *ret: the component has none. -ENOMEM, -EINVAL (cli_constraint_check()). */
int svc_placement(const struct svc_component *c, struct sv_arena *a,
                  const struct cli_constraint **ret, struct sv_error *err) _must_use_;

#endif
