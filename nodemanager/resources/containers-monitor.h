/* Resource usage of the containers and the node (ContainersMonitor): read from cgroup counters and
 * /proc every yarn.nodemanager.container-monitor.interval-ms, reported in heartbeats and over REST.
 * Kills for memory only where yarn.nodemanager.resource.memory.enforced is false: otherwise the
 * kernel enforces memory. virtual-memory.h and log-monitor.h are parts of it. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_CONTAINERS_MONITOR_H
#define SELVEDGE_NODEMANAGER_RESOURCES_CONTAINERS_MONITOR_H

#include "common/arena.h"
#include "common/base.h"
#include "common/error.h"
#include "wire/ipc/methods.h"

struct nm_context;
struct nm_monitor;

int nm_monitor_new(struct nm_context *ctx, struct nm_monitor **ret, struct sv_error *err)
    _must_use_;
struct nm_monitor *nm_monitor_free(struct nm_monitor *m);

/* For heartbeats; NULL when the arena is exhausted. */
Hadoop__Yarn__ResourceUtilizationProto *
nm_monitor_containers_utilization(const struct nm_monitor *m, struct sv_arena *a);
Hadoop__Yarn__ResourceUtilizationProto *nm_monitor_node_utilization(const struct nm_monitor *m,
                                                                    struct sv_arena *a);
struct nm_monitor_figures {
    float containers_cpu;                 /* processors in use */
    uint64_t containers_vmem;             /* bytes; 0: not known */
    uint64_t node_bytes, node_swap_bytes; /* in use */
    float node_cpu;                       /* processors in use */
    int64_t pass_ms;                      /* time of the last pass over all containers */
};
void nm_monitor_figures(const struct nm_monitor *m, struct nm_monitor_figures *ret);
/* The machine's memory and processors. */
Hadoop__Yarn__ResourceProto *nm_monitor_physical(const struct nm_monitor *m, struct sv_arena *a);

#endif
