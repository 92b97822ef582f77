/* The memory and the processors of this machine, or of the cgroups around the daemon where those
 * give less, and Hadoop's formulas for a node's part of them
 * (yarn.nodemanager.resource.detect-hardware-capabilities). Files of the kernel. */
#ifndef SELVEDGE_NODEMANAGER_CONF_HARDWARE_H
#define SELVEDGE_NODEMANAGER_CONF_HARDWARE_H

#include "common/base.h"
#include "common/error.h"

/* Hadoop's formula takes the NodeManager's heap off twice, once for the DataNode. This daemon has
 * no heap; a node that moves here shall keep its size, so the figure is Hadoop 2's default, which
 * clusters of Hadoop 3 usually set as well. Unset, Hadoop 3's JVM takes a quarter of the machine,
 * and the formula leaves containers two fifths of it. In MiB. */
#define NM_HARDWARE_HEAP_MB 1000

struct nm_hardware {
    int64_t memory_mb;  /* without reserved huge pages, as in Hadoop */
    int32_t processors; /* logical, at least 1 */
    int32_t cores;      /* those that the processors are of, at least 1 */
    bool confined;      /* a cgroup gives less than the machine has */
};

struct nm_hardware_source {
    const char *meminfo; /* /proc/meminfo */
    const char *cpus;    /* /sys/devices/system/cpu */
    const char *group;   /* a cgroup v2, whose limits and ancestors' count; NULL = none */
};

/* -ENODATA: a file of the kernel has not what it should have. */
int nm_hardware_read(const struct nm_hardware_source *s, struct nm_hardware *ret,
                     struct sv_error *err) _must_use_;
/* Reads this machine, within the parent of the containers' cgroup `root` (NULL or "": below the
 * daemon's own): the limits of that group itself are this daemon's own. */
int nm_hardware_detect(const char *root, struct nm_hardware *ret, struct sv_error *err) _must_use_;

/* MiB for containers: all but `reserved_mb`, or with -1 four fifths of what two heaps leave; 0 or
 * less: there is none. */
int64_t nm_hardware_memory(const struct nm_hardware *h, int64_t reserved_mb);
/* Virtual cores: `percent` of the processors, or of the cores, each `multiplier` virtual cores,
 * rounded, at least 1. */
int32_t nm_hardware_vcores(const struct nm_hardware *h, bool count_logical, int64_t percent,
                           double multiplier);

#endif
