/* Preemption messages of several members as one. */
#ifndef SELVEDGE_FEDERATION_AMRM_PREEMPT_H
#define SELVEDGE_FEDERATION_AMRM_PREEMPT_H

#include "federation/amrm/containers.h"
#include "federation/amrm/list.h"
#include "proto/yarn_service.pb-c.h"

struct fed_preempt {
    bool strict, contract; /* a member has sent one */
    struct fed_list strict_containers, contract_containers, contract_resources;
};

/* Adds the member's message (may be NULL) but its words on other members' containers, which are
 * counted. */
int fed_preempt_take(struct fed_preempt *p, const struct fed_containers *c, size_t member,
                     const Hadoop__Yarn__PreemptionMessageProto *m, struct sv_arena *a,
                     size_t *n_foreign) _must_use_;
/* NULL in *ret if no member has sent one. */
int fed_preempt_make(const struct fed_preempt *p, struct sv_arena *a,
                     Hadoop__Yarn__PreemptionMessageProto **ret) _must_use_;

#endif
