/* Answers of the state store kept for a while (yarn.federation.cache-ttl.secs, .cache-entity.nums):
 * members, policies of queues, homes of applications. One loop, one thread.
 *
 * Equal questions that are open at once are one call. A store that is away does not take members
 * and policies away: callers get the last answer, and the cache calls the store again. */
#ifndef SELVEDGE_FEDERATION_CACHE_H
#define SELVEDGE_FEDERATION_CACHE_H

#include "federation/store/store.h"

#define FED_CACHE_BYTES_MAX (64u << 20) /* of all answers; the oldest go first */
#define FED_CACHE_RETRY_MS 1000         /* between two calls of a store that is away */

struct fed_cache;

/* ttl_ms <= 0: nothing is kept, but for a store that is away. max_entries > 0. NULL: out of memory.
 */
struct fed_cache *fed_cache_new(struct fed_store *s, int64_t ttl_ms, size_t max_entries);
/* Ends what is waited for with -ECANCELED. Accepts NULL, returns NULL. */
struct fed_cache *fed_cache_free(struct fed_cache *c);

/* FED_MEMBER_LIST, FED_MEMBER_GET (out of the list), FED_POLICY_GET (that a queue has none is kept
 * too) and FED_HOME_GET (that an application has none is not). `done` as of fed_store_call(), but
 * 1: it has run already. 0: it will run, once, unless it is cancelled by *ret_wait (may be NULL).
 * -ENOMEM, -EINVAL (another operation), -ECANCELED (from inside of fed_cache_free()): it never
 * runs. */
int fed_cache_get(struct fed_cache *c, const struct fed_request *q, fed_done done, void *userdata,
                  uint64_t *ret_wait) _must_use_;
/* False if nothing waits by that number. `done` does not run. */
bool fed_cache_cancel(struct fed_cache *c, uint64_t wait);
/* The next question is for the store: of all members where q is of them (a failover), else of that
 * queue or application. */
void fed_cache_flush(struct fed_cache *c, const struct fed_request *q);
/* The last list of members, however old, for what must not wait; NULL: there was none yet. Valid
 * until the loop runs. */
const struct fed_answer *fed_cache_members(const struct fed_cache *c);
/* Why the store was away at the last call; "" if it was not. */
const char *fed_cache_away(const struct fed_cache *c);

#endif
