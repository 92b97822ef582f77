/* See container-resize.h. Hadoop: ContainerManagerImpl.updateContainerInternal. */
#include "nodemanager/resources/container-resize.h"

#include <errno.h>

#include "cgroups/cg.h"
#include "common/log.h"
#include "executor/exe.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/recently-stopped.h"
#include "nodemanager/resources/container-scheduler.h"
#include "nodemanager/resources/resource-limits.h"
#include "nodemanager/store/state-store.h"

static int find(struct nm_context *ctx, const struct yarn_container_token *t,
                struct nm_container **ret, struct sv_error *err)
{
    char text[YARN_ID_TEXT_MAX];
    struct nm_container *c = nm_container_find(ctx, yarn_container_id_text(t->container, text));

    if (!c && nm_stopped_has(ctx->stopped, text))
        return sv_error_set(err, -ENOENT, "Container %s was recently stopped on node manager.",
                            text);
    if (!c)
        return sv_error_set(err, -ENOENT, "Container %s is not handled by this NodeManager", text);
    if (t->version <= c->version)
        return sv_error_set(err, -EEXIST,
                            "Container %s has update version [%d] >= requested "
                            "version [%d]",
                            text, c->version, t->version);
    if (c->state != NM_CONTAINER_RUNNING && c->state != NM_CONTAINER_SCHEDULED &&
        c->state != NM_CONTAINER_LOCALIZING && c->state != NM_CONTAINER_RELAUNCHING &&
        c->state != NM_CONTAINER_REINITIALIZING &&
        !(c->state == NM_CONTAINER_PAUSED && nm_scheduler_waits(c))) /* for a promotion */
        return sv_error_set(err, -EBUSY,
                            "Container %s is in %s state. Resource can only be changed "
                            "when a container is in RUNNING state",
                            text, nm_container_state_name(c->state));
    if (t->resource.memory_mb <= 0 || t->resource.memory_mb > ((int64_t)1 << 40) ||
        t->resource.vcores < 0)
        return sv_error_set(err, -EINVAL,
                            "Container resource <memory:%lld, vCores:%d> is not valid",
                            (long long)t->resource.memory_mb, t->resource.vcores);
    *ret = c;
    return 0;
}

int nm_resize_container(struct nm_context *ctx, struct nm_scheduler *scheduler,
                        const struct yarn_container_token *t, const void *id, size_t id_len,
                        struct sv_error *err)
{
    struct nm_container *c;
    struct cg_leaf *leaf;
    struct cg_resource limits;
    int r = find(ctx, t, &c, err);

    if (r < 0)
        return r;
    if (*t->unknown_resource)
        return sv_error_set(err, -EOPNOTSUPP,
                            "Container %s: this NodeManager has no resource of the type %s",
                            c->text, t->unknown_resource);
    r = nm_store_container_updated(ctx->store, c->text, id, id_len);
    if (r < 0)
        return sv_error_errno(err, r, "Container %s: its update could not be recorded", c->text);
    const struct yarn_resource before = c->resource;
    bool grew = t->resource.memory_mb >= before.memory_mb && t->resource.vcores >= before.vcores &&
                (t->resource.memory_mb > before.memory_mb || t->resource.vcores > before.vcores);
    c->resource = t->resource;
    c->version = t->version;
    c->execution_type = t->execution_type;
    c->report.increased = c->report.increased || grew;
    leaf = c->launch.exe ? exe_container_cgroup(c->launch.exe) : NULL;
    sv_log(SV_LOG_INFO, c->text,
           "Container %s: <memory:%lld, vCores:%d> → <memory:%lld, vCores:%d>", c->text,
           (long long)before.memory_mb, before.vcores, (long long)c->resource.memory_mb,
           c->resource.vcores);
    nm_limits_of(c, &limits);
    if (leaf) /* a container that has not started gets the limits with its cgroup */
        r = cg_leaf_set_limits(leaf, &limits, err);
    if (r < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: %s", c->text, err->text);
    nm_scheduler_updated(scheduler, c);
    return r < 0 ? r : 0;
}

Hadoop__Yarn__ContainerProto **nm_resize_increased(const struct nm_context *ctx, struct sv_arena *a,
                                                   size_t *ret_n)
{
    Hadoop__Yarn__ContainerProto **list =
        sv_newn(a, Hadoop__Yarn__ContainerProto *, HASH_COUNT(ctx->containers) + 1);
    size_t n = 0;

    if (!list)
        return NULL;
    for (struct nm_container *c = ctx->containers; c; c = c->hh.next) {
        Hadoop__Yarn__ContainerProto *m;

        c->report.increased_in_flight = c->report.increased && !nm_container_is_done(c);
        if (!c->report.increased_in_flight)
            continue;
        m = sv_new(a, Hadoop__Yarn__ContainerProto);
        if (!m)
            return NULL;
        hadoop__yarn__container_proto__init(m);
        m->id = yarn_container_id_to(a, c->id);
        m->nodeid = yarn_node_id_to(a, &ctx->node_id);
        m->resource = yarn_resource_to(a, c->resource);
        if (!m->id || !m->nodeid || !m->resource)
            return NULL;
        m->has_version = true;
        m->version = c->version;
        list[n++] = m;
    }
    *ret_n = n;
    return list;
}

void nm_resize_increased_delivered(const struct nm_context *ctx)
{
    for (struct nm_container *c = ctx->containers; c; c = c->hh.next)
        if (c->report.increased_in_flight)
            c->report.increased = c->report.increased_in_flight = false;
}
