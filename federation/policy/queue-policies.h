/* Policies of queues, as the state store has them: a row that is broken is not used, the one before
 * it stays, and one log line says why. Hostile: the queue's name, which a client chooses, and the
 * rows. One loop, one thread. */
#ifndef SELVEDGE_FEDERATION_POLICY_QUEUE_POLICIES_H
#define SELVEDGE_FEDERATION_POLICY_QUEUE_POLICIES_H

#include "federation/cache.h"
#include "federation/policy/manager.h"

struct fed_policies;

/* `configured`: for queues without a row where "*" has none; it and the cache outlive the policies.
 * NULL: no memory. */
struct fed_policies *fed_policies_new(struct fed_cache *cache, const struct fed_manager *configured,
                                      enum fed_side side);
/* Frees the managers; the questions are the cache's, which is freed before. Accepts NULL, returns
 * NULL. */
struct fed_policies *fed_policies_free(struct fed_policies *p);

/* The queue's policy: its row, that of "*", the configured one. `done` is told NULL and why if the
 * store is away and there is no earlier answer; it may run from inside. The policy is valid during
 * `done`. < 0: it never runs. */
typedef void (*fed_policy_done)(const struct fed_manager *m, const struct fed_answer *a,
                                void *userdata);
int fed_policy_get(struct fed_policies *p, const char *queue, fed_policy_done done, void *userdata)
    _must_use_;
/* The policy that the last such question was told, for what must not wait; NULL: there was none
 * yet, or too many queues since. Valid until the loop runs. */
const struct fed_manager *fed_policy_last(const struct fed_policies *p, const char *queue);

#endif
