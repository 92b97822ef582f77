/* Maps of a definition: sorted arrays of names and values in an arena. */
#ifndef SELVEDGE_SERVICE_DEFINITION_MAP_H
#define SELVEDGE_SERVICE_DEFINITION_MAP_H

#include "service/definition/definition.h"

/* Sorts the pairs by name; false: a name is there twice. */
bool svc_map_sort(struct svc_map *m);
/* Adds the pairs of `more` whose names `m` lacks; the pairs' array is the arena's, a new one. */
int svc_map_merge(struct svc_map *m, const struct svc_map *more, struct sv_arena *a) _must_use_;

#endif
