/* The federation's members as one call sees them: a copy of the cache's list, and which of them the
 * call has tried. */
#ifndef SELVEDGE_ROUTER_MEMBERS_H
#define SELVEDGE_ROUTER_MEMBERS_H

#include "common/arena.h"
#include "federation/policy/route.h"

struct rtr_members {
    struct fed_member *v; /* id, client, state; sorted by id */
    struct fed_candidate *candidates;
    size_t n, n_active;
};

/* Copies into the arena; -ENOMEM. */
int rtr_members_copy(struct sv_arena *a, const struct fed_answer *list, struct rtr_members *ret)
    _must_use_;
/* Its index; -ENOENT. */
int rtr_members_find(const struct rtr_members *m, const char *id);
/* A random active one that was not tried; -EHOSTUNREACH: none is left. */
int rtr_members_random(const struct rtr_members *m, const struct fed_random *random);

#endif
