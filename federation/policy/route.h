/* The Router's half of a policy: the sub-cluster that becomes an application's home. Pure. Hostile:
 * the queue's name and the rows of the submission. */
#ifndef SELVEDGE_FEDERATION_POLICY_ROUTE_H
#define SELVEDGE_FEDERATION_POLICY_ROUTE_H

#include "federation/policy/manager.h"
#include "federation/policy/random.h"
#include "federation/policy/resolver.h"

typedef struct Hadoop__Yarn__ResourceRequestProto Hadoop__Yarn__ResourceRequestProto;

struct fed_candidate { /* a member of the federation */
    const char *id;
    bool active;   /* SC_RUNNING */
    bool excluded; /* this submission has failed there */
};

struct fed_submission {
    const char *queue;                   /* NULL: "default" */
    const struct fed_candidate *members; /* in a fixed order: ties take the first */
    size_t n_members;
    const char *reserved; /* the home of its reservation; NULL: it has none */
    Hadoop__Yarn__ResourceRequestProto *const *rows; /* am_container_resource_request */
    size_t n_rows;
    const struct fed_resolver *resolver; /* may be NULL */
    const struct fed_random *random;
};

struct fed_home_choice {
    size_t member;
    bool drop_places; /* the rows name places that were not used: submit one row for any place */
};

/* -EHOSTUNREACH: no member is active, or all were tried, or none has a weight; -EPERM: the policy
 * rejects; -EINVAL: the rows. Each with a reason for the client. */
int fed_route(const struct fed_manager *m, const struct fed_submission *s,
              struct fed_home_choice *ret, struct sv_error *err) _must_use_;

#endif
