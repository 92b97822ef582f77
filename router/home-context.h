/* The submission context that the store keeps beside an application's home: what Hadoop's
 * AMRMProxy reads to make its unmanaged applications alike. Hostile: the context. */
#ifndef SELVEDGE_ROUTER_HOME_CONTEXT_H
#define SELVEDGE_ROUTER_HOME_CONTEXT_H

#include "common/arena.h"
#include "common/base.h"

typedef struct Hadoop__Yarn__ApplicationSubmissionContextProto
    Hadoop__Yarn__ApplicationSubmissionContextProto;

/* Packed into the arena, without what starts the master. *ret is NULL where it is longer than
 * FED_CONTEXT_MAX, or the arena is exhausted: the home is stored without it. */
void rtr_home_context(struct sv_arena *a, const Hadoop__Yarn__ApplicationSubmissionContextProto *c,
                      const uint8_t **ret, size_t *ret_len);

#endif
