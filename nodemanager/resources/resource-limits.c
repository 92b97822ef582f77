/* See resource-limits.h. Hadoop: ResourceHandlerModule and the CGroups…ResourceHandlerImpl classes.
 */
#include "nodemanager/resources/resource-limits.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"

struct nm_limits {
    struct nm_context *ctx;
    char **io_texts; /* own copy of conf.io_max, each entry split in two */
    struct cg_io_max *io_max;
    size_t n_io_max;
    uint32_t cpus;
};

static int split_io_max(struct nm_limits *l, char *const *list)
{
    size_t n = sv_strv_len(list);

    l->io_max = calloc(n + 1, sizeof(*l->io_max));
    l->io_texts = calloc(n + 1, sizeof(*l->io_texts));
    if (!l->io_max || !l->io_texts)
        return -ENOMEM;
    for (; l->n_io_max < n; l->n_io_max++) {
        char *text = strdup(list[l->n_io_max]), *space;

        if (!text)
            return -ENOMEM;
        l->io_texts[l->n_io_max] = text;
        space = strchr(text, ' '); /* checked by conf.c */
        *space = '\0';
        l->io_max[l->n_io_max] = (struct cg_io_max){ .path = text, .limits = space + 1 };
    }
    return 0;
}

static struct cg_policy policy(const struct nm_limits *l)
{
    const struct nm_conf *c = l->ctx->conf;

    return (struct cg_policy){
        .node_memory = (uint64_t)l->ctx->total.memory_mb << 20,
        .node_vcores = l->ctx->total.vcores,
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

/* The limits that the kernel must enforce to confine a container. */
static int open_root(struct nm_context *ctx, struct sv_error *err)
{
    const char *missing;
    int r = cg_root_open(ctx->conf->cgroup_root,
                         CG_CPU | CG_MEMORY | CG_PIDS | (ctx->conf->numa ? CG_CPUSET : 0),
                         CG_IO | CG_HUGETLB, &ctx->cgroups, err);

    if (r < 0)
        return sv_error_wrap(err, "cgroups");
    missing = cg_root_missing(ctx->cgroups);
    if (!missing)
        return 0;
    if (!ctx->conf->unenforced_allowed)
        return sv_error_set(err, -EOPNOTSUPP,
                            "cgroups: %s; limits cannot be enforced and this node "
                            "refuses to run (selvedge.nodemanager.unenforced-limits.allowed=true "
                            "runs it all the same, for development)",
                            missing);
    sv_log_warning("memory, pids, cpu limits not enforced: %s", missing);
    return 0;
}

int nm_limits_new(struct nm_context *ctx, struct nm_limits **ret, struct sv_error *err)
{
    struct nm_limits *l = calloc(1, sizeof(*l));
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    int r;

    if (!l)
        return sv_error_errno(err, -ENOMEM, "limits");
    l->ctx = ctx;
    l->cpus = cpus > 0 ? (uint32_t)cpus : 1;
    r = split_io_max(l, ctx->conf->io_max);
    if (r < 0)
        (void)sv_error_errno(err, r, "limits");
    if (r >= 0)
        r = open_root(ctx, err);
    if (r >= 0) {
        struct cg_policy p = policy(l);

        r = cg_root_set_policy(ctx->cgroups, &p, err);
        if (r < 0)
            (void)sv_error_wrap(err, "cgroups");
    }
    if (r < 0) {
        nm_limits_free(l);
        return r;
    }
    if (cg_root_unfulfilled(ctx->cgroups))
        sv_log_warning("cgroups: not limited: %s", cg_root_unfulfilled(ctx->cgroups));
    *ret = l;
    return 0;
}

struct nm_limits *nm_limits_free(struct nm_limits *l)
{
    if (!l)
        return NULL;
    sv_strv_free(l->io_texts);
    free(l->io_max);
    free(l);
    return NULL;
}

void nm_limits_set_total(struct nm_limits *l, struct yarn_resource total)
{
    struct sv_error err = { 0 };
    struct cg_policy p;

    l->ctx->total = total;
    p = policy(l);
    if (cg_root_set_policy(l->ctx->cgroups, &p, &err) < 0)
        sv_log_err("cgroups: limits of all containers: %s", err.text);
}

void nm_limits_of(const struct nm_container *c, struct cg_resource *ret)
{
    *ret = (struct cg_resource){
        .memory_bytes = (uint64_t)c->resource.memory_mb << 20,
        .vcores = c->resource.vcores,
        .opportunistic = c->execution_type == HADOOP__YARN__EXECUTION_TYPE_PROTO__OPPORTUNISTIC,
        .cpus = c->share.cpus,
        .mems = c->share.mems,
        .set = c->share.set,
    };
    if (!ret->set.pids_max)
        ret->set.pids_max = c->share.wanted_pids;
}
