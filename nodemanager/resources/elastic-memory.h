/* Elastic memory (yarn.nodemanager.elastic-memory-control.enabled): containers may use more memory
 * than requested while the node has free memory. When all of them together reach the node's limit,
 * containers are killed one after the other until usage is below it: Hadoop's
 * CGroupElasticMemoryController and DefaultOOMHandler. If this daemon is down or too slow, the
 * kernel kills at memory.max of the root cgroup, the largest first. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_ELASTIC_MEMORY_H
#define SELVEDGE_NODEMANAGER_RESOURCES_ELASTIC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct nm_context;
struct nm_elastic;

/* *ret is NULL if not enabled. */
int nm_elastic_new(struct nm_context *ctx, struct nm_elastic **ret, struct sv_error *err)
    _must_use_;
struct nm_elastic *nm_elastic_free(struct nm_elastic *e);

/* Criteria of victim selection. */
struct nm_elastic_row {
    bool opportunistic;
    uint64_t used, asked;
    int64_t launch_ms;
};
/* DefaultOOMHandler's order: true if `a` is killed before `b`. Opportunistic ones first, then those
 * above their request, then the one launched last. */
bool nm_elastic_before(const struct nm_elastic_row *a, const struct nm_elastic_row *b);

#endif
