/* Targets of a split by their ids. */
#ifndef SELVEDGE_FEDERATION_AMRM_TARGET_INDEX_H
#define SELVEDGE_FEDERATION_AMRM_TARGET_INDEX_H

#include "federation/amrm/asks.h"

struct fed_target_index {
    const struct fed_target **v; /* by id */
    const struct fed_target *first;
    size_t n;
};

int fed_target_index_make(const struct fed_asking *in, struct sv_arena *a,
                          struct fed_target_index *ret) _must_use_;
/* The target's number; SIZE_MAX: none has the id. */
size_t fed_target_find(const struct fed_target_index *index, const char *id);

#endif
