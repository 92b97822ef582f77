/* NUMA (yarn.nodemanager.numa-awareness…): each container is bound to nodes with enough free memory
 * and processors, by cpuset.cpus and cpuset.mems of its cgroup. Hadoop: NumaResourceAllocator; it
 * starts programs through numactl, which they can undo. A container that fits no nodes runs
 * unbound, as there. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_NUMA_H
#define SELVEDGE_NODEMANAGER_RESOURCES_NUMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define NM_NUMA_MAX 64 /* nodes: bits of the masks below */

struct nm_conf;
struct nm_container;
struct nm_numa;

struct nm_numa_node {
    unsigned id;
    int64_t memory_mb; /* free */
    int32_t cpus;      /* free */
};
/* The amounts taken, one row a node, in the order of the nodes. */
struct nm_numa_taken {
    int64_t memory_mb[NM_NUMA_MAX];
    int32_t cpus[NM_NUMA_MAX];
};
/* Hadoop's choice: the first node that can hold all of it, else as much as each node has, memory
 * and processors each on their own. False, and nothing taken, if that is not enough. */
bool nm_numa_take(struct nm_numa_node *nodes, size_t n, int64_t memory_mb, int32_t cpus,
                  struct nm_numa_taken *ret);

/* *ret is NULL if not enabled. Refuses nodes that the machine does not have. */
int nm_numa_new(const struct nm_conf *conf, struct nm_numa **ret, struct sv_error *err) _must_use_;
struct nm_numa *nm_numa_free(struct nm_numa *m);
/* Call it before the launch: sets c->share.cpus and c->share.mems, or neither. `m` may be NULL
 * (off). */
void nm_numa_assign(struct nm_numa *m, struct nm_container *c);
/* An adopted container keeps the nodes of its cgroup. */
void nm_numa_adopt(struct nm_numa *m, struct nm_container *c);
void nm_numa_release(struct nm_numa *m, struct nm_container *c);

#endif
