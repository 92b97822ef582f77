/* Adds what another component or the service says to what a component says itself. */
#ifndef SELVEDGE_SERVICE_DEFINITION_MERGE_H
#define SELVEDGE_SERVICE_DEFINITION_MERGE_H

#include "service/definition/definition.h"

/* Properties, variables and files that `c` lacks; a file of both has the properties of both.
 * -E2BIG: more files than there may be. */
int svc_configuration_merge(struct svc_configuration *c, const struct svc_configuration *more,
                            struct sv_arena *a) _must_use_;

#endif
