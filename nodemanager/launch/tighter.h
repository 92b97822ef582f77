/* A container that asks for less than the node gives: variables of its launch context that tighten
 * its sandbox, never widen it. Root's container-executor.cfg has the last word, as ever. Hostile:
 * the variables. */
#ifndef SELVEDGE_NODEMANAGER_LAUNCH_TIGHTER_H
#define SELVEDGE_NODEMANAGER_LAUNCH_TIGHTER_H

#include "common/base.h"
#include "common/error.h"
#include "executor/request.h"

struct nm_container;

#define NM_TIGHTER_PROFILE "SELVEDGE_CONTAINER_PROFILE" /* strict, hadoop, host */
#define NM_TIGHTER_NETWORK "SELVEDGE_CONTAINER_NETWORK" /* none, or the node's own */
#define NM_TIGHTER_PIDS "SELVEDGE_CONTAINER_PIDS"       /* processes and threads, from 1 on */

struct nm_tighter {
    enum exe_profile profile;
    enum exe_network network;
    uint64_t pids; /* 0: the node's */
};
/* Reads what the container gets: the node's where a variable is missing or empty. -EINVAL: no such
 * value, or one that the node does not give. */
int nm_tighter_of(const struct nm_container *c, struct nm_tighter *ret, struct sv_error *err)
    _must_use_;

#endif
