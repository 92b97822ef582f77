/* See member-stats.h. */
#include "router/member-stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/ipc/ipc-client.h"
#include "wire/ipc/retry.h"

struct rtr_member_stats *rtr_stats_of(struct rtr_member_stats **all, const char *id)
{
    struct rtr_member_stats *s;

    HASH_FIND_STR(*all, id, s);
    if (s || HASH_COUNT(*all) >= FED_MEMBERS_MAX)
        return s;
    s = calloc(1, sizeof(*s) + strlen(id) + 1);
    if (!s)
        return NULL;
    memcpy(s->id, id, strlen(id) + 1);
    HASH_ADD_STR(*all, id, s);
    return s;
}

void rtr_stats_add(struct rtr_member_stats *stats, const struct ipc_result *r, int64_t took_us)
{
    if (!stats || r->status == -ECANCELED)
        return;
    if (r->status >= 0 || !ipc_failure_is_absence(ipc_failure_of(r)))
        sv_histogram_add_us(&stats->times, took_us);
    else
        stats->failures++;
}

void rtr_stats_free(struct rtr_member_stats **all)
{
    struct rtr_member_stats *s, *tmp;

    HASH_ITER (hh, *all, s, tmp) {
        HASH_DEL(*all, s);
        free(s);
    }
}
