/* Whole containers by weight. */
#ifndef SELVEDGE_FEDERATION_AMRM_SHARES_H
#define SELVEDGE_FEDERATION_AMRM_SHARES_H

#include "federation/policy/random.h"

/* Splits `count` (>= 0) over n weights: to each the whole part of its share, the rest one by one by
 * chance. Their sum is `count`. -ERANGE: no weight is above 0. */
int fed_shares(int32_t count, const float *weights, size_t n, const struct fed_random *random,
               int32_t *ret) _must_use_;

#endif
