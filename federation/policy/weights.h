/* Weights of sub-clusters, the parameters of a policy: Hadoop's WeightedPolicyInfo as JSON.
 *
 *   {"routerPolicyWeights":{"entry":[{"key":{"id":"SC-2"},"value":"0.3"},
 *                                    {"key":{"id":"SC-1"},"value":"0.7"}]},
 *    "amrmPolicyWeights":{"entry":{"key":{"id":"SC-1"},"value":"1.0"}},"headroomAlpha":"1.0"}
 *
 * Java writes one entry as an object and numbers as texts; it reads lists of one and bare numbers
 * too. Hostile: the text, from a store or an operator. */
#ifndef SELVEDGE_FEDERATION_POLICY_WEIGHTS_H
#define SELVEDGE_FEDERATION_POLICY_WEIGHTS_H

#include "common/arena.h"
#include "common/error.h"

#define FED_WEIGHT_MAX 1e9f         /* so that no sum of them, times a count, overflows a float */
#define FED_WEIGHTS_DEPTH_MAX 16    /* nested objects and lists; Java's have 4 */
#define FED_WEIGHTS_ARENA (4 << 20) /* enough for the largest text */

struct fed_weight {
    const char *id;
    float value; /* 0 and below: the sub-cluster gets nothing */
};
struct fed_weight_list {
    const struct fed_weight *v;
    size_t n; /* 0 as well where the text has no such list; at most FED_MEMBERS_MAX */
};
struct fed_weights {
    struct fed_weight_list router; /* where applications are submitted */
    struct fed_weight_list amrm;   /* where containers are requested */
    float headroom_alpha;          /* 0: by weights alone, 1: by free memory alone */
};

/* Reads n bytes; texts are in the arena. -EINVAL with the reason; -ENOMEM. */
int fed_weights_read(struct sv_arena *a, const uint8_t *p, size_t n, struct fed_weights *ret,
                     struct sv_error *err) _must_use_;
/* Java's own bytes for these weights, malloc'd. -EMSGSIZE: more than FED_PARAMS_MAX. */
int fed_weights_write(const struct fed_weights *w, char **ret) _must_use_;
/* 0 for an id that the list has not. */
float fed_weight_of(const struct fed_weight_list *list, const char *id);

#endif
