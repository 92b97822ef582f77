/* The members that a split may ask, and what weighs them: the policy, free memory, load. */
#ifndef SELVEDGE_FEDERATION_AMRM_WEIGHING_H
#define SELVEDGE_FEDERATION_AMRM_WEIGHING_H

#include "federation/amrm/asks.h"

struct fed_weighing {
    const struct fed_asking *in;
    size_t *open; /* the targets that may be asked, by index, in their order */
    size_t n_open;
    bool *is_open;   /* [n_targets] */
    float *policy;   /* [n_targets]: weights */
    float *weights;  /* [n_open]: room for one draw */
    int32_t *counts; /* [n_open]: and for its result */
    float total_policy, total_memory;
    size_t n_memory; /* open ones that have said what memory they have */
};

/* Active members with a weight above 0 that are not excluded, and not timed out unless all are.
 * -EHOSTUNREACH: none. */
int fed_weigh(const struct fed_asking *in, struct sv_arena *a, struct fed_weighing *ret,
              struct sv_error *err) _must_use_;
/* A target's weight for rows without a place: headroomAlpha parts by free memory, the rest by the
 * policy. */
float fed_weight_of_target(const struct fed_weighing *w, size_t target);
/* The target that takes a request for a node of `target` with the load selector on: itself, unless
 * it is loaded, may not be asked, or is none (SIZE_MAX). */
size_t fed_least_loaded(const struct fed_weighing *w, size_t target);

#endif
