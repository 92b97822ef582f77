/* Policies of queues, as the state store has them: a row that is broken is not used, the one before
 * it stays, and one log line says why. Hostile: the queue's name, which a client chooses. */
#ifndef SELVEDGE_ROUTER_POLICIES_H
#define SELVEDGE_ROUTER_POLICIES_H

#include "router/router.h"

struct rtr_policies;
/* NULL: no memory. */
struct rtr_policies *rtr_policies_new(struct router *r);
struct rtr_policies *rtr_policies_free(struct rtr_policies *p);

/* The queue's policy: its row, that of "*", the configured one. `done` is told NULL and why if the
 * store is away and there is no earlier answer; it may run from inside. The policy is valid during
 * `done`. < 0: it never runs. */
typedef void (*rtr_policy_done)(const struct fed_manager *m, const struct fed_answer *a,
                                void *userdata);
int rtr_policy_get(struct rtr_policies *p, const char *queue, rtr_policy_done done, void *userdata)
    _must_use_;

#endif
