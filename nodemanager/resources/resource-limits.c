/* See resource-limits.h. Hadoop: ResourceHandlerModule and the CGroups…ResourceHandlerImpl classes.
 */
#include "nodemanager/resources/resource-limits.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "nodemanager/core/container.h"
#include "nodemanager/nm.h"

struct nm_limits {
    struct cg_io_max *io_max; /* strings are of conf.io_max, which is cut for it */
    size_t n_io_max;
    uint32_t cpus;
};

static int cut_io_max(struct nm_limits *l, char **list)
{
    size_t n = sv_strv_len(list);

    l->io_max = calloc(n + 1, sizeof(*l->io_max));
    if (!l->io_max)
        return -ENOMEM;
    for (; l->n_io_max < n; l->n_io_max++) {
        char *space = strchr(list[l->n_io_max], ' '); /* conf.c has looked */

        *space = '\0';
        l->io_max[l->n_io_max] =
            (struct cg_io_max){ .path = list[l->n_io_max], .limits = space + 1 };
    }
    return 0;
}

static struct cg_policy policy(const struct nm *nm, const struct nm_limits *l)
{
    const struct nm_conf *c = &nm->conf;

    return (struct cg_policy){
        .node_memory = (uint64_t)c->resource.memory_mb << 20,
        .node_vcores = c->resource.vcores,
        .node_millicpus = (uint32_t)(l->cpus * 10 * c->cpu_percent),
        .cap_cpu = c->cpu_percent < 100,
        .cap_memory = c->memory_node_limit,
        .elastic = c->elastic,
        .memory_enforced = c->memory_enforced,
        .strict_cpu = c->strict_cpu,
        .memory_high_percent = (uint32_t)c->memory_high_percent,
        .memory_low_percent = (uint32_t)c->memory_soft_percent,
        .swap_percent = (uint32_t)c->swap_percent,
        .pids_max = (uint32_t)c->pids_max,
        .io_weight = c->disk_enabled ? (uint32_t)c->io_weight : 0,
        .io_max = l->io_max,
        .n_io_max = l->n_io_max,
        .hugetlb_bytes = (uint64_t)c->hugetlb_mb << 20,
        .localizers_memory = (uint64_t)c->localizers_mb << 20,
        .localizers_pids = (uint32_t)c->localizers_pids,
    };
}

/* The limits that the kernel must enforce for a container to be confined. */
static int open_root(struct nm *nm, struct sv_error *err)
{
    const char *missing;
    int r = cg_root_open(nm->conf.cgroup_root,
                         CG_CPU | CG_MEMORY | CG_PIDS | (nm->conf.numa ? CG_CPUSET : 0),
                         CG_IO | CG_HUGETLB, &nm->cgroups, err);

    if (r < 0)
        return sv_error_wrap(err, "cgroups");
    missing = cg_root_missing(nm->cgroups);
    if (!missing)
        return 0;
    if (!nm->conf.unenforced_allowed)
        return sv_error_set(err, -EOPNOTSUPP,
                            "cgroups: %s; limits cannot be enforced and this node "
                            "refuses to run (selvedge.nodemanager.unenforced-limits.allowed=true "
                            "runs it all the same, for development)",
                            missing);
    sv_log_warning("memory, pids, cpu limits not enforced: %s", missing);
    return 0;
}

int nm_limits_new(struct nm *nm, struct nm_limits **ret, struct sv_error *err)
{
    struct nm_limits *l = calloc(1, sizeof(*l));
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    int r;

    if (!l)
        return sv_error_errno(err, -ENOMEM, "limits");
    l->cpus = cpus > 0 ? (uint32_t)cpus : 1;
    r = cut_io_max(l, nm->conf.io_max);
    if (r < 0)
        (void)sv_error_errno(err, r, "limits");
    if (r >= 0)
        r = open_root(nm, err);
    if (r >= 0) {
        struct cg_policy p = policy(nm, l);

        r = cg_root_set_policy(nm->cgroups, &p, err);
        if (r < 0)
            (void)sv_error_wrap(err, "cgroups");
    }
    if (r < 0) {
        nm_limits_free(l);
        return r;
    }
    if (cg_root_unfulfilled(nm->cgroups))
        sv_log_warning("cgroups: not limited: %s", cg_root_unfulfilled(nm->cgroups));
    *ret = l;
    return 0;
}

struct nm_limits *nm_limits_free(struct nm_limits *l)
{
    if (!l)
        return NULL;
    free(l->io_max);
    free(l);
    return NULL;
}

void nm_limits_node_changed(struct nm *nm)
{
    struct sv_error err = { 0 };
    struct cg_policy p = policy(nm, nm->limits);

    if (cg_root_set_policy(nm->cgroups, &p, &err) < 0)
        sv_log_err("cgroups: limits of all containers: %s", err.text);
}

void nm_limits_of(const struct nm_container *c, struct cg_resource *ret)
{
    *ret = (struct cg_resource){
        .memory_bytes = (uint64_t)c->resource.memory_mb << 20,
        .vcores = c->resource.vcores,
        .opportunistic = c->execution_type == HADOOP__YARN__EXECUTION_TYPE_PROTO__OPPORTUNISTIC,
        .cpus = c->cpus,
        .mems = c->mems,
    };
}
