/* Between a master and one sub-cluster: what it is to be told, and what it was told and may forget
 * (requests, releases, blacklist, updates). Pure. Hostile: the request, and what the
 * ResourceManager answers.
 *
 * A heartbeat that is not answered yet does not wait for others: later ones are folded, the last
 * word on each thing counts. A request that failed is sent again as it was, for a ResourceManager
 * that has seen it answers the same and reads nothing new; only its successor has the news. A
 * ResourceManager that has restarted is told everything that is still open.
 *
 * All but what takes a budget ends within some milliseconds, however much there is. */
#ifndef SELVEDGE_FEDERATION_AMRM_RELAY_H
#define SELVEDGE_FEDERATION_AMRM_RELAY_H

#include "common/arena.h"
#include "common/error.h"
#include "federation/amrm/budget.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/ids.h"

#define FED_RELAY_ITEMS_MAX 131072     /* open requests, releases, updates and names */
#define FED_RELAY_BYTES_MAX (32 << 20) /* of all of them */
/* Items of one request; more go with the next ones. A ResourceManager of ours reads
 * IPC_REQUEST_ITEMS_MAX messages in a request, and an ask has up to a dozen. */
#define FED_REQUEST_ITEMS_MAX 4096
#define FED_REQUEST_BYTES_MAX (4 << 20)

struct fed_relay;

struct fed_relay *fed_relay_new(void);                 /* NULL: out of memory */
struct fed_relay *fed_relay_free(struct fed_relay *r); /* accepts NULL, returns NULL */

/* Where it stands in a message, from { 0 }. */
struct fed_relay_at {
    int list;
    size_t row;
};
/* As fed_relay_free(), in turns: 0: it is gone, FED_MORE. `relay` is a struct fed_relay. */
int fed_relay_leave(void *relay, struct fed_budget *b);

/* Folds in a part of a master's heartbeat (fed_split()). 0: done; FED_MORE; -E2BIG,
 * -ENAMETOOLONG with the reason, -ENOMEM: the master says it again. */
int fed_relay_take(struct fed_relay *r, const Hadoop__Yarn__AllocateRequestProto *part,
                   struct fed_relay_at *at, struct fed_budget *b, struct sv_error *err) _must_use_;
/* The next request, with its response id: a heartbeat where nothing is new. Until it is answered
 * the same is made again. Its lists are packed already, as an unknown field that the relay keeps
 * until fed_relay_answered() or its like. -ENOMEM: try again. */
int fed_relay_make(struct fed_relay *r, struct sv_arena *a, struct fed_budget *b,
                   Hadoop__Yarn__AllocateRequestProto **ret) _must_use_;
/* Takes what the answer says. 0: done, FED_MORE: until then no request may be made. */
int fed_relay_answered(struct fed_relay *r, const Hadoop__Yarn__AllocateResponseProto *m,
                       struct fed_relay_at *at, struct fed_budget *b) _must_use_;
/* The ResourceManager did not know the registration; to be called once it does. Legal at any time.
 */
void fed_relay_resync(struct fed_relay *r);
/* It expects another response id: the request that it refused, which it has not read, gets this
 * one. */
void fed_relay_expect(struct fed_relay *r, int32_t response_id);
/* It refuses the request by an exception, and would refuse it again: what it says is forgotten, but
 * for what the master has said since. */
void fed_relay_refused(struct fed_relay *r);
bool fed_relay_has_news(const struct fed_relay *r);
size_t fed_relay_bytes(const struct fed_relay *r); /* that it remembers */

/* The sub-cluster has been silent for too long: what it has not allocated is requested in another
 * one, for any place. It is told to forget that if it is still `registered`. Requests that hold to
 * their places stay. Adds the number of containers to *n, at most INT32_MAX. 0: done; FED_MORE;
 * -ENOMEM, -E2BIG: some are not moved. */
int fed_relay_move(struct fed_relay *from, struct fed_relay *to, bool registered,
                   struct fed_budget *b, int32_t *n) _must_use_;

/* A container that the master cannot have (struct fed_clash): releases it and requests another one
 * like it. -ENOMEM, -E2BIG. */
int fed_relay_exchange(struct fed_relay *r, const Hadoop__Yarn__ContainerProto *container)
    _must_use_;

#endif
