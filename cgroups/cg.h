/* cgroup v2 for the daemon: the hierarchy and its controllers, one leaf group a container, limits,
 * kill, freeze, usage. The hierarchy is looked up once (libcgroup knows the mounts); afterwards
 * everything goes through directory descriptors.
 *
 * Called by executor/ and nodemanager/. Trusted input: the path from the configuration. Files of the
 * kernel are parsed strictly all the same. */
#ifndef SELVEDGE_CGROUPS_CG_H
#define SELVEDGE_CGROUPS_CG_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"

enum cg_controller { /* bits */
    CG_CPU = 1,
    CG_MEMORY = 2,
    CG_PIDS = 4,
    CG_IO = 8,
    CG_CPUSET = 16,
    CG_HUGETLB = 32,
};

struct cg_root; /* the daemon's containers group */
struct cg_leaf; /* one container's group */

/* Opens the group `path` (absolute, below a cgroup2 mount), makes it if it is missing below a parent
 * that we may write to, and turns on every controller in `wanted` that the parent offers. NULL or ""
 * as path: `containers` below the process' own group (which must be ours: Delegate=yes). Where
 * the path's parent is the process' own group, the process moves itself to a sibling `supervisor`.
 * Errors name the mount, the missing right or controller, and what to do. */
int cg_root_open(const char *path, unsigned wanted, struct cg_root **ret, struct sv_error *err)
    _must_use_;
struct cg_root *cg_root_free(struct cg_root *r);
static inline void cg_root_freep(struct cg_root **r)
{
    *r = cg_root_free(*r);
}
unsigned cg_root_controllers(const struct cg_root *r); /* those that limit in leaf groups */
const char *cg_root_path(const struct cg_root *r);
/* What is wanted and missing, in words for an operator ("memory, pids: …"), or NULL. */
const char *cg_root_missing(const struct cg_root *r);
/* Names of leaf groups present (after a restart), a malloc'd strv. */
int cg_root_list(struct cg_root *r, char ***ret) _must_use_;

struct cg_limits {
    uint64_t memory_bytes; /* memory.max; memory.swap.max is 0, memory.oom.group 1 */
    uint32_t cpu_weight;   /* cpu.weight 1…10000; cg_weight_of_vcores */
    uint32_t cpu_max_permille; /* of one CPU, 0 = none (strict resource usage) */
    uint32_t pids_max;
};
uint32_t cg_weight_of_vcores(int32_t vcores); /* Hadoop: min(100 × vcores, 10000) */

/* Makes the group and sets what the root's controllers can enforce. -EEXIST when it is there. */
int cg_leaf_create(struct cg_root *r, const char *name, const struct cg_limits *limits,
                   struct cg_leaf **ret, struct sv_error *err) _must_use_;
int cg_leaf_open(struct cg_root *r, const char *name, struct cg_leaf **ret) _must_use_; /* adopt */
/* Closes; the group stays. */
struct cg_leaf *cg_leaf_free(struct cg_leaf *l);
static inline void cg_leaf_freep(struct cg_leaf **l)
{
    *l = cg_leaf_free(*l);
}
const char *cg_leaf_name(const struct cg_leaf *l);
int cg_leaf_set_limits(struct cg_leaf *l, const struct cg_limits *limits, struct sv_error *err)
    _must_use_;
int cg_leaf_kill(struct cg_leaf *l) _must_use_; /* cgroup.kill; -errno */
int cg_leaf_freeze(struct cg_leaf *l, bool frozen) _must_use_;

struct cg_usage {
    uint64_t cpu_usec, user_usec, system_usec;
    uint64_t memory_current, memory_peak; /* 0 without the controller */
    uint64_t oom_kills;                   /* memory.events oom_kill + oom_group_kill */
    uint64_t pids_current, pids_peak;
    uint64_t throttled_usec;
};
/* Reads what is there; the rest stays 0. A few pread calls on kept descriptors. */
int cg_leaf_usage(struct cg_leaf *l, struct cg_usage *ret) _must_use_;
int cg_leaf_populated(struct cg_leaf *l) _must_use_; /* 0, 1, -errno */

/* Calls `empty` once, from the loop, when the group has no process any more. Freed with the leaf. */
typedef void (*cg_empty_fn)(struct cg_leaf *l, void *userdata);
int cg_leaf_watch_empty(struct cg_leaf *l, sd_event *event, cg_empty_fn empty, void *userdata)
    _must_use_;
/* rmdir; takes the leaf over. While the kernel says EBUSY it is tried again from the loop every
 * 20 ms, killing what is in it, until `timeout_ms`; then `failed` has the words. `removed` (may be
 * NULL) is called from the loop, `failed` NULL on success. */
typedef void (*cg_removed_fn)(const struct sv_error *failed, void *userdata);
int cg_leaf_remove(struct cg_leaf *l, sd_event *event, unsigned timeout_ms, cg_removed_fn removed,
                   void *userdata) _must_use_;

#endif
