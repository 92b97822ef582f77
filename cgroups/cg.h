/* cgroup v2 for the daemon: the hierarchy and its controllers, one leaf cgroup a container, limits,
 * kill, freeze, usage. The hierarchy is looked up once (libcgroup knows the mounts); afterwards all
 * access is by directory descriptors.
 *
 * Trusted input: the path from the configuration. Files of the kernel are parsed strictly all the
 * same. */
#ifndef SELVEDGE_CGROUPS_CG_H
#define SELVEDGE_CGROUPS_CG_H

#include <systemd/sd-event.h>

#include "cgroups/layout.h"
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

/* Opens the cgroup `path` (absolute, below a cgroup2 mount), creates it if it is missing below a
 * parent that we may write to, enables every controller in `wanted` and `optional` that the parent
 * offers, and creates the groups of layout.h. NULL or "" as path: `containers` below the process'
 * own cgroup (which must be ours: Delegate=yes). If the path's parent is the process' own cgroup,
 * the process moves itself to a sibling `supervisor`. Errors name the mount, the missing right or
 * controller, and the remedy. Missing controllers of `optional` are not reported. */
int cg_root_open(const char *path, unsigned wanted, unsigned optional, struct cg_root **ret,
                 struct sv_error *err) _must_use_;
struct cg_root *cg_root_free(struct cg_root *r);
static inline void cg_root_freep(struct cg_root **r)
{
    *r = cg_root_free(*r);
}
unsigned cg_root_controllers(const struct cg_root *r); /* those that limit in leaf groups */
const char *cg_root_path(const struct cg_root *r);
/* Missing controllers of `wanted`, as a message for an operator ("memory, pids: …"), or NULL. */
const char *cg_root_missing(const struct cg_root *r);
/* Names of the child cgroups (after a restart), except those of layout.h; a malloc'd strv. */
int cg_root_list(struct cg_root *r, char ***ret) _must_use_;

/* An I/O limit of containers; `path`: a block device, or a file or directory, which stands for its
 * file system's device. It is looked up at every use: devices come and go. */
struct cg_io_max {
    const char *path;
    const char *limits; /* "rbps=… wbps=… riops=… wiops=…", any of them */
};

/* The node's configuration of all containers. Strings are borrowed and outlive the root.
 * Percentages of 0 keep the kernel's value. */
struct cg_policy {
    uint64_t node_memory;    /* bytes for all containers together */
    int32_t node_vcores;     /* the node's capacity */
    uint32_t node_millicpus; /* processors for all containers together, in thousandths */
    bool cap_cpu;            /* cpu.max of the root: node_millicpus */
    bool cap_memory;         /* memory.max of the root: node_memory and a reserve */
    bool elastic;            /* memory.high of the root: node_memory; a container has the node's */
    bool memory_enforced;    /* memory.max is the container's own; else the node's */
    bool strict_cpu;         /* cpu.max: vcores ÷ node_vcores of node_millicpus */
    uint32_t memory_high_percent, memory_low_percent, swap_percent; /* of its memory */
    uint32_t pids_max;
    uint32_t io_weight; /* 1…10000 */
    const struct cg_io_max *io_max;
    size_t n_io_max;
    uint64_t hugetlb_bytes; /* per page size */
    uint64_t localizers_memory;
    uint32_t localizers_pids;
};

/* Sets the policy and the limits of the root and of localizers. A configured limit that cannot be
 * enforced here (a controller, a file of the kernel, the right to write it) is an error with a
 * message. Before it is called containers have their own memory, 16384 pids and nothing else. */
int cg_root_set_policy(struct cg_root *r, const struct cg_policy *p, struct sv_error *err)
    _must_use_;
const struct cg_policy *cg_root_policy(const struct cg_root *r);
/* Warnings of the last cg_root_set_policy about defaults that could not be applied; or NULL. */
const char *cg_root_unfulfilled(const struct cg_root *r);

/* Limits of one container set by an operator, which override those of its Resource and the policy.
 * 0 = not set. */
struct cg_override {
    uint64_t memory_max, cpu_weight, pids_max;
    uint64_t cpu_millis; /* quota in thousandths of a processor */
};
#define CG_CPU_UNLIMITED UINT32_MAX /* of cpu_millis: no quota */

/* A container's YARN Resource, and its share of the node. */
struct cg_resource {
    uint64_t memory_bytes;
    int32_t vcores;
    bool opportunistic;
    const char *cpus, *mems; /* cpuset lists ("0-3", "0"), or NULL */
    struct cg_override set;
};

/* The table that maps a Resource to the files of a container's cgroup (limits.c). `text` writes the
 * content of the file, several lines are several writes, and returns false to leave the file
 * unchanged. A `%` in `file` stands for each size of huge pages. */
struct cg_row {
    const char *file;
    unsigned controller; /* 0 = needs none */
    bool optional;       /* not in every kernel; a minor loss without it */
    bool live;           /* updated with the Resource of a running container */
    bool (*text)(const struct cg_policy *p, const struct cg_resource *c, char *buf, size_t size);
};
extern const struct cg_row cg_container_rows[];
extern const size_t cg_n_container_rows;

uint32_t cg_weight_of_vcores(int32_t vcores); /* Hadoop: min(100 × vcores, 10000) */
/* memory.max and pids.max of the cgroup, as sent to the helper; 0 = not enforced. */
void cg_demanded(const struct cg_root *r, const struct cg_resource *c, uint64_t *ret_memory_max,
                 uint32_t *ret_pids_max);

/* Creates the cgroup and sets the limits that the root's controllers can enforce. -EEXIST if it
 * exists. Recreates a root that was removed meanwhile (its unit was restarted). */
int cg_leaf_create(struct cg_root *r, const char *name, const struct cg_resource *c,
                   struct cg_leaf **ret, struct sv_error *err) _must_use_;
int cg_leaf_open(struct cg_root *r, const char *name, struct cg_leaf **ret) _must_use_; /* adopt */
/* Closes it; does not remove the cgroup. */
struct cg_leaf *cg_leaf_free(struct cg_leaf *l);
static inline void cg_leaf_freep(struct cg_leaf **l)
{
    *l = cg_leaf_free(*l);
}
const char *cg_leaf_name(const struct cg_leaf *l);
/* Writes the `live` rows of a running container. */
int cg_leaf_set_limits(struct cg_leaf *l, const struct cg_resource *c, struct sv_error *err)
    _must_use_;
/* Its cpuset.cpus and cpuset.mems, malloc'd, "" if it has none (after a restart). */
int cg_leaf_cpuset(struct cg_leaf *l, char **ret_cpus, char **ret_mems) _must_use_;
int cg_leaf_kill(struct cg_leaf *l) _must_use_; /* cgroup.kill; -errno */
int cg_leaf_freeze(struct cg_leaf *l, bool frozen) _must_use_;
int cg_leaf_frozen(struct cg_leaf *l) _must_use_; /* 0, 1, -errno: read from cgroup.events */
/* The value that cg_leaf_freeze() wrote last, also in an earlier process: 0, 1, -errno. */
int cg_leaf_to_freeze(struct cg_leaf *l) _must_use_;

/* One line of a pressure file: share of time of the last 10 s in hundredths of a percent, and the
 * sum in µs, in which some, or all (full), of the runnable tasks waited. */
struct cg_stall {
    uint32_t some_avg10, full_avg10;
    uint64_t some_usec, full_usec;
};

struct cg_usage {
    uint64_t cpu_usec, user_usec, system_usec;
    uint64_t throttled_usec, n_throttled; /* by cpu.max */
    uint64_t memory_current, memory_peak; /* 0 without the controller */
    uint64_t oom_kills;                   /* processes killed, at its own or an ancestor's limit */
    uint64_t oom, max; /* memory.events: allocations failed; memory.max reached */
    uint64_t pids_current, pids_peak, pids_refused;              /* pids.events max */
    uint64_t io_read_bytes, io_write_bytes, io_reads, io_writes; /* all devices */
    struct cg_stall cpu_stall, memory_stall, io_stall;           /* 0 if the kernel has no PSI */
};
/* Reads the counters that exist; the others are 0. A few pread calls on open descriptors. */
int cg_leaf_usage(struct cg_leaf *l, struct cg_usage *ret) _must_use_;
/* As cg_leaf_usage(), without the stalls, which are useless for an ended container: each file costs
 * the exit of a container 13 us. */
int cg_leaf_totals(struct cg_leaf *l, struct cg_usage *ret) _must_use_;
/* Usage of all containers together, localizers and monitors included. */
int cg_root_usage(struct cg_root *r, struct cg_usage *ret) _must_use_;
/* Memory that the kernel cannot reclaim: neither page cache nor reclaimable slab. */
int cg_root_memory_in_use(struct cg_root *r, uint64_t *ret) _must_use_;
int cg_leaf_memory_in_use(struct cg_leaf *l, uint64_t *ret) _must_use_;
int cg_leaf_populated(struct cg_leaf *l) _must_use_; /* 0, 1, -errno */
/* A descriptor of its directory, the caller's: for a thread that reads cgroup.procs. */
int cg_leaf_dir(const struct cg_leaf *l) _must_use_;

/* Calls `empty` once, from the loop, when the cgroup has no process any more. Freed with the
 * leaf. */
typedef void (*cg_empty_fn)(struct cg_leaf *l, void *userdata);
int cg_leaf_watch_empty(struct cg_leaf *l, sd_event *event, cg_empty_fn empty, void *userdata)
    _must_use_;
/* Calls `killed` once, from the loop, when the kernel has killed in the cgroup for memory. -ENOENT
 * without the controller. Freed with the leaf. */
typedef void (*cg_oom_fn)(struct cg_leaf *l, void *userdata);
int cg_leaf_watch_oom(struct cg_leaf *l, sd_event *event, cg_oom_fn killed, void *userdata)
    _must_use_;
/* Calls `changed`, from the loop, when the root's memory.events change: memory.high or memory.max
 * was reached. At most once a 100 ms. Freed with the root. */
typedef void (*cg_memory_fn)(struct cg_root *r, void *userdata);
int cg_root_watch_memory(struct cg_root *r, sd_event *event, cg_memory_fn changed, void *userdata)
    _must_use_;

/* rmdir, in a thread: the kernel may take its time, and the caller must not wait meanwhile
 * (CVE-2026-46223). Takes ownership of the leaf. After EBUSY it is retried after 1, 2, 4 … 500 ms,
 * killing its processes, until `timeout_ms`. `removed` (may be NULL) is called from the loop,
 * `failed` NULL on success. Freeing the root abandons pending removals; cg_root_list of the next
 * process finds them. */
typedef void (*cg_removed_fn)(const struct sv_error *failed, void *userdata);
int cg_leaf_remove(struct cg_leaf *l, sd_event *event, unsigned timeout_ms, cg_removed_fn removed,
                   void *userdata) _must_use_;

#endif
