/* Splitting by locality: requests for nodes and racks to the members that have them, the rest by
 * weight and free memory. Java's LocalityMulticastAMRMProxyPolicy. */
#ifndef SELVEDGE_FEDERATION_AMRM_LOCALITY_H
#define SELVEDGE_FEDERATION_AMRM_LOCALITY_H

#include "federation/amrm/asks.h"

struct fed_locality;

/* `in` outlives it. As fed_asks_begin(). */
int fed_locality_begin(const struct fed_asking *in, Hadoop__Yarn__ResourceRequestProto **rows,
                       size_t n_rows, struct sv_arena *a, struct fed_locality **ret,
                       struct sv_error *err) _must_use_;
/* As fed_asks_run(), whose rows were checked. */
int fed_locality_run(struct fed_locality *l, struct fed_budget *b, struct fed_asks *ret) _must_use_;
void fed_locality_end(struct fed_locality *l); /* accepts NULL */

#endif
