/* Between a master and one sub-cluster: what it is to be told, and what it was told and may forget
 * (requests, releases, blacklist, updates). Pure. Hostile: the request, and what the
 * ResourceManager answers.
 *
 * A heartbeat that is not answered yet does not wait for others: later ones are folded, the last
 * word on each thing counts. A request that failed is sent again as it was, for a ResourceManager
 * that has seen it answers the same and reads nothing new; only its successor has the news. A
 * ResourceManager that has restarted is told everything that is still open. */
#ifndef SELVEDGE_FEDERATION_AMRM_RELAY_H
#define SELVEDGE_FEDERATION_AMRM_RELAY_H

#include "common/arena.h"
#include "common/error.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/ids.h"

#define FED_RELAY_ITEMS_MAX 131072     /* open requests, releases, updates and names */
#define FED_RELAY_BYTES_MAX (32 << 20) /* of all of them */

struct fed_relay;

struct fed_relay *fed_relay_new(void);                 /* NULL: out of memory */
struct fed_relay *fed_relay_free(struct fed_relay *r); /* accepts NULL, returns NULL */

/* Folds in a part of a master's heartbeat (fed_split()). -E2BIG with the reason, -ENOMEM: the
 * master says it again. */
int fed_relay_take(struct fed_relay *r, const Hadoop__Yarn__AllocateRequestProto *part,
                   struct sv_error *err) _must_use_;
/* The next request, with its response id: a heartbeat where nothing is new. Until it is answered
 * the same is made again. -ENOMEM: try again. */
int fed_relay_make(struct fed_relay *r, struct sv_arena *a,
                   Hadoop__Yarn__AllocateRequestProto **ret) _must_use_;
void fed_relay_answered(struct fed_relay *r, const Hadoop__Yarn__AllocateResponseProto *m);
/* The ResourceManager did not know the registration; to be called once it does. Legal at any time.
 */
void fed_relay_resync(struct fed_relay *r);
/* It expects another response id: the request that it refused, which it has not read, gets this
 * one. -ENOMEM: as it was. */
int fed_relay_expect(struct fed_relay *r, int32_t response_id) _must_use_;
/* It refuses the request by an exception, and would refuse it again: what it says is forgotten, but
 * for what the master has said since. */
void fed_relay_refused(struct fed_relay *r);
bool fed_relay_has_news(const struct fed_relay *r);
size_t fed_relay_bytes(const struct fed_relay *r); /* that it remembers */

/* The sub-cluster has been silent for too long: what it has not allocated is requested in another
 * one, for any place. It is told to forget that if it is still `registered`. Requests that hold to
 * their places stay. Returns the number of containers, at most INT32_MAX; -ENOMEM, -E2BIG: some are
 * not moved. */
int fed_relay_move(struct fed_relay *from, struct fed_relay *to, bool registered) _must_use_;

/* A container that the master cannot have (struct fed_clash): releases it and requests another one
 * like it. -ENOMEM. */
int fed_relay_exchange(struct fed_relay *r, const Hadoop__Yarn__ContainerProto *container)
    _must_use_;

#endif
