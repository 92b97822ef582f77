/* See container-update.h. Hadoop: RMContainerImpl, SchedulerApplicationAttempt. */
#include "rm-lite/fsm/container-update.h"

#include "proto/yarn_service.pb-c.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/fsm/scheduling.h"

#define UPDATE(x) HADOOP__YARN__CONTAINER_UPDATE_TYPE_PROTO__##x

static bool fits(struct rm_res a, struct rm_res b)
{
    return rm_res_fits(RM_CALC_DOMINANT, a, b);
}

/* Its next version: its ApplicationMaster is told, with a new token. */
static void updated(struct rm_container *c, int type)
{
    c->version += c->version < INT32_MAX;
    c->updated = type;
    if (!c->in_updated)
        DL_APPEND2(c->app->updated, c, u_prev, u_next);
    c->in_updated = true;
    sv_log(SV_LOG_DEBUG, c->id_str, "%s: version %d: <memory:%lld, vCores:%lld>%s", c->id_str,
           c->version, (long long)c->resource.mem, (long long)c->resource.vcores,
           c->opportunistic ? ", OPPORTUNISTIC" : "");
}

static void resize(struct rm_container *c, struct rm_res to)
{
    rm_app_settle(c->app);
    c->app->live = rm_res_add(c->app->live, rm_res_sub(to, c->resource));
    c->resource = to;
}

/* The node gets the resource as it is now, so it has no more of an earlier increase. */
static void settle_with_node(struct rm_container *c)
{
    rm_container_expiry_stop(c);
    c->confirmed = c->resource;
    rm_node_update_container(c);
}

void rm_update_changed(struct rm_container *c, struct rm_res counted)
{
    bool less = fits(counted, c->resource);

    if (c->opportunistic || rm_res_is_zero(counted)) {
        c->opportunistic = rm_res_is_zero(counted);
        updated(c,
                c->opportunistic ? UPDATE(DEMOTE_EXECUTION_TYPE) : UPDATE(PROMOTE_EXECUTION_TYPE));
        return;
    }
    resize(c, counted);
    updated(c, less ? UPDATE(DECREASE_RESOURCE) : UPDATE(INCREASE_RESOURCE));
    if (less)
        settle_with_node(c);
}

void rm_update_acquired(struct rm_container *c)
{
    if (!rm_res_equal(c->confirmed, c->resource)) /* else its node has confirmed it meanwhile */
        rm_container_expiry_start(c);
}

void rm_update_reported(struct rm_container *c, struct rm_res has, int32_t version)
{
    if (rm_res_equal(has, c->resource)) {
        c->version = SV_MAX(c->version, version);
        c->confirmed = has;
        rm_container_expiry_stop(c);
        return;
    }
    if (fits(has, c->resource)) { /* of an earlier increase; the last one may still be used */
        c->confirmed = rm_res_max(c->confirmed, has);
        return;
    }
    /* Decreased meanwhile; or increased with a token of an earlier ResourceManager, so that the
     * version which the node has is not below ours. */
    if (version >= c->version) {
        c->version = version;
        updated(c, UPDATE(DECREASE_RESOURCE));
    }
    settle_with_node(c);
}

void rm_update_expired(struct rm_container *c)
{
    struct rm_sched_event ev = { .type = RM_SCHED_CONTAINER_UPDATE,
                                 .container_update = { c->id, c->confirmed } };

    rm_container_expiry_stop(c);
    if (rm_res_equal(c->confirmed, c->resource))
        return;
    sv_log(SV_LOG_NOTICE, c->id_str, "%s: its increase was not used, it is rolled back", c->id_str);
    (void)rm_schedule(c->rm, &ev, NULL); /* it runs, so the scheduler has it, ignoring */
    rm_request_pass(c->rm);
}
