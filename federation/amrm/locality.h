/* Splitting by locality: requests for nodes and racks to the members that have them, the rest by
 * weight and free memory. Java's LocalityMulticastAMRMProxyPolicy. */
#ifndef SELVEDGE_FEDERATION_AMRM_LOCALITY_H
#define SELVEDGE_FEDERATION_AMRM_LOCALITY_H

#include "federation/amrm/asks.h"

/* As fed_asks_split(), whose rows were checked. */
int fed_locality_split(const struct fed_asking *in, Hadoop__Yarn__ResourceRequestProto **rows,
                       size_t n_rows, struct sv_arena *a, struct fed_asks *ret,
                       struct sv_error *err) _must_use_;

#endif
