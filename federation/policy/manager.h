/* A policy as its row says: one of Hadoop's seven policy managers, each a rule for the Router and
 * one for the AMRMProxy, and their weights. Hostile: the row.
 *
 * A row that is refused is not used: the caller keeps the manager that it has, and logs the reason
 * once. */
#ifndef SELVEDGE_FEDERATION_POLICY_MANAGER_H
#define SELVEDGE_FEDERATION_POLICY_MANAGER_H

#include "federation/policy/weights.h"
#include "federation/store/store.h"

#define FED_MANAGER_PACKAGE "org.apache.hadoop.yarn.server.federation.policies.manager."
/* yarn.federation.policy-manager, its default */
#define FED_MANAGER_DEFAULT FED_MANAGER_PACKAGE "UniformBroadcastPolicyManager"
#define FED_QUEUE_ANY "*" /* the row of all queues that have none */

enum fed_routing { /* of an application to its home */
                   FED_ROUTE_RANDOM,
                   FED_ROUTE_HASH,     /* of the queue's name */
                   FED_ROUTE_PRIORITY, /* the highest weight */
                   FED_ROUTE_WEIGHTED, /* random by weight */
                   FED_ROUTE_LOCALITY, /* the node that the master asks for, else by weight */
                   FED_ROUTE_REJECT,
};
enum fed_splitting { /* of a master's resource requests */
                     FED_SPLIT_BROADCAST,
                     FED_SPLIT_LOCALITY,
                     FED_SPLIT_HOME,
                     FED_SPLIT_REJECT,
};
enum fed_side { FED_SIDE_ROUTER = 1, FED_SIDE_PROXY = 2, FED_SIDES = 3 };

struct fed_manager {
    const char *name; /* Java's class without its package */
    enum fed_routing routing;
    enum fed_splitting splitting;
    struct fed_weights weights; /* none where neither rule has any */
    /* The row, to tell a changed one. */
    const char *type;
    const uint8_t *params;
    size_t params_len;
    struct sv_arena *arena;
};

/* Reads a row for the sides (a mask of enum fed_side) that are to use it. -EINVAL: an unknown
 * class, broken JSON, or no weights where the side's rule needs them. The queue is for the reason
 * alone. */
int fed_manager_new(const struct fed_policy *row, unsigned sides, struct fed_manager **ret,
                    struct sv_error *err) _must_use_;
/* Replaces *m (NULL: none yet) if the row differs. 1: replaced, 0: the same row; on failure *m is
 * as it was. */
int fed_manager_renew(struct fed_manager **m, const struct fed_policy *row, unsigned sides,
                      struct sv_error *err) _must_use_;
struct fed_manager *fed_manager_free(struct fed_manager *m); /* accepts NULL, returns NULL */
static inline void fed_manager_freep(struct fed_manager **m)
{
    *m = fed_manager_free(*m);
}
/* -EINVAL: no weight above 0 that a side needs is of one of the n ids. For a start, which refuses
 * such a policy; later a member may join. */
int fed_manager_check_members(const struct fed_manager *m, unsigned sides, const char *const *ids,
                              size_t n, struct sv_error *err) _must_use_;
/* The i-th of the seven class names without the package, NULL behind the last. */
const char *fed_manager_name(size_t i);

#endif
