/* Times and failures of calls to each member, since the start. */
#ifndef SELVEDGE_ROUTER_MEMBER_STATS_H
#define SELVEDGE_ROUTER_MEMBER_STATS_H

#include <uthash.h>

#include "common/histogram.h"
#include "federation/store/store.h"

struct ipc_result;

struct rtr_member_stats {
    struct sv_histogram times; /* of calls that were answered, with an exception, too */
    uint64_t failures;         /* calls that were not: not reached, not the active one, too late */
    UT_hash_handle hh;
    char id[];
};

/* Those of a member, valid until rtr_stats_free(); NULL: no memory, or FED_MEMBERS_MAX have some.
 */
struct rtr_member_stats *rtr_stats_of(struct rtr_member_stats **all, const char *id);
/* Counts a call; `stats` may be NULL. One that was cancelled does not count. */
void rtr_stats_add(struct rtr_member_stats *stats, const struct ipc_result *r, int64_t took_us);
void rtr_stats_free(struct rtr_member_stats **all);

#endif
