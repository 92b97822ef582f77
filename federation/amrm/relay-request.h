/* The news of a relay as lists of a request. */
#ifndef SELVEDGE_FEDERATION_AMRM_RELAY_REQUEST_H
#define SELVEDGE_FEDERATION_AMRM_RELAY_REQUEST_H

#include "federation/amrm/relay-items.h"
#include "proto/yarn_service.pb-c.h"

/* Names of the blacklist are the items' own. -ENOMEM. */
int fed_relay_put_news(const struct fed_items *items, struct sv_arena *a,
                       Hadoop__Yarn__AllocateRequestProto *m) _must_use_;

#endif
