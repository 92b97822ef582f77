/* Elastic memory (yarn.nodemanager.elastic-memory-control.enabled): containers may use more than
 * they asked for while the node has room. When all of them together meet the node's memory,
 * containers are killed one after the other until there is room: Hadoop's
 * CGroupElasticMemoryController and DefaultOOMHandler. Should this daemon be away or too slow, the
 * kernel kills at the root's memory.max, the largest first. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_ELASTIC_MEMORY_H
#define SELVEDGE_NODEMANAGER_RESOURCES_ELASTIC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct nm_context;
struct nm_elastic;

/* NULL in *ret where it is not enabled. */
int nm_elastic_new(struct nm_context *ctx, struct nm_elastic **ret, struct sv_error *err)
    _must_use_;
struct nm_elastic *nm_elastic_free(struct nm_elastic *e);

/* What the choice is made of. */
struct nm_elastic_row {
    bool opportunistic;
    uint64_t used, asked;
    int64_t launch_ms;
};
/* DefaultOOMHandler's order: does `a` go before `b`? Opportunistic ones first, then those over what
 * they asked for, then the one launched last. */
bool nm_elastic_before(const struct nm_elastic_row *a, const struct nm_elastic_row *b);

#endif
